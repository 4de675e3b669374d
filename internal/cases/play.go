package cases

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// Request is what one step sends: spans or log records, the other is empty.
type Request struct {
	Traces ptrace.Traces
	Logs   plog.Logs
}

// Session is the session id of a case.
func (c *Case) Session() string { return "demo-" + c.Name }

// Length is how long after its beginning the last step of the case comes.
func (c *Case) Length() time.Duration {
	var last Offset
	for _, s := range c.Steps {
		last = max(last, s.At)
	}
	return time.Duration(last)
}

// Play returns one request for each step, in order. The same beginning gives the
// same requests.
func (c *Case) Play(begin time.Time) ([]Request, error) {
	p := player{Case: c, begin: begin}
	trace := p.id("trace")
	copy(p.trace[:], trace[:])
	var out []Request
	for i, s := range c.Steps {
		r := Request{ptrace.NewTraces(), plog.NewLogs()}
		var err error
		if s.Kind == kindRecording {
			r.Logs, err = p.recording(s)
		} else {
			p.span(r.Traces, s, i)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		out = append(out, r)
	}
	return out, nil
}

type player struct {
	*Case
	begin time.Time
	trace pcommon.TraceID
}

func (p *player) at(o Offset) time.Time { return p.begin.Add(time.Duration(o)) }

// id derives ids from the session and its beginning, so that no two sessions of
// one case share them.
func (p *player) id(of string) [sha256.Size]byte {
	text := binary.BigEndian.AppendUint64([]byte(p.Session()+"\x00"+of+"\x00"), uint64(p.begin.UnixNano()))
	return sha256.Sum256(text)
}

func (p *player) span(traces ptrace.Traces, s Step, n int) {
	rs := traces.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "demo-agent")
	span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	id := p.id(fmt.Sprint("span ", n))
	span.SetTraceID(p.trace)
	span.SetSpanID(pcommon.SpanID(id[:8]))
	span.SetStartTimestamp(pcommon.NewTimestampFromTime(p.at(s.At)))
	span.SetEndTimestamp(pcommon.NewTimestampFromTime(p.at(s.At).Add(50 * time.Millisecond)))
	span.Attributes().PutStr(semconv.ConversationID, p.Session())
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
}

func addEvent(span ptrace.Span, name string) pcommon.Map {
	e := span.Events().AppendEmpty()
	e.SetName(name)
	e.SetTimestamp(span.StartTimestamp())
	return e.Attributes()
}

// look writes what a snapshot or an observation states.
func (p *player) look(m pcommon.Map, s Step) {
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

func (p *player) approve(m pcommon.Map, s Step) {
	m.PutStr(semconv.ApprovalInvariant, s.Approval.Invariant)
	m.PutStr(semconv.ApprovalRef, s.Approval.Ref)
	m.PutStr(semconv.ApprovalFrom, s.Approval.From)
	m.PutStr(semconv.ApprovalTo, s.Approval.To)
	m.PutStr(semconv.ApprovalApprover, s.Approval.Approver)
	m.PutStr(semconv.ApprovalSource, s.Approval.Source)
	m.PutStr(semconv.ApprovalApprovedAt, p.at(s.At).UTC().Format(time.RFC3339Nano))
}

// recording reads recorded telemetry and puts it under the session id of this
// case, moved in time as a whole: a compaction of last year would not meet a
// snapshot of today.
func (p *player) recording(s Step) (plog.Logs, error) {
	text, err := fs.ReadFile(p.files, s.Recording)
	if err != nil {
		return plog.Logs{}, err
	}
	logs, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(text)
	if err != nil {
		return plog.Logs{}, fmt.Errorf("%s: %w", s.Recording, err)
	}
	records := recordsOf(logs)
	if len(records) == 0 {
		return plog.Logs{}, fmt.Errorf("%s: no log records", s.Recording)
	}
	first := slices.MinFunc(records, func(a, b plog.LogRecord) int { return a.Timestamp().AsTime().Compare(b.Timestamp().AsTime()) })
	shift := p.at(s.At).Sub(first.Timestamp().AsTime())
	for _, r := range records {
		r.SetTimestamp(pcommon.NewTimestampFromTime(r.Timestamp().AsTime().Add(shift)))
		r.SetObservedTimestamp(r.Timestamp())
		r.Attributes().PutStr(semconv.SessionID, p.Session())
	}
	return logs, nil
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
