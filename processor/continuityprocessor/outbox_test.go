package continuityprocessor

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pipeline"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// numbered makes receipts of one boundary with the revisions from first to last.
func numbered(origin boundary.Origin, first, last int) []boundary.Receipt {
	var out []boundary.Receipt
	for n := first; n <= last; n++ {
		out = append(out, boundary.Receipt{
			Verdict: &boundary.Verdict{
				BoundaryID: "b", Revision: n, State: classify.Preserved, Boundary: classify.Preserved, Reason: classify.Match,
			},
			Key: boundary.Key{SessionKey: boundary.SessionKey{Session: "s"}}, Start: morning, End: morning, Origin: origin,
		})
	}
	return out
}

func revisions(l *lane) []int {
	var out []int
	for _, r := range l.head(1 << 20) {
		out = append(out, r.Revision)
	}
	return out
}

func TestOutboxRoutes(t *testing.T) {
	o := newOutbox(100)
	traces1, logs1 := o.attach(pipeline.SignalTraces), o.attach(pipeline.SignalLogs)
	traces2, logs2 := o.attach(pipeline.SignalTraces), o.attach(pipeline.SignalLogs)
	for n, origin := range []boundary.Origin{0, traces1.origin, logs1.origin, traces2.origin, logs2.origin, 99} {
		require.Nil(t, o.add(numbered(origin, n, n), false))
	}
	require.Equal(t, []int{0, 1, 2, 4, 5}, revisions(traces1), "its own, and what no other traces pipeline delivered")
	require.Equal(t, []int{3}, revisions(traces2))
	require.Equal(t, []int{0, 1, 2, 3, 5}, revisions(logs1))
	require.Equal(t, []int{4}, revisions(logs2))
	require.Equal(t, map[pipeline.Signal]int{pipeline.SignalTraces: 6, pipeline.SignalLogs: 6}, o.waiting())

	require.Equal(t, 5, traces1.detach())
	require.Nil(t, o.add(numbered(traces1.origin, 6, 6), false))
	require.Equal(t, []int{3, 6}, revisions(traces2), "what a pipeline that left would have got goes to the next of its signal")
	require.False(t, traces2.detachIfEmpty())
	traces2.taken(2)
	require.True(t, traces2.detachIfEmpty())
	require.Nil(t, o.add(numbered(0, 7, 7), false))
	require.Equal(t, map[pipeline.Signal]int{pipeline.SignalLogs: 8}, o.waiting())
}

func TestOutboxFull(t *testing.T) {
	o := newOutbox(4)
	traces, logs := o.attach(pipeline.SignalTraces), o.attach(pipeline.SignalLogs)
	require.Nil(t, o.add(numbered(0, 1, 4), false))
	logs.taken(4)
	require.Equal(t, map[pipeline.Signal]int{pipeline.SignalTraces: 2}, o.add(numbered(0, 5, 6), false), "one signal's trouble is its own")
	require.Equal(t, []int{1, 2, 3, 4}, revisions(traces), "what it holds it keeps")
	require.Equal(t, []int{5, 6}, revisions(logs))
	require.Equal(t, []*lane{traces}, o.overflowed())
	require.Empty(t, o.overflowed(), "reported once")
	require.Equal(t, map[pipeline.Signal]int{pipeline.SignalTraces: 1}, o.add(numbered(0, 7, 7), false))
	require.Empty(t, o.overflowed(), "still the same time of refusals")

	_, relieved := traces.taken(1)
	require.False(t, relieved, "not until half of it is free")
	dropped, relieved := traces.taken(1)
	require.True(t, relieved)
	require.Equal(t, 3, dropped)
	_, relieved = traces.taken(1)
	require.False(t, relieved, "told once")

	logs.taken(3)
	require.Nil(t, o.add(numbered(0, 8, 10), false))
	require.Equal(t, map[pipeline.Signal]int{pipeline.SignalTraces: 2, pipeline.SignalLogs: 1}, o.add(numbered(0, 11, 12), false))
	require.ElementsMatch(t, []*lane{traces, logs}, o.overflowed(), "a new time of refusals")
	require.Nil(t, o.add(numbered(0, 13, 20), true), "what shutdown settles always finds room")
	require.Equal(t, []int{4, 8, 9, 10, 13, 14, 15, 16, 17, 18, 19, 20}, revisions(traces))
}

func TestOutboxWithoutPipelines(t *testing.T) {
	o := newOutbox(1)
	require.Nil(t, o.add(numbered(0, 1, 3), false))
	require.Empty(t, o.waiting())
}

