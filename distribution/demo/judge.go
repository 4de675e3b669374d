package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/agentcontinuity/otelcol-continuity/internal/cases"
)

// result is what became of one case.
type result struct {
	*cases.Case
	eventRule string
	receipts  []*cases.Receipt
	// differs lists what is otherwise than the case expects.
	differs []string
}

// last is the latest receipt: what stands.
func (r *result) last() *cases.Receipt {
	if len(r.receipts) == 0 {
		return &cases.Receipt{State: "no receipt"}
	}
	return r.receipts[len(r.receipts)-1]
}

// judge compares what came out with what the case expects.
func (r *result) judge() { r.differs = r.Differences(r.eventRule, r.receipts) }

// strays lists sessions that nobody sent.
func strays(o *outcome, results []*result) []string {
	var out []string
	for _, session := range slices.Sorted(maps.Keys(o.bySession)) {
		if !slices.ContainsFunc(results, func(r *result) bool { return r.Session() == session }) {
			out = append(out, fmt.Sprintf("a receipt for session %q, which was not sent", session))
		}
	}
	return out
}
