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
	k.last = x
	state, _ := classify.Rollup(x.findings)
	wanting := classify.Wanting(x.findings)
	x.sufficient = slices.ContainsFunc(k.snaps, func(s *snap) bool { return s.heldBy(x) })
	if !wanting {
		k.overdueLook, x.unconfirmed = false, false
	}
	switch {
	case state >= classify.Dropped || !wanting || x.refusedLast():
		x.settle(now)
	case x.status == settled && !x.passed:
		x.live(now)
	}
	if state.Healthy() {
		k.healthyAgain()
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
	k.last = x
	switch {
	case x.completions > 0 && !x.observed() && !k.owesAt(x):
		x.override = classify.NoObservation
		k.soften(AlertInstrumentationGap, x)
	case profile.Confirm && x.completions == 0 && k.core.fleet.Seen(k.key.Tenant(), x.runtime, ReportsCompletions):
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
	k.overdueLook = k.overdueLook || !found
}

// end settles a boundary for a reason of its own, without an alert.
func (k *keyState) end(now time.Time, x *bound, reason classify.Reason, res *Result) {
	x.settle(now)
	x.override = reason
	k.last = x
	k.emit(now, x, res)
}

// park takes a session's end: windows close, and open again when it resumes.
func (k *keyState) park(now time.Time, res *Result) {
	for _, x := range k.bounds {
		if x.status == armed {
			k.end(now, x, classify.SessionEnded, res)
			x.status = parked
		}
	}
}

// resume takes a sign of life: parked windows open again in full, and a window
// that waits for activity starts.
func (k *keyState) resume(now time.Time, kind Kind) {
	for _, x := range k.bounds {
		if x.status == parked || kind == Activity && x.status == armed && x.deadline.IsZero() {
			x.arm(now)
		}
	}
}

// healthyAgain clears what lasts until the session's next healthy boundary.
func (k *keyState) healthyAgain() {
	k.soft = [alertKinds]*bound{}
	k.lostOverdue = false
	if k.envelope != nil {
		k.envelope.refused = ""
		if k.envelope.empty() {
			k.envelope = nil
		}
	}
}

// soften notes a thing that is outstanding until the next healthy boundary.
func (k *keyState) soften(kind AlertKind, x *bound) { k.soft[kind] = x }
