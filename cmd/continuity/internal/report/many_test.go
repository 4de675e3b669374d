package report_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// many are receipts of many sessions.
func many(sessions, each int) []*boundary.Receipt {
	r := rand.New(rand.NewPCG(1, 2))
	names := []string{"approval_boundary", "scope", "constraint.push", "target", "acceptance_test"}
	reasons := map[classify.State]classify.Reason{
		classify.Preserved: classify.Match, classify.ApprovedChange: classify.ApprovedTransition, classify.Unverified: classify.NotFresh,
		classify.Dropped: classify.MissingAfter, classify.Conflicting: classify.ChangedWithoutApproval,
	}
	var out []*boundary.Receipt
	for i := range sessions {
		key := boundary.Key{SessionKey: boundary.SessionKey{Session: fmt.Sprintf("session-%05d", i)}}
		now := morning.Add(time.Duration(i) * 7 * time.Minute)
		owed := classify.NoState
		for j := range each {
			now = now.Add(time.Duration(1+r.IntN(900)) * time.Second)
			state := classify.Preserved
			if n := r.IntN(20); n < 4 {
				state = classify.States[1+n]
			} else if n > 8 {
				owed = classify.NoState
			}
			v := &boundary.Verdict{
				BoundaryID: fmt.Sprintf("%016x%016x", i, j), Revision: 1, Boundary: state, Reason: reasons[state], Coverage: boundary.CoverageObserved,
			}
			if !state.Healthy() {
				owed = classify.Worse(owed, state)
			}
			v.State = classify.Worse(owed, state)
			v.Actions = []classify.Action{classify.ActionFor(v.State)}
			for n, name := range names {
				f := classify.Finding{Name: name, State: classify.Preserved, Reason: classify.Match, Source: classify.Agent}
				if n == j%len(names) {
					f.State, f.Reason = state, reasons[state]
				}
				v.Findings = append(v.Findings, f)
			}
			out = append(out, &boundary.Receipt{
				Verdict: v, Key: key, Start: now.Add(-time.Duration(20+r.IntN(100)) * time.Second), End: now, Window: 15 * time.Minute,
				Runtime: []string{"claude_code", "codex_cli", "opencode"}[i%3], Identity: []boundary.Attr{{Key: semconv.ConversationID, Value: key.Session}},
			})
		}
	}
	slices.SortStableFunc(out, func(a, b *boundary.Receipt) int { return cmp.Compare(a.End.UnixNano(), b.End.UnixNano()) })
	return out
}
