package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/keys"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/printed"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/send"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/ledger"
)

// approveFlags say what is approved, by whom and until when.
type approveFlags struct {
	transition
	key                    keyFlags
	ref, approver, expires string
	gate, print, record    bool
}

func (a *app) approveCommand() *cobra.Command {
	var f approveFlags
	c := &cobra.Command{
		Use:   "approve NAME --to VALUE --ref REF --session ID",
		Short: "Approve one change of one decision",
		Long: `Approve one change of one decision of one session, signed with an Ed25519 key.

This is for a human, or for a gate that the agent cannot reach: an approval that an
agent can give itself approves nothing. It joins exactly these two values, once; it
says that somebody wanted the change, and no more than that.

A value that is given as sha256:..., hmac-sha256:... or none is taken as it is. Any
other is digested as "continuity decide" would, and does not leave this machine.

The ledger goes on to state the old value, until "continuity decide" or --record
records the new one. Without that the next compaction ends as approval_reused.`,
		Example: `  continuity approve acceptance_test --from "make test" --to "make test lint" \
    --ref CHG-17 --session 8f14e45f --expires 2h
  continuity approve scope --to github.com/acme/billing --ref CHG-20 --session 8f14e45f --record
  continuity approve constraint.push --to-none --ref CHG-18 --session 8f14e45f
  continuity approve scope --from sha256:... --to sha256:... --ref CHG-19 --session 8f14e45f --print`,
		Args: argsOf(1, 1, "NAME, the decision that changes, as scope"),
		RunE: func(c *cobra.Command, args []string) error { return a.approve(c, &f, args[0]) },
	}
	f.addSession(c)
	f.addValues(c)
	f.key.add(c)
	flags := c.Flags()
	flags.StringVar(&f.ref, "ref", "", "the ticket, review or record in which it was approved (required)")
	flags.StringVar(&f.approver, "approver", "", "who approves, as their id; it travels with the approval")
	flags.StringVar(&f.expires, "expires", "24h", "until when it counts: a duration, a time, or "+never)
	flags.BoolVar(&f.gate, "gate", false, "a gate approves, not a human")
	flags.BoolVar(&f.print, "print", false, "print the approval as JSON, and send nothing")
	flags.BoolVar(&f.record, "record", false, "record the new value in the ledger too, with --ref as its approval")
	flags.BoolVar(&f.key.unsigned, "unsigned", false, "do not sign it; it counts only where the collector has no public keys")
	return c
}

func (a *app) approve(c *cobra.Command, f *approveFlags, name string) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	path, err := f.key.path(a, cfg)
	if err != nil && !f.key.unsigned {
		return err
	}
	approval, err := f.approval(a, cfg, name)
	if err != nil {
		return err
	}
	var change *ledger.Entry
	if f.record {
		if change, err = f.change(cfg, &approval); err != nil {
			return err
		}
	}
	if approval, err = f.key.sign(a, path, approval); err != nil {
		return err
	}
	if _, err := approval.Attributes(); err != nil { // an unsigned one was not looked at yet
		return err
	}
	if path != "" {
		if err := keys.RecordBeside(path).Add(givenOf(&approval)); err != nil {
			a.warn("%v; revoke will need all of the approval, not its ref alone", err)
		}
	}
	if err := a.give(c, cfg, f.print, approval); err != nil {
		return err
	}
	if change != nil {
		if err := cfg.Ledger().Append(*change); err != nil {
			return fmt.Errorf("the approval is given, but the new value is not recorded: %w", err)
		}
	}
	a.remind(cfg, f, &approval)
	return nil
}

