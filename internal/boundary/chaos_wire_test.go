package boundary_test

import (
	"math/rand/v2"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// How a history's events are told over OTLP.

const activityName = "chaos.activity"

var wireNames = map[boundary.Kind]string{
	boundary.Snapshot: semconv.EventCompaction, boundary.Observation: semconv.EventRehydration,
	boundary.ValidationFailure: semconv.EventValidationFailed, boundary.Completion: semconv.EventContinuityCompaction,
	boundary.Approval: semconv.EventApproval, boundary.SessionEnd: semconv.EventSessionEnd,
	boundary.SessionStart: semconv.EventSessionStart, boundary.Activity: activityName,
}

// wireForm is what a sender may choose freely.
type wireForm struct {
	logs    bool // records, not span events
	session int  // where the session id stands
	trace   [16]byte
}

func drawWireForm(rng *rand.Rand) wireForm {
	f := wireForm{logs: rng.IntN(2) == 0, session: rng.IntN(3)}
	for i := range f.trace {
		f.trace[i] = byte(rng.Uint32())
	}
	return f
}

// body is a request, moved from the time of histories to another.
func (p *plan) body(r *planned, shift time.Duration) (path string, body []byte) {
	var err error
	if r.wire.logs {
		path = "/v1/logs"
		body, err = (&plog.ProtoMarshaler{}).MarshalLogs(p.records(r, shift))
	} else {
		path = "/v1/traces"
		body, err = (&ptrace.ProtoMarshaler{}).MarshalTraces(p.spans(r, shift))
	}
	if err != nil {
		panic(err)
	}
	return path, body
}

func (p *plan) spans(r *planned, shift time.Duration) ptrace.Traces {
	td := ptrace.NewTraces()
	for i, s := range r.steps {
		rs := td.ResourceSpans().AppendEmpty()
		span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		span.SetName("step")
		span.SetTraceID(r.wire.trace)
		span.SetSpanID([8]byte{byte(i + 1)})
		e := span.Events().AppendEmpty()
		e.SetName(wireNames[s.ev.Kind])
		e.SetTimestamp(pcommon.Timestamp(moved(s.ev.Time, shift)))
		e.SetDroppedAttributesCount(lost(s.ev))
		p.identify(r, s.ev, e.Attributes(), span.Attributes(), rs.Resource().Attributes())
		p.state(s.ev, e.Attributes(), shift)
	}
	return td
}

func (p *plan) records(r *planned, shift time.Duration) plog.Logs {
	ld := plog.NewLogs()
	for i, s := range r.steps {
		rl := ld.ResourceLogs().AppendEmpty()
		record := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		record.SetTraceID(r.wire.trace)
		record.SetSpanID([8]byte{byte(i + 1)})
		record.SetEventName(wireNames[s.ev.Kind])
		record.SetTimestamp(pcommon.Timestamp(moved(s.ev.Time, shift)))
		record.SetDroppedAttributesCount(lost(s.ev))
		p.identify(r, s.ev, record.Attributes(), record.Attributes(), rl.Resource().Attributes())
		p.state(s.ev, record.Attributes(), shift)
	}
	return ld
}

func lost(ev *boundary.Event) uint32 {
	if ev.Dropped {
		return 1
	}
	return 0
}

// moved is a stated time under another clock; none stays none, and one that is
// not to be believed stays so.
func moved(t classify.Instant, shift time.Duration) classify.Instant {
	if t == 0 {
		return 0
	}
	return t.Add(shift)
}

func (p *plan) identify(r *planned, ev *boundary.Event, event, enclosing, resource pcommon.Map) {
	[]pcommon.Map{event, enclosing, resource}[r.wire.session].PutStr(semconv.SessionID, p.prefix+ev.Key.Session)
	resource.PutStr("service.name", "chaos")
	if ev.Key.Agent != "" {
		event.PutStr(semconv.AgentID, ev.Key.Agent)
	}
	if p.needsID(ev) {
		event.PutStr(semconv.EventID, p.eventID(ev))
	}
}

func (p *plan) eventID(ev *boundary.Event) string {
	return "e-" + strconv.FormatUint(ev.Fingerprint, 16)
}

// needsID is false for some of the events that their content alone tells apart.
func (p *plan) needsID(ev *boundary.Event) bool {
	alike := 0
	for _, s := range p.steps {
		if s.ev.Kind == ev.Kind && (s.ev.Time == ev.Time || s.ev.Fingerprint == ev.Fingerprint) {
			alike++
		}
	}
	return alike > 1 || ev.Fingerprint%2 == 0
}

// state writes what an event says.
func (p *plan) state(ev *boundary.Event, m pcommon.Map, shift time.Duration) {
	text := func(key, value string) {
		if value != "" {
			m.PutStr(key, value)
		}
	}
	text(semconv.BoundaryID, ev.BoundaryID)
	text(semconv.Runtime, ev.Runtime)
	if ev.Previous != "" {
		m.PutStr(semconv.SessionPreviousID, p.prefix+ev.Previous)
	}
	if ev.ObservedAt != 0 {
		m.PutInt(semconv.ObservedAt, int64(moved(ev.ObservedAt, shift)))
	}
	switch ev.Kind {
	case boundary.Snapshot, boundary.Observation:
		text(semconv.DigestNormalizer, ev.Form.Normalizer)
		text(semconv.DigestKeyID, ev.Form.KeyID)
	case boundary.Completion:
		text(semconv.CompactionOutcome, ev.Outcome.String())
	case boundary.ValidationFailure:
		text(semconv.ValidationStatus, string(ev.Verdict.Status))
		text(semconv.ValidationReason, string(ev.Verdict.Reason))
	case boundary.Approval:
		putApproval(ev, text, shift)
	}
	if ev.Partial {
		m.PutStr(semconv.ObservationCoverage, "partial")
	}
	if ev.SnapshotFailed {
		m.PutStr(semconv.SnapshotStatus, "failed")
	}
	if ev.BadName {
		m.PutStr(semconv.InvariantDigest+"no name", digest.NoneText)
	}
	for _, st := range ev.Statements {
		putStatement(st, m, shift)
	}
	putEnvelope(ev.Envelope, m)
}

func putStatement(st boundary.Statement, m pcommon.Map, shift time.Duration) {
	stated := st.Digest.String()
	if st.Fault == classify.DigestMalformed {
		stated = "sha256:no digest"
	}
	m.PutStr(semconv.InvariantDigest+st.Name, stated)
	if st.ObservedAt == 0 {
		m.PutStr(semconv.InvariantObservedAt+st.Name, "no time")
	} else {
		m.PutInt(semconv.InvariantObservedAt+st.Name, int64(moved(st.ObservedAt, shift)))
	}
	if st.Source != classify.NoSource {
		m.PutStr(semconv.InvariantSource+st.Name, st.Source.String())
	}
	if st.Text {
		m.PutStr(semconv.InvariantComparison+st.Name, "text")
	}
	if st.Optional {
		m.PutBool(semconv.InvariantRequired+st.Name, false)
	}
}

func putApproval(ev *boundary.Event, text func(key, value string), shift time.Duration) {
	a := ev.Approval
	when := func(stated string) string {
		t, err := time.Parse(time.RFC3339Nano, stated)
		if err != nil {
			return stated
		}
		return t.Add(shift).Format(time.RFC3339Nano)
	}
	text(semconv.ApprovalInvariant, a.Invariant)
	text(semconv.ApprovalRef, a.Ref)
	text(semconv.ApprovalApprover, a.Approver)
	text(semconv.ApprovalFrom, a.From.String())
	text(semconv.ApprovalTo, a.To.String())
	text(semconv.ApprovalApprovedAt, when(a.ApprovedAt))
	text(semconv.ApprovalExpiresAt, when(a.ExpiresAt))
	text(semconv.ApprovalSource, map[bool]string{true: "human", false: "summary"}[a.Independent])
	if a.Revoked {
		text(semconv.ApprovalStatus, "revoked")
	}
}

func putEnvelope(e *classify.Envelope, m pcommon.Map) {
	if e == nil {
		return
	}
	for i, v := range e.Fields {
		if v != "" {
			m.PutStr(semconv.EnvelopePrefix+classify.FieldNames[i], v)
		}
	}
	for i, list := range e.Lists {
		if list == nil {
			continue
		}
		to := m.PutEmptySlice(semconv.EnvelopePrefix + classify.ListFieldNames[i])
		for _, v := range list {
			to.AppendEmpty().SetStr(v)
		}
	}
	switch {
	case e.Malformed:
		m.PutStr(semconv.EnvelopePrefix+classify.FieldNameBudgetRemaining, "no number")
	case e.HasBudget:
		m.PutInt(semconv.EnvelopePrefix+classify.FieldNameBudgetRemaining, e.Budget)
	}
	if e.HasReauthorization {
		m.PutBool(semconv.EnvelopePrefix+classify.FieldNameRequiresReauthorization, e.Reauthorization)
	}
}
