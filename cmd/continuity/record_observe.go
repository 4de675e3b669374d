package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/ledger"
)

type observeFlags struct {
	sessionFlags
	source        string
	none, unknown []string
	partial       bool
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

What is not stated is gone, unless --partial says that not all was looked at. Where
--unknown names what is not known any more, that is gone, and what is neither stated
nor unknown is left open.`,
		Example: `  continuity observe --source agent scope=github.com/acme/payments constraint.push=forbidden
  continuity observe --source agent scope=github.com/acme/payments --none target
  continuity observe --source agent scope=github.com/acme/payments --unknown constraint.push`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.observe(cmd, &f, args) },
	}
	f.add(cmd)
	f.addCompaction(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.source, "source", "", "who saw it: "+strings.Join(sources, ", "))
	flags.StringArrayVar(&f.none, "none", nil, "NAME of which there is explicitly no decision; can be given again")
	flags.StringArrayVar(&f.unknown, "unknown", nil, "NAME that was asked for and is not known any more; can be given again")
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
		return errors.New("state at least one decision: NAME=VALUE, or --none NAME; beside none that is known, nothing can be seen to be gone")
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
	if err := forget(&o, inForce, f.unknown); err != nil {
		return err
	}
	given := len(o.Decisions)
	if !f.partial {
		o.Decisions = sayable(o.Decisions, inForce)
	}
	what := fmt.Sprintf("observation of %s by %s", count(given, "decision"), o.Source)
	return a.send(cmd, cfg, o, common.Session.ID, what)
}

// sayable leaves out that there is no decision where none is in force: it says
// nothing, and would be held against the look as something that nobody stated before.
func sayable(decisions []continuity.Decision, inForce []ledger.Entry) []continuity.Decision {
	said := slices.DeleteFunc(slices.Clone(decisions), func(d continuity.Decision) bool {
		return d.Digest == continuity.None && find(inForce, d.Name) == nil
	})
	if len(inForce) == 0 || len(said) == 0 {
		return decisions // another machine may have stated them
	}
	return said
}

// forget says of names that they are not known any more. Nothing is stated of them;
// the look is complete if that and what it states is all that is in force.
func forget(o *continuity.Observation, inForce []ledger.Entry, unknown []string) error {
	stated, forgotten := map[string]bool{}, map[string]bool{}
	for i := range o.Decisions {
		stated[o.Decisions[i].Name] = true
	}
	for _, name := range unknown {
		if !classify.ValidName(name) {
			return config.ErrName
		}
		if stated[name] {
			return fmt.Errorf("%s is stated, and --unknown too: it is one of the two", name)
		}
		forgotten[name] = true
	}
	o.Partial = o.Partial || len(unknown) > 0 && leavesOpen(inForce, func(name string) bool { return stated[name] }, forgotten)
	return nil
}

// leavesOpen reports whether a look must not count as complete. Who was asked for a
// decision and says nothing of it may still know it. And in a complete look, what is
// absent is as good as none: of what was decided to be none, that would state what
// nobody said.
func leavesOpen(inForce []ledger.Entry, stated func(name string) bool, unknown map[string]bool) bool {
	return slices.ContainsFunc(inForce, func(e ledger.Entry) bool {
		return !stated(e.Name) && (!unknown[e.Name] || e.Digest == string(continuity.None))
	})
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
