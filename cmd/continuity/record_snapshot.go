package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
	"github.com/agentcontinuity/otelcol-continuity/internal/ledger"
)

func (a *app) snapshotCommand() *cobra.Command {
	var f sessionFlags
	var failed bool
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "State the decisions in force, before the context is compacted",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			common, err := f.common(a, cfg)
			if err != nil {
				return err
			}
			if failed {
				return a.send(cmd, cfg, continuity.Snapshot{Common: common, Failed: true}, common.Session.ID, "failed snapshot")
			}
			if err := cfg.Need(); err != nil {
				return err
			}
			return a.snapshot(cmd, cfg, common)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&failed, "failed", false, "say that a snapshot was attempted and could not be taken")
	return cmd
}

func (a *app) snapshot(cmd *cobra.Command, cfg *config.Config, common continuity.Common) error {
	inForce, err := cfg.Ledger().InForce(common.Session.ID)
	if err != nil {
		// That there was a compaction, and nothing is known of what held before it,
		// is worth knowing.
		event := continuity.Snapshot{Common: common, Failed: true}
		return fmt.Errorf("the ledger cannot be read: %w", errors.Join(err, a.send(cmd, cfg, event, common.Session.ID, "failed snapshot")))
	}
	snapshot, foreign := snapshotOf(cfg, common, inForce)
	if len(foreign) > 0 {
		a.warn("left out, since another key made their digests: %s; decide them again", strings.Join(foreign, ", "))
	}
	if names := missing(cfg, inForce); len(names) > 0 {
		a.warn("not decided, though %s wants it: %s", config.FileName, strings.Join(names, ", "))
	}
	if len(snapshot.Decisions) == 0 {
		a.warn("no decision is in force, so there is nothing to compare later")
	}
	what := fmt.Sprintf("snapshot of %s", count(len(snapshot.Decisions), "decision"))
	return a.send(cmd, cfg, snapshot, common.Session.ID, what)
}

// snapshotOf states decisions. An event names one key, so keyed digests of another
// one are left out and named.
func snapshotOf(cfg *config.Config, common continuity.Common, inForce []ledger.Entry) (s continuity.Snapshot, foreign []string) {
	s = continuity.Snapshot{Common: common, ObservedAt: common.Time}
	for i := range inForce {
		e := &inForce[i]
		if parsed, _ := digest.Parse(e.Digest); parsed.Alg == digest.HMACSHA256 {
			if e.KeyID != cfg.KeyID {
				foreign = append(foreign, e.Name)
				continue
			}
			s.KeyID = e.KeyID
		}
		s.Decisions = append(s.Decisions, continuity.Decision{
			Name: e.Name, Digest: continuity.Digest(e.Digest), Prose: e.Comparison == config.KindText,
			Revision: e.Revision, ApprovalRef: e.ApprovalRef,
		})
	}
	return s, foreign
}

func (a *app) completeCommand() *cobra.Command {
	var f sessionFlags
	var outcome string
	outcomes := []string{
		string(continuity.Completed), string(continuity.Unknown), string(continuity.Failed),
		string(continuity.Cancelled), string(continuity.NoOp),
	}
	cmd := &cobra.Command{
		Use:   "complete",
		Short: "Say how the compaction ended",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.sendCommon(cmd, &f, "completion", func(c continuity.Common) continuity.Event {
				return continuity.Completion{Common: c, Outcome: continuity.Outcome(outcome)}
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&outcome, "outcome", string(continuity.Completed), "one of "+strings.Join(outcomes, ", "))
	offer(cmd, "outcome", outcomes)
	return cmd
}

func (a *app) startCommand() *cobra.Command {
	var f sessionFlags
	var previous string
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Say that the session begins or goes on",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.sendCommon(cmd, &f, "session start", func(c continuity.Common) continuity.Event {
				return continuity.SessionStart{Common: c, PreviousID: previous}
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&previous, "previous", "", "id of the session that this one continues")
	return cmd
}

func (a *app) endCommand() *cobra.Command {
	var f sessionFlags
	cmd := &cobra.Command{
		Use:   "end",
		Short: "Say that the session ends or sleeps",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.sendCommon(cmd, &f, "session end", func(c continuity.Common) continuity.Event {
				return continuity.SessionEnd{Common: c}
			})
		},
	}
	f.add(cmd)
	return cmd
}

// sendCommon sends an event that says little more than whose it is.
func (a *app) sendCommon(cmd *cobra.Command, f *sessionFlags, what string, event func(continuity.Common) continuity.Event) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	common, err := f.common(a, cfg)
	if err != nil {
		return err
	}
	return a.send(cmd, cfg, event(common), common.Session.ID, what)
}
