package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/term"
)

func (a *app) initCommand() *cobra.Command {
	initial := config.Initial{Endpoint: config.DefaultEndpoint}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Set a project up: continuity.yaml and a key",
		Long: `Write a commented continuity.yaml into this folder, and make the key that digests are
made with. Where the file is there already, as in a fresh clone, it is left as it is, and
only a key that is not on this machine is made. To compare with what others decided, copy
their key instead.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.initialize(initial) },
	}
	cmd.Flags().StringVar(&initial.Endpoint, "endpoint", initial.Endpoint, "the collector's OTLP/HTTP receiver")
	cmd.Flags().StringVar(&initial.Runtime, "runtime", "", "the agent's runtime, as claude_code")
	return cmd
}

// initialized is what init prints as JSON.
type initialized struct {
	File     string `json:"file"`
	Written  bool   `json:"written"`
	KeyFile  string `json:"key_file,omitempty"`
	KeyMade  bool   `json:"key_made"`
	Ledger   string `json:"ledger"`
	Endpoint string `json:"endpoint"`
}

func (a *app) initialize(initial config.Initial) error {
	path := filepath.Join(a.dir, config.FileName)
	done := initialized{File: path}
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		if err := writeNew(path, initial, a.dir); err != nil {
			return err
		}
		done.Written = true
	case err != nil:
		return err
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if done.KeyFile = cfg.KeyFile(); done.KeyFile != "" {
		if done.KeyMade, err = config.MakeKey(done.KeyFile); err != nil {
			return err
		}
	}
	done.Ledger, done.Endpoint = cfg.Ledger().Path(), cfg.Endpoint
	if a.json {
		return a.print().JSON(done)
	}
	a.initDone(&done)
	return nil
}

// writeNew writes the file, if it is one that can be read again.
func writeNew(path string, initial config.Initial, dir string) error {
	initial.KeyID = config.NewKeyID(dir)
	text, err := initial.Render()
	if err != nil {
		return err
	}
	if err := config.Validate(text); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

func (a *app) initDone(done *initialized) {
	p := a.print()
	said := func(made bool, what, path string) {
		state := map[bool]string{true: "made", false: "kept"}[made]
		p.Line("%s %s %s", p.Style(map[bool]term.Style{true: term.Good, false: term.Dim}[made], state), what, path)
	}
	said(done.Written, "configuration", done.File)
	if done.KeyFile != "" {
		said(done.KeyMade, "key", done.KeyFile)
	}
	if done.KeyMade && !done.Written {
		a.warn("the key is new: digests of other machines cannot be compared with its own; copy their key over it if they should be")
	}
	p.Line("")
	p.Line("Next:")
	for _, line := range []string{
		"continuity decide scope github.com/acme/payments      record what holds; the value stays here",
		"continuity decide constraint.push forbidden",
		"continuity snapshot --session my-session              before the agent's context is compacted",
		"continuity observe --session my-session --source agent scope=github.com/acme/payments   after it",
		"continuity doctor                                     is all in order?",
	} {
		p.Line("  %s", line)
	}
	p.Line("")
	p.Line("%s", p.Style(term.Dim, fmt.Sprintf("Events go to %s. Decisions are kept in %s.", done.Endpoint, done.Ledger)))
}
