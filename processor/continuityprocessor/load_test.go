package continuityprocessor

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
	"github.com/agentcontinuity/otelcol-continuity/processor/continuityprocessor/internal/metadata"
)

// Many senders in both signals, with deadlines that pass meanwhile: every boundary
// gets its receipt in both signals, once for each revision.
func TestManySenders(t *testing.T) {
	f, set := NewFactory(), processortest.NewNopSettings(metadata.Type)
	cfg := defaultConfig(func(c *Config) {
		c.Window, c.ReorderGrace, c.Annotate = 20*time.Millisecond, time.Millisecond, AnnotateSession
	})
	p := &pipelines{t: t, tracesOut: new(consumertest.TracesSink), logsOut: new(consumertest.LogsSink)}
	var err error
	p.traces, err = f.CreateTraces(t.Context(), set, cfg, p.tracesOut)
	require.NoError(t, err)
	p.logs, err = f.CreateLogs(t.Context(), set, cfg, p.logsOut)
	require.NoError(t, err)
	require.NoError(t, p.traces.Start(t.Context(), componenttest.NewNopHost()))
	require.NoError(t, p.logs.Start(t.Context(), componenttest.NewNopHost()))

	const senders, rounds = 32, 25
	var wg sync.WaitGroup
	for n := range senders {
		wg.Go(func() {
			for i := range rounds {
				id := fmt.Sprint("s-", n, "-", i)
				before := snapshot(id, time.Now().Add(-time.Minute), original())
				after := observation(id, time.Now(), original())
				if i%3 == 0 {
					after.attrs[semconv.SessionPreviousID] = fmt.Sprint("s-", (n+1)%senders, "-", i)
				}
				send := []func(e event) error{
					func(e event) error { return p.traces.ConsumeTraces(context.Background(), spans(e)) },
					func(e event) error { return p.logs.ConsumeLogs(context.Background(), records(e)) },
				}
				if err := send[n%2](before); err != nil {
					t.Error(err)
				}
				if i%2 == 0 {
					if err := send[(n+i)%2](after); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	p.stop()
	type id struct {
		boundary any
		revision any
	}
	seen := map[id]int{}
	for _, r := range p.receipts() {
		seen[id{r[semconv.BoundaryID], r[semconv.Revision]}]++
	}
	for _, r := range p.records(semconv.EventBoundary) {
		seen[id{r[semconv.BoundaryID], r[semconv.Revision]}]--
	}
	require.GreaterOrEqual(t, len(seen), senders*rounds/2)
	for key, n := range seen {
		require.Zero(t, n, "%v came out more often in one signal than in the other", key)
	}
}

// A flood of session ids leaves memory bounded and evicts no open baseline.
func TestFloodOfSessions(t *testing.T) {
	flood := 1_000_000
	if testing.Short() {
		flood = 200_000
	}
	const limit, batch = 1000, 500
	var last ptrace.Traces
	next, err := consumer.NewTraces(func(_ context.Context, td ptrace.Traces) error {
		if !isReceipts(td) {
			last = td
		}
		return nil
	})
	require.NoError(t, err)
	p, err := NewFactory().CreateTraces(t.Context(), processortest.NewNopSettings(metadata.Type),
		defaultConfig(func(c *Config) { c.Limits.Sessions = limit }), next)
	require.NoError(t, err)
	require.NoError(t, p.Start(t.Context(), componenttest.NewNopHost()))
	defer func() { require.NoError(t, p.Shutdown(context.Background())) }()

	before := time.Now().Add(-time.Minute)
	require.NoError(t, p.ConsumeTraces(t.Context(), spans(snapshot("victim", before, original()))))
	events := make([]event, batch)
	for i := range events {
		events[i] = snapshot("flood", before, decisions{"scope": "anything"})
	}
	template, used := spans(events...), heap()
	for n := 0; n < flood; n += batch {
		td := cloneTraces(template)
		for i, span := range spansOf(td) {
			span.Attributes().PutStr(semconv.SessionID, fmt.Sprint("flood-", n+i))
		}
		require.NoError(t, p.ConsumeTraces(t.Context(), td))
	}
	require.Less(t, int64(heap())-int64(used), int64(64<<20), "what %d ids leave behind", flood)
	refused, _ := spansOf(last)[0].Events().At(0).Attributes().Get(semconv.Reason)
	require.Equal(t, "capacity", refused.Str())

	require.NoError(t, p.ConsumeTraces(t.Context(), spans(observation("victim", time.Now(), original()))))
	state, _ := spansOf(last)[0].Attributes().Get(semconv.State)
	require.Equal(t, "preserved", state.Str(), "the baseline is still there")
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
