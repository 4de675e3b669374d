package boundary

import (
	"fmt"
	"time"
)

// Load takes back a session that Changes gave away. What is due before notBefore
// is moved to it, so that what waits in queues elsewhere can arrive first. Stored
// times have a wall clock reading only: they get the monotonic one that belongs to
// it by notBefore, so that all times of a core are compared by the same clock. It
// fails where the value cannot be read or there is no room; nothing is loaded then.
func (c *Core) Load(value []byte, notBefore time.Time) error {
	s, err := decodeSession(value, c, notBefore)
	if err != nil {
		return err
	}
	if c.slots.find(s.key) != nil {
		return fmt.Errorf("session is stored twice: %w", errCorrupt)
	}
	for i := range s.places() {
		if !c.fleet.TakeSession() {
			for range i {
				c.fleet.GiveSession()
			}
			return fmt.Errorf("no room for another stored session (limits.sessions)")
		}
	}
	s.book.Rejudge(c.cfg.PublicKeys)
	s.reschedule(notBefore)
	c.slots.add(s)
	c.settleSession(s, s.touched)
	delete(c.changed, s.key)
	c.rest(maxAwake)
	return nil
}

// reschedule moves what is overdue to notBefore, and what lies further ahead than
// it ever can, since the wall clock was set back, to where it can be at most.
func (s *session) reschedule(notBefore time.Time) {
	if notBefore.IsZero() {
		return
	}
	within := func(t *time.Time, length time.Duration) {
		if latest := notBefore.Add(length); t.After(latest) {
			*t = latest
		}
		if !t.IsZero() && t.Before(notBefore) {
			*t = notBefore
		}
	}
	for _, k := range s.agents {
		for _, x := range k.bounds {
			if x.status == armed {
				within(&x.deadline, x.window)
			}
		}
		for _, l := range k.waiting {
			within(&l.waitUntil, s.core.cfg.ReorderGrace)
		}
	}
	// It is not forgotten before what it waits for was decided.
	idle := s.idle()
	forgotten := s.touched.Add(idle)
	within(&forgotten, idle)
	s.touched = forgotten.Add(-idle)
}