func TestOutboxLetsGo(t *testing.T) {
	o := newOutbox(1000)
	l := o.attach(pipeline.SignalTraces)
	for round := range 10 {
		o.add(numbered(0, round*100, round*100+99), false)
		require.Equal(t, round*100, l.head(1)[0].Revision)
		l.taken(100)
		require.Zero(t, l.queue, fmt.Sprint("round ", round))
	}
}

func pointers(receipts []boundary.Receipt) []*boundary.Receipt {
	var out []*boundary.Receipt
	for i := range receipts {
		out = append(out, &receipts[i])
	}
	return out
}

// stored is an outbox whose receipts are stored.
func storedOutbox(limit int) *outbox {
	o := newOutbox(limit)
	o.stored = true
	return o
}

func numbers(of []owed) []string {
	var out []string
	for _, one := range of {
		out = append(out, owedEntry(one))
	}
	return out
}

func all(q queue) []owed { return slices.Collect(q.first(q.len())) }

func TestOutboxHolds(t *testing.T) {
	o := storedOutbox(100)
	traces, logs := o.attach(pipeline.SignalTraces), o.attach(pipeline.SignalLogs)
	toStore, refused := o.hold(pointers(numbered(0, 1, 2)))
	require.Nil(t, refused)
	require.Equal(t, []string{
		"o/traces/0000000000000001", "o/logs/0000000000000002", "o/traces/0000000000000003", "o/logs/0000000000000004",
	}, numbers(toStore))
	require.Empty(t, revisions(traces), "not stored yet")
	require.False(t, traces.detachIfEmpty())
	o.release()
	require.Equal(t, []int{1, 2}, revisions(traces))
	o.hold(pointers(numbered(0, 3, 3)))
	require.Equal(t, []int{1, 2}, revisions(logs))
	logs.taken(1)
	require.Equal(t, []string{"o/logs/0000000000000002"}, numbers(all(o.paid())))
	require.Empty(t, all(o.paid()))

	require.Equal(t, 3, traces.detach())
	toStore, _ = o.hold(pointers(numbered(0, 4, 4)))
	require.Len(t, toStore, 2, "a signal that left is still owed")
	require.Zero(t, traces.queue, "until the next start")
	require.Equal(t, map[pipeline.Signal]int{pipeline.SignalLogs: 3}, o.waiting())
	require.Empty(t, all(o.paid()))
	second := o.attach(pipeline.SignalTraces)
	o.hold(pointers(numbered(traces.origin, 5, 5)))
	o.release()
	require.Equal(t, []int{5}, revisions(second), "what is open comes before what is closed")
}

func TestOutboxRestores(t *testing.T) {
	o := storedOutbox(1)
	traces := o.attach(pipeline.SignalTraces)
	one, two := numbered(7, 1, 1), numbered(7, 2, 2)
	require.Equal(t, 1, o.restore([]owed{
		{signal: pipeline.SignalTraces, number: 3, receipt: &one[0]},
		{signal: pipeline.SignalLogs, number: 8, receipt: &one[0]},
		{signal: pipeline.SignalTraces, number: 9, receipt: &two[0]},
	}), "one that nobody owes")
	require.Equal(t, []int{1, 2}, revisions(traces), "in their order, past the limit")
	traces.taken(2)
	toStore, _ := o.hold(pointers(numbered(0, 3, 3)))
	require.Equal(t, []string{"o/traces/000000000000000a"}, numbers(toStore), "no number is used twice")
}

// A queue gives back what it took, in order, whatever lies between.
func TestQueue(t *testing.T) {
	var q queue
	pushed, dropped := uint64(0), uint64(0)
	require.Empty(t, all(q))
	for round := range 200 {
		for range (round * 37) % 500 {
			q.push(owed{number: pushed, receipt: &boundary.Receipt{}})
			pushed++
		}
		n := (round * 53) % 600
		got := slices.Collect(q.first(n))
		require.Len(t, got, min(n, q.len()))
		for i, one := range got {
			require.Equal(t, dropped+uint64(i), one.number)
		}
		for range q.first(n) {
			break
		}
		q.drop(n)
		dropped += uint64(len(got))
		require.Equal(t, int(pushed-dropped), q.len())
		require.LessOrEqual(t, len(q.blocks), q.len()/blockSize+2)
	}
	q.drop(q.len())
	require.Zero(t, q)
}
