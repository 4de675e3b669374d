package boundary

import (
	"slices"
	"time"
)

// Adopt moves the state of the session that ev continues (ev.Previous) out of
// `from`, which may be the same core, into this one under ev's own id: once for
// each pair of ids.
func (c *Core) Adopt(now time.Time, from *Core, ev *Event) Result {
	var res Result
	key := SessionKey{ev.Key.Scope, ev.Previous}
	if ev.Previous == "" || key == ev.Key.SessionKey {
		return res
	}
	to := c.sessions[ev.Key.SessionKey]
	if to != nil && slices.Contains(to.linked, ev.Previous) {
		return res
	}
	old := from.sessions[key]
	if old == nil {
		return res
	}
	from.remove(old)
	if to == nil {
		if to = c.open(ev.Key.SessionKey, now); to == nil {
			return res // its place was just given back: only another can have taken it
		}
		to.origin = old.origin
	}
	to.linked = append(to.linked, old.linked...)
	to.linked = append(to.linked, ev.Previous)
	if n := len(to.linked) - maxSeen; n > 0 {
		to.linked = slices.Delete(to.linked, 0, n)
	}
	to.merge(old)
	to.touched = now
	for _, k := range to.agents {
		for _, x := range k.bounds {
			if len(ev.Identity) > 0 {
				x.identity = ev.Identity
			}
		}
	}
	c.settleSession(to, now)
	return res
}

// merge takes over everything that another session holds.
func (s *session) merge(old *session) {
	s.turn = max(s.turn, old.turn)
	s.book.Entries = append(s.book.Entries, old.book.Entries...)
	for _, fingerprint := range old.seen.order {
		if _, known := s.seen.find(fingerprint); !known {
			s.seen.add(fingerprint, old.seen.marks[fingerprint])
		}
	}
	for _, k := range old.agents {
		mine := s.find(k.agent)
		if mine == nil {
			if len(s.agents) > 0 {
				s.core.fleet.TakeSession()
			}
			k.session = s
			s.agents = append(s.agents, k)
			continue
		}
		mine.absorb(k)
	}
}

// absorb joins the state of the same agent under two ids: the older first.
func (k *keyState) absorb(old *keyState) {
	k.bounds = append(old.bounds, k.bounds...)
	k.snaps = append(old.snaps, k.snaps...)
	k.looks = append(old.looks, k.looks...)
	k.waiting = append(old.waiting, k.waiting...)
	k.ends = append(old.ends, k.ends...)
	for _, d := range old.defects {
		if k.defect(d.name) == nil {
			k.defects = append(k.defects, d)
		}
	}
	if k.last == nil {
		k.last = old.last
	}
	if k.envelope == nil {
		k.envelope = old.envelope
	}
	if k.effect == nil {
		k.effect = old.effect
	}
	for name, v := range old.healthy {
		if _, known := k.healthy[name]; !known {
			k.remember(name, v)
		}
	}
	for kind := range k.alerts {
		if old.alerts[kind].active && !k.alerts[kind].active {
			k.alerts[kind] = old.alerts[kind]
		}
		if k.soft[kind] == nil {
			k.soft[kind] = old.soft[kind]
		}
	}
	k.lost = k.lost || old.lost
	k.overdueLook = k.overdueLook || old.overdueLook
	k.lostOverdue = k.lostOverdue || old.lostOverdue
}
