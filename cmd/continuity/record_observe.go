package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/ledger"
)

type observeFlags struct {
	sessionFlags
	source  string
	none    []string
	partial bool
}

func (a *app) observeCommand() *cobra.Command {
	var f observeFlags
	sources := []string{string(continuity.Agent), string(continuity.Environment), string(continuity.Human), string(continuity.FromRecord)}
	cmd := &cobra.Command{
		Use:   "observe NAME=VALUE…",
		Short: "State the decisions as they are known after the compaction",
		Long: `State the decisions as they are known after the compaction. Values are digested as
those of the ledger are, and do not leave this process.

The source decides what it proves, so there is no default unless continuity.yaml has
one under observe.source:

  agent        the agent restated it from its own context
  environment  the world was asked; does not count for approval_boundary and constraint.*
  human        a person looked
  record       read back from a file: proves nothing about the context, never "preserved"

What is not stated is gone, unless --partial says that not all was looked at.`,
		Example: `  continuity observe --source agent scope=github.com/acme/payments constraint.push=forbidden
  continuity observe --source agent scope=github.com/acme/payments --none target`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.observe(cmd, &f, args) },
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.source, "source", "", "who saw it: "+strings.Join(sources, ", "))
	flags.StringArrayVar(&f.none, "none", nil, "NAME of which there is explicitly no decision; can be given again")
	flags.BoolVar(&f.partial, "partial", false, "not all was looked at: what is missing proves nothing")
	offer(cmd, "source", sources)
	return cmd
}

func (a *app) observe(cmd *cobra.Command, f *observeFlags, args []string) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	common, err := f.common(a, cfg)
	if err != nil {
		return err
	}
	o := continuity.Observation{
		Common: common, ObservedAt: common.Time, Partial: f.partial,
		Source: continuity.Source(f.source),
	}
	if o.Source == "" {
		o.Source = cfg.Source
	}
	if o.Source == "" {
		return errors.New("who saw it? Say --source agent, environment, human or record")
	}
	if len(args)+len(f.none) == 0 {
		return errors.New("state at least one decision: NAME=VALUE, or --none NAME")
	}
	inForce, err := cfg.Ledger().InForce(common.Session.ID)
	if err != nil {
		return err
	}
	if err := stateAll(cfg, &o, inForce, args); err != nil {
		return err
	}
	for _, name := range f.none {
		o.Decisions = append(o.Decisions, continuity.Decision{Name: name, Digest: continuity.None})
	}
	what := fmt.Sprintf("observation of %s by %s", count(len(o.Decisions), "decision"), o.Source)
	return a.send(cmd, cfg, o, common.Session.ID, what)
}

// stateAll adds what NAME=VALUE arguments state.
func stateAll(cfg *config.Config, o *continuity.Observation, inForce []ledger.Entry, args []string) error {
	digester, err := cfg.Digester()
	if err != nil {
		return err
	}
	o.KeyID = digester.KeyID()
	for i, arg := range args {
		name, value, found := strings.Cut(arg, "=")
		if !found || name == "" {
			return fmt.Errorf("argument %d is not NAME=VALUE", i+1)
		}
		d, err := restated(cfg, digester, inForce, name, value)
		if err != nil {
			return err
		}
		o.Decisions = append(o.Decisions, d)
	}
	return nil
}

// restated digests a value as the decision's own was.
func restated(cfg *config.Config, digester continuity.Digester, inForce []ledger.Entry, name, value string) (continuity.Decision, error) {
	kind := kindOf(cfg, inForce, name, value, "")
	digest, err := cfg.Digest(digester, name, kind, value)
	if errors.Is(err, continuity.ErrPlaceholder) {
		err = fmt.Errorf("%w; where there is no such decision say --none %s, and where it is not known leave it out", err, name)
	}
	d := continuity.Decision{Name: name, Digest: digest}
	if kind == config.KindChoice {
		d.Choices = len(cfg.Choices(name))
	}
	return d, err
}
