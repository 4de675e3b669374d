package boundary

import (
	"cmp"
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// session is one agent conversation: its agents, its approvals, and what it has
// seen already.
type session struct {
	core *Core
	key  SessionKey
	// origin is the key under which the session began: links do not change it,
	// so that alerts keep their fingerprint.
	origin SessionKey
	// linked are the pairs of ids between which the state was moved, each once.
	linked []string
	agents []*keyState
	book   approval.Book
	seen   memory
	turn   uint64
	// touched is when the session last heard anything.
	touched time.Time
	// stored is when it was last to be stored.
	stored time.Time
	// slot is its place in the core, newer and older are its neighbours among the
	// sessions that are awake.
	slot         *slot
	newer, older *session
	// weight estimates the bytes it holds, measured is what they were when it was
	// last measured; stale says that it may hold less. wordsWeight is that of the
	// words that it holds while it rests.
	weight, measured, wordsWeight int
	stale                         bool
	// tight is set while an event is taken for which there are no bytes left:
	// nothing new is begun for it.
	tight bool
	// reached are limits that were reached and not counted yet.
	reached []Limit
}

// reach notes a limit that was reached.
func (s *session) reach(l Limit) { s.reached = append(s.reached, l) }

// countReached counts the limits that were reached.
func (s *session) countReached(res *Result) {
	for _, l := range s.reached {
		res.reach(l)
	}
	s.reached = nil
}

// keyState is the state of one pairing key: a session's agent.
type keyState struct {
	*session
	agent string
	// bounds are open and remembered boundaries, in the order of opening.
	bounds []*bound
	// last is the boundary that was decided last: its findings are part of the
	// session's state.
	last  *bound
	snaps []*snap
	// looks were taken up already, waiting ones wait for their snapshot.
	looks, waiting []*look
	ends           []compactionEnd
	defects        []*defect
	envelopes      []*envelopeDefect
	refused        *refusal
	effect         *effectDefect
	// healthy are the values that were last found healthy.
	healthy healthyValues
	// alerts are nil where none of them was ever looked at for a reason: see alerting.
	alerts *[alertKinds]alertState
	soft   [alertKinds]*bound
	// lost is set while baselines had to be given up and no finding said so yet;
	// lostBy is the boundary whose findings say it.
	lost   bool
	lostBy *bound
	// lostOverdue is set where one of them was overdue.
	lostOverdue bool
	// overdueLook is the boundary whose window closed on a look that was bad
	// itself.
	overdueLook *bound
	counted     counted
}

func (s *session) nextTurn() uint64 {
	s.turn++
	return s.turn
}

// find returns the state of one agent, nil where there is none.
func (s *session) find(agent string) *keyState {
	for _, k := range s.agents {
		if k.agent == agent {
			return k
		}
	}
	return nil
}

// maxAgents bounds the agents of one session: what concerns all of them must not
// take forever.
const maxAgents = 256

// at returns the state of one agent, made where there is none; nil at capacity.
func (s *session) at(now time.Time, agent string) *keyState {
	if k := s.find(agent); k != nil {
		return k
	}
	switch {
	case s.tight:
		return nil
	case len(s.agents) >= maxAgents:
		if !s.dropIdle(now) {
			s.reach(LimitAgents)
			return nil
		}
	case len(s.agents) > 0 && !s.core.fleet.TakeSession():
		s.reach(LimitSessions)
		return nil
	}
	k := &keyState{session: s, agent: agent}
	s.agents = append(s.agents, k)
	return k
}

// dropIdle makes room for an agent: one that owes nothing, has nothing outstanding
// and settled its last boundary longer than the retention ago gives way.
func (s *session) dropIdle(now time.Time) bool {
	i := slices.IndexFunc(s.agents, func(k *keyState) bool {
		recent := func(x *bound) bool { return now.Sub(x.settledAt) <= s.core.cfg.Retention }
		return !k.holds() && len(k.waiting) == 0 && !slices.ContainsFunc(k.bounds, recent)
	})
	if i < 0 {
		return false
	}
	s.core.uncount(s.agents[i])
	s.agents = slices.Delete(s.agents, i, i+1)
	s.stale = true
	return true
}

// concerned returns the agents that an event without agent id concerns: all; one
// with an agent id concerns that agent.
func (s *session) concerned(agent string) []*keyState {
	if agent == "" {
		return s.agents
	}
	if k := s.find(agent); k != nil {
		return []*keyState{k}
	}
	return nil
}

// route returns the agent whose boundary an explicit pairing id names (hand-over:
// it may be another's), else the event's own.
func (s *session) route(now time.Time, ev *Event) *keyState {
	if ev.BoundaryID != "" {
		for _, k := range s.agents {
			if slices.ContainsFunc(k.bounds, func(x *bound) bool { return x.pairing == ev.BoundaryID }) {
				return k
			}
		}
	}
	return s.at(now, ev.Key.Agent)
}

// openFor returns the open boundary that an event with this pairing id joins:
// its own, else the newest that has no other id.
func (k *keyState) openFor(id string) *bound {
	var found *bound
	for _, x := range k.bounds {
		if x.open() && meets(x.pairing, id) && (found == nil || found.pairing != id || x.pairing == id) {
			found = x
		}
	}
	return found
}

// openAll returns all open boundaries that an event with this id meets.
func (k *keyState) openAll(id string) []*bound {
	if id != "" {
		if x := k.openFor(id); x != nil {
			return []*bound{x}
		}
		return nil
	}
	var out []*bound
	for _, x := range k.bounds {
		if x.open() {
			out = append(out, x)
		}
	}
	return out
}

// newest returns the latest boundary that an event with this id can revise.
func (k *keyState) newest(id string) *bound {
	for _, x := range slices.Backward(k.bounds) {
		if !x.void && meets(x.pairing, id) {
			return x
		}
	}
	return nil
}

// inPlay reports whether a snapshot is compared at a boundary: what it answered
// itself, and what was owed when it was open. What a later boundary asks is not
// its business.
func (x *bound) inPlay(s *snap) bool {
	return meets(x.pairing, s.boundaryID) && (s.heldBy(x) || s.owes() && s.bound.opened <= x.opened)
}

// nextWake is when the session next needs attention.
func (s *session) nextWake() time.Time {
	wake := s.touched.Add(s.idle())
	earlier := func(t time.Time) {
		if !t.IsZero() && t.Before(wake) {
			wake = t
		}
	}
	for _, k := range s.agents {
		for _, x := range k.bounds {
			if x.status == armed {
				earlier(x.deadline)
			}
		}
		for _, l := range k.waiting {
			earlier(l.waitUntil)
		}
	}
	return wake
}

// idle is how long the session is kept after it last heard anything.
func (s *session) idle() time.Duration {
	cfg := s.core.cfg
	if slices.ContainsFunc(s.agents, (*keyState).holds) {
		return max(cfg.SessionTTL, cfg.Retention)
	}
	return cfg.Retention
}

// holds reports whether the key owes something or has something outstanding:
// it is then kept for the session TTL.
func (k *keyState) holds() bool {
	return len(k.defects) > 0 || len(k.envelopes) > 0 || k.refused != nil || k.effect != nil || k.overdueLook != nil || k.lostOverdue ||
		slices.ContainsFunc(k.snaps, func(s *snap) bool { return s.owes() || s.unanswered() }) ||
		slices.ContainsFunc(k.bounds, (*bound).open) ||
		k.alarmed()
}

// maxRemembered bounds the settled boundaries of one key.
const maxRemembered = 64

// tidy forgets what is no longer needed, and of what settled what goes beyond a
// number of boundaries.
func (k *keyState) tidy(now time.Time, remembered int) {
	cfg := k.core.cfg
	k.looks = slices.DeleteFunc(k.looks, func(l *look) bool { return now.Sub(l.at) > cfg.Window })
	if n := len(k.looks) - remembered; n > 0 {
		k.looks = slices.Delete(k.looks, 0, n)
	}
	keep := cfg.Retention
	if k.alarmed() {
		keep = max(keep, cfg.SessionTTL)
	}
	excess, had := len(k.bounds)-remembered, len(k.bounds)
	k.bounds = slices.DeleteFunc(k.bounds, func(x *bound) bool {
		if x.open() || k.needed(x) {
			return false
		}
		if now.Sub(x.settledAt) <= keep && excess <= 0 {
			return false
		}
		excess--
		return true
	})
	k.stale = k.stale || len(k.bounds) < had
	k.forgetSnaps()
}

// needed reports whether a settled boundary may still have to be revised.
func (k *keyState) needed(x *bound) bool {
	return x == k.last || slices.ContainsFunc(k.defects, func(d *defect) bool { return d.bound == x || d.origin == x })
}

// sortFindings keeps verdicts comparable.
func sortNames(names []string) []string {
	slices.SortFunc(names, classify.CompareNames)
	return slices.CompactFunc(names, func(a, b string) bool { return cmp.Compare(a, b) == 0 })
}
