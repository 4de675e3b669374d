package boundary

import (
	"reflect"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// A weight is an estimate of the bytes that something holds. Counts alone bound
// nothing that an operator can size: a statement can be 100 bytes or 700, a look
// can hold one of them or 64 and an envelope.
//
// A session's weight is kept up to date in two ways. Each event adds what it can
// at most make the session hold; when that has doubled what was measured last, or
// something was forgotten, the session is measured anew.

func sizeOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }

// What things weigh apart from their texts and lists; a pointer to each, and its
// place in a slice or map, included.
var (
	sessionWeight   = sizeOf[session]() + slotWeight + 128
	wordWeight      = sizeOf[word]() + 32
	slotWeight      = sizeOf[slot]() + 64 // its entry in the table and the heap, its share of both
	keyWeight       = sizeOf[keyState]() + 32
	boundWeight     = sizeOf[bound]() + 80 // its id, and where it lies
	lookWeight      = sizeOf[look]() + 24
	snapWeight      = sizeOf[snap]() + 24
	contentWeight   = sizeOf[content]() + 16
	decisionWeight  = sizeOf[decision]() + sizeOf[debt]() + 8
	statementWeight = sizeOf[Statement]()
	envelopeWeight  = sizeOf[classify.Envelope]()
	entryWeight     = sizeOf[approval.Entry]() + 16
	verdictWeight   = sizeOf[Verdict]() + 32
	findingWeight   = sizeOf[classify.Finding]()
	defectWeight    = sizeOf[defect]() + 64
	seenWeight      = sizeOf[Mark]() + sizeOf[Annotation]() + 2*sizeOf[seenMark]()
	valueWeight     = sizeOf[classify.Value]() + 48
	attrWeight      = sizeOf[Attr]() + 16
	sourceWeight    = sizeOf[Event]()
	receiptWeight   = sizeOf[Receipt]() + 16
)

func weightOfAttrs(attrs []Attr) int {
	n := attrWeight * len(attrs)
	for _, a := range attrs {
		text, _ := a.Value.(string)
		n += len(a.Key) + len(text)
	}
	return n
}

func weightOfTexts(texts []string) int {
	n := 16 * len(texts)
	for _, t := range texts {
		n += len(t)
	}
	return n
}

func weightOfEnvelope(e *classify.Envelope) int {
	if e == nil {
		return 0
	}
	n := envelopeWeight
	for _, f := range e.Fields {
		n += len(f)
	}
	for _, l := range e.Lists {
		n += weightOfTexts(l)
	}
	return n
}

func weightOfStatements(statements []Statement) int {
	n := statementWeight * len(statements)
	for i := range statements {
		s := &statements[i]
		n += len(s.Name) + len(s.Revision) + len(s.ApprovalRef)
	}
	return n
}

func weightOfApproval(a *approval.Approval) int {
	if a == nil {
		return 0
	}
	return entryWeight + len(a.Session) + len(a.Agent) + len(a.Invariant) + len(a.Ref) + len(a.Approver) +
		len(a.ApprovedAt) + len(a.ExpiresAt) + len(a.KeyID) + len(a.Signature)
}

func weightOfVerdict(v *Verdict) int {
	if v == nil {
		return 0
	}
	// Texts of findings are those of statements, which are weighed there.
	return verdictWeight + findingWeight*len(v.Findings) + 16*(len(v.ChangedSince)+len(v.Validation.Findings)) + len(v.Actions)
}

// Weight is what a receipt holds while it waits, as if nobody else held it.
func (r *Receipt) Weight() int {
	n := receiptWeight + weightOfVerdict(r.Verdict) + weightOfAttrs(r.Identity) + weightOfAttrs(r.Resource) +
		len(r.Key.Scope) + len(r.Key.Session) + len(r.Key.Agent) + len(r.BoundaryID)
	for i := range r.Findings {
		f := &r.Findings[i]
		n += len(f.Name) + len(f.Revision) + len(f.ApprovalRef)
	}
	for i := range r.Alerts {
		n += sizeOf[Alert]() + len(r.Alerts[i].Fingerprint) + weightOfTexts(r.Alerts[i].Invariants)
	}
	return n
}

// weight is what an event can at most make its session hold, verdicts apart.
func (ev *Event) weight() int {
	n := seenWeight + len(ev.Key.Agent) + len(ev.BoundaryID)
	switch ev.Kind {
	case Snapshot, Observation, ValidationFailure, Completion:
		n += boundWeight + lookWeight + weightOfAttrs(ev.Identity) + weightOfAttrs(ev.Resource) +
			weightOfStatements(ev.Statements) + weightOfEnvelope(ev.Envelope)
		if ev.Kind == Snapshot {
			n += snapWeight + contentWeight + decisionWeight*len(ev.Statements)
		}
	case Approval:
		n += weightOfApproval(ev.Approval)
	default:
	}
	return n
}

// scale weighs a session: what is shared is weighed once.
type scale struct {
	seen  map[any]struct{}
	total int
}

func (c *scale) first(p any) bool {
	if _, known := c.seen[p]; known {
		return false
	}
	c.seen[p] = struct{}{}
	return true
}

