package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// result is what became of one case.
type result struct {
	*demoCase
	session   string
	eventRule string
	receipts  []*receipt
	// differs lists what is otherwise than the case expects.
	differs []string
}

// last is the latest receipt: what stands.
func (r *result) last() *receipt {
	if len(r.receipts) == 0 {
		return &receipt{State: "no receipt"}
	}
	return r.receipts[len(r.receipts)-1]
}

// judge compares what came out with what the case expects.
func (r *result) judge() {
	differ := func(format string, args ...any) { r.differs = append(r.differs, fmt.Sprintf(format, args...)) }
	if r.eventRule != r.Want.EventRule {
		differ("the event-only rule says %q, expected %q", r.eventRule, r.Want.EventRule)
	}
	if len(r.receipts) != len(r.Want.Receipts) {
		differ("%d receipts, expected %d", len(r.receipts), len(r.Want.Receipts))
	}
	for i := range min(len(r.receipts), len(r.Want.Receipts)) {
		got, want := r.receipts[i], r.Want.Receipts[i]
		check := func(what, got, want string) {
			if got != want {
				differ("receipt %d: %s is %q, expected %q", i+1, what, got, want)
			}
		}
		check("state", got.State, want.State)
		check("reason", got.Reason, want.Reason)
		check("action", got.Action, want.Action)
		check("alerts", strings.Join(slices.Sorted(slices.Values(got.Alerts)), " "), strings.Join(slices.Sorted(slices.Values(want.Alerts)), " "))
		for _, name := range slices.Sorted(maps.Keys(want.Invariants)) {
			check(name, got.Invariants[name], want.Invariants[name])
		}
	}
}

// strays lists sessions that nobody sent.
func strays(o *outcome, results []*result) []string {
	var out []string
	for _, session := range slices.Sorted(maps.Keys(o.bySession)) {
		if !slices.ContainsFunc(results, func(r *result) bool { return r.session == session }) {
			out = append(out, fmt.Sprintf("a receipt for session %q, which was not sent", session))
		}
	}
	return out
}
