package boundary_test

import (
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// What has no name, as the model reads it: flaws of snapshots and looks, and the
// envelope (section 7).

type mEnvDefect struct {
	original *classify.Envelope
	summary  string
	reasons  []classify.Reason
	at       classify.Instant
}

type mEffect struct {
	reason      classify.Reason
	at          classify.Instant
	key, action string
}

type mRefusal struct {
	reason classify.Reason
	at     classify.Instant
	seq    int
}

func isEffect(r classify.Reason) bool {
	return r == classify.UnknownSideEffect || r == classify.PartialSideEffect
}

// wholeFindings are those without a name.
func (m *model) wholeFindings(k *mAgent, b *mBound, named []classify.Finding) []classify.Finding {
	var found []classify.Finding
	add := func(s classify.State, r classify.Reason, wants bool) {
		if i := slices.IndexFunc(found, func(f classify.Finding) bool { return f.Reason == r && f.State == s }); i >= 0 {
			found[i].Wants = found[i].Wants || wants
			return
		}
		found = append(found, classify.Finding{State: s, Reason: r, Wants: wants, Effect: isEffect(r) && s == classify.Unverified})
	}
	shown := m.envelope(k, b, add)
	place := func(f classify.Finding) int {
		if i := slices.Index(checkOrder, f.Reason); i >= 0 {
			return i
		}
		return len(checkOrder)
	}
	slices.SortStableFunc(found, func(x, y classify.Finding) int { return place(x) - place(y) })
	baselines, compared := k.baselines(b), k.compared(b)
	for _, sn := range compared {
		whole := sn.debts[""]
		if whole.status == answered && whole.by != b {
			continue
		}
		said := slices.ContainsFunc(named, func(f classify.Finding) bool { return f.Reason == classify.EvidenceMissing })
		if slices.Contains(baselines, sn) { // a hollow one beside another says nothing
			if sn.failed && !said {
				add(classify.Unverified, classify.EvidenceMissing, false)
			}
			if sn.ev.Dropped {
				add(classify.Unverified, classify.SnapshotTruncated, false)
			}
			if sn.ev.BadName {
				add(classify.Unverified, classify.NameInvalid, false)
			}
			if sn.ev.TooMany {
				add(classify.Unverified, classify.Capacity, false)
			}
		}
		switch {
		case whole.status != owed && whole.by != b:
		case sn.ev.Envelope != nil && !slices.Contains(shown, sn), !(len(sn.ev.Statements) == 0 && sn.ev.Envelope != nil) && !m.followed(k, b, sn):
			*whole = mDebt{overdue: whole.overdue}
		default:
			*whole = mDebt{status: answered, by: b, seq: m.seq}
		}
	}
	empty, badName := true, false
	for _, l := range b.looks {
		empty = empty && len(l.ev.Statements) == 0 && l.ev.Envelope == nil
		if len(l.ev.Statements) > 0 || l.ev.BadName {
			badName = l.ev.BadName
		}
	}
	switch {
	case badName:
		add(classify.Unverified, classify.NameInvalid, len(compared) > 0)
	case len(b.looks) > 0 && empty && len(compared) > 0 && len(named) == 0:
		add(classify.Unverified, classify.ObservationEmpty, true)
	}
	if len(named)+len(found) == 0 {
		add(classify.Unverified, classify.NoBaseline, false)
	}
	return found
}

// followed reports whether a look states anything that is evidence towards a
// snapshot.
func (m *model) followed(k *mAgent, b *mBound, sn *mSnap) bool {
	for _, l := range b.looks {
		for _, st := range l.ev.Statements {
			if st.Fault == "" && m.accepts(st.Name, st.Source) && fresh(st.ObservedAt, 0, sn.time(), sn.at, l) &&
				!early(min(st.ObservedAt, l.time()), k.until(b, sn, l)) {
				return true
			}
		}
	}
	return false
}

func (l *mLook) envelopeTime() classify.Instant {
	if l.ev.ObservedAt != 0 {
		return l.ev.ObservedAt
	}
	return l.ev.Time
}

// envelope adds the findings of the envelope, and lists the snapshots whose
// envelope was shown.
func (m *model) envelope(k *mAgent, b *mBound, add func(classify.State, classify.Reason, bool)) []*mSnap {
	b.envReasons, b.validated = nil, false
	var owing []*mSnap
	for _, sn := range k.compared(b) {
		if sn.ev.Envelope != nil && (sn.debts[""].status == owed || sn.debts[""].by == b) {
			owing = append(owing, sn)
		}
	}
	var best *mLook
	why := classify.EnvelopeNotObserved
	for _, l := range b.looks {
		if l.ev.Envelope == nil {
			continue
		}
		if r := k.weakEnvelope(b, owing, l); r != "" {
			why = r
		} else if best == nil || best.envelopeTime() <= l.envelopeTime() {
			best = l
		}
	}
	report := func(rs []classify.Reason) {
		for _, r := range rs {
			if !slices.Contains(b.envReasons, r) {
				b.envReasons = append(b.envReasons, r)
			}
			if isEffect(r) {
				add(classify.Unverified, r, false)
			} else {
				add(classify.Conflicting, r, false)
			}
		}
		slices.SortFunc(b.envReasons, func(x, y classify.Reason) int {
			return slices.Index(checkOrder, x) - slices.Index(checkOrder, y)
		})
	}
	if b.vf != nil && (best == nil || best.time() <= b.refusedAt()) {
		m.refused(k, b)
		b.validated = true
		report([]classify.Reason{refusalReason(b)})
		return nil
	}
	if best == nil {
		if len(owing) > 0 && len(b.looks) > 0 {
			b.validated = true
			add(classify.Unverified, why, true)
		}
		return nil
	}
	b.validated = true
	now := best.ev.Envelope
	clean := 0
	var failing [][]classify.Reason
	for _, sn := range owing {
		found := checkEnvelope(sn.ev.Envelope, now, b.summary, best.at)
		failing = append(failing, found)
		if len(found) == 0 {
			clean++
		}
	}
	switch {
	case len(owing) == 0: // nothing to compare with, but some things are facts
		var facts []classify.Reason
		if r := now.Effect(); r != "" {
			facts = append(facts, r)
		}
		if x, ok := sum(b.summary); ok && now.Fields[classify.FieldSummarySHA256] != "" {
			if y, ok := sum(now.Fields[classify.FieldSummarySHA256]); ok && x != y {
				facts = append(facts, classify.SummaryDigestMismatch)
			}
		}
		k.raiseEnvelope(b, now, facts, best)
		b.raised[""] = max(b.raised[""], best.envelopeTime())
		report(facts)
		if len(k.envs) == 0 {
			add(classify.Unverified, classify.NoBaseline, false)
		}
	case clean == len(owing):
		add(classify.Preserved, classify.Match, false)
	case clean > 0:
		add(classify.Unverified, classify.Ambiguous, false)
	default:
		for i, sn := range owing {
			k.raiseEnvelope(b, sn.ev.Envelope, failing[i], best)
		}
		b.raised[""] = max(b.raised[""], best.envelopeTime())
		report(slices.Concat(failing...))
	}
	report(k.clearEnvelope(best, len(owing) > 0 && clean == len(owing)))
	return owing
}

func (k *mAgent) weakEnvelope(b *mBound, owing []*mSnap, l *mLook) classify.Reason {
	t := l.envelopeTime()
	if !dated(t, l) {
		return classify.NotFresh
	}
	for _, sn := range owing {
		recorded := sn.ev.Envelope.Fields[classify.FieldSummarySHA256] + b.summary
		switch {
		case !fresh(t, sn.ev.ObservedAt, sn.ev.Time, sn.at, l):
			return classify.NotFresh
		case early(t, k.until(b, sn, l)):
			return classify.ObservedTooEarly
		case recorded != "" && l.ev.Envelope.Fields[classify.FieldSummarySHA256] == "":
			return classify.EnvelopeNotObserved
		}
	}
	return ""
}

// raiseEnvelope makes failed checks outstanding, once for each look.
func (k *mAgent) raiseEnvelope(b *mBound, original *classify.Envelope, failing []classify.Reason, l *mLook) {
	t := l.envelopeTime()
	if !t.After(b.raised[""]) {
		return
	}
	var d *mEnvDefect
	for _, x := range k.envs {
		if x.original.Equal(original) {
			d = x
		}
	}
	for _, r := range failing {
		switch {
		case isEffect(r):
			f := l.ev.Envelope.Fields
			k.effect = &mEffect{r, t, f[classify.FieldIdempotencyKey], f[classify.FieldActionDigest]}
			continue
		case d == nil:
			d = &mEnvDefect{original: original, summary: b.summary}
			k.envs = append(k.envs, d)
		}
		d.at = max(d.at, t)
		if !slices.Contains(d.reasons, r) {
			d.reasons = append(d.reasons, r)
		}
	}
}

// clearEnvelope takes off what an envelope shows to be well again, and lists what
// of the outstanding it fails still.
func (k *mAgent) clearEnvelope(l *mLook, clean bool) (still []classify.Reason) {
	t, now := l.envelopeTime(), l.ev.Envelope
	if e := k.effect; e != nil && now.EffectResolved() && t.After(e.at) &&
		(e.key == "" || e.key == now.Fields[classify.FieldIdempotencyKey]) && (e.action == "" || e.action == now.Fields[classify.FieldActionDigest]) {
		k.effect = nil
	}
	if k.refused != nil && clean && l.time() > k.refused.at {
		k.refused = nil
	}
	var kept []*mEnvDefect
	for _, d := range k.envs {
		found := checkEnvelope(d.original, now, d.summary, l.at)
		unreadable, unshown := false, false
		for _, r := range found {
			unreadable = unreadable || r == classify.EnvelopeMalformed || r == classify.SchemaVersionUnsupported || r == classify.EnvelopeFieldMissing
		}
		if d.original.Fields[classify.FieldSummarySHA256]+d.summary != "" {
			unshown = now.Fields[classify.FieldSummarySHA256] == ""
		}
		var again []classify.Reason
		for _, r := range d.reasons {
			if slices.Contains(found, r) {
				still, again = append(still, r), append(again, r)
			} else if r == classify.SummaryDigestMismatch && unshown {
				again = append(again, r)
			}
		}
		if t.After(d.at) && !unreadable {
			d.reasons = again
		}
		if len(d.reasons) > 0 {
			kept = append(kept, d)
		}
	}
	k.envs = kept
	return still
}

// ---- the runtime's own verdict ----

func (b *mBound) refusedAt() classify.Instant { return b.vf.Time.Or(classify.At(b.vfAt)) }

func refusalReason(b *mBound) classify.Reason {
	r := b.vf.Verdict.Reason
	switch {
	case b.vf.Verdict.Status == classify.StatusBlocked && !isEffect(r):
		return classify.UnknownSideEffect
	case r == "":
		return classify.ValidationFailed
	}
	return r
}

// refused makes the runtime's refusal outstanding, once.
func (m *model) refused(k *mAgent, b *mBound) {
	r := refusalReason(b)
	switch {
	case b.vfKept:
	case isEffect(r):
		k.effect = &mEffect{reason: r, at: b.refusedAt()}
	default:
		k.refused = &mRefusal{r, b.refusedAt(), b.vfSeq}
	}
	b.vfKept = true
}

// validation is what a receipt says of the envelope.
func (b *mBound) validation() classify.Validation {
	if !b.validated {
		return classify.Validation{}
	}
	if len(b.envReasons) > 0 {
		v := classify.Validation{Status: classify.StatusValidationFailed, Reason: b.envReasons[0], Findings: b.envReasons}
		if isEffect(v.Reason) {
			v.Status = classify.StatusBlocked
		}
		if b.vf != nil && len(b.envReasons) == 1 && v.Reason == refusalReason(b) && b.vf.Verdict.Status != "" {
			v.Status = b.vf.Verdict.Status
		}
		return v
	}
	state, _ := classify.Rollup(b.findings)
	reason := map[classify.State]classify.Reason{
		classify.Conflicting: classify.DecisionConflicting, classify.Dropped: classify.DecisionDropped, classify.Unverified: classify.DecisionUnverified,
	}[state]
	if reason == "" {
		return classify.Validation{Status: classify.StatusReauthorization, Reason: classify.ContinuityValidated}
	}
	return classify.Validation{Status: classify.StatusValidationFailed, Reason: reason}
}

// ---- the checks ----

// checkOrder is the order of section 7: the first that fails is the reason.
var checkOrder = []classify.Reason{
	classify.EnvelopeMalformed, classify.SchemaVersionUnsupported, classify.EnvelopeFieldMissing, classify.DelegationMissing,
	classify.TimestampInvalid, classify.SummaryDigestMalformed, classify.ReauthorizationNotRequired, classify.SummaryDigestMismatch,
	classify.UnknownSideEffect, classify.PartialSideEffect, classify.TenantMismatch, classify.PrincipalMismatch,
	classify.AuthorizationModeChanged, classify.DelegatedPrincipalChanged, classify.DelegatedScopeChanged, classify.PolicyVersionChanged,
	classify.CapabilityChanged, classify.CapabilityVersionChanged, classify.ApprovalBindingChanged, classify.ActionDigestChanged,
	classify.IdempotencyKeyChanged, classify.SideEffectStatusChanged, classify.CheckpointChanged, classify.SandboxChanged,
	classify.SourceRangeChanged, classify.ObligationLost, classify.ConstraintRefLost, classify.BudgetIncreased,
	classify.EnvelopeApprovalRevoked, classify.ApprovalNotActive, classify.EnvelopeApprovalExpired,
}

func sum(text string) (digest.Digest, bool) {
	d, fault := digest.Parse(text)
	return d, fault != digest.Malformed && d.Alg == digest.SHA256
}

var effectNames = map[string]string{
	"not_executed": "not_executed", "applied": "applied", "side_effect_unknown": "side_effect_unknown",
	"partial_side_effect": "partial_side_effect", "not_started": "not_executed", "side_effect_committed": "applied",
}

func effect(e *classify.Envelope) string {
	return effectNames[e.Fields[classify.FieldSideEffectStatus]]
}

func resolvedEffect(e *classify.Envelope) bool {
	return effect(e) == "applied" || effect(e) == "not_executed"
}

// checkEnvelope is the list of section 7, in order.
func checkEnvelope(recorded, after *classify.Envelope, completion string, now time.Time) []classify.Reason {
	before := *recorded
	if before.Fields[classify.FieldSummarySHA256] == "" { // it may come with the completion
		before.Fields[classify.FieldSummarySHA256] = completion
	}
	var found []classify.Reason
	check := func(bad bool, r classify.Reason) {
		if bad && !slices.Contains(found, r) {
			found = append(found, r)
		}
	}
	both := []*classify.Envelope{&before, after}
	either := func(f func(e *classify.Envelope) bool) bool { return f(&before) || f(after) }
	check(before.Malformed || after.Malformed, classify.EnvelopeMalformed)
	check(either(func(e *classify.Envelope) bool {
		v := e.Fields[classify.FieldSchemaVersion]
		return v != "" && v != classify.EnvelopeSchemaVersionV1
	}), classify.SchemaVersionUnsupported)
	missing := false
	for _, e := range both {
		for _, f := range []classify.Field{classify.FieldSchemaVersion, classify.FieldTenantID, classify.FieldPrincipalID, classify.FieldPolicyVersion} {
			missing = missing || e.Fields[f] == ""
		}
	}
	for f := range before.Fields {
		switch classify.Field(f) {
		case classify.FieldSummarySHA256, classify.FieldResetReason, classify.FieldID, classify.FieldSourceTraceID:
		default:
			missing = missing || (before.Fields[f] == "") != (after.Fields[f] == "")
		}
	}
	for _, l := range []classify.ListField{classify.ListPendingObligations, classify.ListExactConstraintRefs} {
		missing = missing || (before.Lists[l] == nil) != (after.Lists[l] == nil)
	}
	missing = missing || before.HasBudget != after.HasBudget || before.HasReauthorization != after.HasReauthorization
	check(missing, classify.EnvelopeFieldMissing)
	check(either(func(e *classify.Envelope) bool {
		return e.Fields[classify.FieldAuthorizationMode] == "user_delegated" &&
			(e.Fields[classify.FieldDelegatedPrincipalID] == "" || e.Fields[classify.FieldDelegatedScope] == "")
	}), classify.DelegationMissing)
	expires := func(e *classify.Envelope) (time.Time, bool) {
		t, err := time.Parse(time.RFC3339Nano, e.Fields[classify.FieldApprovalExpiresAt])
		return t, err == nil
	}
	check(either(func(e *classify.Envelope) bool {
		_, ok := expires(e)
		return !ok && e.Fields[classify.FieldApprovalExpiresAt] != ""
	}), classify.TimestampInvalid)
	check(either(func(e *classify.Envelope) bool {
		_, ok := sum(e.Fields[classify.FieldSummarySHA256])
		return !ok && e.Fields[classify.FieldSummarySHA256] != ""
	}), classify.SummaryDigestMalformed)
	check(either(func(e *classify.Envelope) bool { return e.HasReauthorization && !e.Reauthorization }), classify.ReauthorizationNotRequired)
	x, okx := sum(before.Fields[classify.FieldSummarySHA256])
	y, oky := sum(after.Fields[classify.FieldSummarySHA256])
	check(okx && oky && x != y, classify.SummaryDigestMismatch)
	check(effect(after) == "side_effect_unknown", classify.UnknownSideEffect)
	check(effect(after) == "partial_side_effect", classify.PartialSideEffect)
	differs := func(fs ...classify.Field) bool {
		return slices.ContainsFunc(fs, func(f classify.Field) bool {
			return before.Fields[f] != "" && after.Fields[f] != "" && before.Fields[f] != after.Fields[f]
		})
	}
	check(differs(classify.FieldTenantID), classify.TenantMismatch)
	check(differs(classify.FieldPrincipalID), classify.PrincipalMismatch)
	check(differs(classify.FieldAuthorizationMode), classify.AuthorizationModeChanged)
	check(differs(classify.FieldDelegatedPrincipalID), classify.DelegatedPrincipalChanged)
	check(differs(classify.FieldDelegatedScope), classify.DelegatedScopeChanged)
	check(differs(classify.FieldPolicyVersion), classify.PolicyVersionChanged)
	check(differs(classify.FieldCapabilityName), classify.CapabilityChanged)
	check(differs(classify.FieldCapabilityVersion), classify.CapabilityVersionChanged)
	check(differs(classify.FieldApprovalID), classify.ApprovalBindingChanged)
	check(differs(classify.FieldActionDigest), classify.ActionDigestChanged)
	check(differs(classify.FieldIdempotencyKey), classify.IdempotencyKeyChanged)
	check(resolvedEffect(&before) && resolvedEffect(after) && effect(&before) != effect(after), classify.SideEffectStatusChanged)
	check(differs(classify.FieldCheckpointRef), classify.CheckpointChanged)
	check(differs(classify.FieldSandboxSnapshotRef), classify.SandboxChanged)
	check(differs(classify.FieldSourceEventFirst, classify.FieldSourceEventLast), classify.SourceRangeChanged)
	lost := func(l classify.ListField, also []string) bool {
		return slices.ContainsFunc(before.Lists[l], func(x string) bool {
			return !slices.Contains(after.Lists[l], x) && !slices.Contains(also, x)
		})
	}
	check(lost(classify.ListPendingObligations, after.Lists[classify.ListResolvedObligations]), classify.ObligationLost)
	check(lost(classify.ListExactConstraintRefs, nil), classify.ConstraintRefLost)
	check(before.HasBudget && after.HasBudget && after.Budget > before.Budget, classify.BudgetIncreased)
	status := after.Fields[classify.FieldApprovalStatus]
	check(status == "revoked", classify.EnvelopeApprovalRevoked)
	check(status == "pending" || status == "rejected" || status == "expired", classify.ApprovalNotActive)
	t, ok := expires(after)
	check(ok && !now.Before(t), classify.EnvelopeApprovalExpired)
	return found
}
