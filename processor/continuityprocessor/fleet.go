package continuityprocessor

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// maxHabits bounds what is remembered of runtimes: tenants and runtime names are
// the senders' to choose. Beyond it a habit counts as not seen, which is the
// side that alarms.
const maxHabits = 10_000

// fleet is what all shards share: the places for sessions, and what each runtime
// has been seen to do.
type fleet struct {
	limit int64
	used  atomic.Int64

	// memory is how many bytes sessions may hold together, bytes how many they do.
	memory int64
	bytes  atomic.Int64

	habits sync.Map // habitKey -> struct{}
	held   atomic.Int64
	// unknown counts the habits for which there was no room.
	unknown atomic.Int64

	// durable keeps note of what news returns.
	durable bool
	mu      sync.Mutex
	fresh   []habitKey
}

type habitKey struct {
	tenant, runtime string
	habit           boundary.Habit
}

var _ boundary.Fleet = (*fleet)(nil)

func newFleet(sessions int, durable bool) *fleet {
	return &fleet{limit: int64(sessions), memory: math.MaxInt64, durable: durable}
}

// maxSession bounds the bytes of one session with all its agents: what concerns a
// session takes its time and, with storage, writes it as a whole.
const maxSession = 2 << 20

// Weigh takes note of what sessions came to hold.
func (f *fleet) Weigh(by int) { f.bytes.Add(int64(by)) }

// Room lets everybody have their share, so that nobody's greed costs others
// theirs: together sessions hold at most twice the memory, and that only where all
// of them hold what they may. A quarter is for those that are held already.
func (f *fleet) Room(bytes, places int) bool {
	used := f.bytes.Load()
	switch {
	case places == 0:
		return used < f.memory/4*3
	case bytes > maxSession:
		return false
	default:
		return int64(bytes)/int64(places) <= f.memory/f.limit || used < f.memory
	}
}

// TakeSession takes a place before the session is made, so that shards together
// never hold more than the limit.
func (f *fleet) TakeSession() bool {
	if f.used.Add(1) > f.limit {
		f.used.Add(-1)
		return false
	}
	return true
}

// GiveSession gives the place back.
func (f *fleet) GiveSession() { f.used.Add(-1) }

// Saw remembers that a runtime does something.
func (f *fleet) Saw(tenant, runtime string, habit boundary.Habit) {
	key := habitKey{tenant, runtime, habit}
	if _, known := f.habits.Load(key); known {
		return
	}
	if f.held.Load() >= maxHabits {
		f.unknown.Add(1)
		return
	}
	if _, known := f.habits.LoadOrStore(key, struct{}{}); known {
		return
	}
	f.held.Add(1)
	if f.durable {
		f.mu.Lock()
		f.fresh = append(f.fresh, key)
		f.mu.Unlock()
	}
}

// restore takes back what was stored.
func (f *fleet) restore(key habitKey) {
	if _, known := f.habits.LoadOrStore(key, struct{}{}); !known {
		f.held.Add(1)
	}
}

// news returns the habits that were first seen since it was last called.
func (f *fleet) news() []habitKey {
	f.mu.Lock()
	defer f.mu.Unlock()
	fresh := f.fresh
	f.fresh = nil
	return fresh
}

// Seen reports whether a runtime was seen to do it.
func (f *fleet) Seen(tenant, runtime string, habit boundary.Habit) bool {
	_, seen := f.habits.Load(habitKey{tenant, runtime, habit})
	return seen
}
