package report

import (
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// maxActivity bounds what one row shows of its agent's work. Beyond it, what is
// near in time stands as one.
const maxActivity = 1500

// addWork gives work and evidence to the rows of their sessions. It returns how
// many sessions have work and no row.
func (b *builder) addWork(in *Input) int {
	sessions := map[boundary.SessionKey][]*Row{}
	for key, row := range b.rows {
		sessions[key.SessionKey] = append(sessions[key.SessionKey], row)
	}
	// An agent's own row, else those of all agents of its session.
	rowsOf := func(key rowKey) []*Row {
		if row := b.rows[key]; row != nil {
			return []*Row{row}
		}
		return sessions[key.SessionKey]
	}
	traces := in.sessionsOfTraces()
	left := map[boundary.SessionKey]bool{}
	for _, w := range in.work {
		key := w.key
		if !w.known {
			only, ok := traces[w.trace]
			if !ok || only == nil {
				continue
			}
			key = *only
		}
		rows := rowsOf(key)
		if len(rows) == 0 {
			left[key.SessionKey] = true
		}
		if w.at == 0 {
			continue
		}
		for _, row := range rows {
			row.Activity = append(row.Activity, Activity{Start: w.at, Length: w.length, Count: 1, Errors: count(w.failed), Name: b.name(w.name)})
		}
	}
	for _, e := range in.evidence {
		for _, row := range rowsOf(e.key) {
			if e.At != 0 {
				row.Events = append(row.Events, e.Evidence)
			}
		}
	}
	for _, row := range b.Rows {
		slices.SortStableFunc(row.Activity, func(x, y Activity) int { return cmp.Compare(x.Start, y.Start) })
		slices.SortStableFunc(row.Events, func(x, y Evidence) int { return cmp.Compare(x.At, y.At) })
		row.Activity = together(row.Activity)
		for i := range row.Activity {
			if row.Activity[i].Count == 1 {
				row.Activity[i].Count = 0 // left out of the page
			}
		}
	}
	return len(left)
}

// sessionsOfTraces are the sessions that traces belong to; nil where one belongs
// to several.
func (in *Input) sessionsOfTraces() map[pcommon.TraceID]*rowKey {
	out := map[pcommon.TraceID]*rowKey{}
	note := func(trace pcommon.TraceID, key rowKey) {
		if trace.IsEmpty() {
			return
		}
		other, known := out[trace]
		switch {
		case !known:
			out[trace] = &key
		case other == nil || other.SessionKey != key.SessionKey:
			out[trace] = nil
		case *other != key:
			out[trace] = &rowKey{SessionKey: key.SessionKey} // of several agents of one session
		}
	}
	for _, g := range in.receipts {
		note(g.trace, g.key)
	}
	for _, w := range in.work {
		if w.known {
			note(w.trace, w.key)
		}
	}
	return out
}

func (b *builder) name(name string) int {
	n, known := b.names[name]
	if !known {
		n = len(b.Names)
		b.names[name] = n
		b.Names = append(b.Names, name)
	}
	return n
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// together joins what is near in time where there is too much to show.
func together(all []Activity) []Activity {
	if len(all) <= maxActivity {
		return all
	}
	from := all[0].Start
	width := max(1, (all[len(all)-1].Start-from)/maxActivity+1)
	var out []Activity
	for _, a := range all {
		n := len(out)
		if n == 0 || (out[n-1].Start-from)/width != (a.Start-from)/width {
			out = append(out, a)
			continue
		}
		o := &out[n-1]
		o.Length = max(o.Length, a.Start+a.Length-o.Start)
		o.Count += a.Count
		o.Errors += a.Errors
		if o.Name != a.Name {
			o.Name = -1
		}
	}
	return out
}
