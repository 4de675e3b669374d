package boundary

import (
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// A session that rests is held in the form in which it is stored, by the same
// methods of the coder, with these differences:
//
//	in front stands what is asked of sessions that rest: see brief
//	texts of many sessions are words of the core, others are written once
//	digests and traces are written once, times as their distance from the one before
//	what only memory knows is there: marks, which clock a time is by, weights
//	ids and digests stand by themselves, and the rest without its zeros
//
// It is never stored: it can change with every version.

// packing is what a coder knows while it packs or unpacks a session.
type packing struct {
	core *Core
	// What was written before is known by its place.
	texts   places[string]
	digests places[digest.Digest]
	traces  places[[16]byte]
	// findings are the lists that were coded.
	findings [][]classify.Finding
	// instant and since are what the next time is counted from.
	instant classify.Instant
	since   time.Duration
	// words is what the words weigh.
	words int
	// raw is what would not get smaller, rest what of it is left to read.
	raw, rest []byte
	marks     table[Mark]
	verdicts  table[Verdict]
	// copying leaves the words held, since what is unpacked stays packed too.
	copying bool
}

// places are things that were coded, by the order in which they were. Only so many
// are remembered: sessions that hold more are not worth the search.
type places[T comparable] struct{ list []T }

const maxPlaces = 64

func (p *places[T]) add(v T) {
	if len(p.list) < maxPlaces {
		p.list = append(p.list, v)
	}
}

func (p *places[T]) clear() {
	clear(p.list)
	p.list = p.list[:0]
}

// ref codes the place of a thing that was coded before: 0 where it was not.
func (p *places[T]) ref(c *coder, v *T) (known bool) {
	n := uint64(slices.Index(p.list, *v) + 1)
	c.uint(&n)
	if !c.reading {
		return n > 0
	}
	if n > uint64(len(p.list)) {
		c.fail()
		return true
	}
	if n > 0 {
		*v = p.list[n-1]
	}
	return n > 0
}

// pack returns what a session is held as while it rests; false where it cannot be
// written, as it could not be stored.
func (c *Core) pack(s *session) (packed string, ok bool) {
	d := c.desk()
	defer d.clear()
	d.buf = d.body[:0]
	d.work.texts.add(s.key.Session)
	d.session(s)
	d.awake(s)
	d.body = d.buf
	d.buf = d.whole[:0]
	d.brief(briefOf(s))
	d.uintAlone(uint64(len(d.work.raw)))
	d.whole = squeeze(append(d.buf, d.work.raw...), d.body)
	s.wordsWeight = d.work.words
	return string(d.whole), !d.bad
}

// unpack is the other way.
func (c *Core) unpack(packed string) *session { return c.unpacked(packed, false) }

// copyOf returns a session that goes on resting.
func (c *Core) copyOf(packed string) *session { return c.unpacked(packed, true) }

func (c *Core) unpacked(packed string, copying bool) *session {
	d := c.desk()
	defer d.clear()
	d.reading, d.work.copying = true, copying
	d.whole = append(d.whole[:0], packed...)
	d.buf = d.whole
	b := &brief{}
	d.brief(b)
	raw := d.uintAlone(0)
	d.work.raw = append(d.work.raw, d.buf[:raw]...)
	d.work.rest = d.work.raw
	d.body = unsqueeze(d.body[:0], d.buf[raw:])
	d.buf = d.body
	s := &session{core: c, key: b.key, origin: b.key}
	d.work.texts.add(s.key.Session)
	d.session(s)
	d.awake(s)
	if d.bad {
		panic("boundary: a session that rested cannot be read") // it is our own memory
	}
	return s
}

// uintAlone codes a number.
func (d *desk) uintAlone(v uint64) uint64 {
	d.uint(&v)
	return v
}

// packedBytes codes what would not get smaller.
func (c *coder) packedBytes(v []byte) {
	p := c.packing
	switch {
	case !c.reading:
		p.raw = append(p.raw, v...)
	case len(p.rest) < len(v):
		c.fail()
	default:
		p.rest = p.rest[copy(v, p.rest):]
	}
}

// desk is where a core packs and unpacks, one session at a time. It keeps its memory.
type desk struct {
	coder
	work        packing
	body, whole []byte
}

func (c *Core) desk() *desk {
	if c.packer == nil {
		c.packer = &desk{}
		c.packer.work.core = c
	}
	d := c.packer
	d.packing, d.version = &d.work, codecVersion
	return d
}

// clear takes everything off the desk.
func (d *desk) clear() {
	d.contents.reset()
	d.looks.reset()
	d.bounds.reset()
	w := &d.work
	w.marks.reset()
	w.verdicts.reset()
	w.texts.clear()
	w.digests.clear()
	w.traces.clear()
	clear(w.findings)
	w.findings = w.findings[:0]
	w.raw, w.rest = w.raw[:0], nil
	w.copying, w.instant, w.since, w.words = false, 0, 0, 0
	d.buf, d.reading, d.bad = nil, false, false
	if cap(d.body) > maxDesk || cap(d.whole) > maxDesk {
		d.body, d.whole = nil, nil
	}
}

// maxDesk is how much memory a desk keeps: few sessions need more.
const maxDesk = 64 << 10

// collect fills the tables of what only memory knows.
func (p *packing) collect(s *session, c *coder) {
	for _, e := range s.seen {
		m := e.mark
		p.marks.add(m)
		if m.frozen != nil {
			p.verdicts.add(m.frozen.Verdict)
		}
	}
	for _, l := range c.looks.items {
		if l.waits() {
			p.marks.add(l.mark)
		}
	}
	for _, x := range c.bounds.items {
		p.verdicts.add(x.verdict)
	}
}

// packedMark codes a mark with the annotation that was given for it.
func (c *coder) packedMark(m *Mark) {
	c.bounds.ref(c, &m.bound)
	wordOf(c, &m.reason)
	c.flags(&m.plain, &m.awaited)
	pointer(c, &m.frozen, func(a *Annotation) {
		c.packing.verdicts.ref(c, &a.Verdict)
		wordOf(c, &a.Reason)
		text(c, &a.BoundaryID)
	})
}

// awake codes what is known of a session beside what is stored.
func (c *coder) awake(s *session) {
	c.time(&s.stored)
	for _, n := range []*int{&s.weight, &s.measured} {
		number(c, n)
	}
	c.flags(&s.stale)
	for _, k := range s.agents {
		if c.reading {
			k.counted = k.count()
		}
	}
}
