package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/send"
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
		Args:  flagsOnly("it states all decisions in force, recorded by continuity decide"),
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
	f.addCompaction(cmd)
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
	for _, f := range foreign {
		a.warn("%s cannot be compared: %s; decide it again", f.Name, f.Why)
	}
	if names := missing(cfg, inForce); len(names) > 0 {
		a.warn("not decided, though %s wants it: %s", config.FileName, strings.Join(names, ", "))
	}
	if len(snapshot.Decisions) == 0 {
		a.warn("no decision is in force, so there is nothing to compare later")
	}
	what := fmt.Sprintf("snapshot of %s", count(len(snapshot.Decisions), "decision"))
	result, err := send.New(cfg, a.now).Send(cmd.Context(), snapshot)
	if err != nil {
		return err
	}
	return a.sent(&result, common.Session.ID, what, foreign...)
}

// incomparable is a decision that no observation of this project can be compared
// with, and why.
type incomparable struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// foreignTo says why a decision cannot be compared in a project; "" where it can.
func foreignTo(cfg *config.Config, e *ledger.Entry) string {
	parsed, _ := digest.Parse(e.Digest)
	keyed := parsed.Alg == digest.HMACSHA256
	switch {
	case !parsed.IsValue() || keyed && e.KeyID == cfg.KeyID || !keyed && cfg.KeyID == "":
		return ""
	case !keyed:
		return "its digest is plain, and the project has the key " + cfg.KeyID
	case cfg.KeyID == "":
		return "its digest was made with the key " + e.KeyID + ", and the project has none"
	}
	return "its digest was made with the key " + e.KeyID + ", and the project has " + cfg.KeyID
}

func foreignOf(cfg *config.Config, inForce []ledger.Entry) []incomparable {
	var all []incomparable
	for i := range inForce {
		if why := foreignTo(cfg, &inForce[i]); why != "" {
			all = append(all, incomparable{inForce[i].Name, why})
		}
	}
	return all
}

// snapshotOf states decisions. One that cannot be compared is stated all the same,
// so that it ends as unverified: left out, nobody would miss it.
func snapshotOf(cfg *config.Config, common continuity.Common, inForce []ledger.Entry) (continuity.Snapshot, []incomparable) {
	s := continuity.Snapshot{Common: common, ObservedAt: common.Time, KeyID: cfg.KeyID}
	var others []string
	for i := range inForce {
		e := &inForce[i]
		d := continuity.Decision{
			Name: e.Name, Digest: continuity.Digest(e.Digest), Prose: e.Comparison == config.KindText,
			Revision: e.Revision, ApprovalRef: e.ApprovalRef,
		}
		if parsed, _ := digest.Parse(e.Digest); parsed.Alg == digest.HMACSHA256 && e.KeyID != cfg.KeyID {
			if cfg.KeyID != "" {
				// An event names one key. Under the project's it would pass for another
				// value; as a plain digest, here of the digest, it is like no value.
				sum := sha256.Sum256([]byte(e.Digest))
				d.Digest = continuity.Digest("sha256:" + hex.EncodeToString(sum[:]))
			} else if !slices.Contains(others, e.KeyID) {
				others = append(others, e.KeyID)
			}
		}
		s.Decisions = append(s.Decisions, d)
	}
	if cfg.KeyID == "" {
		// Of several none is told apart: nobody has a key of that name.
		s.KeyID = strings.Join(others, "+")
	}
	return s, foreignOf(cfg, inForce)
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
		Args:  flagsOnly("say --outcome where the compaction did not complete"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.sendCommon(cmd, &f, "completion", func(c continuity.Common) continuity.Event {
				return continuity.Completion{Common: c, Outcome: continuity.Outcome(outcome)}
			})
		},
	}
	f.add(cmd)
	f.addCompaction(cmd)
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
		Args:  flagsOnly("say the session's id with --session"),
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
		Short: "Say that the session ends, or pauses",
		Long: `Say that the session ends, or pauses until somebody goes on with it. What it still
owes is parked: its window stops, and no alert is raised. The session's next event
opens the window again in full.`,
		Args: flagsOnly("say the session's id with --session"),
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
