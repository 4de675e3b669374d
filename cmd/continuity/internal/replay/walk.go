package replay

import (
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/cases"
	"github.com/agentcontinuity/otelcol-continuity/internal/signal"
)

// event is one event and when it is taken; zero where nothing says when.
type event struct {
	*boundary.Event
	at time.Time
}

// walk is what the events of one batch stand on.
type walk struct {
	*Replay
	// when is the time of each span event, span and record, by its attributes.
	when map[pcommon.Map]time.Time
	// seen is what an event-only rule sees of each span and record.
	seen map[pcommon.Map]*cases.Activity
}

func (r *Replay) newWalk() *walk {
	return &walk{r, map[pcommon.Map]time.Time{}, map[pcommon.Map]*cases.Activity{}}
}

// walkTraces looks at all spans, whether they tell of a boundary or not.
func (r *Replay) walkTraces(td ptrace.Traces) *walk {
	w := r.newWalk()
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				end := first(span.EndTimestamp(), span.StartTimestamp())
				w.when[span.Attributes()] = end
				for _, e := range span.Events().All() {
					w.when[e.Attributes()] = first(e.Timestamp(), span.EndTimestamp(), span.StartTimestamp())
				}
				w.see(span.Attributes(), ss.Scope().Attributes(), rs.Resource().Attributes(), cases.Activity{
					At: first(span.StartTimestamp()), Failed: span.Status().Code() == ptrace.StatusCodeError,
				})
			}
		}
	}
	return w
}

func (r *Replay) walkLogs(ld plog.Logs) *walk {
	w := r.newWalk()
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, record := range sl.LogRecords().All() {
				at := first(record.Timestamp(), record.ObservedTimestamp())
				w.when[record.Attributes()] = at
				w.see(record.Attributes(), sl.Scope().Attributes(), rl.Resource().Attributes(), cases.Activity{
					At: at, Failed: record.SeverityNumber() >= plog.SeverityNumberError,
				})
			}
		}
	}
	return w
}

// see notes that a session did something.
func (w *walk) see(attrs, scope, resource pcommon.Map, a cases.Activity) {
	key, ok := w.reader.Key(attrs, scope, resource, nil)
	if !ok {
		return
	}
	session := boundary.SessionKey{Scope: key.Scope, Session: strings.Clone(key.Session)}
	w.seen[attrs] = &a
	w.Replay.seen[session] = append(w.Replay.seen[session], &a)
}

// take takes one event, not yet in the order of times.
func (w *walk) take(item signal.Item) {
	if item.Reason != "" {
		w.result.Rejected[item.Reason]++
		return
	}
	if item.Kind == boundary.Snapshot || item.Kind == boundary.Completion && item.Event.Outcome.Happened() {
		if a := w.seen[item.Enclosing]; a != nil {
			a.Compaction = true
		}
	}
	w.result.Events++
	w.events = append(w.events, event{item.Event, w.when[item.Attributes]})
}

// plausible tells times from numbers that are none.
func plausible(at time.Time) bool { return at.Year() >= 2000 && at.Year() < 2200 }

// first is the first of some timestamps that is a time; zero where none is.
func first(stamps ...pcommon.Timestamp) time.Time {
	for _, stamp := range stamps {
		if at := stamp.AsTime(); stamp != 0 && plausible(at) {
			return at
		}
	}
	return time.Time{}
}

// order sorts events by time. One without a time stands by the event before it in
// the file, or by the one after where there is none.
func order(events []event) {
	var last time.Time
	for i := range events {
		if events[i].at.IsZero() {
			events[i].at = last
		}
		last = events[i].at
	}
	last = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range slices.Backward(events) {
		if events[i].at.IsZero() {
			events[i].at = last
		}
		last = events[i].at
	}
	slices.SortStableFunc(events, func(a, b event) int { return a.at.Compare(b.at) })
}
