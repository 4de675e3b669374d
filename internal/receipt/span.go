package receipt

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// Span writes a receipt into an empty span, in the trace where people look at
// the agent. Its status stays Unset: the verdict is not the agent's activity.
func (w Writer) Span(r *boundary.Receipt, span ptrace.Span) {
	id := identify(r)
	span.SetName(semconv.EventBoundary)
	span.SetKind(ptrace.SpanKindInternal)
	span.SetTraceID(id.trace)
	span.SetSpanID(id.span)
	span.SetParentSpanID(r.Parent.SpanID)
	span.SetStartTimestamp(stamp(start(r)))
	span.SetEndTimestamp(stamp(r.End))
	putReceipt(span.Attributes(), r)
	for _, c := range r.Links {
		if c.IsZero() || c == r.Parent {
			continue
		}
		link := span.Links().AppendEmpty()
		link.SetTraceID(c.TraceID)
		link.SetSpanID(c.SpanID)
	}
	for _, a := range r.Alerts {
		e := span.Events().AppendEmpty()
		e.SetName(semconv.EventAlert)
		e.SetTimestamp(stamp(r.End))
		putAlert(e.Attributes(), r, a)
		if w.ErrorStatus && a.Status == boundary.Firing {
			span.Status().SetCode(ptrace.StatusCodeError)
			span.Status().SetMessage(alertSentence(r, a))
		}
	}
}

// Record writes a receipt into an empty log record with the trace and span id
// of the receipt's span.
func Record(r *boundary.Receipt, record plog.LogRecord) {
	head(r, record, semconv.EventBoundary)
	record.SetSeverityNumber(plog.SeverityNumberInfo)
	record.SetSeverityText("INFO")
	record.Body().SetStr(sentence(r))
	putReceipt(record.Attributes(), r)
}

// AlertRecord writes one alert of a receipt into an empty log record.
func AlertRecord(r *boundary.Receipt, a boundary.Alert, record plog.LogRecord) {
	head(r, record, semconv.EventAlert)
	severity := plog.SeverityNumberInfo
	if a.Status == boundary.Firing {
		severity = plog.SeverityNumber(a.Kind.Severity())
	}
	record.SetSeverityNumber(severity)
	record.SetSeverityText(severityText(severity))
	record.Body().SetStr(alertSentence(r, a))
	putText(record.Attributes(), semconv.EventName, semconv.EventAlert)
	putAlert(record.Attributes(), r, a)
}

func head(r *boundary.Receipt, record plog.LogRecord, name string) {
	id := identify(r)
	record.SetEventName(name)
	record.SetTraceID(id.trace)
	record.SetSpanID(id.span)
	record.SetTimestamp(stamp(r.End))
	record.SetObservedTimestamp(stamp(r.End))
}

// putAlert writes what a person needs who is woken by it.
func putAlert(m pcommon.Map, r *boundary.Receipt, a boundary.Alert) {
	putAttrs(m, r.Identity)
	putText(m, semconv.Runtime, r.Runtime)
	summaryOf(r.Verdict).put(m)
	m.PutInt(semconv.Revision, int64(r.Revision))
	putText(m, semconv.Reason, string(r.Reason))
	putText(m, semconv.AlertKind, a.Kind.String())
	putText(m, semconv.AlertStatus, a.Status.String())
	putTexts(m, semconv.AlertInvariants, a.Invariants)
	if !a.Since.IsZero() {
		putText(m, semconv.AlertSince, a.Since.UTC().Format(time.RFC3339Nano))
	}
	putText(m, semconv.AlertFingerprint, a.Fingerprint)
}

func severityText(n plog.SeverityNumber) string {
	switch {
	case n >= plog.SeverityNumberError:
		return "ERROR"
	case n >= plog.SeverityNumberWarn:
		return "WARN"
	default:
		return "INFO"
	}
}

// start is the decision where nothing was received before it.
func start(r *boundary.Receipt) time.Time {
	if r.Start.IsZero() || r.Start.After(r.End) {
		return r.End
	}
	return r.Start
}

func stamp(t time.Time) pcommon.Timestamp {
	if t.IsZero() {
		return 0
	}
	return pcommon.NewTimestampFromTime(t)
}
