package receipt

import (
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// Writer turns receipts into telemetry of its own.
type Writer struct {
	// Scope and Version name the instrumentation scope of receipts.
	Scope, Version string
	// ErrorStatus gives receipts with a firing alert the status Error.
	ErrorStatus bool
}

// Traces writes one span a receipt, its alerts as span events.
func (w Writer) Traces(receipts []*boundary.Receipt) ptrace.Traces {
	out := ptrace.NewTraces()
	for _, g := range group(receipts) {
		rs := out.ResourceSpans().AppendEmpty()
		putAttrs(rs.Resource().Attributes(), g[0].Resource)
		ss := rs.ScopeSpans().AppendEmpty()
		w.scope(ss.Scope())
		ss.Spans().EnsureCapacity(len(g))
		for _, r := range g {
			w.Span(r, ss.Spans().AppendEmpty())
		}
	}
	return out
}

// Logs writes one record a receipt, followed by one for each of its alerts.
func (w Writer) Logs(receipts []*boundary.Receipt) plog.Logs {
	out := plog.NewLogs()
	for _, g := range group(receipts) {
		rl := out.ResourceLogs().AppendEmpty()
		putAttrs(rl.Resource().Attributes(), g[0].Resource)
		sl := rl.ScopeLogs().AppendEmpty()
		w.scope(sl.Scope())
		for _, r := range g {
			Record(r, sl.LogRecords().AppendEmpty())
			for _, a := range r.Alerts {
				AlertRecord(r, a, sl.LogRecords().AppendEmpty())
			}
		}
	}
	return out
}

func (w Writer) scope(s pcommon.InstrumentationScope) {
	s.SetName(w.Scope)
	s.SetVersion(w.Version)
}

// group puts receipts of one resource together and keeps the order of those of
// one session, whatever their resources.
func group(receipts []*boundary.Receipt) [][]*boundary.Receipt {
	var groups [][]*boundary.Receipt
	byResource := make(map[string]int)
	last := make(map[boundary.SessionKey]int)
	var key []byte
	resource := ""
	for i, r := range receipts {
		if i == 0 || !sameList(r.Resource, receipts[i-1].Resource) {
			key = appendResource(key[:0], r.Resource)
			resource = string(key)
		}
		n, ok := byResource[resource]
		if earlier, seen := last[r.Key.SessionKey]; !ok || seen && n < earlier {
			n = len(groups)
			groups = append(groups, nil)
			byResource[resource] = n
		}
		groups[n] = append(groups[n], r)
		last[r.Key.SessionKey] = n
	}
	return groups
}

// sameList reports whether two lists are one and the same: receipts of one sender
// most often share theirs.
func sameList(a, b []boundary.Attr) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// appendResource appends a text that no other resource has.
func appendResource(b []byte, attrs []boundary.Attr) []byte {
	for _, a := range attrs {
		b = appendFramed(b, a.Key)
		switch v := a.Value.(type) {
		case string:
			b = appendFramed(append(b, 's'), v)
		case int64:
			b = append(strconv.AppendInt(append(b, 'i'), v, 10), ';')
		case bool:
			b = append(strconv.AppendBool(append(b, 'b'), v), ';')
		}
	}
	return b
}
