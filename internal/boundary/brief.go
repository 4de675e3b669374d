package boundary

import (
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

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
