package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/lab"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/term"
)

func (a *app) inspectCommand() *cobra.Command {
	s := lab.Default()
	var now string
	c := &cobra.Command{
		Use:   "inspect",
		Short: "Try out the envelope: compact and rehydrate a made-up session",
		Long: `Build a scenario (an agent works on a support ticket), compact its context,
rehydrate it two minutes later, and show what the checks of the envelope say and
which events a runtime would send. Nothing is sent.

The judgement is made by the same code as in the collector. None of its answers
lets an agent act: the best one says that it has to be decided anew.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			at := a.now()
			if now != "" {
				var err error
				if at, err = time.Parse(time.RFC3339, now); err != nil {
					return fmt.Errorf("--now %q is no time such as 2026-03-14T09:00:00Z", now)
				}
			}
			s.Now = at.UTC()
			if !c.Flags().Changed("trace-id") {
				s.TraceID = randomHex(16)
			}
			if !c.Flags().Changed("session-id") {
				s.SessionID = "ticket-" + randomHex(4)
			}
			outcome, err := lab.Run(s)
			if err != nil {
				return err
			}
			return a.printOutcome(&s, outcome)
		},
	}
	f := c.Flags()
	f.BoolVar(&s.TamperSummary, "tamper-summary", false, "change the summary after its digest was recorded")
	f.StringVar(&s.Summary, "summary", s.Summary, "the text that the conversation is compacted to; only its digest is shown")
	f.StringVar(&s.PolicyVersion, "policy-version", s.PolicyVersion, "the policy in force before the compaction")
	f.StringVar(&s.CurrentPolicyVersion, "current-policy-version", "", "the policy in force after it (default the same)")
	f.StringVar(&s.ApprovalStatus, "approval-status", s.ApprovalStatus, "what became of the action's approval: "+strings.Join(lab.ApprovalStatuses, ", "))
	f.StringVar(&s.SideEffectStatus, "side-effect-status", s.SideEffectStatus, "what became of the action: "+strings.Join(lab.SideEffectStatuses, ", "))
	f.StringVar(&s.TraceID, "trace-id", "", "the trace of the session (default a new one)")
	f.StringVar(&s.SessionID, "session-id", "", "the session (default a new one)")
	f.StringVar(&now, "now", "", "when the agent goes on, as 2026-03-14T09:00:00Z (default now)")
	return c
}

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

func (a *app) printOutcome(s *lab.Scenario, o *lab.Outcome) error {
	p := a.print()
	if a.json {
		return p.JSON(o)
	}
	p.Line("An agent works on a support ticket. Its conversation is compacted; at %s it goes on.", s.Now.Format(time.RFC3339))
	p.Line("")
	say := func(what, text string) { p.Line("%-16s %s", what, text) }
	style := term.Bad
	if o.Clean() {
		style = term.Good
	}
	say("status", p.Style(style, o.Status))
	say("reason", o.Reason)
	if len(o.Findings) > 1 {
		say("all findings", strings.Join(o.Findings, ", "))
	}
	for _, c := range o.Changes {
		say("changed", term.Clean(fmt.Sprintf("%s: %s, then %s", c.Field, c.Before, c.Now)))
	}
	say("side effect", o.SideEffectStatus)
	say("reauthorization", "required")
	say("events", strings.Join(o.EventTypes, ", "))
	p.Line("")
	p.Line("%s", o.Explain())
	return nil
}
