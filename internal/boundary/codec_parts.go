package boundary

import (
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

func (c *coder) content(x *content) {
	c.uint(&x.number)
	text(c, &x.boundaryID)
	c.form(&x.form)
	c.flags(&x.failed, &x.truncated, &x.badName, &x.tooMany)
	pointer(c, &x.envelope, c.envelope)
	list(c, &x.decisions, func(d *decision) {
		wordOf(c, &d.name)
		c.digest(&d.digest)
		wordOf(c, &d.fault)
		c.flags(&d.text, &d.optional)
		text(c, &d.revision)
		text(c, &d.approvalRef)
	})
}

func (c *coder) look(l *look) {
	c.uint(&l.turn)
	text(c, &l.boundaryID)
	c.instant(&l.event)
	c.instant(&l.received)
	c.time(&l.at)
	list(c, &l.statements, c.statement)
	c.form(&l.form)
	pointer(c, &l.envelope, c.envelope)
	c.instant(&l.observedAt)
	c.flags(&l.whole, &l.badName)
	c.time(&l.waitUntil)
	pointer(c, &l.source, c.source)
	if c.packing != nil {
		if !l.waits() {
			l.mark = nil // it was told already
		}
		c.packing.marks.ref(c, &l.mark)
	}
}

func (c *coder) statement(s *Statement) {
	wordOf(c, &s.Name)
	c.digest(&s.Digest)
	wordOf(c, &s.Fault)
	c.instant(&s.ObservedAt)
	closed(c, &s.Source, int(classify.Record)+1)
	c.flags(&s.Text, &s.Optional)
	text(c, &s.Revision)
	text(c, &s.ApprovalRef)
	c.int(&s.Choices)
}

// source codes what a waiting look needs of its event once it is taken up.
func (c *coder) source(ev *Event) {
	closed(c, &ev.Kind, int(Activity)+1)
	c.sessionKey(&ev.Key.SessionKey)
	text(c, &ev.Key.Agent)
	text(c, &ev.BoundaryID)
	c.uint(&ev.Fingerprint)
	wordOf(c, &ev.Runtime)
	wordOf(c, &ev.Trigger)
	wordOf(c, &ev.Activity)
	c.attrs(&ev.Identity)
	c.resource(&ev.Resource)
	c.span(&ev.Context)
	number(c, &ev.Origin)
}

func (c *coder) envelope(e *classify.Envelope) {
	for i := range e.Fields {
		text(c, &e.Fields[i])
	}
	for i := range e.Lists {
		there := e.Lists[i] != nil // an empty list is stated, a nil one is not
		c.bool(&there)
		if !there {
			continue
		}
		texts(c, &e.Lists[i])
		if c.reading && e.Lists[i] == nil {
			e.Lists[i] = []string{}
		}
	}
	c.int(&e.Budget)
	c.flags(&e.HasBudget, &e.Reauthorization, &e.HasReauthorization, &e.Malformed)
}

func (c *coder) bound(x *bound) {
	text(c, &x.id)
	text(c, &x.use)
	text(c, &x.pairing)
	c.uint(&x.opened)
	c.uint(&x.refusedTurn)
	c.bool(&x.ended)
	closed(c, &x.status, int(settled)+1)
	for _, t := range []*time.Time{&x.deadline, &x.start, &x.windowFrom, &x.settledAt, &x.firstLook} {
		c.time(t)
	}
	number(c, &x.window)
	c.flags(&x.passed, &x.unconfirmed, &x.void, &x.late, &x.sufficient, &x.refusalKept, &x.validated, &x.approved, &x.signed, &x.originKnown)
	number(c, &x.snapshots)
	number(c, &x.completions)
	c.instant(&x.openedEnd)
	c.instant(&x.lastEnd)
	text(c, &x.summary)
	closed(c, &x.outcome, int(NoOp)+1)
	list(c, &x.looks, func(l **look) { c.looks.ref(c, l) })
	pointer(c, &x.refusal, func(v *classify.RuntimeVerdict) { wordOf(c, &v.Status); wordOf(c, &v.Reason) })
	c.instant(&x.refusedAt)
	wordOf(c, &x.override)
	c.findings(&x.findings)
	c.reasons(&x.envelopeReasons)
	texts(c, &x.changedSince)
	byName(c, &x.originals, func(values *[]classify.Value) { list(c, values, c.value) })
	c.instant(&x.parkedAt)
	byName(c, &x.raised, c.instant)
	wordOf(c, &x.runtime)
	wordOf(c, &x.trigger)
	wordOf(c, &x.activity)
	c.attrs(&x.identity)
	c.resource(&x.resource)
	c.span(&x.snapshotAt)
	c.span(&x.completionAt)
	c.span(&x.lookAt)
	number(c, &x.origin)
	number(c, &x.revision)
	if c.packing != nil {
		c.packing.verdicts.ref(c, &x.verdict)
	} else {
		pointer(c, &x.verdict, c.verdict)
	}
	if c.version >= withTokens {
		c.int(&x.tokensBefore)
		c.int(&x.tokensAfter)
		number(c, &x.writes)
		c.instant(&x.lastWrite)
		c.instant(&x.begun)
	}
}

func (c *coder) findings(f *[]classify.Finding) {
	if c.packing != nil {
		c.packedFindings(f)
		return
	}
	list(c, f, c.finding)
}

func (c *coder) finding(f *classify.Finding) {
	wordOf(c, &f.Name)
	closed(c, &f.State, int(classify.Conflicting)+1)
	wordOf(c, &f.Reason)
	c.flags(&f.Wants, &f.Optional, &f.Effect)
	closed(c, &f.Cleared, int(classify.Conflicting)+1)
	closed(c, &f.Source, int(classify.Record)+1)
	text(c, &f.Revision)
	text(c, &f.ApprovalRef)
	c.int(&f.Choices)
}

func (c *coder) verdict(v *Verdict) {
	text(c, &v.BoundaryID)
	number(c, &v.Revision)
	closed(c, &v.State, int(classify.Conflicting)+1)
	closed(c, &v.Boundary, int(classify.Conflicting)+1)
	wordOf(c, &v.Reason)
	list(c, &v.Actions, func(a *classify.Action) { closed(c, a, int(classify.HoldAndAsk)+1) })
	c.findings(&v.Findings)
	texts(c, &v.ChangedSince)
	wordOf(c, &v.Validation.Status)
	wordOf(c, &v.Validation.Reason)
	c.reasons(&v.Validation.Findings)
	closed(c, &v.Coverage, int(CoverageObserved)+1)
	c.flags(&v.Late, &v.ApprovalUsed, &v.ApprovalSigned)
}

// EncodeReceipt returns the binary form of a receipt that waits to be handed on.
func EncodeReceipt(r *Receipt) []byte {
	c := &coder{}
	c.header()
	c.receipt(r)
	return c.buf
}

// DecodeReceipt reads it back.
func DecodeReceipt(value []byte) (*Receipt, error) {
	c := &coder{buf: value, reading: true}
	r := &Receipt{Verdict: &Verdict{}}
	c.header()
	c.receipt(r)
	if c.bad || len(c.buf) > 0 {
		return nil, errCorrupt
	}
	return r, nil
}

func (c *coder) receipt(r *Receipt) {
	c.verdict(r.Verdict)
	c.sessionKey(&r.Key.SessionKey)
	text(c, &r.Key.Agent)
	list(c, &r.Alerts, func(a *Alert) {
		closed(c, &a.Kind, int(alertKinds))
		closed(c, &a.Status, int(Closed)+1)
		texts(c, &a.Invariants)
		c.time(&a.Since)
		text(c, &a.Fingerprint)
	})
	c.time(&r.Start)
	c.time(&r.End)
	number(c, &r.Window)
	number(c, &r.Superseded)
	closed(c, &r.Outcome, int(NoOp)+1)
	text(c, &r.Runtime)
	text(c, &r.Trigger)
	text(c, &r.Activity)
	c.attrs(&r.Identity)
	c.attrs(&r.Resource)
	c.span(&r.Parent)
	list(c, &r.Links, c.span)
	number(c, &r.Origin)
	number(c, &r.ObservedAfter)
	if c.version >= withTokens {
		c.int(&r.TokensBefore)
		c.int(&r.TokensAfter)
		number(c, &r.Writes)
	}
}
