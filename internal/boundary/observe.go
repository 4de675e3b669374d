package boundary

import (
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// snapshot takes the decisions before a compaction: it opens a boundary or joins
// the one that is open.
func (s *session) snapshot(now time.Time, ev *Event, mark *Mark, res *Result) bool {
	k := s.route(now, ev)
	if k == nil {
		return false
	}
	at := classify.At(now)
	k.resume(now, ev)
	for _, x := range k.openAll(ev.BoundaryID) {
		if x.snapshots == 0 && x.completions > 0 && !classify.NotLaterThan(ev.Time.Or(at), x.openedEnd) {
			// Taken from the summary: no baseline for the compaction before it.
			k.end(now, x, classify.NoBaseline, res)
		}
	}
	x := k.openFor(ev.BoundaryID)
	if x == nil && !k.mayOpen() || k.crowded(ev) {
		return false
	}
	sn := k.addSnap(ev, at)
	if x == nil {
		x = k.openBound(now, ev)
	} else {
		k.joined(x, x.snapshots > 0, res)
		if x.snapshots == 0 && x.status == armed { // the later of completion and snapshot
			x.windowFrom = now
			x.arm(now)
		}
	}
	x.learn(ev)
	x.snapshots++
	sn.bound, mark.bound = x, x
	sn.completion = k.endOf(sn)
	x.changedSince = sortNames(append(x.changedSince, k.changedSince(sn, now)...))
	s.gather(now, k, x, sn)
	if x.observed() {
		k.revise(now, x, res)
	}
	return true
}

// joined counts what joins an open boundary beside its first.
func (k *keyState) joined(x *bound, again bool, res *Result) {
	if again {
		res.count(Tally{What: CountSuperseded, Runtime: x.runtime})
	}
}

// maxOpen bounds the boundaries that one key may have open: explicit ids are the
// sender's to choose.
const maxOpen = 16

// mayOpen reports whether there is room for another open boundary.
func (k *keyState) mayOpen() bool {
	if k.tight {
		return false
	}
	if k.openCount() >= maxOpen {
		k.reach(LimitBoundaries)
		return false
	}
	return true
}

func (k *keyState) openCount() int {
	n := 0
	for _, x := range k.bounds {
		if x.open() {
			n++
		}
	}
	return n
}

// maxNames bounds the invariants in question at one agent: each costs a comparison
// at each look.
const maxNames = 256

// crowded reports whether a snapshot would bring more invariants into question than
// there is room for.
func (k *keyState) crowded(ev *Event) bool {
	n := len(ev.Statements) + len(k.defects)
	for _, s := range k.snaps {
		n += len(s.decisions)
	}
	if n <= maxNames {
		return false
	}
	names := map[string]struct{}{}
	for i := range ev.Statements {
		names[ev.Statements[i].Name] = struct{}{}
	}
	for _, d := range k.defects {
		names[d.name] = struct{}{}
	}
	for _, s := range k.snaps {
		if !s.owes() && !slices.ContainsFunc(s.debts, func(d debt) bool { return d.by != nil && d.by.open() }) {
			continue // only history speaks of it
		}
		for i := range s.decisions {
			names[s.decisions[i].name] = struct{}{}
		}
	}
	if len(names) <= maxNames {
		return false
	}
	k.reach(LimitInvariants)
	return true
}

// openBound opens a boundary with an armed window.
func (k *keyState) openBound(now time.Time, ev *Event) *bound {
	x := &bound{opened: k.nextTurn(), pairing: ev.BoundaryID, start: now, windowFrom: now, runtime: ev.Runtime, window: k.core.cfg.window(ev.Runtime)}
	x.id, x.use = ev.BoundaryID, k.newID(now, ev)
	if x.id == "" {
		x.id = x.use
	}
	for _, old := range k.bounds {
		if old.id == x.id { // a receipt's name is its id and revision
			x.revision = max(x.revision, old.revision)
		}
	}
	x.arm(now)
	k.bounds = append(k.bounds, x)
	return x
}

// newID names a boundary that no event names: stable, and different for each
// boundary of each session.
func (k *keyState) newID(now time.Time, ev *Event) string {
	h := fnv.New128a()
	for _, part := range []string{k.origin.Scope, k.origin.Session, k.agent} {
		h.Write([]byte(frame(part)))
	}
	var tail [24]byte
	binary.BigEndian.PutUint64(tail[:8], ev.Fingerprint)
	binary.BigEndian.PutUint64(tail[8:16], uint64(now.UnixNano()))
	binary.BigEndian.PutUint64(tail[16:], k.turn)
	h.Write(tail[:])
	return hex.EncodeToString(h.Sum(nil))
}

// arm opens a full window.
func (x *bound) arm(now time.Time) {
	x.status, x.deadline = armed, now.Add(x.window)
	x.passed = false
}

// gather takes up the looks that a snapshot finds: those that wait, where they
// are not earlier than it, and those of the last window that are later than all
// that the boundary compares.
func (s *session) gather(now time.Time, k *keyState, x *bound, sn *snap) {
	for _, other := range s.agents {
		other.waiting = slices.DeleteFunc(other.waiting, func(l *look) bool {
			same := other == k && meets(l.boundaryID, x.pairing) || l.boundaryID != "" && l.boundaryID == x.pairing
			timed := l.event.Plausible(l.received) && sn.event.Plausible(sn.received)
			if !same || timed && l.event.Before(sn.event) {
				return false
			}
			k.takeLook(x, l)
			k.looks = append(k.looks, l)
			return true
		})
	}
	for _, l := range k.looks {
		// The collector's own clock has a say too: a look dated into the future must
		// not answer for snapshots that are still to come.
		if slices.Contains(x.looks, l) || !meets(l.boundaryID, x.pairing) || now.Sub(l.at) > k.core.cfg.Window ||
			!l.event.Plausible(l.received) || sn.event > l.received {
			continue
		}
		later := true
		for _, other := range k.snaps {
			if other.bound == x {
				later = later && other.event.Plausible(other.received) && l.event.After(other.event)
			}
		}
		if later {
			k.takeLook(x, l)
		}
	}
	slices.SortStableFunc(x.looks, func(a, b *look) int { return int(a.turn) - int(b.turn) })
}

// takeLook makes a look part of a boundary.
func (k *keyState) takeLook(x *bound, l *look) {
	x.looks = append(x.looks, l)
	if l.mark != nil && l.mark.bound == nil {
		l.mark.bound = x
	}
	if l.source != nil {
		x.learn(l.source)
		l.source = nil
	}
	if x.firstLook.IsZero() {
		x.firstLook = l.at
	}
	l.waitUntil = time.Time{}
}

// maxLooks bounds the looks of one boundary, maxStated what they state together.
// Beyond it the oldest go on which nothing rests: each name needs one that suffices.
const (
	maxLooks  = 64
	maxStated = 512
)

func (k *keyState) boundLooks(x *bound) {
	stated := 0
	for _, l := range x.looks {
		stated += len(l.statements)
	}
	for len(x.looks) > maxLooks || stated > maxStated && len(x.looks) > 1 {
		i := slices.IndexFunc(x.looks, func(l *look) bool { return !slices.Contains(x.resting, l) })
		if i < 0 {
			i, k.lost = 0, true // a finding rests on each of them
		}
		stated -= len(x.looks[i].statements)
		x.looks = slices.Delete(x.looks, i, i+1)
		k.reach(LimitObservations)
	}
}

// observation takes the decisions as seen after a compaction.
func (s *session) observation(now time.Time, ev *Event, mark *Mark, res *Result) bool {
	k := s.route(now, ev)
	if k == nil {
		return false
	}
	k.resume(now, ev)
	l := newLook(ev, now, k.nextTurn(), mark)
	open := k.openAll(ev.BoundaryID)
	if !slices.ContainsFunc(open, func(x *bound) bool { return x.snapshots > 0 }) {
		// A completion may have overtaken the snapshot too.
		mark.reason = classify.AwaitingSnapshot
		l.waitUntil = now.Add(k.core.cfg.ReorderGrace)
		k.waiting = append(k.waiting, l)
		if len(k.waiting) > maxLooks {
			s.reach(LimitObservations)
			first := k.waiting[0]
			k.waiting = slices.Delete(k.waiting, 0, 1)
			k.takeUp(now, first, res)
		}
		return true
	}
	k.looks = append(k.looks, l)
	for _, x := range open {
		x.learn(ev)
		mark.bound = x
		k.takeLook(x, l)
		k.revise(now, x, res)
	}
	return true
}

// takeUp decides what an early look is once it has waited long enough: a
// revision of the last boundary where that is still owed an answer or was
// settled less than a window ago, else a boundary of its own.
func (k *keyState) takeUp(now time.Time, l *look, res *Result) {
	source := l.source
	x := k.newest(l.boundaryID)
	if open := k.openAll(l.boundaryID); len(open) > 0 {
		x = open[len(open)-1]
	}
	if x != nil && !x.open() && !k.owedFrom(x) && l.at.Sub(x.settledAt) >= x.window {
		x = nil
	}
	if x == nil {
		x = k.openBound(l.at, source)
	} else if x.passed {
		x.late = true
		res.count(Tally{What: CountLate, Runtime: x.runtime})
	}
	k.looks = append(k.looks, l)
	k.takeLook(x, l)
	k.revise(now, x, res)
}

// owedFrom reports whether a boundary's own snapshots are still to be answered.
func (k *keyState) owedFrom(x *bound) bool {
	return slices.ContainsFunc(k.snaps, func(s *snap) bool { return s.bound == x && s.owes() })
}

// refusal takes the runtime's own verdict: it decides the boundary.
func (s *session) refusal(now time.Time, ev *Event, mark *Mark, res *Result) bool {
	k := s.route(now, ev)
	if k == nil {
		return false
	}
	x := k.openFor(ev.BoundaryID)
	if x == nil {
		x = k.newest(ev.BoundaryID)
		switch old := x == nil || !k.owedFrom(x) && now.Sub(x.settledAt) >= x.window; {
		case old && !s.tight:
			x = k.openBound(now, ev)
		case x == nil:
			return false
		}
	}
	verdict := ev.Verdict
	x.refusedTurn = k.nextTurn()
	x.refusal, x.refusedAt, x.refusalKept = &verdict, ev.Time.Or(classify.At(now)), false
	x.learn(ev)
	if x.firstLook.IsZero() {
		x.firstLook = now
	}
	mark.bound = x
	k.revise(now, x, res)
	return true
}
