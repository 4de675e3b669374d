package boundary

import (
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// compactionEnd is the end of a compaction and when the collector heard of it.
type compactionEnd struct {
	end, received classify.Instant
}

// maxEnds bounds the compactions that a key remembers.
const maxEnds = 16

// addEnd remembers the end of a compaction. One that was heard of later but
// ended earlier adds nothing.
func (k *keyState) addEnd(end, received classify.Instant) {
	for _, e := range k.ends {
		if e.end >= end && e.received <= received {
			return
		}
	}
	k.ends = append(k.ends, compactionEnd{end, received})
	k.boundEnds()
}

// boundEnds makes one of the two that were heard of first where there are too many:
// whatever is too early for one of them stays too early.
func (k *keyState) boundEnds() {
	for len(k.ends) > maxEnds {
		a, b := k.ends[0], k.ends[1]
		k.ends = slices.Delete(k.ends, 0, 1)
		k.ends[0] = compactionEnd{max(a.end, b.end), min(a.received, b.received)}
	}
}

// compactedUntil is the end of the compaction that a look at a snapshot must not
// precede: of its own, of the last one that joined the boundary, or of any other
// that followed the snapshot and was heard of before both were there.
func (k *keyState) compactedUntil(x *bound, s *snap, looked classify.Instant) classify.Instant {
	end := x.lastEnd
	if s == nil {
		return end
	}
	end = max(end, s.completion)
	both := max(looked, s.received)
	for _, e := range k.ends {
		if e.received <= both && e.end > s.time() {
			end = max(end, e.end)
		}
	}
	return end
}

// endOf is the end of the compaction that a snapshot which came late belongs to:
// the first that ended after it was taken; 0 for none yet.
func (k *keyState) endOf(s *snap) classify.Instant {
	var first classify.Instant
	for _, e := range k.ends {
		if classify.NotLaterThan(s.time(), e.end) && (first == 0 || e.end < first) {
			first = e.end
		}
	}
	return first
}

// oneCompaction is how near the ends of one compaction lie that are told by two
// ways, as by a hook and by the agent's own record. A compaction takes longer.
const oneCompaction = 2 * time.Second

// since returns how long before an end the agent's compaction before ended,
// negative where none is remembered; again reports that it is the same one.
func (s *session) since(agent string, end classify.Instant) (gap time.Duration, again bool) {
	gap = -1
	if s == nil {
		return gap, false
	}
	for _, k := range s.concerned(agent) {
		for _, e := range k.ends {
			d := time.Duration(end - e.end)
			if d.Abs() < oneCompaction {
				return d, true
			}
			if d > 0 && (gap < 0 || d < gap) {
				gap = d
			}
		}
	}
	return gap, false
}

// report counts a completion, whoever it concerns, and remembers that this
// runtime reports them.
func (c *Core) report(now time.Time, s *session, ev *Event, res *Result) {
	if ev.Kind != Completion {
		return
	}
	tally := Tally{
		What: CountCompaction, Outcome: ev.Outcome, Runtime: ev.Runtime, Trigger: ev.Trigger,
		TokensBefore: ev.TokensBefore, TokensAfter: ev.TokensAfter, Since: -1,
	}
	if ev.Outcome.Happened() {
		again := false
		if tally.Since, again = s.since(ev.Key.Agent, ev.Time.Or(classify.At(now))); again {
			tally.What = CountRetold
		}
	}
	res.count(tally)
	if ev.Runtime != "" {
		c.fleet.Saw(ev.Key.Tenant(), ev.Runtime, ReportsCompletions)
	}
}

// completion takes what the host says of how the compaction ended.
func (s *session) completion(now time.Time, ev *Event, res *Result) bool {
	keys := s.concerned(ev.Key.Agent)
	if ev.BoundaryID != "" {
		if k := s.owner(ev.BoundaryID); k != nil {
			keys = []*keyState{k}
		}
	}
	if !ev.Outcome.Happened() {
		for _, k := range keys {
			k.uncompacted(now, ev, res)
		}
		return true
	}
	// What is open comes first: a compaction of one agent does not touch the
	// verdicts of others.
	taken := false
	for _, take := range []func(*keyState) bool{
		func(k *keyState) bool { return k.join(now, ev, res) },
		func(k *keyState) bool { return k.find(now, ev, res) },
	} {
		for _, k := range keys {
			if take(k) {
				taken = true
			}
		}
		if taken {
			return true
		}
	}
	k := s.at(now, ev.Key.Agent)
	if k == nil {
		return false
	}
	end := ev.Time.Or(classify.At(now))
	k.addEnd(end, classify.At(now)) // looks before it are too early in any case
	if !k.mayOpen() {
		return false
	}
	x := k.openBound(now, ev)
	x.openedEnd = end
	k.confirm(now, x, ev)
	return true
}

// owner returns the agent that has a boundary with this explicit id.
func (s *session) owner(id string) *keyState {
	for _, k := range s.agents {
		if slices.ContainsFunc(k.bounds, func(x *bound) bool { return x.pairing == id }) {
			return k
		}
	}
	return nil
}

// uncompacted takes a completion that says that there was no compaction.
func (k *keyState) uncompacted(now time.Time, ev *Event, res *Result) {
	end := ev.Time.Or(classify.At(now))
	if s := k.concernedSnap(end, ev.BoundaryID); s != nil {
		k.cancel(now, s, end, ev, res)
	}
}

// join takes a completion into what is open; false where nothing is.
func (k *keyState) join(now time.Time, ev *Event, res *Result) bool {
	open := k.openAll(ev.BoundaryID)
	if len(open) == 0 {
		return false
	}
	end := k.noteEnd(now, ev)
	for _, x := range open {
		k.joined(x, x.completions > 0, res)
		x.lastEnd = end
		k.confirm(now, x, ev)
		if x.observed() && x.status != parked {
			k.revise(now, x, res)
		}
	}
	return true
}

// noteEnd remembers when a compaction ended, and which snapshot it concerns.
func (k *keyState) noteEnd(now time.Time, ev *Event) classify.Instant {
	end := ev.Time.Or(classify.At(now))
	k.addEnd(end, classify.At(now))
	if s := k.concernedSnap(end, ev.BoundaryID); s != nil {
		s.completion = end
	}
	return end
}

// find takes a completion that finds its boundary settled; false where it
// concerns none that the agent knows: it is then a compaction of its own.
func (k *keyState) find(now time.Time, ev *Event, res *Result) bool {
	end := ev.Time.Or(classify.At(now))
	x := k.newest(ev.BoundaryID)
	if s := k.concernedSnap(end, ev.BoundaryID); s != nil && slices.Contains(k.bounds, s.bound) {
		x = s.bound
	}
	switch {
	case x == nil:
		return false
	case x.completions > 0 && x.lookedSince(end):
		return true // heard of it by another way already, or the looks cover it
	case x.snapshots == 0 && !x.lookedSince(end):
		return false
	}
	return k.revive(now, x, ev, res)
}

// revive takes a completion of a settled boundary; false where that had its
// completion already.
func (k *keyState) revive(now time.Time, x *bound, ev *Event, res *Result) bool {
	again := x.passed && !x.sufficient || x.unconfirmed
	if !again && (x.completions > 0 || x.ended) {
		return false
	}
	x.lastEnd = k.noteEnd(now, ev)
	if again {
		x.unconfirmed = false
		x.arm(now)
		k.confirm(now, x, ev)
		return true
	}
	x.windowFrom = now
	k.confirm(now, x, ev)
	if x.observed() {
		x.passed = false // where the look was none, the window opens anew
		k.revise(now, x, res)
	}
	return true
}

// lookedSince reports whether a boundary has a look that was taken after a
// compaction ended.
func (x *bound) lookedSince(end classify.Instant) bool {
	return slices.ContainsFunc(x.looks, func(l *look) bool {
		early := func(st Statement) bool { return st.ObservedAt <= end }
		return l.time() > end && len(l.statements) > 0 && !slices.ContainsFunc(l.statements, early)
	})
}

// confirm records the completion of a boundary: the window starts with the first
// one, or with the first activity after it.
func (k *keyState) confirm(now time.Time, x *bound, ev *Event) {
	first := x.completions == 0
	x.learn(ev)
	x.completions++
	x.outcome = ev.Outcome
	if x.runtime != "" {
		k.core.fleet.Saw(k.key.Tenant(), x.runtime, ReportsCompletions)
	}
	if e := ev.Envelope; e != nil && e.Fields[classify.FieldSummarySHA256] != "" {
		x.summary = e.Fields[classify.FieldSummarySHA256]
	}
	x.window = k.core.cfg.window(x.runtime)
	if !first || x.status != armed {
		return
	}
	x.windowFrom = now
	x.arm(now)
	if k.core.cfg.profile(x.runtime).StartsWithActivity && k.core.fleet.Seen(k.key.Tenant(), x.runtime, ReportsActivity) {
		x.deadline = time.Time{}
	}
}

// concernedSnap is the newest baseline's snapshot that has no completion and is
// not later than one that ended at end. An older one whose successor, equal or
// asking anew what was answered, has its completion already is not meant.
func (k *keyState) concernedSnap(end classify.Instant, id string) *snap {
	var found, done *snap
	for _, s := range k.snaps {
		if s.absorbed() || !meets(s.boundaryID, id) || !classify.NotLaterThan(s.time(), end) {
			continue
		}
		best := &found
		if s.completion != 0 {
			best = &done
		}
		if *best == nil || s.time() >= (*best).time() {
			*best = s
		}
	}
	if found != nil && done != nil && done.time() > found.time() && (!found.owes() || found.content.equal(done.content)) {
		return nil
	}
	return found
}

// cancel takes a snapshot back that met no compaction. When nothing is left of
// an open boundary, it ends; the findings of a settled one that was observed
// stay.
func (k *keyState) cancel(now time.Time, s *snap, end classify.Instant, ev *Event, res *Result) {
	x := s.bound
	state := k.sessionState()
	wasOpen := x.open()
	x.learn(ev)
	x.ended = true
	switch {
	case s.more > 0: // it stands for several
		s.more--
	case !wasOpen && x.observed():
		s.completion = end
		s.forgive(x)
	default:
		k.snaps = slices.DeleteFunc(k.snaps, func(o *snap) bool { return o == s })
	}
	if x.completions == 0 && !k.owedFrom(x) && (wasOpen || !x.observed()) {
		k.void(now, x, ev.Outcome, wasOpen, res)
		if wasOpen && ev.Outcome == Failed {
			return
		}
	} else if wasOpen && x.observed() && x.status != parked {
		k.revise(now, x, res)
		return
	}
	k.clearedLater(now, x, state, res)
}

// void ends a boundary whose compaction did not happen: the session's state is
// what it was before. Only a failure has a receipt of its own.
func (k *keyState) void(now time.Time, x *bound, outcome Outcome, wasOpen bool, res *Result) {
	x.outcome, x.void = outcome, true
	x.settle(now)
	if k.last == x {
		k.last = k.before(x)
	}
	if outcome == Failed {
		x.override = classify.CompactionFailed
	}
	switch {
	case wasOpen && outcome == Failed:
		k.soften(AlertCompactionFailed, x)
		k.emit(now, x, res)
	case x.revision == 0:
		k.bounds = slices.DeleteFunc(k.bounds, func(o *bound) bool { return o == x })
	}
}

// before returns the boundary that was decided last apart from x.
func (k *keyState) before(x *bound) *bound {
	for _, y := range slices.Backward(k.bounds) {
		if y != x && !y.void && y.verdict != nil {
			return y
		}
	}
	return nil
}
