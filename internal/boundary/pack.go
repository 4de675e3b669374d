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
//	runs of zeros are written as their length
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
	words    int
	marks    table[Mark]
	verdicts table[Verdict]
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

// pack returns what a session is held as while it rests.
func (c *Core) pack(s *session) string {
	p := &packing{core: c}
	head := &coder{}
	head.brief(c, briefOf(s), false)
	body := &coder{packing: p, version: codecVersion, buf: make([]byte, 0, 512)}
	p.begin(s)
	body.session(s)
	body.awake(s)
	s.wordsWeight = p.words
	return string(squeeze(head.buf, body.buf))
}

// unpack is the other way.
func (c *Core) unpack(packed string) *session { return c.unpacked(packed, false) }

// copyOf returns a session that goes on resting.
func (c *Core) copyOf(packed string) *session { return c.unpacked(packed, true) }

func (c *Core) unpacked(packed string, copying bool) *session {
	head := &coder{buf: []byte(packed), reading: true}
	var b brief
	head.brief(c, &b, copying)
	p := &packing{core: c, copying: copying}
	body := &coder{packing: p, version: codecVersion, reading: true, buf: unsqueeze(head.buf)}
	s := &session{core: c, key: b.key, origin: b.key}
	p.begin(s)
	body.session(s)
	body.awake(s)
	if body.bad {
		panic("boundary: a session that rested cannot be read") // it is our own memory
	}
	return s
}

// collect fills the tables of what only memory knows.
func (p *packing) collect(s *session, c *coder) {
	for _, e := range s.seen.order {
		m := s.seen.marks[e]
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

// begin makes the session's own id known.
func (p *packing) begin(s *session) { p.texts.add(s.key.Session) }

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
		n = uint64(w.take(v, attrs)) + 1
		c.packing.words += len(v) + weightOfAttrs(attrs)
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
	p, code := &c.packing.texts, uint64(0)
	if !c.reading {
		switch at := slices.Index(p.list, v); {
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
		if code-knownText >= uint64(len(p.list)) {
			c.fail()
			return ""
		}
		return p.list[code-knownText]
	case code == newHex:
		var sum [16]byte
		if !c.reading {
			_, _ = hex.Decode(sum[:], []byte(v))
		}
		c.bytes(sum[:])
		v = hex.EncodeToString(sum[:])
	default:
		n := c.size(len(v))
		if c.reading {
			v, c.buf = string(c.buf[:n]), c.buf[n:]
		} else {
			c.buf = append(c.buf, v...)
		}
	}
	p.add(v)
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

// squeeze appends what was packed: each run of zeros as a zero and its length.
func squeeze(to, packed []byte) []byte {
	for i := 0; i < len(packed); {
		b := packed[i]
		to = append(to, b)
		i++
		if b != 0 {
			continue
		}
		n := 1
		for i < len(packed) && packed[i] == 0 && n < 255 {
			i, n = i+1, n+1
		}
		to = append(to, byte(n))
	}
	return to
}

func unsqueeze(from []byte) []byte {
	to := make([]byte, 0, 2*len(from))
	for i := 0; i < len(from); i++ {
		if from[i] != 0 || i+1 == len(from) {
			to = append(to, from[i])
			continue
		}
		i++
		for range from[i] {
			to = append(to, 0)
		}
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

func (c *coder) brief(core *Core, b *brief, copying bool) {
	text(c, &b.key.Session)
	c.packing = &packing{core: core, copying: copying}
	wordOf(c, &b.key.Scope)
	list(c, &b.agents, func(a *agentState) {
		text(c, &a.agent)
		number(c, &a.state)
	})
	c.bool(&b.waits)
	list(c, &b.open, func(o *openWindow) {
		number(c, &o.status)
		c.time(&o.start)
	})
	c.packing = nil
}

// briefly reads what stands in front of a session that rests.
func (c *Core) briefly(packed string) *brief {
	b := &brief{}
	(&coder{buf: []byte(packed), reading: true}).brief(c, b, true)
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
