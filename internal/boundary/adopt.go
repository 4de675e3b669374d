package boundary

import (
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// Adopt moves the state of the session that ev continues (ev.Previous) out of
// `from`, which may be the same core, into this one under ev's own id: once for
// each pair of ids. What is moved keeps its place among the
// sessions that may be held.
func (c *Core) Adopt(now time.Time, from *Core, ev *Event) Result {
	key := SessionKey{ev.Key.Scope, ev.Previous}
	if ev.Previous == "" || key == ev.Key.SessionKey {
		return Result{}
	}
	to, old := c.session(ev.Key.SessionKey), from.session(key)
	pair := frame(ev.Previous) + frame(ev.Key.Session)
	if old == nil || slices.Contains(old.linked, pair) || to != nil && slices.Contains(to.linked, pair) {
		return Result{}
	}
	var res Result
	if to != nil && !to.joinable(old) {
		// What the old id owes it goes on owing; that the new one does not know of it
		// must not look well.
		for _, k := range to.agents {
			k.lost = true
		}
		res.count(Tally{What: CountRejected, Reason: classify.Capacity})
		res.reach(LimitLinks)
		c.touch(to.key)
		return res
	}
	from.detach(old)
	linked := append(slices.Clone(old.linked), pair)
	if to == nil {
		old.core, old.key = c, ev.Key.SessionKey
		to = old
		c.slots.add(to)
	} else {
		places := old.places() + to.places()
		to.merge(old)
		for range places - to.places() {
			c.fleet.GiveSession()
		}
	}
	to.linked = append(to.linked, linked...)
	slices.Sort(to.linked)
	to.linked = slices.Compact(to.linked)
	if n := len(to.linked) - maxSeen; n > 0 {
		to.linked = slices.Delete(to.linked, 0, n)
	}
	to.touched = now
	for _, k := range to.agents {
		for _, x := range k.bounds {
			if len(ev.Identity) > 0 {
				x.identity = ev.Identity
			}
		}
		for _, l := range k.waiting { // whose boundary is the new session's
			if len(ev.Identity) > 0 {
				l.source.Identity = ev.Identity
			}
		}
	}
	to.stale = true
	to.countReached(&res)
	c.settleSession(to, now)
	c.rest(maxAwake)
	return res
}

// joinable reports whether two sessions fit into one.
func (s *session) joinable(old *session) bool {
	agents := len(s.agents)
	for _, k := range old.agents {
		switch mine := s.find(k.agent); {
		case mine == nil:
			agents++
		case !mine.joinable(k):
			return false
		}
	}
	return agents <= maxAgents && s.book.Kept()+old.book.Kept() <= s.core.cfg.Limits.Approvals &&
		s.core.fleet.Room(s.weight+old.weight, s.places()+old.places())
}

// joinable reports whether the state of two agents fits into one.
func (k *keyState) joinable(old *keyState) bool {
	for kind := range k.alerts {
		if len(k.alerting()[kind].others)+len(old.alerting()[kind].others) >= maxRemembered {
			return false
		}
	}
	return k.openCount()+old.openCount() <= maxOpen && len(k.waiting)+len(old.waiting) <= maxLooks
}

// detach takes a session out of a core without giving its places back.
func (c *Core) detach(s *session) {
	for _, k := range s.agents {
		c.uncount(k)
	}
	c.weighAs(s.slot, 0)
	c.slots.remove(s)
	c.touch(s.key)
}

// merge takes over everything that another session holds. What the other went
// through counts as earlier.
func (s *session) merge(old *session) {
	s.shift(old.turn)
	s.book.Merge(&old.book, s.core.cfg.Limits.Approvals)
	for _, e := range old.seen {
		if _, known := s.seen.find(e.seenEvent); !known {
			s.seen.add(e.seenEvent, e.mark)
		}
	}
	for _, k := range old.agents {
		if mine := s.find(k.agent); mine != nil {
			mine.absorb(k)
			continue
		}
		k.session = s
		s.agents = append(s.agents, k)
	}
}

// places is how many places a session holds: one for each agent, at least one.
func (s *session) places() int { return max(len(s.agents), 1) }

// shift moves all turns of a session behind those of one that went before.
func (s *session) shift(by uint64) {
	s.turn += by
	contents := map[*content]bool{}
	bounds := map[*bound]bool{}
	looks := map[*look]bool{}
	for _, k := range s.agents {
		for _, sn := range k.snaps {
			contents[sn.content], bounds[sn.bound] = true, true
			sn.turn += by
			for i := range sn.debts {
				sn.debts[i].turn += by
			}
			sn.whole.turn += by
		}
		for _, x := range k.bounds {
			bounds[x] = true
		}
		for _, d := range k.defects {
			d.turn += by
			bounds[d.origin], bounds[d.bound] = true, true
		}
		for _, l := range slices.Concat(k.looks, k.waiting) {
			looks[l] = true
		}
		if k.refused != nil {
			k.refused.turn += by
		}
	}
	for x := range bounds {
		x.opened += by
		x.refusedTurn += by
		for _, l := range x.looks {
			looks[l] = true
		}
	}
	for l := range looks {
		l.turn += by
	}
	for c := range contents {
		c.number += by
	}
	for _, e := range s.book.Entries {
		if e.Look != 0 {
			e.Look += by
		}
	}
}

// absorb joins the state of the same agent under two ids: the older first.
func (k *keyState) absorb(old *keyState) {
	k.bounds = append(old.bounds, k.bounds...)
	k.snaps = append(old.snaps, k.snaps...)
	k.looks = append(old.looks, k.looks...)
	k.waiting = append(old.waiting, k.waiting...)
	k.ends = append(old.ends, k.ends...)
	k.boundEnds()
	for _, d := range old.defects {
		if mine := k.defect(d.name); mine != nil {
			mine.absorb(d)
		} else {
			k.defects = append(k.defects, d)
		}
	}
	if k.last == nil {
		k.last = old.last
	}
	k.envelopes = append(old.envelopes, k.envelopes...)
	if k.refused == nil {
		k.refused = old.refused
	}
	if k.effect == nil {
		k.effect = old.effect
	}
	for _, v := range old.healthy {
		if k.healthy.find(v.name) < 0 {
			k.remember(v.name, v.Value)
		}
	}
	if k.alerts == nil && old.alerts != nil {
		k.alerts = new([alertKinds]alertState)
	}
	for kind := range k.alerts {
		if old.alerts != nil {
			k.alerts[kind].absorb(&old.alerts[kind], old.fingerprint(AlertKind(kind)))
		}
		if k.soft[kind] == nil {
			k.soft[kind] = old.soft[kind]
		}
	}
	k.lost = k.lost || old.lost
	if k.overdueLook == nil {
		k.overdueLook = old.overdueLook
	}
	k.lostOverdue = k.lostOverdue || old.lostOverdue
	k.boundCandidates()
}

// absorb joins two defects of one invariant: all their originals are missing,
// and the worse and later of the two is what was shown.
func (d *defect) absorb(old *defect) {
	for _, v := range old.originals {
		if !slices.ContainsFunc(d.originals, v.Same) {
			d.originals = append(d.originals, v)
		}
	}
	d.state = classify.Worse(d.state, old.state)
	d.turn = min(d.turn, old.turn)
	d.probe = d.probe && old.probe
	if old.shownAt > d.shownAt {
		d.shown, d.shownAt, d.seenAt, d.bound = old.shown, old.shownAt, old.seenAt, old.bound
	}
}

// absorb joins two alerts of one kind: an alert keeps the fingerprint under which
// it was raised.
func (a *alertState) absorb(old *alertState, fingerprint string) {
	if !old.active {
		return
	}
	a.others = append(append(a.others, old.others...), fingerprint)
	if !a.active || old.since.Before(a.since) {
		a.since = old.since
	}
	a.onlyOthers = !a.active || a.onlyOthers
	a.active = true
	a.things = append(a.things, old.things...)
	slices.Sort(a.things)
	a.things = slices.Compact(a.things)
}
