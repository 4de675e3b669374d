package boundary

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// coder writes or reads the binary form of state. Each type has one method that
// walks its fields with it, in both directions, so that what is written and what
// is read cannot differ.
//
// Numbers are varints, texts and lists are preceded by their length, times are
// Unix nanoseconds (0 is no time). What points to something that is shared is an
// index into a table that was coded before it.
type coder struct {
	// buf is what was written so far, or what is left to read.
	buf     []byte
	reading bool
	bad     bool
	// version is that of what is read or written.
	version uint64
	// base gives what is read its monotonic reading, where it has one itself.
	base time.Time

	// packing is set where a session is packed, not stored.
	packing *packing

	contents table[content]
	looks    table[look]
	bounds   table[bound]
}

// errCorrupt is returned where stored state cannot be read.
var errCorrupt = errors.New("stored state is truncated or corrupt")

func (c *coder) fail() { c.bad, c.buf = true, nil }

func (c *coder) uint(v *uint64) {
	if !c.reading {
		c.buf = binary.AppendUvarint(c.buf, *v)
		return
	}
	x, n := binary.Uvarint(c.buf)
	if n <= 0 {
		c.fail()
		return
	}
	*v, c.buf = x, c.buf[n:]
}

func (c *coder) int(v *int64) {
	if !c.reading {
		c.buf = binary.AppendVarint(c.buf, *v)
		return
	}
	x, n := binary.Varint(c.buf)
	if n <= 0 {
		c.fail()
		return
	}
	*v, c.buf = x, c.buf[n:]
}

// instant codes a time that somebody stated.
func (c *coder) instant(v *classify.Instant) {
	if c.packing != nil {
		c.packedInstant(v)
		return
	}
	number(c, v)
}

// number codes any integer type; a value that does not fit when read is corrupt.
func number[T ~int | ~int64 | ~uint8 | ~uint16](c *coder, v *T) {
	x := int64(*v)
	c.int(&x)
	if c.reading {
		*v = T(x)
		if int64(*v) != x {
			c.fail()
		}
	}
}

// closed codes a value of a closed set that ends before limit.
func closed[T ~uint8](c *coder, v *T, limit int) {
	number(c, v)
	if int(*v) >= limit {
		c.fail()
		if c.reading {
			*v = 0
		}
	}
}

func (c *coder) bool(v *bool) {
	var n uint64
	if *v {
		n = 1
	}
	c.uint(&n)
	if c.reading {
		*v = n == 1
	}
}

func (c *coder) flags(flags ...*bool) {
	for _, f := range flags {
		c.bool(f)
	}
}

// size codes the length of what follows; no more can follow than bytes are left.
func (c *coder) size(n int) int {
	x := uint64(n)
	c.uint(&x)
	if c.reading && c.packing == nil && x > uint64(len(c.buf)) {
		c.fail()
		return 0
	}
	if c.bad {
		return 0
	}
	return int(x)
}

func text[T ~string](c *coder, v *T) {
	if c.packing != nil {
		*v = T(c.packedText(string(*v)))
		return
	}
	n := c.size(len(*v))
	if !c.reading {
		c.buf = append(c.buf, *v...)
		return
	}
	*v, c.buf = T(c.buf[:n]), c.buf[n:]
}

func (c *coder) bytes(v []byte) {
	if c.packing != nil {
		c.packedBytes(v)
		return
	}
	if !c.reading {
		c.buf = append(c.buf, v...)
		return
	}
	if len(c.buf) < len(v) {
		c.fail()
		return
	}
	c.buf = c.buf[copy(v, c.buf):]
}

func (c *coder) time(v *time.Time) {
	if c.packing != nil {
		c.packedTime(v)
		return
	}
	var n int64
	if !v.IsZero() {
		n = v.UnixNano()
	}
	c.int(&n)
	if c.reading {
		*v = time.Time{}
		if n != 0 {
			*v = time.Unix(0, n)
			if !c.base.IsZero() {
				*v = c.base.Add(v.Sub(c.base.Round(0)))
			}
		}
	}
}

// list codes a slice; a nil one comes back nil.
func list[T any](c *coder, s *[]T, each func(*T)) {
	n := c.size(len(*s))
	if c.reading {
		*s = nil
		if n > 0 {
			*s = make([]T, n)
		}
	}
	for i := range *s {
		each(&(*s)[i])
	}
}

func texts(c *coder, s *[]string) { list(c, s, func(v *string) { text(c, v) }) }

// byName codes a map in the order of its names.
func byName[V any](c *coder, m *map[string]V, each func(*V)) {
	names := slices.Sorted(maps.Keys(*m))
	list(c, &names, func(v *string) { wordOf(c, v) })
	if c.reading && len(names) > 0 {
		*m = make(map[string]V, len(names))
	}
	for _, name := range names {
		v := (*m)[name]
		each(&v)
		if c.reading {
			(*m)[name] = v
		}
	}
}

