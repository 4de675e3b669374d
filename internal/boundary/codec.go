package boundary

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// codecVersion is the first byte of everything that is stored. A change of what
// follows gets a new one; testdata keeps a file of each.
const codecVersion = 2

// The versions, by what they added. Older ones can still be read.
const (
	oldestVersion = 1
	withTokens    = 2 // sizes of the context, writes before the observation, when a boundary began
)

// Change is a session to be stored anew, or to be deleted where Value is nil.
type Change struct {
	Key   SessionKey
	Value []byte
}

// Changes returns what changed since the last call, encoded. It is called under
// the owner's lock, so that what it returns is one moment of the core.
func (c *Core) Changes() []Change {
	out, _ := c.SomeChanges(len(c.changed))
	return out
}

// SomeChanges is Changes for n sessions at most, so that the owner's lock is held
// for a short time; true says that there are more. What changes again is returned
// again: once nothing is left, all that was returned is one moment of the core.
func (c *Core) SomeChanges(n int) (out []Change, more bool) {
	for key := range c.changed {
		if len(out) == n {
			return out, true
		}
		delete(c.changed, key)
		ch := Change{Key: key}
		if p := c.slots.find(key); p != nil {
			if ch.Value = encodeSession(c.glance(p)); ch.Value == nil {
				continue // what cannot be written must not pass for deleted
			}
		}
		out = append(out, ch)
	}
	return out, false
}

// StoredKey reads the key of an encoded session, to find the core it belongs to.
func StoredKey(value []byte) (SessionKey, error) {
	c := coder{buf: value, reading: true}
	var key SessionKey
	c.header()
	c.sessionKey(&key)
	if c.bad {
		return SessionKey{}, errCorrupt
	}
	return key, nil
}

func (c *coder) header() {
	c.version = codecVersion
	c.uint(&c.version)
	if c.version < oldestVersion || c.version > codecVersion {
		c.fail()
	}
}

func (c *coder) sessionKey(k *SessionKey) {
	text(c, &k.Scope)
	text(c, &k.Session)
}

func encodeSession(s *session) []byte {
	c := &coder{}
	c.header()
	c.session(s)
	return c.buf
}

func decodeSession(value []byte, core *Core, base time.Time) (*session, error) {
	c := &coder{buf: value, reading: true, base: base}
	s := &session{core: core, stale: true}
	c.header()
	c.session(s)
	if c.bad || len(c.buf) > 0 || !s.sound() {
		return nil, errCorrupt
	}
	return s, nil
}

// sound reports whether a session that was read keeps what the rest of the
// package relies on.
func (s *session) sound() bool {
	for _, k := range s.agents {
		for _, sn := range k.snaps {
			if sn.content == nil || sn.bound == nil ||
				len(sn.debts) != len(sn.decisions) || len(sn.observedAt) != len(sn.decisions) {
				return false
			}
		}
		for _, d := range k.envelopes {
			if d.original == nil {
				return false
			}
		}
		for _, d := range k.defects {
			if d.origin == nil || d.bound == nil || len(d.originals) == 0 {
				return false
			}
		}
		for _, x := range k.bounds {
			if x == nil || slices.Contains(x.looks, nil) {
				return false
			}
		}
		if slices.Contains(k.looks, nil) || slices.ContainsFunc(k.waiting, func(l *look) bool { return l == nil || l.source == nil }) {
			return false
		}
	}
	return true
}

// session codes a session: its own fields, the tables of what its parts share,
// then the parts.
func (c *coder) session(s *session) {
	if c.packing == nil {
		c.sessionKey(&s.key)
	}
	c.sessionKey(&s.origin)
	texts(c, &s.linked)
	c.uint(&s.turn)
	c.time(&s.touched)
	list(c, &s.book.Entries, func(e **approval.Entry) {
		if c.reading {
			*e = &approval.Entry{}
		}
		c.entry(*e)
	})
	if !c.reading {
		c.collect(s)
	}
	if p := c.packing; p != nil {
		p.marks.announce(c)
		p.verdicts.announce(c)
	}
	c.contents.code(c, c.content)
	c.looks.code(c, c.look)
	c.bounds.code(c, c.bound)
	if p := c.packing; p != nil {
		for _, v := range p.verdicts.items {
			c.verdict(v)
		}
	}
	list(c, &s.agents, func(k **keyState) {
		if c.reading {
			*k = &keyState{session: s}
		}
		c.keyState(*k)
	})
	c.memory(&s.seen)
}

