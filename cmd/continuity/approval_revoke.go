package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/keys"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

// revokeFlags say which approval is withdrawn.
type revokeFlags struct {
	transition
	key            keyFlags
	ref, invariant string
	print          bool
}

func (a *app) revokeCommand() *cobra.Command {
	var f revokeFlags
	c := &cobra.Command{
		Use:   "revoke --ref REF",
		Short: "Withdraw an approval",
		Long: `Withdraw what was approved under a reference: all of it, or that of one session.

What was approved on this machine is found by its reference. For what was approved
elsewhere say all of it: --invariant, --from, --to and --session. A revocation
counts also without a signature, since the worst that a forged one does is an alarm.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.revoke(c, &f) },
	}
	f.addSession(c)
	f.addValues(c)
	f.key.add(c)
	flags := c.Flags()
	flags.StringVar(&f.ref, "ref", "", "the reference of the approval (required)")
	flags.StringVar(&f.invariant, "invariant", "", "the decision, where the approval was given elsewhere")
	flags.BoolVar(&f.print, "print", false, "print the revocation as JSON, and send nothing")
	return c
}

func (a *app) revoke(c *cobra.Command, f *revokeFlags) error {
	if strings.TrimSpace(f.ref) == "" {
		return errors.New("which approval? Say --ref")
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	path, err := f.key.path(a, cfg)
	if err != nil {
		return err
	}
	if _, err := os.Stat(path); err != nil && f.key.file == "" {
		f.key.unsigned = true // it counts without, and nobody named a key
	}
	found, err := f.find(cfg, keys.RecordBeside(path))
	if err != nil {
		return err
	}
	now := a.now().UTC()
	revocations := make([]continuity.Approval, len(found))
	for i, g := range found {
		revocations[i], err = f.key.sign(a, path, continuity.Approval{
			Common:    continuity.Common{Session: continuity.Session{ID: g.Session, Attribute: g.Attribute, Agent: g.Agent}, Time: now},
			Invariant: g.Invariant, Ref: g.Ref, From: continuity.Digest(g.From), To: continuity.Digest(g.To),
			ApprovedAt: now, Gate: g.Gate, Revoked: true,
		})
		if err != nil {
			return err
		}
	}
	if err := a.give(c, cfg, f.print, revocations...); err != nil {
		return err
	}
	for i := range revocations { // after it was sent: what was not may be tried again
		if err := keys.RecordBeside(path).Add(givenOf(&revocations[i])); err != nil {
			a.warn("%v", err)
		}
	}
	return nil
}

// find is what to revoke: all that was given under the reference, or what the
// flags tell of.
func (f *revokeFlags) find(cfg *config.Config, record *keys.Record) ([]keys.Given, error) {
	if f.invariant != "" {
		session, err := f.of(cfg)
		if err != nil {
			return nil, err
		}
		f.session = session.ID
		if f.from == "" && !f.fromNone {
			return nil, errors.New("from what? Say --from or --from-none, as it was approved")
		}
		from, to, err := f.values(cfg, f.invariant)
		if err != nil {
			return nil, err
		}
		return []keys.Given{{
			Session: session.ID, Attribute: session.Attribute, Agent: session.Agent,
			Invariant: f.invariant, Ref: f.ref, From: string(from), To: string(to),
		}}, nil
	}
	found, err := record.Standing(f.ref)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(g keys.Given) bool { return f.session != "" && g.Session != f.session })
	if len(found) == 0 {
		return nil, fmt.Errorf("%s knows of no approval %q that stands; for one that was given elsewhere say --invariant, --from, --to and --session", record.Path(), f.ref)
	}
	return found, nil
}
