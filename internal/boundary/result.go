package boundary

import (
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// Count names something that happened and is only counted.
type Count uint8

// What is counted.
const (
	CountDuplicate  Count = iota // the same event again
	CountLate                    // an observation after its deadline
	CountSuperseded              // a snapshot or completion that joined an open boundary
	CountCompaction              // a compaction, by outcome, runtime and trigger
	CountRetold                  // a completion of a compaction that is counted already
	CountRejected                // an event that holds no state, by reason
	CountLimit                   // a limit that was reached
)

// Tally is one thing to count.
type Tally struct {
	What             Count
	Outcome          Outcome
	Runtime, Trigger string
	Reason           classify.Reason
	Limit            Limit
	// TokensBefore and TokensAfter are the size of the context around a
	// compaction, 0 where it is not stated.
	TokensBefore, TokensAfter int64
	// Since is the time since the agent's compaction before, negative where none
	// is remembered.
	Since time.Duration
}

// Result is what an event or the passing of time brought about.
type Result struct {
	Receipts []Receipt
	Tallies  []Tally
}

func (r *Result) count(t Tally) { r.Tallies = append(r.Tallies, t) }

// reach counts a limit that was reached.
func (r *Result) reach(l Limit) { r.count(Tally{What: CountLimit, Limit: l}) }

// Stats are the gauges of one core.
type Stats struct {
	// Sessions is the number of pairing keys held.
	Sessions int
	// Open counts boundaries with an armed or parked window.
	Open int
	// States counts pairing keys by continuity state.
	States map[classify.State]int
	// Alerts counts active ones, by kind.
	Alerts [alertKinds]int
}

// Stats returns a copy of the gauges.
func (c *Core) Stats() Stats {
	out := c.stats
	out.States = make(map[classify.State]int, len(c.stats.States))
	for s, n := range c.stats.States {
		out.States[s] = n
	}
	return out
}

// counted is what a key contributes to Stats.
type counted struct {
	in     bool
	open   int
	state  classify.State
	alerts [alertKinds]bool
}

func (c *Core) recount(k *keyState) {
	c.uncount(k)
	k.counted = k.count()
	c.add(&k.counted, 1)
}

// count is what a key should contribute.
func (k *keyState) count() counted {
	n := counted{in: true, state: k.sessionState()}
	for _, x := range k.bounds {
		if x.open() {
			n.open++
		}
	}
	for kind := range k.alerts {
		n.alerts[kind] = k.alerts != nil && k.alerts[kind].active
	}
	return n
}

func (c *Core) uncount(k *keyState) {
	c.add(&k.counted, -1)
	k.counted = counted{}
}

func (c *Core) add(n *counted, by int) {
	if !n.in {
		return
	}
	c.stats.Sessions += by
	c.stats.Open += by * n.open
	if n.state != classify.NoState {
		c.stats.States[n.state] += by
	}
	for kind, active := range n.alerts {
		if active {
			c.stats.Alerts[kind] += by
		}
	}
}

// WindowStatus says what the window of an open boundary does.
type WindowStatus uint8

// What a window does.
const (
	WindowRunning WindowStatus = iota
	WindowWaiting              // for activity
	WindowParked               // the session ended
)

// WindowStatuses lists them.
var WindowStatuses = []WindowStatus{WindowRunning, WindowWaiting, WindowParked}

// String is the value of the label window.
func (w WindowStatus) String() string { return [...]string{"running", "waiting", "parked"}[w] }

// Ages are the upper limits by which open boundaries are counted; what is older is
// counted last.
var Ages = [...]time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 24 * time.Hour}

// Open counts open boundaries by what their window does and by how long ago they
// opened.
type Open struct {
	Counts [3][len(Ages) + 1]int
	Oldest [3]time.Duration
}

// AddOpen adds the open boundaries of a core. It looks at each session: it is for
// gauges, which are read some times a minute.
func (c *Core) AddOpen(now time.Time, o *Open) {
	if c.stats.Open == 0 {
		return
	}
	for _, p := range c.slots.all() {
		open := func() []openWindow {
			if p.session != nil {
				return briefOf(p.session).open
			}
			return c.briefly(p.packed).open
		}
		for _, w := range open() {
			o.add(w.status, max(now.Sub(w.start), 0))
		}
	}
}

// windowStatus says what the window of an open boundary does.
func (x *bound) windowStatus() WindowStatus {
	switch {
	case x.status == parked:
		return WindowParked
	case x.deadline.IsZero():
		return WindowWaiting
	}
	return WindowRunning
}

func (o *Open) add(status WindowStatus, age time.Duration) {
	i := 0
	for i < len(Ages) && age > Ages[i] {
		i++
	}
	o.Counts[status][i]++
	o.Oldest[status] = max(o.Oldest[status], age)
}
