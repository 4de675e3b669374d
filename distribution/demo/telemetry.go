package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// request is one OTLP request, and what an event-only rule sees of it.
type request struct {
	path string
	body []byte
	seen []activity
}

// player turns the steps of one case into requests.
type player struct {
	*demoCase
	session string
	begin   time.Time
	trace   pcommon.TraceID
}

func newPlayer(c *demoCase, now time.Time) *player {
	// All that a case tells of lies in the past when it is sent.
	var last offset
	for _, s := range c.Steps {
		last = max(last, s.At)
	}
	p := &player{demoCase: c, session: "demo-" + c.Name, begin: now.Add(-time.Duration(last) - time.Second)}
	_, _ = rand.Read(p.trace[:]) // never fails
	return p
}

func (p *player) at(o offset) time.Time { return p.begin.Add(time.Duration(o)) }

// requests returns one request for each step, in order.
func (p *player) requests() ([]request, error) {
	var out []request
	for _, s := range p.Steps {
		r, err := p.request(s)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func (p *player) request(s step) (request, error) {
	if s.Kind == kindRecording {
		return p.replay(s)
	}
	traces := ptrace.NewTraces()
	rs := traces.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "demo-agent")
	span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	var id pcommon.SpanID
	_, _ = rand.Read(id[:])
	span.SetTraceID(p.trace)
	span.SetSpanID(id)
	span.SetStartTimestamp(pcommon.NewTimestampFromTime(p.at(s.At)))
	span.SetEndTimestamp(pcommon.NewTimestampFromTime(p.at(s.At).Add(50 * time.Millisecond)))
	span.Attributes().PutStr(semconv.ConversationID, p.session)
	switch s.Kind {
	case kindSnapshot:
		span.SetName("compact")
		p.look(addEvent(span, semconv.EventCompaction), s)
	case kindObservation:
		span.SetName("chat")
		p.look(addEvent(span, semconv.EventRehydration), s)
	case kindApproval:
		span.SetName("approve")
		p.approve(addEvent(span, semconv.EventApproval), s)
	case kindActivity:
		span.SetName("execute_tool")
		span.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
	}
	body, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(traces)
	return request{path: "/v1/traces", body: body, seen: seenInSpan(span)}, err
}

func addEvent(span ptrace.Span, name string) pcommon.Map {
	e := span.Events().AppendEmpty()
	e.SetName(name)
	e.SetTimestamp(span.StartTimestamp())
	return e.Attributes()
}

// look writes what a snapshot or an observation states.
func (p *player) look(m pcommon.Map, s step) {
	m.PutStr(semconv.DigestNormalizer, "v1")
	if s.ObservedAt != nil {
		m.PutInt(semconv.ObservedAt, p.at(*s.ObservedAt).UnixNano())
	}
	if s.Source != "" {
		m.PutStr(semconv.Source, s.Source)
	}
	for name, inv := range s.Invariants {
		m.PutStr(semconv.InvariantDigest+name, inv.Digest)
		if inv.Source != "" {
			m.PutStr(semconv.InvariantSource+name, inv.Source)
		}
		if inv.ObservedAt != nil {
			m.PutInt(semconv.InvariantObservedAt+name, p.at(*inv.ObservedAt).UnixNano())
		}
	}
}

func (p *player) approve(m pcommon.Map, s step) {
	m.PutStr(semconv.ApprovalInvariant, s.Approval.Invariant)
	m.PutStr(semconv.ApprovalRef, s.Approval.Ref)
	m.PutStr(semconv.ApprovalFrom, s.Approval.From)
	m.PutStr(semconv.ApprovalTo, s.Approval.To)
	m.PutStr(semconv.ApprovalApprover, s.Approval.Approver)
	m.PutStr(semconv.ApprovalSource, s.Approval.Source)
	m.PutStr(semconv.ApprovalApprovedAt, p.at(s.At).UTC().Format(time.RFC3339Nano))
}

// replay sends recorded telemetry under the session id of this case, moved in
// time as a whole: a compaction of last year would not meet a snapshot of today.
func (p *player) replay(s step) (request, error) {
	file := filepath.Join(p.dir, s.Recording)
	text, err := os.ReadFile(file)
	if err != nil {
		return request{}, err
	}
	logs, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(text)
	if err != nil {
		return request{}, fmt.Errorf("%s: %w", file, err)
	}
	records := recordsOf(logs)
	if len(records) == 0 {
		return request{}, fmt.Errorf("%s: no log records", file)
	}
	first := slices.MinFunc(records, func(a, b plog.LogRecord) int { return a.Timestamp().AsTime().Compare(b.Timestamp().AsTime()) })
	shift := p.at(s.At).Sub(first.Timestamp().AsTime())
	var seen []activity
	for _, r := range records {
		r.SetTimestamp(pcommon.NewTimestampFromTime(r.Timestamp().AsTime().Add(shift)))
		r.SetObservedTimestamp(r.Timestamp())
		r.Attributes().PutStr(semconv.SessionID, p.session)
		seen = append(seen, seenInRecord(r))
	}
	body, err := (&plog.ProtoMarshaler{}).MarshalLogs(logs)
	return request{path: "/v1/logs", body: body, seen: seen}, err
}

func recordsOf(logs plog.Logs) []plog.LogRecord {
	var out []plog.LogRecord
	for _, rl := range logs.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, r := range sl.LogRecords().All() {
				out = append(out, r)
			}
		}
	}
	return out
}