// pointer codes what may not be there.
func pointer[T any](c *coder, p **T, code func(*T)) {
	there := *p != nil
	c.bool(&there)
	if !there || c.bad {
		if c.reading {
			*p = nil
		}
		return
	}
	if c.reading {
		*p = new(T)
	}
	code(*p)
}

// table numbers shared things: what points to one is coded as its number.
type table[T any] struct {
	items []*T
	index map[*T]uint64
}

// add takes a thing in, once.
func (t *table[T]) add(p *T) {
	if p == nil || t.number(p) > 0 {
		return
	}
	t.items = append(t.items, p)
	switch {
	case len(t.index) > 0:
		t.index[p] = uint64(len(t.items))
	case len(t.items) > fewItems:
		if t.index == nil {
			t.index = map[*T]uint64{}
		}
		for i, p := range t.items {
			t.index[p] = uint64(i + 1)
		}
	}
}

// fewItems are found without an index.
const fewItems = 8

// number is what a thing is coded as, 0 where it is not in the table.
func (t *table[T]) number(p *T) uint64 {
	if len(t.index) > 0 {
		return t.index[p]
	}
	for i, item := range t.items {
		if item == p {
			return uint64(i + 1)
		}
	}
	return 0
}

// reset empties the table and keeps its memory.
func (t *table[T]) reset() {
	clear(t.items)
	t.items = t.items[:0]
	clear(t.index)
}

// code codes the table itself: first how many there are, so that they can point
// to each other, then each.
func (t *table[T]) code(c *coder, each func(*T)) {
	t.announce(c)
	for _, p := range t.items {
		each(p)
	}
}

func (t *table[T]) announce(c *coder) {
	n := c.size(len(t.items))
	if c.reading {
		t.items = slices.Grow(t.items[:0], n)[:n]
		for i := range t.items {
			t.items[i] = new(T)
		}
	}
}

// ref codes a pointer into the table.
func (t *table[T]) ref(c *coder, p **T) {
	n := uint64(0)
	if !c.reading && *p != nil {
		n = t.number(*p)
	}
	c.uint(&n)
	if !c.reading {
		return
	}
	*p = nil
	switch {
	case n > uint64(len(t.items)):
		c.fail()
	case n > 0:
		*p = t.items[n-1]
	}
}

func (c *coder) digest(d *digest.Digest) {
	if c.packing != nil {
		if !c.packing.digests.ref(c, d) {
			closed(c, &d.Alg, int(digest.HMACSHA256)+1)
			if d.IsValue() {
				c.bytes(d.Sum[:])
			}
			c.packing.digests.add(*d)
		}
		return
	}
	closed(c, &d.Alg, int(digest.HMACSHA256)+1)
	if d.IsValue() {
		c.bytes(d.Sum[:])
	}
}

func (c *coder) form(f *digest.Form) {
	wordOf(c, &f.Normalizer)
	wordOf(c, &f.KeyID)
}

func (c *coder) value(v *classify.Value) {
	c.digest(&v.Digest)
	c.form(&v.Form)
}

func (c *coder) span(s *SpanContext) {
	there := !s.IsZero()
	c.bool(&there)
	if !there {
		return
	}
	if c.packing == nil || !c.packing.traces.ref(c, &s.TraceID) {
		c.bytes(s.TraceID[:])
		if c.packing != nil {
			c.packing.traces.add(s.TraceID)
		}
	}
	c.bytes(s.SpanID[:])
}

// attrs codes attributes by the type of their value.
func (c *coder) attrs(s *[]Attr) {
	list(c, s, func(a *Attr) {
		wordOf(c, &a.Key)
		kind := slices.IndexFunc(attrKinds, func(k attrKind) bool { return k.is(a.Value) })
		number(c, &kind)
		if kind < 0 || kind >= len(attrKinds) {
			c.fail()
			return
		}
		attrKinds[kind].code(c, &a.Value)
	})
}

type attrKind struct {
	is   func(any) bool
	code func(*coder, *any)
}

var attrKinds = []attrKind{
	kindOf(func(c *coder, v *string) { text(c, v) }),
	kindOf(func(c *coder, v *int64) { c.int(v) }),
	kindOf(func(c *coder, v *bool) { c.bool(v) }),
}

func kindOf[T any](code func(*coder, *T)) attrKind {
	return attrKind{
		is: func(v any) bool { _, ok := v.(T); return ok },
		code: func(c *coder, v *any) {
			x, _ := (*v).(T)
			code(c, &x)
			if c.reading {
				*v = x
			}
		},
	}
}
