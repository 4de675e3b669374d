package main

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// point is a place on the scaling curve.
type point struct {
	cores, sessions int
	// spans is how many go through in a second, bytes what a session holds.
	spans    float64
	bytes    int64
	p50, p99 time.Duration
}

// What a request of the curve holds: mostly work, and a look at two live sessions.
const (
	requestSpans = 100
	requestLooks = 2
	scaleTime    = 3 * time.Second
)

// scale measures requests beside so many live sessions, each with an open boundary,
// from as many senders as there are cores.
func scale(sessions int, cores []int) ([]point, error) {
	out := &sink{}
	r, err := subject(map[string]any{"limits": map[string]any{"sessions": sessions + 1000, "memory_mib": 16 << 10}}, nil, out)
	if err != nil {
		return nil, err
	}
	now, empty := time.Now(), liveHeap()
	for first := 0; first < sessions; first += perRequest {
		td := lookEvents(when{snapshot, now.Add(-time.Minute)}, first, min(first+perRequest, sessions))
		if err := r.traces.ConsumeTraces(context.Background(), td); err != nil {
			return nil, err
		}
	}
	held := (liveHeap() - empty) / int64(sessions)
	var points []point
	for _, n := range cores {
		p, err := r.load(n, sessions)
		if err != nil {
			return nil, err
		}
		p.bytes = held
		points = append(points, p)
	}
	return points, r.Shutdown(context.Background())
}

// load sends requests from n senders for a while.
func (r *running) load(n, sessions int) (point, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var wg sync.WaitGroup
	begun := time.Now()
	for sender := range n {
		wg.Go(func() {
			took, err := r.sender(rand.New(rand.NewPCG(uint64(sender), uint64(sessions))), sessions, begun)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, took...)
			if failed == nil {
				failed = err
			}
		})
	}
	wg.Wait()
	slices.Sort(all)
	busy := time.Duration(0)
	for _, d := range all {
		busy += d
	}
	return point{
		cores: n, sessions: sessions, spans: float64(len(all)*requestSpans*n) / busy.Seconds(),
		p50: quantile(all, 0.50), p99: quantile(all, 0.99),
	}, failed
}

func (r *running) sender(rng *rand.Rand, sessions int, begun time.Time) (took []time.Duration, err error) {
	for time.Since(begun) < scaleTime {
		td := mixed(rng, sessions)
		at := time.Now()
		if err := r.traces.ConsumeTraces(context.Background(), td); err != nil {
			return nil, err
		}
		took = append(took, time.Since(at))
	}
	return took, nil
}

// mixed is a request of work with looks at some sessions.
func mixed(rng *rand.Rand, sessions int) ptrace.Traces {
	now := time.Now()
	td := ptrace.NewTraces()
	for range requestLooks {
		n := rng.IntN(sessions)
		lookEvents(when{observation, now}, n, n+1).ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
	}
	rs := td.ResourceSpans().AppendEmpty()
	agentResource(rs.Resource().Attributes())
	spans := rs.ScopeSpans().AppendEmpty().Spans()
	for i := range requestSpans - requestLooks {
		span := spans.AppendEmpty()
		span.SetName(doings[i%len(doings)])
		span.SetStartTimestamp(pcommon.NewTimestampFromTime(now))
		span.Attributes().PutStr("gen_ai.conversation.id", sessionID(i/traceSize))
		span.Attributes().PutStr("gen_ai.tool.name", "shell")
	}
	return td
}
