package continuityprocessor

import "time"

// clock says what time it is. Its times have two readings, as time.Now's have:
//
//	wall       is told: events, approvals, receipts and the storage speak of it
//	monotonic  is measured: windows, and all that lasts, within one process
//
// So a step of the wall clock, by hand, by NTP, or over a sleep of the machine in
// which the monotonic clock stood still, neither closes a window nor keeps one
// open. Two times of which one has a wall reading only are compared by that:
// whoever takes a reading away (Round, Unix, encoding) mixes the two. What comes
// out of the storage has its second reading given back when it is loaded.
//
// The storage keeps the wall reading of a deadline as it was reckoned when its
// window began. Over a restart the wall clock decides: a step that happened in
// between moves the deadline by as much, but never before startup_grace has
// passed, and never further ahead than a full window.
type clock func() time.Time

const (
	// stall is how much later than planned the deadlines may be looked after
	// before that counts as a pause of the whole process.
	stall = 5 * time.Second
	// closeBy is how near a deadline must be for the wait to go on until it is
	// due. Before that it is for half of the way: a pause that goes unnoticed then
	// leaves as much time for what queued up meanwhile as was planned.
	closeBy = 10 * time.Second
)

// watch notices that the process did not run for a while, where the monotonic
// clock went on: it was stopped, its machine was paused, or slept on a system
// whose clock does not. Agents on the same machine slept too, and what others
// sent is still on its way. So that is like a start: nothing is decided until the
// grace has passed.
type watch struct {
	grace time.Duration
	// planned is when it was meant to look again; zero where nobody knows.
	planned time.Time
	// until is when a pause is over, held is set until something was decided after
	// it: who is late all the time must decide something in between.
	until time.Time
	held  bool
}

// look is called before anything is decided. It returns how long the process was
// away, 0 unless that is news.
func (w *watch) look(now time.Time) (away time.Duration) {
	if late := now.Sub(w.planned); !w.planned.IsZero() && late > stall && !w.held {
		w.until, w.held = now.Add(w.grace), true
		away = late
	}
	w.planned = now
	return away
}

// waits reports whether nothing is to be decided yet.
func (w *watch) waits(now time.Time) bool { return now.Before(w.until) }

// decided ends a pause.
func (w *watch) decided() { w.held = false }

// plan returns how long to wait for a deadline.
func (w *watch) plan(now, due time.Time) time.Duration {
	if due.Before(w.until) {
		due = w.until
	}
	pause := due.Sub(now)
	if pause > closeBy {
		pause = max(pause/2, closeBy)
	}
	pause = max(pause, minPause)
	w.planned = now.Add(pause)
	return pause
}

// rest says that nobody knows when to look again.
func (w *watch) rest() { w.planned = time.Time{} }
