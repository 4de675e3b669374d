package boundary_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// rested is a core in which every session rests between two steps.
type rested struct{ core }

func newRested(cfg *boundary.Config) *rested { return &rested{*newCore(cfg)} }

func (m *rested) observe(now time.Time, ev *boundary.Event) []out {
	defer m.c.Rest()
	return m.core.observe(now, ev)
}

func (m *rested) advance(now time.Time) []out {
	defer m.c.Rest()
	return m.core.advance(now)
}

func (m *rested) shutdown(now time.Time) []out {
	defer m.c.Rest()
	return m.core.shutdown(now)
}

// TestRest shows that a session that rests is the same when it wakes.
func TestRest(t *testing.T) {
	all := features{
		batches: true, completions: true, outcomes: true, approvals: true, chains: true, sessions: true, agents: true, lifecycle: true,
		weak: true, odd: true, late: true, text: true, optional: true, required: true, confirm: true, nones: true, forms: true, ids: true,
		envelopes: true, refusals: true,
	}
	rapid.Check(t, func(t *rapid.T) {
		text := genHistory(t, all)
		h := parseHistory(text)
		want := split(h.run(newCore(&h.cfg)))
		got := split(h.run(newRested(&h.cfg)))
		for key, outs := range want { // of sessions the order at one moment is free
			assert.Equal(t, lines(outs), lines(got[key]), text)
		}
		assert.Len(t, got, len(want), text)
	})
}

// TestRestConformance does the same to the conformance cases.
func TestRestConformance(t *testing.T) {
	for _, row := range conformance {
		t.Run(row.name, func(t *testing.T) {
			h := parseHistory(row.text)
			h.check(t, h.run(newRested(&h.cfg)))
		})
	}
}
