package continuityprocessor

import (
	"cmp"
	"hash/maphash"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/pipeline"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// shardCount is a power of two, well above the number of requests that a
// collector works on at the same time.
const shardCount = 64

// state is all that is known of sessions, in shards that are locked one by one.
//
// Locks are taken in this order: links, shards by rising index, then the outbox. No
// other code of the processor runs under them, least of all the next consumer.
type state struct {
	seed   maphash.Seed
	shards [shardCount]shard
	fleet  *fleet
	outbox *outbox
	tel    *telemetry
	alarm  alarm
	now    clock
	// watch belongs to the goroutine of deadlines, and once that has ended to
	// settling; paused is told how long the process did not run.
	watch    watch
	settling sync.Mutex
	paused   func(time.Duration)

	cfg *boundary.Config
	// links is held by who moves a session from one shard to another, and by the
	// writer while it goes from shard to shard: what it collects holds the session
	// once.
	links sync.RWMutex
	// decisions numbers receipts in the order of their decisions.
	decisions atomic.Uint64
	// news is set while there are decisions that were not collected.
	news atomic.Bool
}

// shard is a lock and the pure core that it guards.
type shard struct {
	mu   sync.Mutex
	core *boundary.Core
	// decided are, with storage, the receipts that were not collected yet.
	decided []decision
}

// decision is a receipt and its place among all of them.
type decision struct {
	number  uint64
	receipt *boundary.Receipt
}

func newState(cfg *boundary.Config, sessions int, out *outbox, tel *telemetry) *state {
	s := &state{
		cfg: cfg, seed: maphash.MakeSeed(), fleet: newFleet(sessions, cfg.Durable), outbox: out, tel: tel,
		alarm: newAlarm(), now: time.Now, paused: func(time.Duration) {},
	}
	for i := range s.shards {
		s.shards[i].core = boundary.New(cfg, s.fleet)
	}
	return s
}

// index picks the shard of a session: of all its agents, since completions and
// approvals concern them together. The seed is random, so that nobody can choose
// session ids that meet in one shard.
func (s *state) index(key boundary.SessionKey) int {
	var h maphash.Hash
	h.SetSeed(s.seed)
	h.WriteString(key.Scope)
	h.WriteByte(0)
	h.WriteString(key.Session)
	return int(h.Sum64() & (shardCount - 1))
}

// noted is an event that is annotated when its request is done.
type noted struct {
	shard *shard
	mark  *boundary.Mark
}

// observe takes one event.
func (s *state) observe(now time.Time, ev *boundary.Event) noted {
	if ev.Previous != "" {
		s.adopt(now, ev)
	}
	sh := &s.shards[s.index(ev.Key.SessionKey)]
	var mark *boundary.Mark
	s.turn(sh, false, func(core *boundary.Core) (res boundary.Result) {
		mark, res = core.Observe(now, ev)
		return res
	})
	return noted{shard: sh, mark: mark}
}

// adopt moves the previous session to the event's.
func (s *state) adopt(now time.Time, ev *boundary.Event) {
	to := s.index(ev.Key.SessionKey)
	from := s.index(boundary.SessionKey{Scope: ev.Key.Scope, Session: ev.Previous})
	if from == to {
		s.turn(&s.shards[to], false, func(core *boundary.Core) boundary.Result { return core.Adopt(now, core, ev) })
		return
	}
	s.links.RLock()
	first, second := &s.shards[min(from, to)], &s.shards[max(from, to)]
	first.mu.Lock()
	second.mu.Lock()
	res := s.shards[to].core.Adopt(now, s.shards[from].core, ev)
	refused := s.keep(&s.shards[to], res.Receipts, false)
	s.alarm.set(s.shards[to].core.Next())
	second.mu.Unlock()
	first.mu.Unlock()
	s.links.RUnlock()
	s.tell(res, refused)
}

// turn lets a core do something. What it decided is in the outbox, or with
// storage in the shard, before any other request sees the shard.
func (s *state) turn(sh *shard, pastLimit bool, do func(*boundary.Core) boundary.Result) {
	sh.mu.Lock()
	res := do(sh.core)
	refused := s.keep(sh, res.Receipts, pastLimit)
	s.alarm.set(sh.core.Next())
	sh.mu.Unlock()
	s.tell(res, refused)
}

// keep takes what was decided. It needs the shard's lock.
func (s *state) keep(sh *shard, receipts []boundary.Receipt, pastLimit bool) (refused map[pipeline.Signal]int) {
	if !s.cfg.Durable {
		return s.outbox.add(receipts, pastLimit)
	}
	for i := range receipts {
		sh.decided = append(sh.decided, decision{s.decisions.Add(1), &receipts[i]})
		s.news.Store(true)
	}
	return nil
}

// collection is what changed in all shards, as one moment of them as far as
// they concern each other.
type collection struct {
	sessions []boundary.Change
	receipts []*boundary.Receipt // in the order of their decisions
	habits   []habitKey
}

// collect returns what changed since it was last called: of each shard its
// sessions together with the receipts that it decided.
func (s *state) collect() collection {
	var c collection
	var decided []decision
	s.news.Store(false) // what is decided from now on may be collected, or not yet
	s.links.Lock()
	for i := range s.shards {
		decided = append(decided, c.from(&s.shards[i])...)
	}
	s.links.Unlock()
	c.habits = s.fleet.news() // after the shards: none of them knows a newer habit
	slices.SortFunc(decided, func(a, b decision) int { return cmp.Compare(a.number, b.number) })
	for _, d := range decided {
		c.receipts = append(c.receipts, d.receipt)
	}
	return c
}

// collectTurn is how many sessions are encoded while a shard is locked: requests
// wait for it.
const collectTurn = 32

// from adds the sessions of one shard and returns what it decided. What was decided
// comes with the last sessions: all that changed before it is among them.
func (c *collection) from(sh *shard) (decided []decision) {
	// Turns grow, so that they overtake whatever changes meanwhile.
	for n, more := collectTurn, true; more; n += collectTurn / 8 {
		var some []boundary.Change
		sh.mu.Lock()
		if some, more = sh.core.SomeChanges(n); !more {
			decided, sh.decided = sh.decided, nil
		}
		sh.mu.Unlock()
		c.sessions = append(c.sessions, some...)
		runtime.Gosched() // who waits for the shard comes before the next turn
	}
	return decided
}

// load takes back a stored session.
func (s *state) load(value []byte, notBefore time.Time) error {
	key, err := boundary.StoredKey(value)
	if err != nil {
		return err
	}
	sh := &s.shards[s.index(key)]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.core.Load(value, notBefore)
}

// readable reports whether a stored session that could not be loaded could be
// read: then there was no room for it.
func (s *state) readable(value []byte) bool {
	return boundary.New(s.cfg, newFleet(math.MaxInt, false)).Load(value, time.Time{}) == nil
}

// tell counts and reports, outside of all locks.
func (s *state) tell(res boundary.Result, refused map[pipeline.Signal]int) {
	s.tel.record(res)
	if n := s.fleet.unknown.Swap(0); n > 0 {
		s.tel.recordLimit(boundary.LimitRuntimes, n)
	}
	for signal, n := range refused {
		s.tel.recordDropped(signal, n)
	}
}

// annotation is what is written beside an event.
func (n noted) annotation() boundary.Annotation {
	n.shard.mu.Lock()
	defer n.shard.mu.Unlock()
	return n.shard.core.Annotation(n.mark)
}

// of returns the state of a session for the spans that follow.
func (s *state) of(key boundary.Key) classify.State {
	sh := &s.shards[s.index(key.SessionKey)]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.core.State(key)
}

// settle decides what is open, for shutdown: as overdue what is, since its turn
// may not have come yet. Once nothing is open it does nothing.
func (s *state) settle(now time.Time) {
	s.settling.Lock()
	defer s.settling.Unlock()
	awake := s.awake(now)
	for i := range s.shards {
		for awake && s.expireSome(&s.shards[i], now, true) {
			continue
		}
		s.turn(&s.shards[i], true, func(core *boundary.Core) boundary.Result { return core.Shutdown(now) })
	}
}

// stats sums the gauges of all shards.
func (s *state) stats() boundary.Stats {
	total := boundary.Stats{States: map[classify.State]int{}}
	for i := range s.shards {
		s.shards[i].mu.Lock()
		one := s.shards[i].core.Stats()
		s.shards[i].mu.Unlock()
		total.Sessions += one.Sessions
		total.Open += one.Open
		for state, n := range one.States {
			total.States[state] += n
		}
		for kind, n := range one.Alerts {
			total.Alerts[kind] += n
		}
	}
	return total
}

// openNow sums what is open over all shards.
func (s *state) openNow() boundary.Open {
	var total boundary.Open
	now := s.now()
	for i := range s.shards {
		s.shards[i].mu.Lock()
		s.shards[i].core.AddOpen(now, &total)
		s.shards[i].mu.Unlock()
	}
	return total
}

func (s *state) windowOf(runtime string) time.Duration { return s.cfg.WindowOf(runtime) }

func (s *state) waiting() map[pipeline.Signal]int { return s.outbox.waiting() }

func (s *state) sessionsUsed() int { return int(s.fleet.used.Load()) }

func (s *state) memoryUsed() int64 { return s.fleet.bytes.Load() }