// collect fills the tables with everything that the session's parts point to.
func (c *coder) collect(s *session) {
	for _, k := range s.agents {
		for _, x := range k.bounds {
			c.bounds.add(x)
		}
		c.bounds.add(k.last)
		c.bounds.add(k.lostBy)
		c.bounds.add(k.overdueLook)
		for _, sn := range k.snaps {
			c.contents.add(sn.content)
			c.bounds.add(sn.bound)
			c.bounds.add(sn.whole.by)
			for i := range sn.debts {
				c.bounds.add(sn.debts[i].by)
			}
		}
		for _, d := range k.defects {
			c.bounds.add(d.origin)
			c.bounds.add(d.bound)
		}
		for kind := range k.alerts {
			c.bounds.add(k.soft[kind])
		}
		for _, l := range slices.Concat(k.looks, k.waiting) {
			c.looks.add(l)
		}
	}
	for _, e := range s.seen {
		c.bounds.add(e.mark.bound)
	}
	for _, x := range c.bounds.items {
		for _, l := range x.looks {
			c.looks.add(l)
		}
	}
	if c.packing != nil {
		c.packing.collect(s, c)
	}
}

func (c *coder) keyState(k *keyState) {
	text(c, &k.agent)
	list(c, &k.bounds, func(x **bound) { c.bounds.ref(c, x) })
	c.bounds.ref(c, &k.last)
	c.bounds.ref(c, &k.lostBy)
	list(c, &k.snaps, func(s **snap) {
		if c.reading {
			*s = &snap{}
		}
		c.snap(*s)
	})
	list(c, &k.looks, func(l **look) { c.looks.ref(c, l) })
	list(c, &k.waiting, func(l **look) { c.looks.ref(c, l) })
	list(c, &k.ends, func(e *compactionEnd) { c.instant(&e.end); c.instant(&e.received) })
	list(c, &k.defects, func(d **defect) {
		if c.reading {
			*d = &defect{}
		}
		c.defect(*d)
	})
	list(c, &k.envelopes, func(d **envelopeDefect) {
		if c.reading {
			*d = &envelopeDefect{}
		}
		c.envelopeDefect(*d)
	})
	pointer(c, &k.refused, func(r *refusal) { wordOf(c, &r.reason); c.instant(&r.at); c.uint(&r.turn) })
	pointer(c, &k.effect, func(e *effectDefect) {
		wordOf(c, &e.reason)
		c.instant(&e.at)
		text(c, &e.key)
		text(c, &e.action)
	})
	c.healthy(&k.healthy)
	alerts := *k.alerting()
	for kind := range alerts {
		c.alertState(&alerts[kind])
		c.bounds.ref(c, &k.soft[kind])
	}
	if c.reading && slices.ContainsFunc(alerts[:], alertState.used) {
		k.alerts = &alerts
	}
	c.flags(&k.lost, &k.lostOverdue)
	c.bounds.ref(c, &k.overdueLook)
}

// used reports whether there is anything to know of an alert.
func (a alertState) used() bool {
	return a.active || a.onlyOthers || !a.since.IsZero() || len(a.things)+len(a.fired)+len(a.others) > 0
}

// healthy codes the names, then their values.
func (c *coder) healthy(values *healthyValues) {
	n := c.size(len(*values))
	if c.reading {
		*values = make(healthyValues, n)
	}
	for i := range *values {
		wordOf(c, &(*values)[i].name)
	}
	for i := range *values {
		c.value(&(*values)[i].Value)
	}
}

