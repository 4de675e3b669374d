// Package receipts checks receipts that a collector wrote: each for itself, and
// all together.
package receipts

import (
	"fmt"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// Scope is the instrumentation scope of the processor, which all receipts carry.
const Scope = "github.com/agentcontinuity/otelcol-continuity/processor/continuityprocessor"

// Receipt is one receipt, as a span or as a log record.
type Receipt struct {
	// Where is its place in the file, for people.
	Where string
	Span  bool
	Scope string
	// ID is trace and span id: those of a span and of its log record are the same.
	ID     string
	attrs  map[string]any
	alerts []map[string]any
}

// Set is what a file holds.
type Set struct {
	receipts []*Receipt
	// loose are the records of alerts, which come after the receipt's.
	loose []looseAlert
}

type looseAlert struct {
	where, id string
	severity  plog.SeverityNumber
	attrs     map[string]any
}

// Len is how many receipts there are.
func (s *Set) Len() int { return len(s.receipts) }

// AddTraces takes the receipts out of spans.
func (s *Set) AddTraces(td ptrace.Traces, where string) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				if span.Name() != semconv.EventBoundary {
					continue
				}
				r := &Receipt{
					Where: fmt.Sprintf("%s, span %s", where, span.SpanID()), Span: true, Scope: ss.Scope().Name(),
					ID: idOf(span.TraceID(), span.SpanID()), attrs: span.Attributes().AsRaw(),
				}
				for _, e := range span.Events().All() {
					if e.Name() == semconv.EventAlert {
						r.alerts = append(r.alerts, e.Attributes().AsRaw())
					}
				}
				s.receipts = append(s.receipts, r)
			}
		}
	}
}

// AddLogs takes the receipts out of log records.
func (s *Set) AddLogs(ld plog.Logs, where string) {
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, record := range sl.LogRecords().All() {
				where := fmt.Sprintf("%s, record %s", where, record.SpanID())
				id := idOf(record.TraceID(), record.SpanID())
				switch record.EventName() {
				case semconv.EventBoundary:
					s.receipts = append(s.receipts, &Receipt{
						Where: where, Scope: sl.Scope().Name(), ID: id, attrs: record.Attributes().AsRaw(),
					})
				case semconv.EventAlert:
					attrs := record.Attributes().AsRaw()
					delete(attrs, semconv.EventName) // the event on a span has it as its name only
					s.loose = append(s.loose, looseAlert{where, id, record.SeverityNumber(), attrs})
				}
			}
		}
	}
}

// idOf is "" where there are no ids.
func idOf(trace pcommon.TraceID, span pcommon.SpanID) string {
	if trace.IsEmpty() || span.IsEmpty() {
		return ""
	}
	return trace.String() + "/" + span.String()
}

func (r *Receipt) text(key string) string {
	text, _ := r.attrs[key].(string)
	return text
}

func (r *Receipt) texts(key string) []string {
	list, _ := r.attrs[key].([]any)
	var out []string
	for _, item := range list {
		text, _ := item.(string)
		out = append(out, text)
	}
	return out
}

func (r *Receipt) revision() int64 {
	n, _ := r.attrs[semconv.Revision].(int64)
	return n
}

var sessionKeys = []string{semconv.ConversationID, semconv.SessionID, semconv.PlainConversationID, semconv.AgentID, semconv.PlainAgentID}

// session is whose receipt it is, as far as the usual attributes say.
func (r *Receipt) session() string {
	var parts []string
	for _, key := range sessionKeys {
		if text := r.text(key); text != "" && !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " / ")
}
