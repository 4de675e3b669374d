package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/send"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/term"
)

// check is one thing that the doctor looked at.
type check struct {
	Name   string      `json:"name"`
	Status checkStatus `json:"status"`
	Detail string      `json:"detail"`
}

type checkStatus string

const (
	checkOK   checkStatus = "ok"
	checkWarn checkStatus = "warning" // it works, and could be better
	checkFail checkStatus = "failed"
)

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check configuration, key, ledger, spool, collector and hooks",
		Long: `Check configuration, key, ledger, spool, collector and hooks. The collector gets a
request without events. The exit code is 1 if a check failed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context()) },
	}
}

func (a *app) doctor(ctx context.Context) error {
	checks := a.examine(ctx)
	failed := 0
	for _, c := range checks {
		if c.Status == checkFail {
			failed++
		}
	}
	p := a.print()
	if a.json {
		if err := p.JSON(checks); err != nil {
			return err
		}
	} else {
		styles := map[checkStatus]term.Style{checkOK: term.Good, checkWarn: term.Warn, checkFail: term.Bad}
		rows := make([][]term.Cell, len(checks))
		for i, c := range checks {
			rows[i] = []term.Cell{term.Styled(styles[c.Status], string(c.Status)), term.Text(c.Name), term.Text(c.Detail)}
		}
		p.Table([]string{"STATUS", "CHECK", "DETAIL"}, rows)
	}
	if failed > 0 {
		return fmt.Errorf("%s failed", count(failed, "check"))
	}
	return nil
}

func (a *app) examine(ctx context.Context) []check {
	cfg, err := a.config()
	if err != nil {
		return []check{{"configuration", checkFail, strings.ReplaceAll(err.Error(), "\n", "; ")}}
	}
	checks := []check{checkFile(cfg), checkKey(cfg)}
	checks = append(checks, checkLedger(cfg)...)
	checks = append(checks, checkSpool(cfg), checkProbes(cfg), checkEndpoint(ctx, a, cfg))
	return append(checks, a.hookChecks(cfg)...)
}

func checkFile(cfg *config.Config) check {
	if err := cfg.Need(); err != nil {
		return check{"configuration", checkFail, err.Error()}
	}
	return check{"configuration", checkOK, cfg.File}
}

func checkKey(cfg *config.Config) check {
	path := cfg.KeyFile()
	if path == "" {
		return check{"key", checkWarn, "none: digests are plain, and who has one can try all likely values"}
	}
	if _, err := cfg.Digester(); err != nil {
		return check{"key", checkFail, err.Error()}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return check{"key", checkFail, err.Error()}
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return check{"key", checkWarn, fmt.Sprintf("%s can be read by others (%s): chmod 600 it", path, info.Mode().Perm())}
	case inside(path, cfg.Dir):
		return check{"key", checkWarn, path + " is inside the project, where the agent works"}
	}
	return check{"key", checkOK, path}
}

func inside(path, dir string) bool {
	relative, err := filepath.Rel(dir, path)
	return err == nil && relative != ".." && !strings.HasPrefix(relative, ".."+string(filepath.Separator))
}

func checkLedger(cfg *config.Config) []check {
	entries, bad, err := cfg.Ledger().Read()
	if err != nil {
		return []check{{"ledger", checkFail, err.Error()}}
	}
	detail := fmt.Sprintf("%s in %s", count(len(entries), "line"), cfg.Ledger().Path())
	checks := []check{{"ledger", checkOK, detail}}
	if len(bad) > 0 {
		checks[0] = check{"ledger", checkWarn, fmt.Sprintf("%s; %s cannot be read, the first is line %d: %v",
			detail, count(len(bad), "other"), bad[0].Line, bad[0].Err)}
	}
	inForce, err := cfg.Ledger().InForce(cfg.Session.ID)
	if err != nil {
		return append(checks, check{"decisions", checkFail, err.Error()})
	}
	var foreign []string
	for _, f := range foreignOf(cfg, inForce) {
		foreign = append(foreign, f.Name+" ("+f.Why+")")
	}
	names := missing(cfg, inForce)
	switch {
	case len(foreign) > 0:
		return append(checks, check{"decisions", checkFail, "digested otherwise than this project does now, so nothing compares: decide again " + strings.Join(foreign, "; ")})
	case len(names) > 0:
		return append(checks, check{"decisions", checkWarn, "wanted and not made: " + strings.Join(names, ", ")})
	}
	return append(checks, check{"decisions", checkOK, fmt.Sprintf("%d in force", len(inForce))})
}

func checkSpool(cfg *config.Config) check {
	spool := cfg.Spool()
	pending, err := spool.Pending()
	notes, notesErr := spool.Notes()
	if err = errors.Join(err, notesErr); err != nil {
		return check{"spool", checkFail, err.Error()}
	}
	detail := fmt.Sprintf("%s waiting in %s", count(len(pending), "event"), spool.Dir())
	if len(notes) > 0 {
		last := notes[len(notes)-1]
		return check{"spool", checkWarn, fmt.Sprintf("%s; %s refused for good, the last %s because %s",
			detail, count(len(notes), "event"), last.Event, last.Reason)}
	}
	if len(pending) > 0 {
		return check{"spool", checkWarn, detail + ": continuity flush"}
	}
	return check{"spool", checkOK, detail}
}

func checkProbes(cfg *config.Config) check {
	if len(cfg.Probes) == 0 {
		return check{"probes", checkOK, "none"}
	}
	allowed, err := cfg.ProbesAllowed()
	switch {
	case err != nil:
		return check{"probes", checkFail, err.Error()}
	case !allowed:
		return check{"probes", checkWarn, "not allowed on this machine as they are now: continuity probe --allow"}
	}
	return check{"probes", checkOK, fmt.Sprintf("%d, allowed", len(cfg.Probes))}
}

func checkEndpoint(ctx context.Context, a *app, cfg *config.Config) check {
	where := fmt.Sprintf("%s (from %s)", cfg.Endpoint, cfg.EndpointBy)
	if err := send.New(cfg, a.now).Ping(ctx); err != nil {
		return check{"collector", checkFail, fmt.Sprintf("%s: %v", where, err)}
	}
	return check{"collector", checkOK, where}
}
