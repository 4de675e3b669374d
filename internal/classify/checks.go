package classify

import (
	"slices"

	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// Effect statuses of an envelope, with the older spellings that mean the same.
const (
	notExecuted   = "not_executed"
	applied       = "applied"
	effectUnknown = "side_effect_unknown"
	effectPartial = "partial_side_effect"
	revoked       = "revoked"
	approvedState = "approved"
	userDelegated = "user_delegated"
)

var closedSets = map[Field][]string{
	FieldAuthorizationMode: {"platform_owned", userDelegated, "human_approved"},
	FieldApprovalStatus:    {approvedState, "pending", "rejected", revoked, "expired"},
	FieldSideEffectStatus:  {notExecuted, applied, effectUnknown, effectPartial},
}

var olderEffects = map[string]string{"not_started": notExecuted, "side_effect_committed": applied}

// Normalize maps older spellings to today's and treats a value outside a closed
// set as not stated. It is called once, when an envelope is taken in.
func (e *Envelope) Normalize() {
	if today, ok := olderEffects[e.Fields[FieldSideEffectStatus]]; ok {
		e.Fields[FieldSideEffectStatus] = today
	}
	for f, set := range closedSets {
		if v := e.Fields[f]; v != "" && !slices.Contains(set, v) {
			e.Fields[f] = ""
		}
	}
}

// Effect is the reason of an effect that is unresolved in the envelope, or "".
func (e *Envelope) Effect() Reason {
	switch e.Fields[FieldSideEffectStatus] {
	case effectUnknown:
		return UnknownSideEffect
	case effectPartial:
		return PartialSideEffect
	}
	return ""
}

// EffectResolved reports whether the envelope shows how the effect ended.
func (e *Envelope) EffectResolved() bool {
	s := e.Fields[FieldSideEffectStatus]
	return s == applied || s == notExecuted
}

// IsEffect reports whether a finding is an unresolved effect.
func IsEffect(r Reason) bool { return r == UnknownSideEffect || r == PartialSideEffect }

// EnvelopeState is what a finding of the envelope contributes to the roll-up.
func EnvelopeState(r Reason) State {
	if IsEffect(r) {
		return Unverified
	}
	return Conflicting
}

// EnvelopePair is what the checks compare: the envelope as recorded, as read
// now, and the digest of the summary as the completion gave it.
type EnvelopePair struct {
	Before, Now *Envelope
	// Summary is the completion's summary digest text, used where the recorded
	// envelope states none.
	Summary string
	// Received is the receipt of the observation.
	Received Instant
}

type check struct {
	reason Reason
	fails  func(*EnvelopePair) bool
}

// checks are all evaluated, in this order; the first that fails is the reason.
var checks = []check{
	{EnvelopeMalformed, either(func(e *Envelope) bool { return e.Malformed })},
	{SchemaVersionUnsupported, either(func(e *Envelope) bool {
		v, ok := e.Stated(FieldSchemaVersion)
		return ok && v != EnvelopeSchemaVersionV1
	})},
	{EnvelopeFieldMissing, fieldMissing},
	{DelegationMissing, either(delegationMissing)},
	{TimestampInvalid, either(func(e *Envelope) bool {
		v, stated := e.Stated(FieldApprovalExpiresAt)
		_, ok := semconv.ParseTime(v)
		return stated && !ok
	})},
	{SummaryDigestMalformed, summaryMalformed},
	{ReauthorizationNotRequired, either(func(e *Envelope) bool { return e.HasReauthorization && !e.Reauthorization })},
	{SummaryDigestMismatch, summaryMismatch},
	{UnknownSideEffect, func(p *EnvelopePair) bool { return p.Now.Effect() == UnknownSideEffect }},
	{PartialSideEffect, func(p *EnvelopePair) bool { return p.Now.Effect() == PartialSideEffect }},
	{TenantMismatch, differs(FieldTenantID)},
	{PrincipalMismatch, differs(FieldPrincipalID)},
	{AuthorizationModeChanged, differs(FieldAuthorizationMode)},
	{DelegatedPrincipalChanged, differs(FieldDelegatedPrincipalID)},
	{DelegatedScopeChanged, differs(FieldDelegatedScope)},
	{PolicyVersionChanged, differs(FieldPolicyVersion)},
	{CapabilityChanged, differs(FieldCapabilityName)},
	{CapabilityVersionChanged, differs(FieldCapabilityVersion)},
	{ApprovalBindingChanged, differs(FieldApprovalID)},
	{ActionDigestChanged, differs(FieldActionDigest)},
	{IdempotencyKeyChanged, differs(FieldIdempotencyKey)},
	{SideEffectStatusChanged, func(p *EnvelopePair) bool {
		return p.Before.EffectResolved() && p.Now.EffectResolved() && differs(FieldSideEffectStatus)(p)
	}},
	{CheckpointChanged, differs(FieldCheckpointRef)},
	{SandboxChanged, differs(FieldSandboxSnapshotRef)},
	{SourceRangeChanged, func(p *EnvelopePair) bool {
		return differs(FieldSourceEventFirst)(p) || differs(FieldSourceEventLast)(p)
	}},
	{ObligationLost, lost(ListPendingObligations, ListPendingObligations, ListResolvedObligations)},
	{ConstraintRefLost, lost(ListExactConstraintRefs, ListExactConstraintRefs)},
	{BudgetIncreased, func(p *EnvelopePair) bool {
		return p.Before.HasBudget && p.Now.HasBudget && p.Now.Budget > p.Before.Budget
	}},
	{EnvelopeApprovalRevoked, func(p *EnvelopePair) bool { return p.Now.Fields[FieldApprovalStatus] == revoked }},
	{ApprovalNotActive, func(p *EnvelopePair) bool {
		v, stated := p.Now.Stated(FieldApprovalStatus)
		return stated && v != approvedState && v != revoked
	}},
	{EnvelopeApprovalExpired, func(p *EnvelopePair) bool {
		at, ok := semconv.ParseTime(p.Now.Fields[FieldApprovalExpiresAt])
		return ok && Instant(at) <= p.Received
	}},
}

// EnvelopeReasons are the reasons of the envelope checks, in order.
var EnvelopeReasons = func() []Reason {
	out := make([]Reason, len(checks))
	for i, c := range checks {
		out[i] = c.reason
	}
	return out
}()

// unreadable are the findings under which the others prove nothing: what was
// not stated cannot differ.
var unreadable = []Reason{EnvelopeMalformed, SchemaVersionUnsupported, EnvelopeFieldMissing}

// Readable reports whether a clean check among these findings is positive
// evidence.
func Readable(findings []Reason) bool {
	return !slices.ContainsFunc(findings, func(r Reason) bool { return slices.Contains(unreadable, r) })
}

// Check returns every check that fails, in order.
func (p *EnvelopePair) Check() []Reason {
	var failed []Reason
	for _, c := range checks {
		if c.fails(p) {
			failed = append(failed, c.reason)
		}
	}
	return failed
}

// SummaryShown reports whether the observation shows the summary's digest where
// the baseline or its completion has one.
func (p *EnvelopePair) SummaryShown() bool {
	return p.summaryBefore() == "" || p.Now.Fields[FieldSummarySHA256] != ""
}

// SummaryDiffers reports whether the completion's summary is not the one that the
// observation shows.
func (p *EnvelopePair) SummaryDiffers() bool {
	return differentSums(p.Summary, p.Now.Fields[FieldSummarySHA256])
}

func (p *EnvelopePair) summaryBefore() string {
	if s := p.Before.Fields[FieldSummarySHA256]; s != "" {
		return s
	}
	return p.Summary
}

func either(fails func(*Envelope) bool) func(*EnvelopePair) bool {
	return func(p *EnvelopePair) bool { return fails(p.Before) || fails(p.Now) }
}

func differs(f Field) func(*EnvelopePair) bool {
	return func(p *EnvelopePair) bool {
		before, stated := p.Before.Stated(f)
		now, shown := p.Now.Stated(f)
		return stated && shown && before != now
	}
}

func lost(before ListField, now ...ListField) func(*EnvelopePair) bool {
	return func(p *EnvelopePair) bool {
		for _, item := range p.Before.Lists[before] {
			if !slices.ContainsFunc(now, func(l ListField) bool { return slices.Contains(p.Now.Lists[l], item) }) {
				return true
			}
		}
		return false
	}
}

var requiredFields = []Field{FieldSchemaVersion, FieldTenantID, FieldPrincipalID, FieldPolicyVersion}

// Fields that may stand on one side only.
var oneSided = []Field{FieldSummarySHA256, FieldResetReason, FieldID, FieldSourceTraceID}

var oneSidedLists = []ListField{ListResolvedObligations, ListEvidenceRefs, ListPreservedClasses}

func fieldMissing(p *EnvelopePair) bool {
	for f := Field(0); f < fieldCount; f++ {
		_, before := p.Before.Stated(f)
		_, now := p.Now.Stated(f)
		if before != now && !slices.Contains(oneSided, f) {
			return true
		}
		if !before && slices.Contains(requiredFields, f) {
			return true
		}
	}
	for l := ListField(0); l < listFieldCount; l++ {
		if (p.Before.Lists[l] == nil) != (p.Now.Lists[l] == nil) && !slices.Contains(oneSidedLists, l) {
			return true
		}
	}
	return p.Before.HasBudget != p.Now.HasBudget || p.Before.HasReauthorization != p.Now.HasReauthorization
}

func delegationMissing(e *Envelope) bool {
	return e.Fields[FieldAuthorizationMode] == userDelegated &&
		(e.Fields[FieldDelegatedPrincipalID] == "" || e.Fields[FieldDelegatedScope] == "")
}

func summaryMalformed(p *EnvelopePair) bool {
	for _, text := range []string{p.Before.Fields[FieldSummarySHA256], p.Now.Fields[FieldSummarySHA256], p.Summary} {
		if text != "" && !isSummaryDigest(text) {
			return true
		}
	}
	return false
}

func summaryMismatch(p *EnvelopePair) bool {
	return differentSums(p.summaryBefore(), p.Now.Fields[FieldSummarySHA256])
}

func differentSums(before, now string) bool {
	if !isSummaryDigest(before) || !isSummaryDigest(now) {
		return false
	}
	b, _ := digest.ParseSum(before)
	n, _ := digest.ParseSum(now)
	return b != n
}

// isSummaryDigest accepts the digest of an empty summary too: that a summary is
// empty is a fact, not a fault of the sender.
func isSummaryDigest(text string) bool {
	d, ok := digest.ParseSum(text)
	return ok && d.Alg == digest.SHA256
}

// Judge makes a validation of the findings of an envelope and the state of the
// boundary's invariants.
func Judge(findings []Reason, invariants State) Validation {
	v := Validation{Findings: findings}
	switch {
	case len(findings) > 0 && IsEffect(findings[0]):
		v.Status, v.Reason = StatusBlocked, findings[0]
	case len(findings) > 0:
		v.Status, v.Reason = StatusValidationFailed, findings[0]
	case invariants == Conflicting:
		v.Status, v.Reason = StatusValidationFailed, DecisionConflicting
	case invariants == Dropped:
		v.Status, v.Reason = StatusValidationFailed, DecisionDropped
	case invariants == Unverified:
		v.Status, v.Reason = StatusValidationFailed, DecisionUnverified
	default:
		v.Status, v.Reason = StatusReauthorization, ContinuityValidated
	}
	return v
}
