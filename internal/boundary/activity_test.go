package boundary_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// steps plays events of one session, stored and loaded again after each, and
// returns the receipts.
type steps struct {
	t    *testing.T
	cfg  boundary.Config
	core *boundary.Core
	seen uint64
	out  []boundary.Receipt
}

func newSteps(t *testing.T) *steps {
	s := &steps{t: t, cfg: boundary.DefaultConfig()}
	s.cfg.Durable = true
	s.core = boundary.New(&s.cfg, newFleet())
	return s
}

// at sends an event at a second after the epoch, which is also its own time.
func (s *steps) at(second int, ev boundary.Event) *steps {
	now := epoch.Add(time.Duration(second) * time.Second)
	s.seen++
	ev.Key, ev.Fingerprint = boundary.Key{SessionKey: boundary.SessionKey{Session: "s"}}, s.seen
	if ev.Time == 0 {
		ev.Time = classify.At(now)
	}
	_, res := s.core.Observe(now, &ev)
	s.out = append(s.out, res.Receipts...)
	for _, change := range s.core.Changes() {
		s.core = boundary.New(&s.cfg, newFleet())
		require.NoError(s.t, s.core.Load(change.Value, time.Time{}))
	}
	return s
}

func decisionAt(second int) []boundary.Statement {
	return []boundary.Statement{{
		Name: "scope", Digest: digest.Of([]byte("x"), nil), Source: classify.Agent,
		ObservedAt: classify.At(epoch.Add(time.Duration(second) * time.Second)),
	}}
}

func (s *steps) snapshot(at int) *steps {
	return s.at(at, boundary.Event{Kind: boundary.Snapshot, Statements: decisionAt(at)})
}

func (s *steps) look(at int) *steps {
	return s.at(at, boundary.Event{Kind: boundary.Observation, Statements: decisionAt(at)})
}

func (s *steps) completed(at int, before, after int64) *steps {
	return s.at(at, boundary.Event{Kind: boundary.Completion, Outcome: boundary.Completed, TokensBefore: before, TokensAfter: after})
}

func (s *steps) work(at int, writes bool) *steps {
	return s.at(at, boundary.Event{Kind: boundary.Activity, Writes: writes})
}

// last lets a look that waits for its snapshot be taken up, and returns the latest
// receipt.
func (s *steps) last() *boundary.Receipt {
	res, _ := s.core.Expire(epoch.Add(45 * time.Second))
	s.out = append(s.out, res.Receipts...)
	require.NotEmpty(s.t, s.out)
	return &s.out[len(s.out)-1]
}

func TestTokens(t *testing.T) {
	r := newSteps(t).snapshot(0).completed(2, 0, 0).completed(3, 9000, 300).look(20).last()
	assert.Equal(t, [2]int64{9000, 300}, [2]int64{r.TokensBefore, r.TokensAfter}, "the producer's hook does not know")

	r = newSteps(t).completed(2, 9000, 300).completed(9, 8000, 200).look(20).last()
	assert.Equal(t, [2]int64{9000, 200}, [2]int64{r.TokensBefore, r.TokensAfter}, "before the first, after the last")

	r = newSteps(t).snapshot(0).look(20).last()
	assert.Zero(t, r.TokensBefore+r.TokensAfter)
}

func TestWritesBeforeObservation(t *testing.T) {
	for name, c := range map[string]struct {
		s    *steps
		want int
	}{
		"none":                         {newSteps(t).snapshot(0).completed(2, 0, 0).work(5, false).look(20), 0},
		"two":                          {newSteps(t).snapshot(0).completed(2, 0, 0).work(5, true).work(6, true).look(20), 2},
		"the same twice is two":        {newSteps(t).snapshot(0).completed(2, 0, 0).work(5, true).work(5, true).look(20), 2},
		"before the compaction":        {newSteps(t).snapshot(0).work(1, true).completed(2, 0, 0).work(5, true).look(20), 1},
		"before it, heard of later":    {newSteps(t).snapshot(0).completed(4, 0, 0).at(5, boundary.Event{Kind: boundary.Activity, Writes: true, Time: classify.At(epoch.Add(3 * time.Second))}).look(20), 0},
		"its end is told once more":    {newSteps(t).snapshot(0).completed(2, 0, 0).work(5, true).at(8, boundary.Event{Kind: boundary.Completion, Outcome: boundary.Completed, Time: classify.At(epoch.Add(2 * time.Second))}).look(20), 1},
		"its end is not told":          {newSteps(t).snapshot(0).work(5, true).look(20), 1},
		"after the observation":        {newSteps(t).snapshot(0).completed(2, 0, 0).look(20).work(25, true), 0},
		"of a completion alone":        {newSteps(t).completed(2, 0, 0).work(5, true).look(20), 1},
		"while the look waits":         {newSteps(t).completed(2, 0, 0).work(5, true).look(20).work(25, true), 1},
		"before anything was compared": {newSteps(t).work(1, true).snapshot(2).look(20), 0},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, c.s.last().Writes) })
	}
}

// TestWorkDisplacesNothing: a thousand tool calls later a duplicate is still one.
func TestWorkDisplacesNothing(t *testing.T) {
	s := newSteps(t).snapshot(0)
	for i := range 1000 {
		s.work(i/100, true)
	}
	s.seen = 0
	s.snapshot(0).look(20)
	assert.Zero(t, s.last().Superseded)
	assert.Equal(t, 1000, s.last().Writes)
}

// TestWorkIsStoredSeldom: an agent at work with nothing open does not write to the
// disk at each step.
func TestWorkIsStoredSeldom(t *testing.T) {
	s := newSteps(t).snapshot(0).look(20)
	stored := 0
	for i := range 600 {
		now := epoch.Add(time.Duration(30+i) * time.Second)
		s.core.Observe(now, &boundary.Event{Kind: boundary.Activity, Key: boundary.Key{SessionKey: boundary.SessionKey{Session: "s"}}, Writes: true})
		stored += len(s.core.Changes())
	}
	assert.InDelta(t, 10, stored, 1, "once a minute")
}
