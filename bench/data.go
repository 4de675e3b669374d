package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// What a batch of an agent's telemetry looks like.
const (
	batchSize  = 1000
	traceSize  = 10
	eventEvery = 5
	sessions   = 100
)

// invariants are the five names that a snapshot states here.
var invariants = []string{"approval_boundary", "scope", "constraint.no_push", "target", "acceptance_test"}

// doings are names of spans as agents send them.
var doings = []string{"chat gpt-5", "execute_tool shell", "execute_tool edit_file", "invoke_agent reviewer", "chat gpt-5"}

// sessionID is the id of the nth session, as long as ids are.
func sessionID(n int) string {
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], uint64(n))
	sum := sha256.Sum256(number[:])
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// agentResource is a resource as an SDK describes it.
func agentResource(attrs pcommon.Map) {
	attrs.PutStr("service.name", "coding-agent")
	attrs.PutStr("service.version", "1.4.2")
	attrs.PutStr("host.name", "build-17")
	attrs.PutStr("telemetry.sdk.language", "go")
}

func traceID(n int) pcommon.TraceID {
	var id pcommon.TraceID
	binary.BigEndian.PutUint64(id[:8], uint64(n)*0x9e3779b97f4a7c15+1)
	binary.BigEndian.PutUint64(id[8:], uint64(n)+1)
	return id
}

func spanID(n int) pcommon.SpanID {
	var id pcommon.SpanID
	binary.BigEndian.PutUint64(id[:], uint64(n)*0x9e3779b97f4a7c15+1)
	return id
}

// agentTraces is the nth batch of an agent at work: no boundary in it.
func agentTraces(n int, now time.Time) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	agentResource(rs.Resource().Attributes())
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("agent")
	ss.Spans().EnsureCapacity(batchSize)
	for i := range batchSize {
		span := ss.Spans().AppendEmpty()
		span.SetTraceID(traceID((n*batchSize + i) / traceSize))
		span.SetSpanID(spanID(n*batchSize + i))
		span.SetName(doings[i%len(doings)])
		span.SetKind(ptrace.SpanKindInternal)
		span.SetStartTimestamp(pcommon.NewTimestampFromTime(now))
		span.SetEndTimestamp(pcommon.NewTimestampFromTime(now.Add(time.Second)))
		attrs := span.Attributes()
		attrs.EnsureCapacity(8)
		attrs.PutStr("gen_ai.operation.name", "execute_tool")
		attrs.PutStr("gen_ai.tool.name", "shell")
		attrs.PutStr("gen_ai.conversation.id", sessionID(i/traceSize%sessions))
		attrs.PutStr("gen_ai.request.model", "gpt-5")
		attrs.PutInt("gen_ai.usage.input_tokens", int64(1000+i))
		if i%eventEvery == 0 {
			event := span.Events().AppendEmpty()
			event.SetName("gen_ai.choice")
			event.SetTimestamp(pcommon.NewTimestampFromTime(now))
			event.Attributes().PutStr("finish_reason", "stop")
		}
	}
	return td
}

// agentLogs is the same as log records.
func agentLogs(n int, now time.Time) plog.Logs {
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	agentResource(rl.Resource().Attributes())
	sl := rl.ScopeLogs().AppendEmpty()
	sl.Scope().SetName("agent")
	sl.LogRecords().EnsureCapacity(batchSize)
	for i := range batchSize {
		record := sl.LogRecords().AppendEmpty()
		record.SetTraceID(traceID((n*batchSize + i) / traceSize))
		record.SetSpanID(spanID(n*batchSize + i))
		record.SetTimestamp(pcommon.NewTimestampFromTime(now))
		record.SetSeverityNumber(plog.SeverityNumberInfo)
		record.SetEventName("agent.tool_result")
		record.Body().SetStr("agent.tool_result")
		attrs := record.Attributes()
		attrs.EnsureCapacity(8)
		attrs.PutStr("event.name", "tool_result")
		attrs.PutStr("gen_ai.tool.name", "shell")
		attrs.PutStr("session.id", sessionID(i/traceSize%sessions))
		attrs.PutStr("gen_ai.request.model", "gpt-5")
		attrs.PutInt("duration_ms", int64(1000+i))
	}
	return ld
}

// decision is the digest of the nth session's nth decision: no two are equal.
func decision(session int, name string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", session, name))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// when is what a request of boundary events says of them.
type when struct {
	name string
	at   time.Time
}

// lookEvents are spans of sessions from..to-1, each with one event of that name
// that states five invariants as they were decided.
func lookEvents(w when, from, to int) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	agentResource(rs.Resource().Attributes())
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("agent")
	for n := from; n < to; n++ {
		span := ss.Spans().AppendEmpty()
		span.SetTraceID(traceID(n))
		span.SetSpanID(spanID(n))
		span.SetName("invoke_agent")
		span.SetStartTimestamp(pcommon.NewTimestampFromTime(w.at))
		span.Attributes().PutStr("gen_ai.conversation.id", sessionID(n))
		event := span.Events().AppendEmpty()
		event.SetName(w.name)
		event.SetTimestamp(pcommon.NewTimestampFromTime(w.at))
		attrs := event.Attributes()
		attrs.EnsureCapacity(24)
		attrs.PutStr("continuity.observed_at", w.at.UTC().Format(time.RFC3339Nano))
		if w.name == observation {
			attrs.PutStr("continuity.source", "agent")
		}
		for _, name := range invariants {
			attrs.PutStr("continuity.invariant.digest."+name, decision(n, name))
		}
	}
	return td
}

const (
	snapshot    = "continuity.snapshot"
	observation = "continuity.observation"
)
