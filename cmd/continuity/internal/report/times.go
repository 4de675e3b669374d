package report

import (
	"cmp"
	"slices"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// order puts the boundaries of a row in the order of their times, and fills in
// times that are missing, so that each has a place.
func (row *Row) order() {
	var all []*Revision
	for _, b := range row.Boundaries {
		all = append(all, b.Revisions...)
	}
	row.NoTimes = !slices.ContainsFunc(all, func(r *Revision) bool { return r.At != 0 })
	for i, r := range all {
		r.NoTime = r.At == 0
		if row.NoTimes {
			r.At = earliest + int64(i)*1_000_000
		}
	}
	fill(all)
	slices.Reverse(all)
	fill(all) // those before the first that has a time stand with it
	for _, r := range all {
		r.open()
	}
	slices.SortStableFunc(row.Boundaries, func(x, y *Boundary) int { return cmp.Compare(x.Revisions[0].At, y.Revisions[0].At) })
	var last *Revision
	for _, r := range slices.Backward(all) {
		if last == nil || r.At >= last.At {
			last = r
		}
	}
	row.State = last.State
}

// fill gives what has no time the time of the receipt before it.
func fill(all []*Revision) {
	var last int64
	for _, r := range all {
		if r.At == 0 {
			r.At = last
		}
		last = r.At
	}
}

// closed are the reasons of a window that closed: it was as long as it could be.
var closed = []classify.Reason{classify.PostObservationMissing, classify.CompactionUnconfirmed}

// open says when the boundary was opened, where that can be known.
func (r *Revision) open() {
	switch {
	case r.NoTime:
		r.Opened = 0
	case r.Opened != 0:
		r.Opened = min(r.Opened, r.At)
	case r.Number == 1 && r.Window > 0 && slices.Contains(closed, classify.Reason(r.Reason)):
		r.Opened, r.Guessed = r.At-int64(r.Window*1e6), byWindow
	}
}

// guess is what a time follows from.
type guess string

const (
	byWindow guess = "window" // that closed
	byEvents guess = "events" // of the agent's telemetry: near the time at which they were received
)

// opened are the kinds of events that open a boundary.
var opened = []string{boundary.Snapshot.String(), boundary.Completion.String()}

// openByEvents says when boundaries were opened of which nothing else says it: with
// the first event since the boundary before that opens one.
func (row *Row) openByEvents() {
	var before int64
	for _, b := range row.Boundaries {
		r := b.Revisions[0]
		if r.Opened == 0 && !r.NoTime && r.Number == 1 {
			i := slices.IndexFunc(row.Events, func(e Evidence) bool { return e.At > before && e.At <= r.At && slices.Contains(opened, e.Kind) })
			if i >= 0 {
				r.Opened, r.Guessed = row.Events[i].At, byEvents
			}
		}
		before = r.At
	}
}

// fromBase makes all times relative: most are short numbers then.
func (b *builder) fromBase() {
	base := int64(latest)
	for _, row := range b.Rows {
		row.eachTime(func(t *int64) {
			if *t > 0 {
				base = min(base, *t)
				row.Earliest, row.Latest = min(cmp.Or(row.Earliest, *t), *t), max(row.Latest, *t)
			}
		})
		for _, a := range row.Activity {
			row.Latest = max(row.Latest, a.Start+a.Length)
		}
	}
	b.Base = base
	for _, row := range b.Rows {
		row.Earliest -= base
		row.Latest -= base
		row.eachTime(func(t *int64) {
			if *t > 0 {
				*t -= base
			} else {
				*t = -1
			}
		})
	}
}

func (row *Row) eachTime(f func(*int64)) {
	for _, b := range row.Boundaries {
		for _, r := range b.Revisions {
			f(&r.At)
			f(&r.Opened)
		}
	}
	for _, l := range row.Losses {
		f(&l.From)
		f(&l.To)
	}
	for i := range row.Activity {
		f(&row.Activity[i].Start)
	}
	for i := range row.Events {
		f(&row.Events[i].At)
	}
}
