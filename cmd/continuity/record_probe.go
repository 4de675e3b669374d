package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/probe"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/term"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/ledger"
)

type probeFlags struct {
	sessionFlags
	allow, check bool
}

func (a *app) probeCommand() *cobra.Command {
	var f probeFlags
	cmd := &cobra.Command{
		Use:   "probe [NAME…]",
		Short: "Ask the world: run the probes of continuity.yaml, and state what they see",
		Long: `Run the probes of continuity.yaml, and state what they see as source environment. The
look is partial: what a probe does not see is not gone.

Probes are commands, and continuity.yaml is a file that an agent, or whoever wrote the
repository, can change. So they run only after --allow was said once for them as they
are now. Read them before. With --allow and no session nothing is run.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.probe(cmd, &f, args) },
	}
	f.add(cmd)
	f.addCompaction(cmd)
	cmd.Flags().BoolVar(&f.allow, "allow", false, "allow the probes as they are now to run on this machine")
	cmd.Flags().BoolVar(&f.check, "check", false, "compare with the ledger only, and send nothing")
	return cmd
}

// probed is what became of one probe.
type probed struct {
	Name  string `json:"name"`
	State string `json:"state"` // same, differs, not_decided or failed
	Why   string `json:"why,omitempty"`
}

func (a *app) probe(cmd *cobra.Command, f *probeFlags, names []string) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if err := cfg.Need(); err != nil {
		return err
	}
	if f.allow {
		if err := cfg.AllowProbes(); err != nil {
			return err
		}
	}
	common, err := f.common(a, cfg)
	if f.allow && errors.Is(err, errNoSession) && !f.check {
		a.print().Line("%s allowed on this machine, as they are now", count(len(cfg.Probes), "probe"))
		return nil // nobody's: there is nothing to send
	}
	if err != nil && !f.check {
		return err
	}
	inForce, err := cfg.Ledger().InForce(common.Session.ID)
	if err != nil {
		return err
	}
	observation, all, err := runProbes(cmd.Context(), cfg, inForce, names)
	if err != nil {
		return err
	}
	observation.Common = common
	observation.ObservedAt = common.Time
	if f.check {
		return a.probesChecked(all)
	}
	for _, p := range all {
		if p.Why != "" {
			a.warn("%s: %s", p.Name, p.Why)
		}
	}
	if len(observation.Decisions) == 0 {
		return errors.New("no probe saw anything, so there is nothing to state")
	}
	what := fmt.Sprintf("observation of %s by environment", count(len(observation.Decisions), "decision"))
	return a.send(cmd, cfg, observation, common.Session.ID, what)
}

// runProbes looks at the world with the configured probes, or with those of the
// given names. The observation lacks what all have in common.
func runProbes(ctx context.Context, cfg *config.Config, inForce []ledger.Entry, names []string) (continuity.Observation, []probed, error) {
	o := continuity.Observation{Source: continuity.Environment, Partial: true}
	chosen, err := choose(cfg, names)
	if err != nil {
		return o, nil, err
	}
	digester, err := cfg.Digester()
	if err != nil {
		return o, nil, err
	}
	o.KeyID = digester.KeyID()
	var all []probed
	for i := range chosen {
		p := &chosen[i]
		d, err := look(ctx, cfg, digester, inForce, p)
		if err != nil {
			all = append(all, probed{p.Name, "failed", err.Error()})
			continue
		}
		o.Decisions = append(o.Decisions, d)
		state := "not_decided"
		if e := find(inForce, p.Name); e != nil {
			state = map[bool]string{true: "same", false: "differs"}[e.Digest == string(d.Digest)]
		}
		all = append(all, probed{Name: p.Name, State: state})
	}
	return o, all, nil
}

func choose(cfg *config.Config, names []string) ([]config.Probe, error) {
	if len(cfg.Probes) == 0 {
		return nil, fmt.Errorf("there are no probes: add some under probes in %s", config.FileName)
	}
	allowed, err := cfg.ProbesAllowed()
	if err != nil {
		return nil, err
	}
	if !allowed {
		return nil, fmt.Errorf("nobody has allowed these probes on this machine yet, or they were changed since: read them in %s, then say `continuity probe --allow`", cfg.File)
	}
	if len(names) == 0 {
		return cfg.Probes, nil
	}
	var chosen []config.Probe
	for _, name := range names {
		n := len(chosen)
		for i := range cfg.Probes {
			if cfg.Probes[i].Name == name {
				chosen = append(chosen, cfg.Probes[i])
			}
		}
		if len(chosen) == n {
			return nil, fmt.Errorf("there is no probe called %q", name)
		}
	}
	return chosen, nil
}

// look runs one probe and digests what it saw.
func look(ctx context.Context, cfg *config.Config, digester continuity.Digester, inForce []ledger.Entry, p *config.Probe) (continuity.Decision, error) {
	value, err := probe.Run(ctx, cfg.Dir, p)
	if err != nil {
		return continuity.Decision{}, err
	}
	d := continuity.Decision{Name: p.Name}
	d.Digest, err = cfg.Digest(digester, p.Name, kindOf(cfg, inForce, p.Name, value, p.Kind), value)
	return d, err
}

func (a *app) probesChecked(all []probed) error {
	p := a.print()
	if a.json {
		return p.JSON(all)
	}
	styles := map[string]term.Style{"same": term.Good, "differs": term.Bad, "failed": term.Bad, "not_decided": term.Warn}
	rows := make([][]term.Cell, len(all))
	for i, one := range all {
		rows[i] = []term.Cell{
			term.Styled(term.Bold, one.Name), term.Styled(styles[one.State], strings.ReplaceAll(one.State, "_", " ")), term.Text(one.Why),
		}
	}
	p.Table([]string{"PROBE", "STATE", "WHY"}, rows)
	return nil
}
