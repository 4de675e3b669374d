package continuityprocessor

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/agentcontinuity/otelcol-continuity/internal/receipt"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
	"github.com/agentcontinuity/otelcol-continuity/processor/continuityprocessor/internal/metadata"
)

// lone is one pipeline of a shared state, without the helper around it.
func lone(t testing.TB, change ...func(*Config)) *member {
	t.Helper()
	f := &factory{states: map[*Config]*shared{}}
	m, err := f.join(processortest.NewNopSettings(metadata.Type), defaultConfig(change...), pipeline.SignalTraces, func(l *lane) *emitter {
		return newEmitter(l, toTraces(receipt.Writer{}, consumertest.NewNop()))
	})
	require.NoError(t, err)
	require.NoError(t, m.Start(context.Background(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, m.Shutdown(context.Background())) })
	return m
}

// busySpans and busyRecords are agent telemetry without any boundary in it.
func busySpans(n int) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "agent")
	ss := rs.ScopeSpans().AppendEmpty()
	for i := range n {
		span := ss.Spans().AppendEmpty()
		span.SetName("chat")
		span.Attributes().PutStr(semconv.SessionID, fmt.Sprint("s-", i))
		span.Attributes().PutStr(semconv.State, "preserved")
		span.Events().AppendEmpty().SetName("gen_ai.choice")
	}
	return td
}

func busyRecords(n int) plog.Logs {
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", "agent")
	sl := rl.ScopeLogs().AppendEmpty()
	for i := range n {
		record := sl.LogRecords().AppendEmpty()
		record.SetEventName("src/main.go:17")
		record.Body().SetStr("the agent did something")
		record.Attributes().PutStr(semconv.SessionID, fmt.Sprint("s-", i))
		record.Attributes().PutStr(semconv.EventName, "tool_result")
	}
	return ld
}

// A batch with no boundary in it costs no allocation and is not touched.
func TestNoBoundaryNoAllocation(t *testing.T) {
	m := lone(t)
	td, ld := busySpans(200), busyRecords(200)
	wantTraces, wantLogs := ptrace.NewTraces(), plog.NewLogs()
	td.CopyTo(wantTraces)
	ld.CopyTo(wantLogs)
	td.MarkReadOnly() // whoever touches it panics
	ld.MarkReadOnly()
	ctx := context.Background()
	var err error
	require.Zero(t, testing.AllocsPerRun(100, func() { err = errors.Join(err, m.shared.traces(ctx, 1, td)) }), "traces")
	require.Zero(t, testing.AllocsPerRun(100, func() { err = errors.Join(err, m.shared.logs(ctx, 1, ld)) }), "logs")
	require.NoError(t, err)
	require.Equal(t, wantTraces, cloneTraces(td))
	require.Equal(t, wantLogs, cloneLogs(ld))
}

func BenchmarkNoBoundary(b *testing.B) {
	m := lone(b)
	td, ctx := busySpans(1000), context.Background()
	b.ReportAllocs()
	for b.Loop() {
		_ = m.shared.traces(ctx, 1, td)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/span")
}
