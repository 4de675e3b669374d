package boundary

import (
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// expire does what is due for one session.
func (s *session) expire(now time.Time, res *Result) {
	for _, k := range s.agents {
		k.expireLooks(now, res)
		for _, x := range slices.Clone(k.bounds) {
			if x.status == armed && !x.deadline.IsZero() && !x.deadline.After(now) {
				k.expireWindow(now, x, res)
			}
		}
	}
	s.countReached(res)
	if !s.nextWake().After(now) {
		s.forget(now, res)
		return
	}
	s.stale = true
	s.core.settleSession(s, now)
}

// expireLooks takes up the early looks that waited long enough, in order of
// arrival.
func (k *keyState) expireLooks(now time.Time, res *Result) {
	var due []*look
	k.waiting = slices.DeleteFunc(k.waiting, func(l *look) bool {
		if l.waitUntil.After(now) {
			return false
		}
		due = append(due, l)
		return true
	})
	for _, l := range due {
		k.takeUp(now, l, res)
	}
}

// forget removes an idle session. What was still active is closed, never
// resolved: nobody showed anything.
func (s *session) forget(now time.Time, res *Result) {
	for _, k := range s.agents {
		alerts := k.closeAlerts()
		if len(alerts) == 0 {
			continue
		}
		x := k.last
		if x == nil && len(k.bounds) > 0 {
			x = k.bounds[len(k.bounds)-1]
		}
		if x == nil {
			x = &bound{id: k.fingerprint(AlertPostObservationMissing), start: now}
		}
		x.override = classify.SessionExpired
		k.issue(now, x, alerts, res)
	}
	s.core.remove(s)
}
