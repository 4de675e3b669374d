package boundary

import (
	"encoding/hex"
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// wordOf codes a text that many sessions have in common.
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

// maxBases bounds how often the wall clock is taken for another one: each sleep of a
// laptop and each step of its clock is one. Beyond that, wall clock readings of what
// rested are off by the steps since.
const maxBases = 4096

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
