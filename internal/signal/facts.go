package signal

import (
	"strings"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// fact is one attribute of an event: its first value, how often it is there,
// and whether the values differ. Maps on the wire can hold a key twice.
type fact struct {
	value   pcommon.Value
	count   int
	differs bool
}

func (f *fact) add(v pcommon.Value) {
	if f.count == 0 {
		f.value = v
	} else if !same(f.value, v) {
		f.differs = true
	}
	f.count++
}

// same compares scalars. Of lists and maps no two are the same: to compare them
// would be as expensive as the sender likes.
func same(a, b pcommon.Value) bool {
	x, ok := asScalar(a)
	y, also := asScalar(b)
	return ok && also && x == y
}

func (f *fact) stated() bool { return f.count > 0 }

// The readings of a fact; the zero value where it is not stated or cannot be
// read.

func (f *fact) text() string {
	if !f.stated() {
		return ""
	}
	text, _ := asText(f.value)
	return text
}

func (f *fact) label() string {
	if !f.stated() {
		return ""
	}
	return asLabel(f.value)
}

func (f *fact) int() int64 {
	if !f.stated() {
		return 0
	}
	n, _ := asInt(f.value)
	return n
}

func (f *fact) bool() (value, ok bool) {
	if !f.stated() {
		return false, false
	}
	return asBool(f.value)
}

func (f *fact) instant() classify.Instant {
	if !f.stated() {
		return 0
	}
	return asInstant(f.value)
}

// invariant holds the facts of one name, which may be none.
type invariant struct {
	name  string
	facts [facets]fact
}

// facts are what an event states, as views into its attributes.
type facts struct {
	attrs      pcommon.Map
	fixed      [fields]fact
	invariants []invariant
	// byName finds invariants where there are many.
	byName map[string]int
	// content lists all that was recognised, for the fingerprint.
	content []content
}

// few invariants are found by looking at each.
const few = 16

// spare holds facts that were read: they are large, and nothing of them is kept.
var spare = sync.Pool{New: func() any { return new(facts) }}

// release gives the facts of an event back.
func (f *facts) release() {
	if cap(f.invariants) > mostInvariants || cap(f.content) > 8*mostInvariants {
		return // one event stated more than any should
	}
	clear(f.invariants)
	clear(f.content)
	*f = facts{invariants: f.invariants[:0], content: f.content[:0]}
	spare.Put(f)
}

// invariant returns the facts of a name, made where there are none.
func (f *facts) invariant(name string) *invariant {
	if f.byName != nil {
		if i, known := f.byName[name]; known {
			return &f.invariants[i]
		}
	} else {
		for i := range f.invariants {
			if f.invariants[i].name == name {
				return &f.invariants[i]
			}
		}
	}
	n := len(f.invariants)
	f.invariants = append(f.invariants, invariant{name: name})
	switch {
	case f.byName != nil:
		f.byName[name] = n
	case n == few:
		f.byName = make(map[string]int, 2*few)
		for i := range f.invariants {
			f.byName[f.invariants[i].name] = i
		}
	}
	return &f.invariants[n]
}

type content struct {
	key   string
	value pcommon.Value
}

// gather reads the attributes of an event in one pass. It scans and never looks
// a key up: the second one of a kind matters.
func gather(attrs pcommon.Map) *facts {
	f := spare.Get().(*facts)
	f.attrs = attrs
	for key, value := range attrs.All() {
		if fixed, ok := fieldOf[key]; ok {
			f.fixed[fixed].add(value)
			f.content = append(f.content, content{key, value})
			continue
		}
		facet, name, ok := cutFacet(key)
		if !ok {
			continue
		}
		f.invariant(name).facts[facet].add(value)
		f.content = append(f.content, content{key, value})
	}
	return f
}

func (f *facts) get(i field) *fact { return &f.fixed[i] }

// text is a string that was stated in one way only, else "".
func (f *facts) text(i field) string {
	if f.fixed[i].differs {
		return ""
	}
	return f.fixed[i].text()
}

// anyIs reports whether any of the values of key is word, in any case of letters
// and between blanks: for words that are on the safe side.
func (f *facts) anyIs(key, word string) bool {
	if !f.fixed[fieldOf[key]].stated() {
		return false
	}
	for k, v := range f.attrs.All() {
		if k != key {
			continue
		}
		if text, ok := asText(v); ok && strings.EqualFold(strings.TrimSpace(text), word) {
			return true
		}
	}
	return false
}
