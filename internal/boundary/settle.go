package boundary

import (
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// settle ends the window.
func (x *bound) settle(now time.Time) {
	if x.open() {
		x.settledAt = now
	}
	x.status, x.deadline = settled, time.Time{}
}

// revise evaluates a boundary after something joined it. It settles at once when
// the verdict is a defect or nothing required wants evidence; else the window
// stays armed, and is armed again where a look turned out to be none.
func (k *keyState) revise(now time.Time, x *bound, res *Result) {
	x.override = ""
	x.findings = k.evaluate(x)
	k.boundLooks(x)
	k.decided(x)
	state, _ := classify.Rollup(x.findings)
	wanting := classify.Wanting(x.findings)
	x.sufficient = slices.ContainsFunc(k.snaps, func(s *snap) bool { return s.heldBy(x) })
	if !wanting && x.sufficient {
		x.unconfirmed = false
		if k.overdueLook != nil && k.overdueLook.opened <= x.opened {
			k.overdueLook = nil
		}
	}
	switch {
	case state >= classify.Dropped || !wanting || x.refusedLast() || x.snapshots+x.completions == 0:
		x.settle(now)
	case x.status == settled && !x.passed:
		x.live(now)
	}
	if state.Healthy() {
		k.healthyAgain(x)
	} else if !x.open() && state == classify.Unverified {
		k.soften(AlertDecisionUnverified, x)
	}
	k.emit(now, x, res)
}

// live opens a settled boundary again: until its first deadline where that is
// still to come, else for a full window.
func (x *bound) live(now time.Time) {
	first := x.windowFrom.Add(x.window)
	x.arm(now)
	if first.After(now) {
		x.deadline = first
	}
}

// expireWindow decides a boundary whose window closed without enough evidence.
func (k *keyState) expireWindow(now time.Time, x *bound, res *Result) {
	profile := k.core.cfg.profile(x.runtime)
	x.passed = true
	x.settle(now)
	k.decided(x)
	switch {
	case x.completions > 0 && !x.observed() && !k.owesAt(x):
		x.override = classify.NoObservation
		k.soften(AlertInstrumentationGap, x)
	case profile.Confirm && !k.confirmed(x) && k.core.fleet.Seen(k.key.Tenant(), x.runtime, ReportsCompletions):
		x.override, x.unconfirmed = classify.CompactionUnconfirmed, true
	case !x.observed():
		x.override = classify.PostObservationMissing
		k.overdue(x)
	default:
		x.override = ""
		k.overdue(x)
	}
	if x.override != classify.NoObservation {
		k.soften(AlertDecisionUnverified, x)
	}
	k.emit(now, x, res)
}

// owesAt reports whether anything that a boundary compares is still owed.
func (k *keyState) owesAt(x *bound) bool {
	return slices.ContainsFunc(k.snaps, func(s *snap) bool { return x.inPlay(s) && s.owes() && x.snapshots > 0 })
}

// overdue marks what a closed window leaves unanswered.
func (k *keyState) overdue(x *bound) {
	found := false
	for _, s := range k.snaps {
		if x.inPlay(s) && s.passDeadline() {
			found = true
		}
	}
	if !found && x.observed() { // else another boundary answered it meanwhile
		k.overdueLook = x
	}
}

// decided makes a boundary the last one, unless a later one was decided already.
func (k *keyState) decided(x *bound) {
	if k.last == nil || k.last.opened <= x.opened {
		k.last = x
	}
}

// confirmed reports whether the compaction of a boundary was seen to be over.
func (k *keyState) confirmed(x *bound) bool {
	return x.completions > 0 || slices.ContainsFunc(k.snaps, func(s *snap) bool { return s.bound == x && s.completion != 0 })
}

// end settles a boundary for a reason of its own, without an alert.
func (k *keyState) end(now time.Time, x *bound, reason classify.Reason, res *Result) {
	x.settle(now)
	x.override = reason
	k.decided(x)
	k.emit(now, x, res)
}

// park takes a session's end: windows close, and open again when it resumes. What
// ended before a compaction is a leftover, and silences nothing that came after.
func (k *keyState) park(now time.Time, ev *Event, res *Result) {
	at := ev.Time.Or(classify.At(now))
	for _, x := range k.bounds {
		if x.status == armed && !at.Before(x.begun) {
			k.end(now, x, classify.SessionEnded, res)
			x.status, x.parkedAt = parked, at
		}
	}
}

// resume takes a sign of life: parked windows open again in full, and a window
// that waits for activity starts. It reports whether one did.
func (k *keyState) resume(now time.Time, ev *Event) bool {
	kind, at, resumed := ev.Kind, ev.Time.Or(classify.At(now)), false
	for _, x := range k.bounds {
		// What happened before the end is a leftover that was flushed late. Work at the
		// same moment is one too: it is not remembered, and may be told of twice.
		begins := kind == Activity && x.status == armed && x.deadline.IsZero() && x.workSince(at, now)
		goesOn := x.status == parked && (at.After(x.parkedAt) || kind != Activity && at == x.parkedAt)
		if goesOn || begins {
			x.arm(now)
			resumed = true
		}
	}
	return resumed
}

// workSince reports whether work at a time came after the compaction. An end that is
// ahead of the collector's clock tells nothing.
func (x *bound) workSince(at classify.Instant, now time.Time) bool {
	end := max(x.lastEnd, x.openedEnd)
	return !at.Before(end) || end.After(classify.At(now))
}

// wrote takes a change that the agent made while nobody knew what it still knew.
// It reports whether there was such a boundary.
func (k *keyState) wrote(at classify.Instant) bool {
	counted := false
	if slices.ContainsFunc(k.waiting, func(l *look) bool { return !at.Before(l.time()) }) {
		return false // the look is there already, only its snapshot is not
	}
	for _, x := range k.bounds {
		if x.open() && !x.sufficient && !at.Before(x.lastEnd) {
			x.writes++
			x.lastWrite = max(x.lastWrite, at)
			counted = true
		}
	}
	return counted
}

// healthyAgain clears what lasts until the session's next healthy boundary.
func (k *keyState) healthyAgain(x *bound) {
	k.soft = [alertKinds]*bound{}
	k.lostOverdue = false
	owesEnvelope := func(s *snap) bool { return s.content.envelope != nil && s.whole.status == owed }
	if k.refused != nil && x.opened > k.refused.turn && !slices.ContainsFunc(k.snaps, owesEnvelope) {
		k.refused = nil
	}
}

// soften notes a thing that is outstanding until the next healthy boundary.
func (k *keyState) soften(kind AlertKind, x *bound) { k.soft[kind] = x }
