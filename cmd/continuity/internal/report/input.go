package report

import (
	"strings"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/receipts"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/term"
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
	"github.com/agentcontinuity/otelcol-continuity/internal/signal"
)

// Input is what the files hold, as far as the page shows it.
type Input struct {
	reader   *signal.Reader
	receipts []*given
	alerts   []looseAlert
	work     []work
	evidence []evidence
}

// given is a receipt as it was read.
type given struct {
	key     boundary.Key
	attrs   pcommon.Map
	service string
	// opened is 0 in the log form, which does not say it.
	opened, at int64
	trace      pcommon.TraceID
	span       pcommon.SpanID
	form       string
	foreign    bool
	alerts     []Alert
}

// looseAlert is the record of an alert: its receipt has the same ids.
type looseAlert struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
	alert Alert
}

// work is a span or a log record of an agent. Without a session of its own it
// belongs to that of its trace.
type work struct {
	key    boundary.Key
	known  bool
	trace  pcommon.TraceID
	name   string
	at     int64
	length int64
	failed bool
}

type evidence struct {
	key boundary.Key
	Evidence
}

// NewInput returns an empty input.
func NewInput() *Input { return &Input{reader: signal.NewReader(signal.DefaultConfig())} }

// The forms of a receipt.
const (
	formSpan   = "span"
	formRecord = "record"
	formBoth   = "both"
)

// AddTraces takes receipts and the agent's work out of spans. It changes them.
func (in *Input) AddTraces(td ptrace.Traces) {
	when := map[pcommon.Map]int64{}
	for _, rs := range td.ResourceSpans().All() {
		resource := rs.Resource().Attributes()
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				key, known := in.reader.Key(span.Attributes(), ss.Scope().Attributes(), resource, nil)
				start, end := micros(span.StartTimestamp()), micros(span.EndTimestamp())
				if span.Name() == semconv.EventBoundary {
					in.receipts = append(in.receipts, &given{
						key: cloned(key), attrs: span.Attributes(), service: text(resource, serviceName), opened: start, at: first(end, start),
						trace: span.TraceID(), span: span.SpanID(), form: formSpan, foreign: ss.Scope().Name() != receipts.Scope,
						alerts: alertsOf(span),
					})
					continue
				}
				when[span.Attributes()] = first(end, start)
				for _, e := range span.Events().All() {
					when[e.Attributes()] = first(micros(e.Timestamp()), end, start)
				}
				in.work = append(in.work, work{
					key: cloned(key), known: known, trace: span.TraceID(), name: Show(span.Name()), at: first(start, end),
					length: max(0, end-first(start, end)), failed: span.Status().Code() == ptrace.StatusCodeError,
				})
			}
		}
	}
	in.reader.Traces(td, nil, time.Time{}, func(item signal.Item) { in.take(item, when[item.Attributes]) })
}

// AddLogs takes receipts, alerts and the agent's work out of log records. It
// changes them.
func (in *Input) AddLogs(ld plog.Logs) {
	when := map[pcommon.Map]int64{}
	for _, rl := range ld.ResourceLogs().All() {
		resource := rl.Resource().Attributes()
		for _, sl := range rl.ScopeLogs().All() {
			for _, record := range sl.LogRecords().All() {
				attrs := record.Attributes()
				at := first(micros(record.Timestamp()), micros(record.ObservedTimestamp()))
				key, known := in.reader.Key(attrs, sl.Scope().Attributes(), resource, nil)
				switch name := nameOf(record); name {
				case semconv.EventBoundary:
					in.receipts = append(in.receipts, &given{
						key: cloned(key), attrs: attrs, service: text(resource, serviceName), at: at,
						trace: record.TraceID(), span: record.SpanID(), form: formRecord, foreign: sl.Scope().Name() != receipts.Scope,
					})
				case semconv.EventAlert:
					in.alerts = append(in.alerts, looseAlert{record.TraceID(), record.SpanID(), alertOf(attrs)})
				default:
					when[attrs] = at
					in.work = append(in.work, work{
						key: cloned(key), known: known, trace: record.TraceID(), name: Show(name), at: at,
						failed: record.SeverityNumber() >= plog.SeverityNumberError,
					})
				}
			}
		}
	}
	in.reader.Logs(ld, nil, time.Time{}, func(item signal.Item) { in.take(item, when[item.Attributes]) })
}

// take notes an event that verdicts are made of.
func (in *Input) take(item signal.Item, at int64) {
	e := item.Event
	if e == nil || item.Kind == boundary.Activity {
		return
	}
	out := Evidence{At: at, Kind: item.Kind.String(), Outcome: e.Outcome.String()}
	if a := e.Approval; a != nil {
		out.Invariant, out.Ref, out.Approver, out.Signed = Show(a.Invariant), Show(a.Ref), Show(a.Approver), a.Signature != nil
		out.Status = "approved"
		if a.Revoked {
			out.Status = "revoked"
		}
	}
	in.evidence = append(in.evidence, evidence{cloned(e.Key), out})
}

const serviceName = "service.name"

// nameOf is the name of a log record: of its event, or a body that is one word.
func nameOf(record plog.LogRecord) string {
	if name := record.EventName(); name != "" {
		return name
	}
	if name := text(record.Attributes(), semconv.EventName); name != "" {
		return name
	}
	if body := record.Body(); body.Type() == pcommon.ValueTypeStr && !strings.ContainsAny(body.Str(), " \n") {
		return body.Str()
	}
	return "log record"
}

func cloned(k boundary.Key) boundary.Key {
	k.Scope, k.Session, k.Agent = strings.Clone(k.Scope), strings.Clone(k.Session), strings.Clone(k.Agent)
	return k
}

func text(attrs pcommon.Map, key string) string {
	v, ok := attrs.Get(key)
	if !ok || v.Type() != pcommon.ValueTypeStr {
		return ""
	}
	return v.Str()
}

// Times before 2000 and after 2200 are none: they are zero, or no times.
const (
	earliest = 946_684_800_000_000
	latest   = 7_258_118_400_000_000
)

// micros is 0 where there is no time.
func micros(t pcommon.Timestamp) int64 {
	if us := int64(t / 1000); us >= earliest && us < latest {
		return us
	}
	return 0
}

// first is the first that is a time.
func first(times ...int64) int64 {
	for _, t := range times {
		if t != 0 {
			return t
		}
	}
	return 0
}

// maxShown bounds a text of the page, in runes.
const maxShown = 200

// Show makes a text of others fit to be looked at: short, on one line, and without
// characters that hide or reorder what stands beside it.
func Show(s string) string {
	if len(s) > 4*maxShown {
		s = strings.ToValidUTF8(s[:4*maxShown], "") + "…"
	}
	s = term.Clean(s)
	if utf8.RuneCountInString(s) > maxShown {
		s = string([]rune(s)[:maxShown]) + "…"
	}
	return s
}
