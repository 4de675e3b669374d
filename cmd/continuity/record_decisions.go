package main

import (
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/term"
	"github.com/agentcontinuity/otelcol-continuity/internal/ledger"
)

func (a *app) decisionsCommand() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:   "decisions",
		Short: "List the decisions in force",
		Long: `List the decisions in force, by authority. With --session those that were decided
for this session go before those of the project. Decisions that continuity.yaml wants
and nobody has made are listed as missing.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.decisions(session) },
	}
	cmd.Flags().StringVar(&session, "session", "", "a session's decisions (default: $"+config.EnvSession+", else the project's)")
	return cmd
}

func (a *app) decisions(session string) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if err := cfg.Need(); err != nil {
		return err
	}
	if session == "" {
		session = cfg.Session.ID
	}
	inForce, err := cfg.Ledger().InForce(session)
	if err != nil {
		return err
	}
	missing, foreign := missing(cfg, inForce), foreignOf(cfg, inForce)
	p := a.print()
	if a.json {
		return p.JSON(struct {
			Decisions []ledger.Entry `json:"decisions"`
			Missing   []string       `json:"missing"`
			// Incomparable are among the decisions.
			Incomparable []incomparable `json:"incomparable,omitempty"`
		}{inForce, missing, foreign})
	}
	for _, f := range foreign {
		a.warn("%s cannot be compared: %s; decide it again", f.Name, f.Why)
	}
	rows := make([][]term.Cell, 0, len(inForce)+len(missing))
	for i := range inForce {
		e := &inForce[i]
		rows = append(rows, []term.Cell{
			term.Styled(term.Bold, e.Name), term.Text(e.Kind), term.Text(short(p, e.Digest)),
			term.Text(e.Time.UTC().Format(time.RFC3339)), term.Text(e.Revision), term.Text(e.Session), term.Text(e.Value),
		})
	}
	for _, name := range missing {
		rows = append(rows, []term.Cell{
			term.Styled(term.Bold, name), {}, term.Styled(term.Warn, "missing"), {}, {}, {}, {},
		})
	}
	if len(rows) == 0 {
		p.Note("Nothing is decided yet: continuity decide scope github.com/acme/payments")
		return nil
	}
	p.Table([]string{"NAME", "KIND", "DIGEST", "DECIDED", "REVISION", "SESSION", "VALUE"}, rows)
	return nil
}

// short is enough of a digest for a person to tell two apart.
func short(p *term.Printer, digest string) string {
	const enough = 20
	if p.Terminal() && len(digest) > enough {
		return digest[:enough] + "…"
	}
	return digest
}

// missing lists what the project wants decided and is not.
func missing(cfg *config.Config, inForce []ledger.Entry) []string {
	names := []string{}
	for _, name := range cfg.Invariants {
		if find(inForce, name) == nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
