package boundary

import (
	"encoding/hex"
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

// word codes a text that many sessions have in common.
func wordOf[T ~string](c *coder, v *T) {
	if c.packing == nil {
		text(c, v)
		return
	}
	if w := c.word(string(*v), nil); c.reading {
		*v = T(w.text)
	}
}

// word codes a word by its number. Beside its text it may stand for attributes.
func (c *coder) word(v string, attrs []Attr) (found word) {
	w, n := &c.packing.core.slots.words, uint64(0)
	if !c.reading && v != "" {
		at := w.take(v, attrs)
		n = uint64(at) + 1
		c.packing.words += w.share(at)
	}
	c.uint(&n)
	if !c.reading || n == 0 {
		return found
	}
	found = w.at(n - 1)
	if !c.packing.copying {
		w.give(n - 1)
	}
	return found
}

// resource codes attributes that all sessions of a sender have.
func (c *coder) resource(attrs *[]Attr) {
	if c.packing == nil {
		c.attrs(attrs)
		return
	}
	var key string
	if !c.reading && len(*attrs) > 0 {
		plain := &coder{}
		plain.attrs(attrs)
		key = "\x00" + string(plain.buf) // no text begins so
	}
	if w := c.word(key, *attrs); c.reading {
		*attrs = w.attrs
	}
}

// Codes of a text that stand before those of known ones.
const (
	newText = iota + 1
	newHex
	knownText
)

// packedText codes a text that few sessions have in common.
func (c *coder) packedText(v string) string {
	p, known, code := c.packing, &c.packing.texts, uint64(0)
	if !c.reading {
		switch at := slices.Index(known.list, v); {
		case v == "":
		case at >= 0:
			code = knownText + uint64(at)
		case isHex128(v):
			code = newHex
		default:
			code = newText
		}
	}
	c.uint(&code)
	switch {
	case code == 0:
		return ""
	case code >= knownText:
		if code-knownText >= uint64(len(known.list)) {
			c.fail()
			return ""
		}
		return known.list[code-knownText]
	case code == newHex:
		var sum [16]byte
		if !c.reading {
			_, _ = hex.Decode(sum[:], []byte(v))
		}
		c.bytes(sum[:])
		v = hex.EncodeToString(sum[:])
	default:
		n := uint64(len(v))
		c.uint(&n)
		if c.reading {
			if n > uint64(len(p.rest)) {
				c.fail()
				return ""
			}
			v, p.rest = string(p.rest[:n]), p.rest[n:]
		} else {
			p.raw = append(p.raw, v...)
		}
	}
	known.add(v)
	return v
}

func isHex128(v string) bool {
	if len(v) != 32 {
		return false
	}
	for i := range len(v) {
		if b := v[i]; (b < '0' || b > '9') && (b < 'a' || b > 'f') {
			return false
		}
	}
	return true
}

// packedInstant codes an instant by its distance from the one before.
func (c *coder) packedInstant(v *classify.Instant) {
	p := c.packing
	there := *v != 0
	step := int64(*v - p.instant)
	if step >= 0 {
		step++ // 0 is no time
	}
	if !there {
		step = 0
	}
	c.int(&step)
	if c.reading {
		*v = 0
		if there = step != 0; there {
			if step > 0 {
				step--
			}
			*v = p.instant + classify.Instant(step)
		}
	}
	if there {
		p.instant = *v
	}
}

// packedTime codes a time of the core's clock, both its readings.
func (c *coder) packedTime(v *time.Time) {
	p, t := c.packing, &c.packing.core.slots
	var base uint64
	var offset time.Duration
	if !v.IsZero() {
		n := t.base(*v)
		base, offset = uint64(n)+1, v.Sub(t.bases[n])
	}
	c.uint(&base)
	switch {
	case base == 0:
		if c.reading {
			*v = time.Time{}
		}
		return
	case base > uint64(len(t.bases)):
		c.fail()
		return
	}
	step := offset - p.since
	number(c, &step)
	p.since += step
	if c.reading {
		*v = t.bases[base-1].Add(p.since)
	}
}

// sameClock is how far the two readings of a time may drift apart before it counts
// as one of another clock: the wall clock was set in between.
const sameClock = time.Millisecond

// maxBases bounds how often the wall clock is taken for another one.
const maxBases = 64

// base finds a time that both readings of another can be counted from.
func (t *slots) base(at time.Time) int {
	for i := len(t.bases) - 1; i >= 0; i-- {
		b := t.bases[i]
		apart := at.Sub(b) - time.Duration(at.UnixNano()-b.UnixNano())
		if monotonic(at) == monotonic(b) && apart.Abs() <= sameClock {
			return i
		}
	}
	if len(t.bases) < maxBases {
		t.bases = append(t.bases, at)
	}
	return len(t.bases) - 1
}

// monotonic reports whether a time has a monotonic reading.
func monotonic(t time.Time) bool { return t != t.Round(0) }

// packedFindings codes a list of findings: a verdict has those of its boundary, and
// boundaries of one session are often alike.
func (c *coder) packedFindings(v *[]classify.Finding) {
	p := c.packing
	n := uint64(slices.IndexFunc(p.findings, func(f []classify.Finding) bool { return slices.Equal(f, *v) }) + 1)
	if len(*v) == 0 {
		n = 0
	}
	c.uint(&n)
	switch {
	case n > uint64(len(p.findings)):
		c.fail()
	case n > 0 && c.reading:
		*v = slices.Clone(p.findings[n-1])
	case n == 0:
		list(c, v, c.finding)
		if len(*v) > 0 && len(p.findings) < maxPlaces {
			p.findings = append(p.findings, *v)
			if c.reading {
				*v = slices.Clone(*v) // findings of a boundary may change later
			}
		}
	}
}

// packedDebts codes debts once where all are alike: nothing was answered, or all of
// it at once.
func (c *coder) packedDebts(debts *[]debt) {
	alike := len(*debts) > 1
	for _, d := range *debts {
		d.shown = (*debts)[0].shown // asked for where it is retired only
		alike = alike && d == (*debts)[0] && d.status != retired
	}
	n := c.size(len(*debts))
	c.bool(&alike)
	if c.reading {
		*debts = make([]debt, n)
	}
	for i := range *debts {
		if alike && i > 0 {
			(*debts)[i] = (*debts)[0]
			continue
		}
		c.debt(&(*debts)[i])
	}
}

// squeeze appends what was packed without its zeros, of which there are many: for
// each eight bytes one that says which of them are none, then those. Where all eight
// are zeros, the number of such groups that follow.
func squeeze(to, packed []byte) []byte {
	for i := 0; i < len(packed); {
		group := packed[i:min(i+8, len(packed))]
		i += 8
		tag := len(to)
		to = append(to, 0)
		for n, b := range group {
			if b != 0 {
				to[tag] |= 1 << n
				to = append(to, b)
			}
		}
		if to[tag] != 0 {
			continue
		}
		more := 0
		for more < 255 && i+8 <= len(packed) && *(*[8]byte)(packed[i:]) == [8]byte{} {
			i, more = i+8, more+1
		}
		to = append(to, byte(more))
	}
	return to
}

// unsqueeze is the other way. Up to seven zeros follow at the end.
func unsqueeze(to, from []byte) []byte {
	for i := 0; i < len(from); {
		tag := from[i]
		i++
		if tag == 0 {
			for range int(from[i]) + 1 {
				to = append(to, 0, 0, 0, 0, 0, 0, 0, 0)
			}
			i++
			continue
		}
		var group [8]byte
		for n := range group {
			if tag&(1<<n) != 0 {
				group[n] = from[i]
				i++
			}
		}
		to = append(to, group[:]...)
	}
	return to
}

// brief is what is asked of a session more often than anything happens to it.
type brief struct {
	key SessionKey
	// agents are its agents and their states, as Core.State tells them.
	agents []agentState
	// open are the windows, waits is set where something is still to be decided
	// at a shutdown.
	open  []openWindow
	waits bool
}

type agentState struct {
	agent string
	state classify.State
}

type openWindow struct {
	status WindowStatus
	start  time.Time
}

func briefOf(s *session) *brief {
	b := &brief{key: s.key, agents: make([]agentState, len(s.agents))}
	for i, k := range s.agents {
		b.agents[i] = agentState{k.agent, k.state()}
		b.waits = b.waits || len(k.waiting) > 0
		for _, x := range k.bounds {
			if x.open() {
				b.open = append(b.open, openWindow{x.windowStatus(), x.start})
				b.waits = b.waits || x.status == armed
			}
		}
	}
	return b
}

// brief codes it. The key can be compared without reading it: see packedKeyIs.
func (d *desk) brief(b *brief) {
	c := &d.coder
	whole := func(v *string) {
		c.packing = nil
		text(c, v)
		c.packing = &d.work
	}
	whole(&b.key.Session)
	wordOf(c, &b.key.Scope)
	d.work.since = 0
	list(c, &b.agents, func(a *agentState) {
		whole(&a.agent)
		number(c, &a.state)
	})
	c.bool(&b.waits)
	list(c, &b.open, func(o *openWindow) {
		number(c, &o.status)
		c.time(&o.start)
	})
	d.work.since = 0
}

// briefly reads what stands in front of a session that rests.
func (c *Core) briefly(packed string) *brief {
	d := c.desk()
	defer d.clear()
	d.reading, d.work.copying = true, true
	d.whole = append(d.whole[:0], packed...)
	d.buf = d.whole
	b := &brief{}
	d.brief(b)
	return b
}

// packedKeyIs reports whether a session that rests has this key.
func packedKeyIs(packed string, w *words, key SessionKey) bool {
	size, n := uvarint(packed)
	rest := packed[n:]
	if size != uint64(len(key.Session)) || rest[:size] != key.Session {
		return false
	}
	scope, _ := uvarint(rest[size:])
	return scope == 0 && key.Scope == "" || scope > 0 && w.at(scope-1).text == key.Scope
}

// uvarint is binary.Uvarint for what was packed.
func uvarint(s string) (v uint64, n int) {
	for shift := 0; ; shift += 7 {
		b := s[n]
		n++
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, n
		}
	}
}
