package signal

import (
	"strings"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// read makes an Item of a recognised event. It changes nothing.
func (r *Reader) read(f *found, at *around) Item {
	item := Item{
		Kind: f.kind, Form: f.form, Attributes: f.attrs, Enclosing: f.enclosing,
		own: f.row != nil && f.kind == boundary.Activity,
	}
	p := placesOf(f, at)
	sessions, agents := r.sessions, r.agents
	if f.row != nil {
		sessions, agents = f.row.Sessions, f.row.Agents
	}
	session, ok := p.lookup(sessions, p.n)
	if !ok {
		item.Reason = classify.SessionMissing
		return item
	}
	if at.shared == nil {
		at.shared = &shared{scope: r.Scope(at.resource, at.tenant), resource: r.copyResource(at.resource)}
	}
	agent, _ := p.lookup(agents, p.own)
	e := &boundary.Event{
		Kind: f.kind,
		Key: boundary.Key{
			SessionKey: boundary.SessionKey{Scope: at.shared.scope, Session: strings.Clone(session.key())},
			Agent:      strings.Clone(agent.key()),
		},
		Time:     stamp(f.time),
		Dropped:  f.dropped > 0,
		Runtime:  p.nearestText(semconv.Runtime, p.n),
		Activity: p.nearestText(semconv.ActivityState, p.own),
		Identity: r.identity(&p, sessions, agents),
		Resource: at.shared.resource,
		Context:  f.context,
	}
	if previous, ok := p.lookup([]string{semconv.SessionPreviousID}, p.n); ok && previous.key() != e.Key.Session {
		e.Previous = strings.Clone(previous.key())
	}
	if e.Runtime == "" && f.row != nil {
		e.Runtime = f.row.Runtime
	}
	facts := gather(f.attrs)
	item.Event = e
	item.Reason = r.fill(e, facts, f, at, session.sent)
	e.Fingerprint = fingerprint(e, facts)
	facts.release()
	return item
}

// fill reads what an event of its kind states. It returns why an approval is
// none.
func (r *Reader) fill(e *boundary.Event, facts *facts, f *found, at *around, sentID string) classify.Reason {
	e.Trigger = trigger(facts.get(fieldTrigger), f)
	switch e.Kind {
	case boundary.Snapshot, boundary.Observation:
		r.fillLook(e, facts)
	case boundary.Completion:
		e.BoundaryID = boundaryID(facts)
		e.Envelope = readEnvelope(facts)
		e.Outcome = outcome(facts, f)
		e.TokensBefore, e.TokensAfter = tokens(facts, f)
	case boundary.ValidationFailure:
		e.BoundaryID = boundaryID(facts)
		e.Verdict = verdict(facts)
	case boundary.Approval:
		var reason classify.Reason
		e.Approval, reason = readApproval(facts)
		if e.Approval == nil {
			return reason
		}
		e.Approval.Session = distinct(sentID, maxOpaque)
		e.Approval.Agent = e.Key.Agent
		e.Approval.Received = at.received
	case boundary.Activity:
		e.Writes = f.row != nil && f.row.writes(f.subject())
	default: // the start and end of a session say nothing more
	}
	return ""
}

// fillLook reads a snapshot or an observation.
func (r *Reader) fillLook(e *boundary.Event, f *facts) {
	e.BoundaryID = boundaryID(f)
	e.Form = digest.Form{
		Normalizer: distinct(strings.TrimSpace(f.text(fieldNormalizer)), maxText),
		KeyID:      distinct(strings.TrimSpace(f.text(fieldKeyID)), maxText),
	}
	if at := f.get(fieldObservedAt); !at.differs {
		e.ObservedAt = at.instant()
	}
	if e.Kind == boundary.Snapshot {
		e.SnapshotFailed = f.anyIs(semconv.SnapshotStatus, "failed")
	} else {
		e.Partial = f.anyIs(semconv.ObservationCoverage, "partial") || contradictory(f)
	}
	r.fillStatements(e, f)
	e.Envelope = readEnvelope(f)
}

// boundaryID is the explicit pairing id, "" for none. Two different ones are
// none; contradictory makes sure that nothing follows from that.
func boundaryID(f *facts) string {
	text, _ := trimID(f.text(fieldBoundaryID))
	return distinct(text, maxText)
}

// contradictory reports whether an event says in two ways to which boundary it
// belongs or how its digests were made. Nothing in it can then be compared.
func contradictory(f *facts) bool {
	return f.get(fieldBoundaryID).differs || f.get(fieldNormalizer).differs || f.get(fieldKeyID).differs
}

// outcome is how a compaction ended: completed where the host does not say,
// unknown where that cannot be read. Only a clear word cancels a debt.
func outcome(facts *facts, f *found) boundary.Outcome {
	stated := facts.get(fieldOutcome)
	out := boundary.UnknownOutcome
	switch {
	case !stated.stated() && f.row != nil:
		out = f.row.outcome(f.subject())
	case !stated.stated():
		out = boundary.Completed
	default:
		text := facts.text(fieldOutcome)
		for _, o := range boundary.Outcomes {
			if text == o.String() {
				out = o
			}
		}
	}
	if !out.Happened() && contradictory(facts) {
		return boundary.UnknownOutcome
	}
	return out
}

// tokens are how large the context was before and after the compaction, 0 where
// that is not stated or cannot be.
func tokens(facts *facts, f *found) (before, after int64) {
	stated := func(native field, key func(*Row) string) int64 {
		n := *facts.get(native)
		if !n.stated() && f.row != nil {
			if v, ok := f.attrs.Get(key(f.row)); ok {
				n.add(v)
			}
		}
		if n.differs {
			return 0
		}
		return max(n.int(), 0)
	}
	return stated(fieldTokensBefore, func(r *Row) string { return r.TokensBefore }),
		stated(fieldTokensAfter, func(r *Row) string { return r.TokensAfter })
}

const (
	triggerAuto   = "auto"
	triggerManual = "manual"
	triggerOther  = "other"
)

// trigger is why the host compacted, "" where it does not say.
func trigger(stated *fact, f *found) string {
	why := *stated
	if !why.stated() && f.row != nil {
		if v, ok := f.attrs.Get(f.row.Trigger); ok {
			why.add(v)
		}
	}
	if !why.stated() {
		return ""
	}
	switch why.text() {
	case triggerAuto:
		return triggerAuto
	case triggerManual:
		return triggerManual
	default:
		return triggerOther
	}
}

// nearestText is a string that is passed on, from the nearest of the first n
// places that has one.
func (p *places) nearestText(key string, n int) string {
	for _, m := range p.at[:n] {
		v, ok := m.Get(key)
		if !ok {
			continue
		}
		if text, ok := asText(v); ok && strings.TrimSpace(text) != "" {
			return bounded(strings.TrimSpace(text), maxText)
		}
	}
	return ""
}

// What a runtime can give as its own verdict, strictest first: of two that
// differ the stricter counts.
var (
	verdictStatuses = []classify.ValidationStatus{classify.StatusBlocked, classify.StatusValidationFailed}
	verdictReasons  = []classify.Reason{
		classify.UnknownSideEffect, classify.PartialSideEffect,
		classify.EnvelopeMalformed, classify.SchemaVersionUnsupported, classify.EnvelopeFieldMissing,
		classify.DelegationMissing, classify.TimestampInvalid, classify.SummaryDigestMalformed,
		classify.ReauthorizationNotRequired, classify.SummaryDigestMismatch, classify.TenantMismatch,
		classify.PrincipalMismatch, classify.AuthorizationModeChanged, classify.DelegatedPrincipalChanged,
		classify.DelegatedScopeChanged, classify.PolicyVersionChanged, classify.CapabilityChanged,
		classify.CapabilityVersionChanged, classify.ApprovalBindingChanged, classify.ActionDigestChanged,
		classify.IdempotencyKeyChanged, classify.SideEffectStatusChanged, classify.CheckpointChanged,
		classify.SandboxChanged, classify.SourceRangeChanged, classify.ObligationLost, classify.ConstraintRefLost,
		classify.BudgetIncreased, classify.EnvelopeApprovalRevoked, classify.ApprovalNotActive,
		classify.EnvelopeApprovalExpired, classify.DecisionConflicting, classify.DecisionDropped,
		classify.DecisionUnverified,
	}
)

// verdict reads the runtime's own refusal to resume.
func verdict(f *facts) classify.RuntimeVerdict {
	var v classify.RuntimeVerdict
	for _, status := range verdictStatuses {
		if f.anyIs(semconv.ValidationStatus, string(status)) {
			v.Status = status
			break
		}
	}
	for _, reason := range verdictReasons {
		if f.anyIs(semconv.ValidationReason, string(reason)) {
			v.Reason = reason
			break
		}
	}
	return v
}
