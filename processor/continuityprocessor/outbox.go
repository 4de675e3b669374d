package continuityprocessor

import (
	"math"
	"slices"
	"sync"

	"go.opentelemetry.io/collector/pipeline"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// outbox holds what was decided until the next consumer of each signal took it.
// It is filled under the lock of the shard that decided, so that the receipts of
// a session stand in it in the order of their decisions, and it never waits.
//
// It has one lane for each attached pipeline. A receipt goes into one lane of
// each signal: that of the pipeline that delivered the baseline, else the first
// that was attached. Lanes are independent: a traces exporter that is stuck
// neither delays nor drops what goes to logs.
//
// A full lane refuses what is new and keeps what it holds, as the collector's
// own queues do: an entry leaves only when the next consumer took it or refused
// it for good. What is refused is counted and logged, and the pipeline reports a
// recoverable error until there is room again.
//
// With storage it is filled by the writer instead, which holds receipts back
// until it tried to store them, and it remembers what was taken, so that it can
// be deleted. A lane that was closed then still gets numbers for what it owes:
// its receipts stay in the storage, for the next start.
type outbox struct {
	// limit is how many receipts may wait in a lane, memory how many bytes they
	// may weigh.
	limit, memory int
	// stored is set with storage, lazily is called when there is something to
	// delete. Both are set before the first lane.
	stored bool
	lazily func()

	mu    sync.Mutex
	lanes []*lane
	// attached numbers lanes; origins are never used twice.
	attached boundary.Origin
	// number is the last that a stored receipt got: they rise in the order of
	// decisions, over restarts too.
	number uint64
	// gone are the stored receipts that are owed no more.
	gone queue
}

// owed is a receipt that a signal's pipeline owes its next consumer.
type owed struct {
	signal  pipeline.Signal
	number  uint64
	receipt *boundary.Receipt
	weight  int
}

// lane is what waits for one pipeline. Its fields belong to the outbox's lock.
type lane struct {
	outbox *outbox
	origin boundary.Origin
	signal pipeline.Signal
	// wake is signalled when something was added.
	wake chan struct{}

	queue queue
	// weight is that of all in the queue.
	weight int
	// held is how many at the end of the queue are held back.
	held int
	// closed is set where the lane only numbers what it owes.
	closed bool
	// full is set at the first refusal and cleared when half the lane is free,
	// dropped counts the refusals in between.
	full    bool
	dropped int
	// unreported is set until the refusal was made known outside of all locks.
	unreported bool
}

func newOutbox(limit int) *outbox {
	return &outbox{limit: limit, memory: math.MaxInt, lazily: func() {}}
}

// attach opens a lane for a pipeline.
func (o *outbox) attach(s pipeline.Signal) *lane {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.attached++
	l := &lane{outbox: o, origin: o.attached, signal: s, wake: make(chan struct{}, 1)}
	o.lanes = append(o.lanes, l)
	return l
}

// add puts receipts into the lanes that they concern and returns how many each
// signal refused for want of room. Past the limit is for shutdown: nothing comes
// after it.
func (o *outbox) add(receipts []boundary.Receipt, pastLimit bool) (refused map[pipeline.Signal]int) {
	if len(receipts) == 0 {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range receipts {
		weight := receipts[i].Weight()
		for n, l := range o.lanes {
			if !o.concerns(n, receipts[i].Origin) {
				continue
			}
			if l.fullFor(weight) && !pastLimit {
				l.refuse(&refused)
				continue
			}
			l.push(owed{signal: l.signal, receipt: &receipts[i], weight: weight})
			signalTo(l.wake)
		}
	}
	return refused
}

// hold is add with storage: what it returns is to be stored. It is not handed on
// before release.
func (o *outbox) hold(receipts []*boundary.Receipt) (toStore []owed, refused map[pipeline.Signal]int) {
	if len(receipts) == 0 {
		return nil, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range receipts {
		weight := r.Weight()
		for n, l := range o.lanes {
			if !o.concerns(n, r.Origin) {
				continue
			}
			if l.fullFor(weight) {
				l.refuse(&refused)
				continue
			}
			o.number++
			one := owed{signal: l.signal, number: o.number, receipt: r, weight: weight}
			toStore = append(toStore, one)
			if !l.closed {
				l.push(one)
				l.held++
			}
		}
	}
	return toStore, refused
}

// release lets everything that was held be handed on.
func (o *outbox) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range o.lanes {
		if l.held > 0 {
			l.held = 0
			signalTo(l.wake)
		}
	}
}

// restore puts stored receipts, in the order of their numbers, into the lanes
// that owe them, and returns how many no pipeline owes any more.
func (o *outbox) restore(stored []owed) (orphans int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range stored {
		o.number = max(o.number, one.number)
		to := slices.IndexFunc(o.lanes, func(l *lane) bool { return l.signal == one.signal })
		for n, l := range o.lanes {
			if l.signal == one.signal && o.concerns(n, one.receipt.Origin) {
				to = n
			}
		}
		if to < 0 || o.lanes[to].closed {
			orphans++
			continue
		}
		one.weight = one.receipt.Weight()
		o.lanes[to].push(one)
		signalTo(o.lanes[to].wake)
	}
	return orphans
}

// paid returns the stored receipts that are owed no more since it was last
// called.
func (o *outbox) paid() queue {
	o.mu.Lock()
	defer o.mu.Unlock()
	gone := o.gone
	o.gone = queue{}
	return gone
}

// concerns reports whether a receipt of this origin goes into lane n: into the
// origin's own, else into the first of each signal. One that is closed stands
// behind all that are not.
func (o *outbox) concerns(n int, origin boundary.Origin) bool {
	best := -1
	for i, l := range o.lanes {
		if l.signal != o.lanes[n].signal {
			continue
		}
		switch {
		case best < 0, o.lanes[best].closed && !l.closed, !l.closed && l.origin == origin:
			best = i
		}
	}
	return best == n
}

// fullFor reports whether there is no room for a receipt. One always finds room in
// an empty lane.
func (l *lane) fullFor(weight int) bool {
	return l.queue.len() >= l.outbox.limit || l.queue.len() > 0 && l.weight+weight > l.outbox.memory
}

func (l *lane) push(one owed) {
	l.queue.push(one)
	l.weight += one.weight
}

func (l *lane) refuse(refused *map[pipeline.Signal]int) {
	if *refused == nil {
		*refused = make(map[pipeline.Signal]int, 1)
	}
	(*refused)[l.signal]++
	l.dropped++
	if !l.full {
		l.full, l.unreported = true, true
	}
}

// waiting returns how many receipts wait in each attached signal.
func (o *outbox) waiting() map[pipeline.Signal]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := make(map[pipeline.Signal]int, len(o.lanes))
	for _, l := range o.lanes {
		if !l.closed {
			n[l.signal] += l.queue.len()
		}
	}
	return n
}

// overflowed returns the lanes that began to refuse and were not returned yet.
func (o *outbox) overflowed() []*lane {
	o.mu.Lock()
	defer o.mu.Unlock()
	var lanes []*lane
	for _, l := range o.lanes {
		if l.unreported {
			l.unreported = false
			lanes = append(lanes, l)
		}
	}
	return lanes
}

// head returns the oldest receipts, at most n, and of heavy ones fewer. They stay
// in the lane until they are taken.
func (l *lane) head(n int) []*boundary.Receipt {
	out := make([]*boundary.Receipt, 0, min(n, maxBatch)) // requests wait for the lock, not for memory
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	n = min(n, l.queue.len()-l.held)
	weight := 0
	for one := range l.queue.first(n) {
		if weight += one.weight; weight > maxBatchWeight && len(out) > 0 {
			break
		}
		out = append(out, one.receipt)
	}
	return out
}

// taken removes the n oldest. When that ends a time of refusals, it returns how
// many there were.
func (l *lane) taken(n int) (dropped int, relieved bool) {
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	n = min(n, l.queue.len()) // a lane that was given up is empty
	for one := range l.queue.first(n) {
		l.weight -= one.weight
	}
	if l.outbox.stored && n > 0 {
		for one := range l.queue.first(n) {
			one.receipt = nil
			l.outbox.gone.push(one)
		}
		l.outbox.lazily()
	}
	l.queue.drop(n)
	if !l.full || l.queue.len() > l.outbox.limit/2 || l.weight > l.outbox.memory/2 {
		return 0, false
	}
	dropped = l.dropped
	l.full, l.unreported, l.dropped = false, false, 0
	return dropped, true
}

// detach closes the lane and returns how many receipts are given up with it, or
// left in the storage. Later ones go to another pipeline of the signal, if there
// is one.
func (l *lane) detach() int {
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	return l.close()
}

// detachIfEmpty closes the lane unless something waits in it.
func (l *lane) detachIfEmpty() bool {
	l.outbox.mu.Lock()
	defer l.outbox.mu.Unlock()
	if l.queue.len() > 0 {
		return false
	}
	l.close()
	return true
}

func (l *lane) close() int {
	left := l.queue.len()
	l.queue, l.weight, l.held = queue{}, 0, 0
	if l.outbox.stored {
		l.closed = true
		return left
	}
	l.outbox.lanes = slices.DeleteFunc(l.outbox.lanes, func(other *lane) bool { return other == l })
	return left
}

// signalTo leaves a note for a goroutine that waits, or will.
func signalTo(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}
