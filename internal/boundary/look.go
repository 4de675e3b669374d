package boundary

import (
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// look is one observation, kept as long as an earlier snapshot may still come.
type look struct {
	turn       uint64
	boundaryID string
	event      classify.Instant
	received   classify.Instant
	at         time.Time
	statements []Statement // sorted by authority
	form       digest.Form
	envelope   *classify.Envelope
	observedAt classify.Instant // event level
	// whole: complete coverage and nothing lost on the way.
	whole, badName bool
	// waitUntil is when an early look stops waiting for its snapshot; zero once
	// it has been taken up.
	waitUntil time.Time
	mark      *Mark
	source    *Event // until it is taken up: what a boundary of its own needs
}

func newLook(ev *Event, now time.Time, turn uint64, mark *Mark) *look {
	if ev.Envelope != nil {
		ev.Envelope.Normalize()
	}
	return &look{
		turn: turn, boundaryID: ev.BoundaryID, event: ev.Time, received: classify.At(now), at: now,
		statements: ev.Statements, form: ev.Form, envelope: ev.Envelope, observedAt: ev.ObservedAt,
		whole: !ev.Partial && !ev.Dropped && !ev.TooMany, badName: ev.BadName,
		mark: mark, source: ev,
	}
}

// waits reports whether its mark is still to be given a boundary.
func (l *look) waits() bool { return l.mark != nil && l.mark.bound == nil }

func (l *look) time() classify.Instant { return l.event.Or(l.received) }

func (l *look) find(name string) *Statement {
	for i := range l.statements { // in place: this is the innermost loop
		if l.statements[i].Name == name {
			return &l.statements[i]
		}
	}
	return nil
}

// stated turns a statement into evidence.
func (l *look) stated(s *Statement, accepted Sources) classify.After {
	return classify.After{
		Value: classify.Value{Digest: s.Digest, Form: l.form}, Fault: s.Fault,
		ObservedAt: s.ObservedAt, Source: s.Source, Accepted: accepted.Has(s.Source),
		Event: l.event, Received: l.received,
	}
}

// absent is the evidence that an invariant is not there. ok is false where the
// look cannot prove it: it states nothing, is partial or cut, or used a source
// that does not count for the invariant.
func (l *look) absent(accepted Sources) (after classify.After, ok bool) {
	if !l.whole {
		return after, false
	}
	after = classify.After{
		Value: classify.Value{Digest: digest.None, Form: l.form}, ObservedAt: l.observedAt,
		Accepted: true, Event: l.event, Received: l.received,
	}
	for i := range l.statements {
		s := &l.statements[i]
		if !accepted.Has(s.Source) {
			return after, false
		}
		if after.Source == classify.NoSource || s.Source == classify.Environment {
			after.Source = s.Source
		}
		ok = ok || s.Fault == ""
		if l.observedAt == 0 {
			after.ObservedAt = max(after.ObservedAt, s.ObservedAt)
		}
	}
	return after, ok
}

// envelopeTime is when the envelope was read.
func (l *look) envelopeTime() classify.Instant {
	if l.observedAt != 0 {
		return l.observedAt
	}
	return l.event
}