// change is the new value as the ledger is to have it: for the session, where the
// old one was decided for it alone.
func (f *approveFlags) change(cfg *config.Config, approval *continuity.Approval) (*ledger.Entry, error) {
	if f.print {
		return nil, errors.New("--print gives nothing, so there is nothing to --record")
	}
	if err := cfg.Need(); err != nil {
		return nil, err
	}
	inForce, err := cfg.Ledger().InForce(f.session)
	if err != nil {
		return nil, err
	}
	old := find(inForce, approval.Invariant)
	if old == nil { // nothing is as good as none
		old = &ledger.Entry{Digest: string(continuity.None)}
	}
	if old.Digest != string(approval.From) {
		return nil, fmt.Errorf("the ledger does not have the value before, so --record would replace something else: use `continuity decide %s`", approval.Invariant)
	}
	toNone := approval.To == continuity.None
	if !toNone && !isValue(f.to) {
		return nil, errors.New("--record wants the value itself: of a digest nobody knows how it was made")
	}
	as := decideFlags{approvalRef: f.ref, session: old.Session, as: kindOf(cfg, inForce, approval.Invariant, f.to, f.as), none: toNone}
	e, err := as.entry(cfg, approval.Invariant, f.to, !toNone)
	e.Time = approval.Time
	return &e, err
}

// remind says what else an approval needs, and nobody but its giver can know.
func (a *app) remind(cfg *config.Config, f *approveFlags, approval *continuity.Approval) {
	if cfg.Need() != nil && (isValue(f.from) || isValue(f.to)) {
		a.warn("there is no %s in this folder or above it: the digests are plain, and do not fit a project with a key", config.FileName)
	}
	inForce, err := cfg.Ledger().InForce(f.session)
	if err != nil {
		return
	}
	if e := find(inForce, approval.Invariant); e != nil && e.Digest == string(approval.From) {
		a.warn("the ledger has what was in force before: record the change too, with `continuity decide %s`, or the next snapshot states the old value", approval.Invariant)
	}
}

func (f *approveFlags) approval(a *app, cfg *config.Config, name string) (continuity.Approval, error) {
	none := continuity.Approval{}
	now := a.now().UTC()
	session, err := f.of(cfg)
	if err != nil {
		return none, err
	}
	f.session = session.ID
	if strings.TrimSpace(f.ref) == "" {
		return none, fmt.Errorf("where was it approved? Say --ref: the ticket, review or record")
	}
	expires, err := until(f.expires, now)
	if err != nil {
		return none, err
	}
	from, to, err := f.values(cfg, name)
	if err != nil {
		return none, err
	}
	return continuity.Approval{
		Common:    continuity.Common{Session: session, Time: now},
		Invariant: name, Ref: f.ref, From: from, To: to, Approver: f.approver,
		ApprovedAt: now, ExpiresAt: expires, Gate: f.gate,
	}, nil
}

func givenOf(approval *continuity.Approval) *keys.Given {
	return &keys.Given{
		Time: approval.Time, Session: approval.Session.ID, Attribute: approval.Session.Attribute, Agent: approval.Session.Agent,
		Invariant: approval.Invariant, Ref: approval.Ref, From: string(approval.From), To: string(approval.To),
		Gate: approval.Gate, Revoked: approval.Revoked,
	}
}

// give prints approvals or sends them.
func (a *app) give(c *cobra.Command, cfg *config.Config, printOnly bool, approvals ...continuity.Approval) error {
	var events []continuity.Event
	for _, approval := range approvals {
		events = append(events, approval)
		if printOnly {
			e, err := printed.Of(approval, a.now())
			if err != nil {
				return err
			}
			if err := a.print().JSON(e); err != nil {
				return err
			}
		}
	}
	if printOnly {
		return nil
	}
	result, err := send.New(cfg, a.now).Send(c.Context(), events...)
	if err != nil {
		return err
	}
	first := approvals[0]
	what := "approval"
	if first.Revoked {
		what = "revocation"
	}
	if len(approvals) == 1 {
		what += " of " + first.Invariant + " (" + first.Ref + ")"
	} else {
		what = count(len(approvals), what) + " (" + first.Ref + ")"
	}
	if first.Signature != nil {
		what += ", signed by " + first.KeyID
	} else {
		what += ", unsigned"
	}
	return a.sent(&result, first.Session.ID, what)
}
