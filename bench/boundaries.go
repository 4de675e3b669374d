package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/processor/continuityprocessor"
)

// perRequest is how many boundaries a request holds.
const perRequest = 100

// subject is a continuity processor for boundaries.
func subject(settings map[string]any, host component.Host, out *sink) (running, error) {
	n := neighbour{name: "continuity", processor: continuityprocessor.NewFactory(), settings: settings}
	return n.start(false, host, out, out)
}

// requests are events of n sessions, perRequest in each.
func requests(w when, first, n int) []ptrace.Traces {
	var out []ptrace.Traces
	for at := first; at < first+n; at += perRequest {
		out = append(out, lookEvents(w, at, min(at+perRequest, first+n)))
	}
	return out
}

func send(r *running, batches []ptrace.Traces) error {
	for _, td := range batches {
		if err := r.traces.ConsumeTraces(context.Background(), td); err != nil {
			return err
		}
	}
	return nil
}

// drained waits until so many items came out.
func (s *sink) drained(want int64) error {
	for begun := time.Now(); s.items.Load() < want; time.Sleep(100 * time.Microsecond) {
		if time.Since(begun) > time.Minute {
			return fmt.Errorf("%d of %d items came out", s.items.Load(), want)
		}
	}
	return nil
}

// rate is what one boundary costs.
type rate struct {
	cpu, wall time.Duration
	allocs    float64
}

// boundaryCost is what a boundary costs from its snapshot to its receipt, with n
// sessions that each have one: five invariants, stated before and after.
func boundaryCost(n int, settings map[string]any, host component.Host) (rate, error) {
	now := time.Now()
	before := requests(when{snapshot, now.Add(-time.Minute)}, 0, n)
	after := requests(when{observation, now}, 0, n)
	out := &sink{}
	r, err := subject(settings, host, out)
	if err != nil {
		return rate{}, err
	}
	runtime.GC()
	allocs, cpu, begun := mallocs(), cpuTime(), time.Now()
	if err := send(&r, before); err != nil {
		return rate{}, err
	}
	if err := send(&r, after); err != nil {
		return rate{}, err
	}
	// Both events come out again, and a receipt for each boundary.
	if err := out.drained(int64(3 * n)); err != nil {
		return rate{}, err
	}
	took := rate{(cpuTime() - cpu) / time.Duration(n), time.Since(begun) / time.Duration(n), float64(mallocs()-allocs) / float64(n)}
	return took, r.Shutdown(context.Background())
}

// weights is what sessions hold, in bytes of live heap each.
type weights struct {
	sessions     int
	open, closed int64 // with one open boundary; the same closed and remembered
	another      int64 // what one more closed and remembered boundary adds
}

// boundaryHeap measures what n sessions hold.
func boundaryHeap(n int) (weights, error) {
	settings := map[string]any{"limits": map[string]any{"sessions": n + 1000, "memory_mib": 16 << 10}}
	out := &sink{}
	r, err := subject(settings, nil, out)
	if err != nil {
		return weights{}, err
	}
	now := time.Now()
	w := weights{sessions: n}
	empty := liveHeap()
	step := func(name string, at time.Time) error {
		for first := 0; first < n; first += perRequest {
			td := lookEvents(when{name, at}, first, min(first+perRequest, n))
			if err := send(&r, []ptrace.Traces{td}); err != nil {
				return err
			}
		}
		return nil
	}
	want := int64(n)
	for i, to := range []*int64{&w.open, &w.closed, nil, &w.another} {
		name := snapshot
		if i%2 == 1 {
			name = observation
		}
		if err := step(name, now.Add(time.Duration(i-10)*time.Minute)); err != nil {
			return weights{}, err
		}
		if want += int64(n); i%2 == 1 {
			want += int64(n)
		}
		if err := out.drained(want - int64(n)); err != nil {
			return weights{}, err
		}
		if to != nil {
			*to = (liveHeap() - empty) / int64(n)
		}
	}
	w.another -= w.closed
	return w, r.Shutdown(context.Background())
}