func (c *coder) alertState(a *alertState) {
	c.bool(&a.active)
	c.time(&a.since)
	texts(c, &a.things)
	list(c, &a.fired, c.uint)
	texts(c, &a.others)
	c.bool(&a.onlyOthers)
}

func (c *coder) snap(s *snap) {
	c.contents.ref(c, &s.content)
	c.uint(&s.turn)
	c.bounds.ref(c, &s.bound)
	c.instant(&s.event)
	c.instant(&s.received)
	list(c, &s.observedAt, c.instant)
	c.instant(&s.eventObservedAt)
	if c.packing == nil {
		list(c, &s.debts, c.debt)
	} else {
		c.packedDebts(&s.debts)
	}
	c.debt(&s.whole)
	number(c, &s.more)
	c.instant(&s.completion)
}

func (c *coder) debt(d *debt) {
	closed(c, &d.status, int(retired)+1)
	c.bounds.ref(c, &d.by)
	c.uint(&d.turn)
	if c.packing == nil || d.status == retired { // nobody asks what else was shown
		c.digest(&d.shown)
	}
	pointer(c, &d.instead, c.value)
	c.bool(&d.overdue)
}

func (c *coder) defect(d *defect) {
	wordOf(c, &d.name)
	closed(c, &d.state, int(classify.Conflicting)+1)
	list(c, &d.originals, c.value)
	c.bool(&d.text)
	c.value(&d.shown)
	c.instant(&d.shownAt)
	c.time(&d.seenAt)
	c.uint(&d.turn)
	c.bool(&d.probe)
	c.bounds.ref(c, &d.origin)
	c.bounds.ref(c, &d.bound)
}

func (c *coder) envelopeDefect(d *envelopeDefect) {
	pointer(c, &d.original, c.envelope)
	text(c, &d.summary)
	c.reasons(&d.reasons)
	c.instant(&d.at)
}

func (c *coder) reasons(s *[]classify.Reason) {
	list(c, s, func(r *classify.Reason) { wordOf(c, r) })
}

// memory codes the events that were seen. An annotation that was given already
// comes back from its boundary's verdict.
func (c *coder) memory(m *memory) {
	list(c, (*[]seenMark)(m), func(e *seenMark) {
		c.fingerprint(&e.fingerprint)
		text(c, &e.agent)
		if c.packing != nil {
			c.packing.marks.ref(c, &e.mark)
			return
		}
		if c.reading {
			e.mark = &Mark{}
		}
		c.mark(e.mark)
	})
	if p := c.packing; p != nil {
		for _, mark := range p.marks.items {
			c.packedMark(mark)
		}
	}
}

// fingerprint codes what is a number but a hash.
func (c *coder) fingerprint(v *uint64) {
	if c.packing == nil {
		c.uint(v)
		return
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], *v)
	c.bytes(b[:])
	*v = binary.LittleEndian.Uint64(b[:])
}

func (c *coder) mark(m *Mark) {
	x, reason := m.bound, m.reason
	if f := m.frozen; f != nil && f.Verdict == nil && !m.plain {
		x = nil // it was annotated before its boundary was known
	}
	c.bounds.ref(c, &x)
	text(c, &reason)
	c.bool(&m.plain)
	if c.reading {
		m.bound, m.reason = x, reason
	}
}

func (c *coder) entry(e *approval.Entry) {
	text(c, &e.Session)
	text(c, &e.Agent)
	wordOf(c, &e.Invariant)
	text(c, &e.Ref)
	c.digest(&e.From)
	c.digest(&e.To)
	text(c, &e.Approver)
	text(c, &e.ApprovedAt)
	text(c, &e.ExpiresAt)
	text(c, &e.KeyID)
	signature := string(e.Signature)
	text(c, &signature)
	if c.reading && signature != "" {
		e.Signature = []byte(signature)
	}
	c.time(&e.Received)
	closed(c, &e.Standing, int(approval.NotYetValid)+1)
	c.time(&e.RevokedAt)
	text(c, &e.UsedBy)
	c.uint(&e.Look)
	c.flags(&e.Independent, &e.Revoked, &e.Signed, &e.After)
}
