package boundary

import "github.com/agentcontinuity/otelcol-continuity/internal/classify"

// Count names something that happened and is only counted.
type Count uint8

// What is counted.
const (
	CountDuplicate  Count = iota // the same event again
	CountLate                    // an observation after its deadline
	CountSuperseded              // a snapshot or completion that joined an open boundary
	CountCompaction              // a completion, by outcome and runtime
	CountRejected                // an event that holds no state, by reason
	CountLimit                   // a limit that was reached
)

// Tally is one thing to count.
type Tally struct {
	What    Count
	Outcome Outcome
	Runtime string
	Reason  classify.Reason
	Limit   Limit
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
	k.counted = counted{in: true, state: k.sessionState()}
	for _, x := range k.bounds {
		if x.open() {
			k.counted.open++
		}
	}
	for kind, a := range k.alerts {
		k.counted.alerts[kind] = a.active
	}
	c.add(&k.counted, 1)
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
