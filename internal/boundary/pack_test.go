package boundary_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
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

// TestRestKeepsAnnotations: the same event again is told the same, whatever became of
// its boundary, and an early look is told of the boundary that it found later.
func TestRestKeepsAnnotations(t *testing.T) {
	story := []attackStep{
		lookAt(1, "s", "scope=S0", withFingerprint(1)),
		snapAt(0, "s", "scope=S0 target=T0", withFingerprint(2)),
		lookAt(5, "s", "target=T1", partial, withFingerprint(3)),
		lookAt(6, "s", "target=T0", partial, withFingerprint(4)),
	}
	var told [2][]boundary.Annotation
	for i := range told {
		cfg := boundary.DefaultConfig()
		core := boundary.New(&cfg, newBoundedFleet(10, 1<<20))
		for range 2 { // and all of them again
			var marks []*boundary.Mark
			for n, s := range story {
				mark, _ := core.Observe(attackTime(s.at), s.ev)
				if marks = append(marks, mark); n == 0 {
					continue // the request that brought it is not done yet
				}
				for _, mark := range marks {
					told[i] = append(told[i], core.Annotation(mark))
				}
				if marks = nil; i == 1 {
					core.Rest()
				}
			}
		}
	}
	assert.Len(t, told[0], 2*len(story))
	for n := range told[0] {
		assert.Equal(t, told[0][n], told[1][n], n)
	}
}

// TestRestKeepsBothClocks: a window that rests closes by the monotonic clock, and is
// told by the wall clock, whatever that was set to meanwhile.
func TestRestKeepsBothClocks(t *testing.T) {
	cfg := boundary.DefaultConfig()
	core := boundary.New(&cfg, newFleet())
	begun := time.Now()
	core.Observe(begun, snapAt(0, "s", "scope=S0").ev)
	core.Rest()
	next, ok := core.Next()
	assert.True(t, ok)
	assert.Equal(t, cfg.Window, next.Sub(begun))
	res, _ := core.Expire(next)
	assert.Len(t, res.Receipts, 1)
	assert.WithinDuration(t, begun.Round(0), res.Receipts[0].Start.Round(0), time.Millisecond)
}

// TestStateOfRestingSessions: to be asked for its state wakes nobody.
func TestStateOfRestingSessions(t *testing.T) {
	cfg := boundary.DefaultConfig()
	core := boundary.New(&cfg, newFleet())
	core.Observe(attackTime(0), snapAt(0, "s/a", "scope=S0").ev)
	core.Observe(attackTime(1), lookAt(1, "s/a", "scope=S1").ev)
	core.Observe(attackTime(2), snapAt(2, "s/b", "scope=S0").ev)
	want := map[string]classify.State{"a": classify.Conflicting, "b": classify.Unverified, "c": classify.NoState}
	for range 2 {
		for agent, state := range want {
			key := boundary.Key{SessionKey: boundary.SessionKey{Session: "s"}, Agent: agent}
			assert.Equal(t, state, core.State(key), agent)
		}
		var open boundary.Open
		core.AddOpen(attackTime(63), &open)
		assert.Equal(t, 1, open.Counts[boundary.WindowRunning][1], "a minute old")
		core.Rest()
	}
}
