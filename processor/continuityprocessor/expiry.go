package continuityprocessor

import (
	"runtime"
	"sync"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// minPause keeps deadlines that lie close together in one round.
const minPause = time.Millisecond

// alarm is when the next deadline of any shard is due. It holds the earliest of
// all that were set since the last round began.
type alarm struct {
	// wake is signalled when an earlier deadline appears than the one that is
	// waited for.
	wake chan struct{}

	mu sync.Mutex
	at time.Time // the zero time is none
	// round is set while deadlines are collected: nobody waits yet.
	round bool
}

func newAlarm() alarm { return alarm{wake: make(chan struct{}, 1)} }

// set takes note of a deadline. A later one than what is waited for is found
// when that is due.
func (a *alarm) set(at time.Time, ok bool) {
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.at.IsZero() && !at.Before(a.at) {
		return
	}
	a.at = at
	if !a.round {
		signalTo(a.wake)
	}
}

// begin starts a round, in which every shard sets its deadline anew.
func (a *alarm) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at, a.round = time.Time{}, true
}

// end ends the round: from now on somebody waits.
func (a *alarm) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.round = false
}

// next returns what is waited for.
func (a *alarm) next() (at time.Time, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at, !a.at.IsZero()
}

// expire does what is due in all shards, whenever something is, until stop is
// closed. It is the only goroutine that does so, and it holds a shard's lock for
// a short turn at a time. It calls afterPass when each shard had a turn,
// and says whether more is due.
func (s *state) expire(stop <-chan struct{}, afterPass func(more bool)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	w := &s.watch
	for first := true; ; {
		select {
		case <-stop:
			return
		case <-s.alarm.wake:
		case <-timer.C:
		}
		now := s.now()
		// What was loaded before the first round has set no alarm.
		if due, ok := s.alarm.next(); s.awake(now) && (first || ok && !due.After(now)) {
			first = false
			s.expireDue(stop, afterPass)
		}
		if due, ok := s.alarm.next(); ok || first {
			timer.Reset(w.plan(s.now(), due))
		} else {
			w.rest()
		}
	}
}

// awake reports whether anything is to be decided now.
func (s *state) awake(now time.Time) bool {
	if away := s.watch.look(now); away > 0 {
		s.paused(away)
	}
	return !s.watch.waits(now)
}

const (
	// spell is how long deadlines are worked off before they pause, for breather
	// times as long as they worked, at most maxBreather: what many of them leave
	// behind has to be handed on too, and requests come first. A hundred thousand
	// windows that close at one moment are decided within some seconds.
	spell       = time.Millisecond
	breather    = 3
	maxBreather = 20 * time.Millisecond
)

// pace is the goroutine's own share of a processor. What it waited for others to
// have theirs is no work.
type pace struct {
	stop   <-chan struct{}
	timer  *time.Timer
	worked time.Duration
}

// breathe follows a turn that took so long, and pauses where that is due.
func (p *pace) breathe(took time.Duration) {
	if p.worked += took; p.worked < spell {
		return
	}
	p.timer.Reset(min(breather*p.worked, maxBreather))
	p.worked = 0
	select {
	case <-p.timer.C:
	case <-p.stop:
	}
}

// expireDue gives each shard its turn until nothing is due any more. Who waits for
// a shard, or for a processor, gets in after each turn.
func (s *state) expireDue(stop <-chan struct{}, afterPass func(more bool)) {
	s.alarm.begin()
	defer s.alarm.end()
	p := pace{stop: stop, timer: time.NewTimer(time.Hour)}
	defer p.timer.Stop()
	for more := true; more; {
		more = false
		for i := range s.shards {
			now := s.now()
			if !s.awake(now) {
				s.alarm.set(now, true) // nobody asked the rest
				return
			}
			more = s.expireSome(&s.shards[i], now, false) || more
			p.breathe(s.now().Sub(now))
			runtime.Gosched()
		}
		s.watch.decided()
		s.watch.rest() // what follows may wait for the storage
		afterPass(more)
		select {
		case <-stop:
			return
		default:
		}
	}
}

// expireSome gives a shard one turn, and returns whether more is due in it.
func (s *state) expireSome(sh *shard, now time.Time, pastLimit bool) (more bool) {
	s.turn(sh, pastLimit, func(core *boundary.Core) (res boundary.Result) {
		res, more = core.Expire(now)
		return res
	})
	return more
}
