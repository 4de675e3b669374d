package report_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/report"
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// Whatever happens to a session: nothing is outstanding at its end if its last
// receipt says that it is well, something is if it says that something was lost,
// and no loss ends before it began.
func TestLossesAreThoseOfTheCore(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := newStory()
		pick := func(what string, from ...string) string { return rapid.SampledFrom(from).Draw(r, what) }
		s.snapshot("s", 0, "scope", "a")
		for range rapid.IntRange(1, 10).Draw(r, "events") {
			minute := float64(rapid.IntRange(0, 90).Draw(r, "minute"))
			var pairs []string
			for _, name := range []string{"scope", "constraint.push", "own.thing"} {
				if rapid.IntRange(0, 3).Draw(r, name) > 0 {
					pairs = append(pairs, name, pick("value", "a", "b", "none"))
				}
			}
			switch rapid.IntRange(0, 5).Draw(r, "kind") {
			case 0, 1:
				s.snapshot("s", minute, pairs...).PutBool(semconv.InvariantRequired+"own.thing", rapid.Bool().Draw(r, "required"))
			case 2, 3:
				s.look("s", pick("source", "agent", "agent", "environment", "human", "record"), minute, pairs...)
			case 4:
				s.approval("s", pick("invariant", "scope", "constraint.push"), "CHG-1", minute, pick("from", "a", "b"), pick("to", "b", "none"))
			case 5:
				m := s.event("s", semconv.EventValidationFailed, minute)
				m.PutStr(semconv.ValidationStatus, "blocked_on_reconciliation")
				m.PutStr(semconv.ValidationReason, pick("reason", "policy_version_changed", "unknown_side_effect"))
			}
		}
		all := replayed(t, s.td)
		in := report.NewInput()
		if rapid.Bool().Draw(r, "as records") {
			in.AddLogs(writer.Logs(all))
		} else {
			in.AddTraces(writer.Traces(all))
		}
		row := in.Model().Rows[0]
		open := 0
		for _, l := range row.Losses {
			if l.To < 0 {
				open++
			} else if l.From > l.To {
				r.Fatalf("%+v ends before it began", l)
			}
		}
		state := classify.States[row.State]
		if state.Healthy() && open > 0 || state >= classify.Dropped && open == 0 {
			r.Fatalf("the session is %s, and %d losses are open:\n%s", state, open, summary(in.Model()))
		}
	})
}

// A file that begins late holds losses that it does not say the beginning of.
func TestLossFromBefore(t *testing.T) {
	all := replayed(t, tale().td)
	var late []*boundary.Receipt
	for _, r := range all {
		if r.Key.Session == "checkout-refactor" && r.End.After(morning.Add(25*time.Minute)) {
			late = append(late, r)
		}
	}
	in := report.NewInput()
	in.AddLogs(writer.Logs(late))
	losses := in.Model().Rows[0].Losses
	if assert.Len(t, losses, 1) {
		assert.Equal(t, int64(-1), losses[0].From)
		assert.Equal(t, -1, losses[0].Raised)
		assert.Equal(t, "resolved", losses[0].End)
	}
}

// A session that goes on under another id clears what it raised under the first.
func TestLossThatEndsElsewhere(t *testing.T) {
	s := newStory()
	s.snapshot("first", 1, five...)
	s.look("first", "agent", 2, with("scope", "")...)
	s.event("second", semconv.EventSessionStart, 5).PutStr(semconv.SessionPreviousID, "first")
	s.snapshot("second", 6, five...)
	s.look("second", "agent", 7, five...)
	in := report.NewInput()
	in.AddLogs(writer.Logs(replayed(t, s.td)))
	var seen []*report.Loss
	for _, row := range in.Model().Rows {
		seen = append(seen, row.Losses...)
	}
	if assert.Len(t, seen, 1) {
		assert.Equal(t, "second", seen[0].Where)
		assert.Equal(t, "resolved", seen[0].End)
	}
}
