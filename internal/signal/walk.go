package signal

import (
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// found is a recognised event, not read yet.
type found struct {
	kind boundary.Kind
	row  *Row // nil for native names
	form Form
	// attrs and enclosing are as in Item.
	attrs, enclosing pcommon.Map
	time             pcommon.Timestamp
	dropped          uint32
	context          boundary.SpanContext
	// failed is set for a span whose status is an error.
	failed bool
}

func (f *found) subject() *subject { return &subject{f.attrs, f.failed} }

// around is what stands around a span or record.
type around struct {
	tenant   []string
	received time.Time
	resource pcommon.Map
	scope    pcommon.InstrumentationScope
	// shared is computed at the first event of a resource.
	shared *shared
}

// shared is what all events of one resource have in common.
type shared struct {
	scope    string
	resource []boundary.Attr
}

// Traces visits the events of a batch in order. When an event is visited, it
// and its span are clean already.
func (r *Reader) Traces(td ptrace.Traces, tenant []string, received time.Time, visit func(Item)) {
	at := around{tenant: tenant, received: received}
	var items []Item
	resources := td.ResourceSpans()
	for i := range resources.Len() {
		resource := resources.At(i)
		at.resource, at.shared = resource.Resource().Attributes(), nil
		for j := range resource.ScopeSpans().Len() {
			scope := resource.ScopeSpans().At(j)
			at.scope = scope.Scope()
			spans := scope.Spans()
			for k := range spans.Len() {
				span := spans.At(k)
				if !r.mayTell(span) {
					continue
				}
				items = r.readSpan(span, &at, items[:0])
				for n := range items {
					visit(items[n])
				}
			}
		}
	}
}

// mayTell reports whether a span or one of its events has a name that can mean
// anything. It is all that unrecognised spans cost.
func (r *Reader) mayTell(span ptrace.Span) bool {
	if r.names[Span].may(span.Name()) {
		return true
	}
	events := span.Events()
	for i := range events.Len() {
		if r.names[SpanEvent].may(events.At(i).Name()) {
			return true
		}
	}
	return false
}

// readSpan reads all events of a span before it cleans anything: they share the
// span's attributes.
func (r *Reader) readSpan(span ptrace.Span, at *around, items []Item) []Item {
	events := span.Events()
	for i := range events.Len() {
		event := events.At(i)
		kind, row := r.meaningOf(SpanEvent, event.Name(), subject{attrs: event.Attributes()}, at)
		if kind == boundary.NoKind {
			continue
		}
		items = append(items, r.read(&found{
			kind: kind, row: row, form: SpanEvent, attrs: event.Attributes(), enclosing: span.Attributes(),
			time: event.Timestamp(), dropped: event.DroppedAttributesCount(), context: contextOf(span.TraceID(), span.SpanID()),
		}, at))
	}
	if r.names[Span].may(span.Name()) {
		failed := span.Status().Code() == ptrace.StatusCodeError
		if kind, row := r.meaningOf(Span, span.Name(), subject{span.Attributes(), failed}, at); kind != boundary.NoKind {
			items = append(items, r.read(&found{
				kind: kind, row: row, form: Span, attrs: span.Attributes(), enclosing: span.Attributes(),
				failed: failed, time: endOf(span), dropped: span.DroppedAttributesCount(), context: contextOf(span.TraceID(), span.SpanID()),
			}, at))
		}
	}
	items = slices.DeleteFunc(items, Item.silent)
	for i := range items {
		if !items[i].own {
			r.clean(items[i].Attributes)
			r.clean(span.Attributes())
		}
	}
	return items
}

// endOf is when what a span stands for was over.
func endOf(span ptrace.Span) pcommon.Timestamp {
	if span.EndTimestamp() != 0 {
		return span.EndTimestamp()
	}
	return span.StartTimestamp()
}

// Logs visits the events of a batch in order. When an event is visited, its
// record is clean already.
func (r *Reader) Logs(ld plog.Logs, tenant []string, received time.Time, visit func(Item)) {
	at := around{tenant: tenant, received: received}
	resources := ld.ResourceLogs()
	for i := range resources.Len() {
		resource := resources.At(i)
		at.resource, at.shared = resource.Resource().Attributes(), nil
		for j := range resource.ScopeLogs().Len() {
			scope := resource.ScopeLogs().At(j)
			at.scope = scope.Scope()
			records := scope.LogRecords()
			for k := range records.Len() {
				record := records.At(k)
				kind, row := r.recordMeaning(record, &at)
				if kind == boundary.NoKind {
					continue
				}
				item := r.read(&found{
					kind: kind, row: row, form: LogRecord, attrs: record.Attributes(), enclosing: record.Attributes(),
					time: happened(record, kind), dropped: record.DroppedAttributesCount(), context: contextOf(record.TraceID(), record.SpanID()),
				}, &at)
				if !item.own {
					r.clean(record.Attributes())
					r.cleanNested(record.Body(), 0)
				}
				if !item.silent() {
					visit(item)
				}
			}
		}
	}
}

// happened is a record's time: when it happened, never when it was observed. Work
// is no evidence, and some agents (Codex) give its records only the latter. Where
// the end of a session overtakes them, they are leftovers and no sign of life.
func happened(record plog.LogRecord, kind boundary.Kind) pcommon.Timestamp {
	if record.Timestamp() == 0 && kind == boundary.Activity {
		return record.ObservedTimestamp()
	}
	return record.Timestamp()
}

// recordMeaning tries what may name a record: the first that equals a known
// name counts. Real EventNames can be source lines, and real bodies whole
// conversations. It is all that unrecognised records cost.
func (r *Reader) recordMeaning(record plog.LogRecord, at *around) (boundary.Kind, *Row) {
	n := &r.names[LogRecord]
	if name := record.EventName(); n.may(name) {
		if kind, row := r.meaningOf(LogRecord, name, subject{attrs: record.Attributes()}, at); kind != boundary.NoKind {
			return kind, row
		}
	}
	if name, ok := record.Attributes().Get(semconv.EventName); ok && name.Type() == pcommon.ValueTypeStr && n.may(name.Str()) {
		if kind, row := r.meaningOf(LogRecord, name.Str(), subject{attrs: record.Attributes()}, at); kind != boundary.NoKind {
			return kind, row
		}
	}
	if body := record.Body(); body.Type() == pcommon.ValueTypeStr && n.may(body.Str()) {
		if kind, row := r.meaningOf(LogRecord, body.Str(), subject{attrs: record.Attributes()}, at); kind != boundary.NoKind {
			return kind, row
		}
	}
	if len(n.any) == 0 {
		return boundary.NoKind, nil
	}
	return firstOf(n.any, subject{attrs: record.Attributes()}, at)
}

// meaningOf looks up a name that may mean something.
func (r *Reader) meaningOf(form Form, name string, s subject, at *around) (boundary.Kind, *Row) {
	n := &r.names[form]
	if len(name) <= n.longest {
		if m, ok := n.exact[name]; ok {
			if m.native != boundary.NoKind {
				return m.native, nil
			}
			if kind, row := firstOf(m.rows, s, at); row != nil {
				return kind, row
			}
		}
	}
	if kind, row := firstOf(n.underHead(name), s, at); row != nil {
		return kind, row
	}
	if form == LogRecord { // a record has several names: recordMeaning looks at this once
		return boundary.NoKind, nil
	}
	return firstOf(n.any, s, at)
}

func firstOf(rows []*Row, s subject, at *around) (boundary.Kind, *Row) {
	for _, row := range rows {
		if row.matches(&s, at) {
			return row.Kind, row
		}
	}
	return boundary.NoKind, nil
}

func contextOf(trace pcommon.TraceID, span pcommon.SpanID) boundary.SpanContext {
	return boundary.SpanContext{TraceID: trace, SpanID: span}
}
