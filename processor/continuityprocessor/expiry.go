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

// end ends the round and returns what is waited for from now on.
func (a *alarm) end() (at time.Time, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.round = false
	return a.at, !a.at.IsZero()
}

// expire does what is due in all shards, whenever something is, until stop is
// closed. It is the only goroutine that does so, and it holds a shard's lock for
// a short turn at a time. It calls afterPass when each shard had a turn.
func (s *state) expire(stop <-chan struct{}, afterPass func()) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-stop:
			return
		case <-s.alarm.wake:
		case <-timer.C:
		}
		at, ok := s.expireDue(stop, afterPass)
		if ok {
			timer.Reset(max(time.Until(at), minPause))
		}
	}
}

// expireDue gives each shard its turn until nothing is due any more, and returns
// when something is due again.
func (s *state) expireDue(stop <-chan struct{}, afterPass func()) (next time.Time, ok bool) {
	s.alarm.begin()
	for more := true; more; {
		more = false
		now := time.Now()
		for i := range s.shards {
			s.turn(&s.shards[i], false, func(core *boundary.Core) boundary.Result {
				res, left := core.Expire(now)
				more = more || left
				return res
			})
		}
		afterPass()
		select {
		case <-stop:
			return s.alarm.end()
		default:
			runtime.Gosched() // let requests in that wait for a shard
		}
	}
	return s.alarm.end()
}
