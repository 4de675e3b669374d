package signal

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

const batchSize = 1000

// plainTraces are the spans of an agent at work: events, but no boundary.
func plainTraces() ptrace.Traces {
	td := ptrace.NewTraces()
	resource := td.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "agent")
	spans := resource.ScopeSpans().AppendEmpty().Spans()
	for i := range batchSize {
		span := spans.AppendEmpty()
		span.SetName("execute_tool")
		span.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
		span.Attributes().PutStr("gen_ai.tool.name", "shell")
		span.Attributes().PutStr(conversationID, fmt.Sprint("s", i%10))
		event := span.Events().AppendEmpty()
		event.SetName("gen_ai.choice")
		event.Attributes().PutStr("prompt", "kept: not ours")
	}
	return td
}

// plainLogs are the records of an agent at work, named in all three ways.
func plainLogs() plog.Logs {
	ld := plog.NewLogs()
	resource := ld.ResourceLogs().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "agent")
	records := resource.ScopeLogs().AppendEmpty().LogRecords()
	for i := range batchSize {
		record := records.AppendEmpty()
		record.SetEventName("core/src/client.rs:42")
		record.Body().SetStr("claude_code.api_request")
		record.Attributes().PutStr(conversationID, fmt.Sprint("s", i%10))
		record.Attributes().PutStr("model", "m")
		record.Attributes().PutStr("event.name", "api_request")
	}
	return ld
}

// withBoundaries puts a whole observation on every nth span.
func withBoundaries(td ptrace.Traces, every int) ptrace.Traces {
	spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	for i := 0; i < spans.Len(); i += every {
		event := spans.At(i).Events().AppendEmpty()
		event.SetName(look)
		for _, name := range []string{"scope", "approval_boundary", "target", "acceptance_test", "constraint.c0"} {
			event.Attributes().PutStr(dig+name, sum("a"))
			event.Attributes().PutInt(seen+name, occurred)
			event.Attributes().PutStr(from+name, "agent")
		}
	}
	return td
}

// TestHotPathDoesNotAllocate: telemetry that is no boundary costs a name check.
func TestHotPathDoesNotAllocate(t *testing.T) {
	r := NewReader(DefaultConfig())
	td, ld := plainTraces(), plainLogs()
	ignore := func(Item) { t.Error("nothing of this is a boundary") }
	tenant := []string{"a"}
	assert.Zero(t, testing.AllocsPerRun(10, func() { r.Traces(td, tenant, received, ignore) }))
	assert.Zero(t, testing.AllocsPerRun(10, func() { r.Logs(ld, tenant, received, ignore) }))

	cfg := DefaultConfig()
	rows := newReader(&cfg, []Row{{Runtime: "x", Form: Span, Name: "compact", Scope: "x", When: []Condition{is("a", "b")}, Kind: boundary.Completion}})
	assert.Zero(t, testing.AllocsPerRun(10, func() { rows.Traces(td, tenant, received, ignore) }), "with rows for spans")

	resource := td.ResourceSpans().At(0)
	attrs, scope := resource.ScopeSpans().At(0).Spans().At(0).Attributes(), resource.ScopeSpans().At(0).Scope().Attributes()
	in := r.Scope(resource.Resource().Attributes(), tenant)
	assert.Zero(t, testing.AllocsPerRun(10, func() { r.KeyIn(in, attrs, scope, resource.Resource().Attributes()) }))
	assert.Zero(t, testing.AllocsPerRun(10, func() { r.Key(attrs, scope, resource.Resource().Attributes(), nil) }))
}

func BenchmarkPlainSpans(b *testing.B) {
	r, td := NewReader(DefaultConfig()), plainTraces()
	b.ReportAllocs()
	for b.Loop() {
		r.Traces(td, nil, received, func(Item) {})
	}
	perItem(b, batchSize)
}

// BenchmarkPlainSpansGenAI is what the row costs that looks at every span, against
// BenchmarkPlainSpans of the same run.
func BenchmarkPlainSpansGenAI(b *testing.B) {
	cfg := DefaultConfig()
	cfg.Runtimes = map[string]bool{"gen_ai": true}
	r, td := NewReader(cfg), plainTraces()
	b.ReportAllocs()
	for b.Loop() {
		r.Traces(td, nil, received, func(Item) {})
	}
	perItem(b, batchSize)
}

func BenchmarkPlainRecords(b *testing.B) {
	r, ld := NewReader(DefaultConfig()), plainLogs()
	b.ReportAllocs()
	for b.Loop() {
		r.Logs(ld, nil, received, func(Item) {})
	}
	perItem(b, batchSize)
}

// BenchmarkBoundaries reads an observation of five invariants a span.
func BenchmarkBoundaries(b *testing.B) {
	r, td := NewReader(DefaultConfig()), withBoundaries(plainTraces(), 1)
	b.ReportAllocs()
	for b.Loop() {
		r.Traces(td, nil, received, func(Item) {})
	}
	perItem(b, batchSize)
}

func BenchmarkKey(b *testing.B) {
	r, td := NewReader(DefaultConfig()), plainTraces()
	resource := td.ResourceSpans().At(0)
	attrs, scope := resource.ScopeSpans().At(0).Spans().At(0).Attributes(), resource.ScopeSpans().At(0).Scope().Attributes()
	b.ReportAllocs()
	for b.Loop() {
		r.KeyIn("", attrs, scope, resource.Resource().Attributes())
	}
}

func perItem(b *testing.B, items int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*items), "ns/item")
}
