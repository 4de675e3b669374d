package boundary

import (
	"container/heap"
	"hash/maphash"
	"time"
)

// slots are the sessions of a core. The few that were heard of last are awake; the
// others rest: each of them is packed into one piece of memory without a pointer in
// it, a tenth of what it holds awake. What happens to a session wakes it.
type slots struct {
	seed   maphash.Seed
	byHash map[uint64]*slot
	wakes  wakes
	// epoch is what wakes are counted from: the first time that was ever asked for.
	epoch time.Time
	// newest and oldest end the list of those that are awake, by when something
	// happened to them last.
	newest, oldest *session
	awake          int
	words          words
	bases          []time.Time
}

// slot is the place of one session in a core.
type slot struct {
	// session is set while it is awake, packed while it rests.
	session *session
	packed  string
	next    *slot // another session of the same hash
	// wake is when it next needs attention, index where it stands among the wakes.
	wake  time.Duration
	index int32
	// told is what the fleet knows of its bytes.
	told int32
}

// maxAwake is how many sessions of a core are awake at a time, and more only where
// somebody waits to be told of their events.
const maxAwake = 32

func newSlots() slots {
	return slots{seed: maphash.MakeSeed(), byHash: map[uint64]*slot{}}
}

func (t *slots) hash(key SessionKey) uint64 {
	h := maphash.String(t.seed, key.Session)
	if key.Scope != "" {
		h ^= maphash.String(t.seed, key.Scope) * 3
	}
	return h
}

// find returns the slot of a session, nil where there is none.
func (t *slots) find(key SessionKey) *slot {
	for p := t.byHash[t.hash(key)]; p != nil; p = p.next {
		if p.is(t, key) {
			return p
		}
	}
	return nil
}

func (p *slot) is(t *slots, key SessionKey) bool {
	if p.session != nil {
		return p.session.key == key
	}
	return packedKeyIs(p.packed, &t.words, key)
}

// add makes a slot for a session that is awake.
func (t *slots) add(s *session) {
	hash := t.hash(s.key)
	p := &slot{session: s, next: t.byHash[hash], index: -1}
	t.byHash[hash] = p
	s.slot = p
	t.link(s)
}

// remove takes a session that is awake out of the table and of the wakes.
func (t *slots) remove(s *session) {
	p, hash := s.slot, t.hash(s.key)
	if first := t.byHash[hash]; first == p {
		if p.next == nil {
			delete(t.byHash, hash)
		} else {
			t.byHash[hash] = p.next
		}
	} else {
		for first.next != p {
			first = first.next
		}
		first.next = p.next
	}
	if p.index >= 0 {
		heap.Remove(&t.wakes, int(p.index))
	}
	t.unlink(s)
	s.slot = nil
}

// all returns the slots of all sessions.
func (t *slots) all() []*slot {
	out := make([]*slot, 0, len(t.byHash))
	for _, p := range t.byHash {
		for ; p != nil; p = p.next {
			out = append(out, p)
		}
	}
	return out
}

// link makes a session the one that something happened to last.
func (t *slots) link(s *session) {
	s.older, t.newest = t.newest, s
	if s.older != nil {
		s.older.newer = s
	} else {
		t.oldest = s
	}
	t.awake++
}

func (t *slots) unlink(s *session) {
	if s.newer != nil {
		s.newer.older = s.older
	} else {
		t.newest = s.older
	}
	if s.older != nil {
		s.older.newer = s.newer
	} else {
		t.oldest = s.newer
	}
	s.newer, s.older = nil, nil
	t.awake--
}

// session returns a session, awake; nil where there is none.
func (c *Core) session(key SessionKey) *session {
	if p := c.slots.find(key); p != nil {
		return c.wake(p)
	}
	return nil
}

// wake returns the session of a slot, awake.
func (c *Core) wake(p *slot) *session {
	s := p.session
	switch {
	case s == nil:
		s = c.unpack(p.packed)
		s.slot, p.session, p.packed = p, s, ""
		c.slots.link(s)
	case c.slots.newest != s:
		c.slots.unlink(s)
		c.slots.link(s)
	}
	return s
}

// glance returns the session of a slot without waking it.
func (c *Core) glance(p *slot) *session {
	if p.session != nil {
		return p.session
	}
	return c.copyOf(p.packed)
}

// rest packs the sessions that were awake longest, where there are too many.
func (c *Core) rest(most int) {
	// Those that somebody waits for go to the end of the queue. Few are looked at: the
	// next event looks at the next.
	for turns := restTurn; turns > 0 && c.slots.awake > most; turns-- {
		s := c.slots.oldest
		c.slots.unlink(s)
		packed, ok := "", !s.awaited()
		if ok {
			packed, ok = c.pack(s)
		}
		if !ok {
			c.slots.link(s)
			continue
		}
		p := s.slot
		p.packed, p.session = packed, nil
		c.weighAs(p, slotWeight+len(p.packed)+s.wordsWeight)
	}
}

// restTurn is how many sessions are looked at after each event.
const restTurn = 4

// awaited reports whether somebody is still to be told of an event.
func (s *session) awaited() bool {
	for _, e := range s.seen {
		if m := e.mark; m.awaited && m.frozen == nil {
			return true
		}
	}
	return false
}

// weighAs tells the fleet what a session holds.
func (c *Core) weighAs(p *slot, weight int) {
	if int(p.told) != weight {
		c.fleet.Weigh(weight - int(p.told))
		p.told = int32(weight)
	}
}

// wakes is a heap of sessions by when they next need attention. A session is in
// it at most once; its position is kept in it, so that moving one is O(log n).
type wakes []*slot

func (w wakes) Len() int           { return len(w) }
func (w wakes) Less(i, j int) bool { return w[i].wake < w[j].wake }

func (w wakes) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].index, w[j].index = int32(i), int32(j)
}

// Push and Pop are container/heap's.
func (w *wakes) Push(x any) {
	p := x.(*slot)
	p.index = int32(len(*w))
	*w = append(*w, p)
}

// Pop removes the last.
func (w *wakes) Pop() any {
	old := *w
	p := old[len(old)-1]
	old[len(old)-1] = nil
	*w = old[:len(old)-1]
	p.index = -1
	return p
}