func (c *scale) look(l *look) {
	if l == nil || !c.first(l) {
		return
	}
	c.total += lookWeight + len(l.boundaryID) + weightOfStatements(l.statements) + weightOfEnvelope(l.envelope)
	if l.source != nil {
		c.total += sourceWeight + weightOfAttrs(l.source.Identity) + weightOfAttrs(l.source.Resource)
	}
}

func (c *scale) verdict(v *Verdict) {
	if v != nil && c.first(v) {
		c.total += weightOfVerdict(v)
	}
}

func (c *scale) bound(x *bound) {
	if x == nil || !c.first(x) {
		return
	}
	c.total += boundWeight + len(x.pairing) + len(x.summary) + weightOfAttrs(x.identity) + weightOfAttrs(x.resource) +
		findingWeight*len(x.findings) + 16*len(x.changedSince) + 8*(len(x.looks)+len(x.resting)) + valueWeight*len(x.raised)
	for _, values := range x.originals {
		c.total += valueWeight * (1 + len(values))
	}
	for _, l := range x.looks {
		c.look(l)
	}
	c.verdict(x.verdict)
}

func (c *scale) snap(s *snap) {
	c.total += snapWeight + decisionWeight*len(s.decisions)/2
	c.bound(s.bound)
	c.bound(s.whole.by)
	for i := range s.debts {
		c.bound(s.debts[i].by)
	}
	if !c.first(s.content) {
		return
	}
	c.total += contentWeight + decisionWeight*len(s.decisions)/2 + len(s.boundaryID) + weightOfEnvelope(s.envelope)
	for i := range s.decisions {
		d := &s.decisions[i]
		c.total += len(d.name) + len(d.revision) + len(d.approvalRef)
	}
}

func (c *scale) key(k *keyState) {
	if k.alerts != nil {
		c.total += sizeOf[alertState]() * len(k.alerts)
	}
	c.total += keyWeight + len(k.agent) + 16*len(k.ends) + valueWeight*len(k.healthy)
	for _, x := range k.bounds {
		c.bound(x)
	}
	c.bound(k.last)
	c.bound(k.lostBy)
	c.bound(k.overdueLook)
	for kind := range k.alerts {
		a := &k.alerting()[kind]
		c.bound(k.soft[kind])
		c.total += weightOfTexts(a.things) + weightOfTexts(a.others) + 8*len(a.fired)
	}
	for _, s := range k.snaps {
		c.snap(s)
	}
	for _, l := range k.looks {
		c.look(l)
	}
	for _, l := range k.waiting {
		c.look(l)
	}
	for _, d := range k.defects {
		c.total += defectWeight + valueWeight*len(d.originals)
		c.bound(d.origin)
		c.bound(d.bound)
	}
	for _, d := range k.envelopes {
		c.total += 96 + len(d.summary) + 16*len(d.reasons)
		if c.first(d.original) {
			c.total += weightOfEnvelope(d.original)
		}
	}
}

// measure weighs everything that a session holds.
func (s *session) measure() int {
	c := scale{seen: map[any]struct{}{}, total: sessionWeight + len(s.key.Scope) + len(s.key.Session) + weightOfTexts(s.linked)}
	if s.origin != s.key {
		c.total += len(s.origin.Scope) + len(s.origin.Session)
	}
	for _, e := range s.book.Entries {
		c.total += weightOfApproval(&e.Approval)
	}
	for _, k := range s.agents {
		c.key(k)
	}
	for _, e := range s.seen {
		m := e.mark
		c.total += seenWeight + len(e.agent)
		c.bound(m.bound)
		if m.frozen != nil {
			c.verdict(m.frozen.Verdict)
		}
	}
	return c.total
}

// coarse is how much may be added to a session before it is measured again.
const coarse = 4 << 10

// weigh brings the weight up to date and tells the fleet.
func (s *session) weigh() {
	if s.stale || s.weight > 2*s.measured+coarse {
		s.remeasure()
	}
	s.core.weighAs(s.slot, s.weight)
}

func (s *session) remeasure() {
	s.weight = s.measure()
	s.measured, s.stale = s.weight, false
}

// charge adds what an event brought.
func (s *session) charge(ev *Event, res *Result) {
	s.weight += ev.weight()
	for i := range res.Receipts {
		s.weight += weightOfVerdict(res.Receipts[i].Verdict)
	}
}

// fits reports whether a session may hold so much more. Before it may not, it
// gives up what it remembers only out of courtesy.
func (s *session) fits(now time.Time, more int) bool {
	if s.core.fleet.Room(s.weight+more, s.places()) {
		return true
	}
	if s.weight == s.measured && !s.stale {
		return false // nothing was added since that did not help
	}
	s.thin(now)
	s.remeasure()
	return s.core.fleet.Room(s.weight+more, s.places())
}

// What a session remembers of the past where it may hold no more.
const (
	thinBounds = 4
	thinSeen   = 32
)

// thin forgets the past of a session: settled boundaries that need no revision,
// and the events that were seen first.
func (s *session) thin(now time.Time) {
	for _, k := range s.agents {
		k.tidy(now, thinBounds)
	}
	s.seen.forget(thinSeen)
}
