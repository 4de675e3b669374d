package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/keys"
)

func (a *app) keygenCommand() *cobra.Command {
	var id string
	c := &cobra.Command{
		Use:   "keygen [FILE]",
		Short: "Make a key that signs approvals",
		Long: `Make an Ed25519 key that signs approvals, and print the line by which the
collector knows its public half. It stands in the processor's configuration; once
there is one such key, unsigned approvals do not count.

Run this where no agent can read what you write: whoever has the private key can
approve. FILE is never overwritten.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := a.newKeyPath(args)
			if err != nil {
				return err
			}
			key, err := keys.Generate(id)
			if err != nil {
				return err
			}
			if err := key.Write(path); err != nil {
				return err
			}
			return a.printKey(key, path)
		},
	}
	c.Flags().StringVar(&id, "id", "", "id of the key, as team-2026 (default one that follows from the key)")
	return c
}

func (a *app) newKeyPath(args []string) (string, error) {
	if len(args) > 0 {
		return a.path(args[0]), nil
	}
	cfg, err := a.config()
	if err != nil {
		return "", err
	}
	return defaultKey(cfg)
}

// madeKey is what keygen prints as JSON.
type madeKey struct {
	KeyID     string `json:"key_id"`
	PublicKey string `json:"public_key"`
	File      string `json:"file"`
}

func (a *app) printKey(key *keys.Private, path string) error {
	p := a.print()
	if a.json {
		return p.JSON(madeKey{key.ID, keys.Text(key.Public()), path})
	}
	line, err := configLine(key)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "The private key is in %s: keep it where no agent can read it.\n", path)
	p.Note("For the collector, below processors: continuity:")
	p.Line("%s", line)
	return nil
}

// configLine is the processor's setting that knows a key.
func configLine(key *keys.Private) (string, error) {
	id, err := yaml.Marshal(key.ID) // quoted where YAML would take it for something else
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("approvals: {public_keys: {%s: %q}}", strings.TrimSpace(string(id)), keys.Text(key.Public())), nil
}
