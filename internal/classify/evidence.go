package classify

import (
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// Value is a digest and how it was made.
type Value struct {
	Digest digest.Digest
	Form   digest.Form
}

// Comparable reports whether two values can be compared at all.
func (v Value) Comparable(w Value) bool { return digest.Comparable(v.Digest, v.Form, w.Digest, w.Form) }

// Same reports whether two values are provably the same: equal comparable
// digests, or nothing on both sides.
func (v Value) Same(w Value) bool {
	if v.Digest.IsNothing() || w.Digest.IsNothing() {
		return v.Digest.IsNothing() && w.Digest.IsNothing()
	}
	return v.Comparable(w) && v.Digest == w.Digest
}

// Taken is when a snapshot was taken, by its three clocks.
type Taken struct {
	// ObservedAt is when the invariant was seen, Event the snapshot event's own
	// time; 0 is not stated.
	ObservedAt, Event Instant
	// Received is the collector's clock.
	Received Instant
}

// Before is one invariant as one baseline states it.
type Before struct {
	Value
	// Fault is why the baseline is unusable for the invariant, "" if it is not.
	Fault Reason
	// Text: honest rewording differs (comparison=text).
	Text bool
	// Taken is zero for a value that no snapshot of this boundary states: an
	// outstanding one.
	Taken Taken
	// Since is when a defect that is outstanding was shown, 0 for none: what
	// Since is when an outstanding value was last shown to be lost, 0 for none: an
	// earlier look says nothing of it. (To clear it, a look must be later.)
	Since Instant
	// CompactedUntil is the end of the compaction that a look must not precede,
	// 0 for none.
	CompactedUntil Instant
}

// After is one invariant as one look shows it: stated, or proven to be absent
// (Value none).
type After struct {
	Value
	Fault      Reason
	ObservedAt Instant
	Source     Source
	// Accepted is set where the source counts for this invariant.
	Accepted bool
	// Event and Received are the look's own time and the collector's.
	Event, Received Instant
}

// Probe reports whether the world was asked, not the agent or a human.
func (a After) Probe() bool { return a.Source == Environment }

const (
	// futureSlack is how far ahead of its own event a look may be dated.
	futureSlack = 5 * time.Minute
	// orderSlack is how far apart the clocks of two hooks of one host may be.
	orderSlack = time.Second
)

// Fresh reports whether something seen at t by a look (event time and receipt)
// was seen after the snapshot was taken.
func (k Taken) Fresh(t, event, received Instant) bool {
	if !Dated(t, event, received) {
		return false
	}
	stated := k.ObservedAt.Plausible(k.Received) && k.ObservedAt <= k.Received
	timed := k.Event.Plausible(k.Received)
	switch {
	case !stated && !timed:
		return false
	case stated && !t.After(k.ObservedAt):
		return false
	case timed && t.Before(k.Event):
		return false
	case timed && k.follows(event, received):
		return false
	}
	return true
}

// follows reports whether the snapshot came after a look, whatever the look is
// dated: it was taken later and arrived later, or, by a clock that is not ahead
// of the collector's, it was taken when the look was here already.
func (k Taken) follows(event, received Instant) bool {
	if k.Received <= received {
		return false
	}
	return event.Plausible(received) && k.Event.After(event) || k.Event <= k.Received && k.Event.After(received)
}

// Dated reports whether something seen at t by a look has a time that can be
// believed: stated, and not dated ahead of the look.
func Dated(t, event, received Instant) bool {
	return t != 0 && !t.After(event.Or(received).Add(futureSlack))
}

// EarlierThan reports whether t precedes the end of a compaction, give or take
// a second.
func EarlierThan(t, end Instant) bool { return end != 0 && t.Before(end.Add(-orderSlack)) }

// NotLaterThan reports whether an event at t precedes one at u, give or take a
// second.
func NotLaterThan(t, u Instant) bool { return t <= u.Add(orderSlack) }

// Insufficient is why a look does not count towards a baseline, or "".
func Insufficient(b *Before, a *After) Reason {
	switch {
	case a.Fault != "":
		return a.Fault
	case a.Source == NoSource:
		return SourceMissing
	case !a.Accepted:
		return SourceNotAccepted
	case !b.fresh(a):
		return NotFresh
	case EarlierThan(min(a.ObservedAt, a.Event.Or(a.Received)), b.CompactedUntil):
		return ObservedTooEarly
	}
	return ""
}

// Weaker returns the reason that comes first in the order of the evidence test,
// so that the order in which baselines came does not matter.
func Weaker(a, b Reason) Reason {
	switch {
	case a == "":
		return b
	case a == ObservedTooEarly && b == NotFresh:
		return b
	}
	return a
}

func (b *Before) fresh(a *After) bool {
	if a.ObservedAt.Before(b.Since) {
		return false
	}
	if b.Taken == (Taken{}) {
		return Dated(a.ObservedAt, a.Event, a.Received)
	}
	return b.Taken.Fresh(a.ObservedAt, a.Event, a.Received)
}
