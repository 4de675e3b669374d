package cases

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Receipt is what was said of one boundary at one revision.
type Receipt struct {
	// State is the boundary's own.
	State, Reason, Action string
	// Alerts are kind:status.
	Alerts []string
	// Invariants are state/reason by name.
	Invariants map[string]string
	// Sentence says it in words.
	Sentence string
}

// Differences lists what is otherwise than the case expects.
func (c *Case) Differences(eventRule string, receipts []*Receipt) []string {
	var out []string
	differ := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if eventRule != c.Want.EventRule {
		differ("the event-only rule says %q, expected %q", eventRule, c.Want.EventRule)
	}
	if len(receipts) != len(c.Want.Receipts) {
		differ("%d receipts, expected %d", len(receipts), len(c.Want.Receipts))
	}
	for i := range min(len(receipts), len(c.Want.Receipts)) {
		got, want := receipts[i], c.Want.Receipts[i]
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
	return out
}

// Firing lists the kinds of alerts that fired in any of the receipts and did not
// end since.
func Firing(receipts []*Receipt) []string {
	var out []string
	for _, receipt := range receipts {
		for _, a := range receipt.Alerts {
			kind, status, _ := strings.Cut(a, ":")
			out = slices.DeleteFunc(out, func(k string) bool { return k == kind })
			if status == "firing" {
				out = append(out, kind)
			}
		}
	}
	return out
}
