// Package boundary is what a session is going through: windows, candidates,
// revisions, outstanding losses, alerts. It is pure: time is an argument, and
// there is no lock, no goroutine, no telemetry type and no logger in it.
package boundary

import (
	"container/heap"
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// Core holds sessions. It is not safe for concurrent use: its owner locks.
type Core struct {
	cfg   *Config
	fleet Fleet
	slots slots
	room  room
	// packer is where sessions are packed.
	packer *desk
	stats  Stats
	// changed are the sessions that were touched since Changes was last called.
	changed map[SessionKey]struct{}
}

// New returns an empty core. The configuration is shared and read only.
func New(cfg *Config, fleet Fleet) *Core {
	return &Core{
		cfg: cfg, fleet: fleet, slots: newSlots(), stats: Stats{States: map[classify.State]int{}},
		changed: map[SessionKey]struct{}{},
	}
}

// Mark stands for one taken event until it is annotated.
type Mark struct {
	bound  *bound
	reason classify.Reason
	// plain marks get the boundary id only (snapshots).
	plain bool
	// awaited is set where somebody will ask for the annotation.
	awaited bool
	frozen  *Annotation
}

// Annotation is what is written beside an event.
type Annotation struct {
	// Verdict is set where the event was compared.
	*Verdict
	// Reason is set where it was not: session_missing, capacity or
	// awaiting_snapshot, all unverified.
	Reason classify.Reason
	// BoundaryID is set where the event belongs to a boundary.
	BoundaryID string
}

// Annotation returns what is written beside the event of a mark. The first call
// settles it: the same event again gets the same annotation.
func (c *Core) Annotation(m *Mark) Annotation {
	if m.frozen != nil {
		return *m.frozen
	}
	a := Annotation{Reason: m.reason}
	if m.bound != nil {
		a.BoundaryID, a.Reason = m.bound.id, ""
		if !m.plain {
			a.Verdict = m.bound.verdict
		}
	}
	m.frozen = &a
	return a
}

// Observe takes one event at now. The Mark is nil for kinds that are not
// annotated.
func (c *Core) Observe(now time.Time, ev *Event) (*Mark, Result) {
	var res Result
	defer c.rest(maxAwake)
	s := c.session(ev.Key.SessionKey)
	if s == nil {
		if !opensSession(ev) {
			if ev.Kind == Activity && ev.Runtime != "" {
				c.fleet.Saw(ev.Key.Tenant(), ev.Runtime, ReportsActivity)
			}
			c.report(now, nil, ev, &res)
			return nil, res
		}
		if s = c.open(ev.Key.SessionKey, now, &res); s == nil {
			return refused(ev, &res), res
		}
	}
	if ev.Kind == Activity {
		s.active(now, ev)
		return nil, res
	}
	if mark, again := s.seen.find(seen(ev)); again {
		res.count(Tally{What: CountDuplicate})
		return annotated(ev, mark), res
	}
	c.report(now, s, ev, &res)
	mark := &Mark{plain: ev.Kind == Snapshot}
	mark.awaited = annotated(ev, mark) != nil
	if ev.TooMany {
		s.reach(LimitInvariants)
	}
	if !s.admit(now, ev) || !s.take(now, ev, mark, &res) {
		s.miss(ev)
		s.countReached(&res)
		c.settleSession(s, now)
		return refused(ev, &res), res
	}
	s.seen.add(seen(ev), mark)
	s.charge(ev, &res)
	s.countReached(&res)
	c.settleSession(s, now)
	return annotated(ev, mark), res
}

// admit reports whether there are bytes for an event. What must not be lost goes
// on, but begins nothing new: the end of a compaction, a refusal, a revocation.
func (s *session) admit(now time.Time, ev *Event) bool {
	s.touched = now
	s.tight = !s.fits(now, ev.weight())
	if !s.tight {
		return true
	}
	s.reach(LimitMemory)
	return ev.Kind != Snapshot && ev.Kind != Observation
}

// miss notes that an event could not be taken. What it said may have been bad, so
// the next findings that would be healthy are not.
func (s *session) miss(ev *Event) {
	switch ev.Kind {
	case Snapshot, Observation, ValidationFailure:
	case Approval:
		if ev.Approval == nil || !ev.Approval.Revoked {
			return // one approval fewer makes nothing healthier
		}
	default:
		return
	}
	keys := s.concerned(ev.Key.Agent)
	if ev.BoundaryID != "" {
		if k := s.owner(ev.BoundaryID); k != nil {
			keys = []*keyState{k}
		}
	}
	for _, k := range keys {
		k.lost = true
	}
}

// take hands an event to its part of the session; false at capacity.
func (s *session) take(now time.Time, ev *Event, mark *Mark, res *Result) bool {
	switch ev.Kind {
	case Snapshot:
		return s.snapshot(now, ev, mark, res)
	case Observation:
		return s.observation(now, ev, mark, res)
	case ValidationFailure:
		return s.refusal(now, ev, mark, res)
	case Completion:
		return s.completion(now, ev, res)
	case Approval:
		return s.approve(now, ev, res)
	case SessionEnd:
		for _, k := range s.concerned(ev.Key.Agent) {
			k.park(now, ev, res)
		}
	case SessionStart:
		for _, k := range s.concerned(ev.Key.Agent) {
			k.resume(now, ev)
		}
	case Activity, NoKind:
	}
	return true
}

// restore is how often a session is stored anew that is at work and nothing else.
const restore = time.Minute

// active takes a sign that the agent is at work. There are many of them: they are
// not remembered, so that they displace nothing that is.
func (s *session) active(now time.Time, ev *Event) {
	s.touched = now
	s.core.fleet.Saw(s.key.Tenant(), ev.Runtime, ReportsActivity)
	k := s.find(ev.Key.Agent)
	changed := k != nil && k.resume(now, ev)
	if k != nil && ev.Writes {
		changed = k.wrote(ev.Time.Or(classify.At(now))) || changed
	}
	if changed || now.Sub(s.stored) >= restore {
		s.stored = now
		s.core.touch(s.key)
	}
	s.schedule()
}

func opensSession(ev *Event) bool {
	switch ev.Kind {
	case Snapshot, Observation, ValidationFailure, Approval:
		return true
	case Completion:
		return ev.Outcome.Happened()
	default:
		return false
	}
}

func annotated(ev *Event, m *Mark) *Mark {
	switch ev.Kind {
	case Snapshot, Observation, ValidationFailure:
		return m
	default:
		return nil
	}
}

func refused(ev *Event, res *Result) *Mark {
	res.count(Tally{What: CountRejected, Reason: classify.Capacity})
	return annotated(ev, &Mark{reason: classify.Capacity})
}

// open makes a session; nil at capacity.
func (c *Core) open(key SessionKey, now time.Time, res *Result) *session {
	switch {
	case !c.fleet.Room(0, 0):
		res.reach(LimitMemory)
		return nil
	case !c.fleet.TakeSession():
		res.reach(LimitSessions)
		return nil
	}
	s := &session{core: c, key: key, origin: key, touched: now}
	s.weight = sessionWeight + keyWeight + len(key.Scope) + len(key.Session)
	s.measured = s.weight
	c.slots.add(s)
	return s
}

// remove clears a session from map, heap and counters.
func (c *Core) remove(s *session) {
	c.detach(s)
	for range s.places() {
		c.fleet.GiveSession()
	}
}

// touch notes that a session is to be stored anew.
func (c *Core) touch(key SessionKey) {
	if c.cfg.Durable {
		c.changed[key] = struct{}{}
	}
}

// settleSession forgets, counts and schedules after something happened.
func (c *Core) settleSession(s *session, now time.Time) {
	for _, k := range s.agents {
		k.tidy(now, maxRemembered)
		c.recount(k)
	}
	s.weigh()
	s.stored = now
	c.touch(s.key)
	s.schedule()
}

// schedule puts a session where its next wake belongs.
func (s *session) schedule() {
	t, at := &s.core.slots, s.nextWake()
	if t.epoch.IsZero() {
		t.epoch = at
	}
	s.slot.wake = at.Sub(t.epoch)
	if s.slot.index < 0 {
		heap.Push(&t.wakes, s.slot)
	} else {
		heap.Fix(&t.wakes, int(s.slot.index))
	}
}

// Next is when Expire has something to do; false where nothing is scheduled.
func (c *Core) Next() (time.Time, bool) {
	if len(c.slots.wakes) == 0 {
		return time.Time{}, false
	}
	return c.slots.epoch.Add(c.slots.wakes[0].wake), true
}

// expireBatch is one turn of Expire: short enough that nobody who waits for the
// core's lock notices.
const expireBatch = 16

// Expire does what is due at now, for at most expireBatch sessions; true says
// that more is due.
func (c *Core) Expire(now time.Time) (Result, bool) {
	var res Result
	defer c.rest(maxAwake)
	for range expireBatch {
		if next, ok := c.Next(); !ok || next.After(now) {
			return res, false
		}
		c.wake(c.slots.wakes[0]).expire(now, &res)
	}
	next, ok := c.Next()
	return res, ok && !next.After(now)
}

// Shutdown settles what is open and not parked, without an alert: a collector
// that forgets must not leave windows open in silence.
func (c *Core) Shutdown(now time.Time) Result {
	var res Result
	for _, p := range c.slots.all() {
		if p.session == nil && !c.briefly(p.packed).waits {
			continue
		}
		s := c.wake(p)
		for _, k := range s.agents {
			for _, l := range k.waiting {
				l.waitUntil = now // its snapshot will not come any more
			}
			k.expireLooks(now, &res)
			for _, x := range k.bounds {
				if x.status == armed {
					k.end(now, x, classify.CollectorShutdown, &res)
				}
			}
		}
		s.countReached(&res)
		c.settleSession(s, now)
		c.rest(maxAwake)
	}
	return res
}

// State is the continuity state of a key for the spans that follow: while a
// boundary is open, the worse of it and unverified; NoState where the key never
// had a boundary.
func (c *Core) State(key Key) classify.State {
	p := c.slots.find(key.SessionKey)
	switch {
	case p == nil:
		return classify.NoState
	case p.session == nil: // it goes on resting
		for _, a := range c.briefly(p.packed).agents {
			if a.agent == key.Agent {
				return a.state
			}
		}
		return classify.NoState
	}
	if k := p.session.find(key.Agent); k != nil {
		return k.state()
	}
	return classify.NoState
}

func (k *keyState) state() classify.State {
	state := k.sessionState()
	if slices.ContainsFunc(k.bounds, (*bound).open) {
		return classify.Worse(state, classify.Unverified)
	}
	return state
}
