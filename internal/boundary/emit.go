package boundary

import (
	"reflect"
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// sessionState is the worst of what is outstanding and of the findings of the
// boundary that was decided last, cleared ones counted as what cleared them.
func (k *keyState) sessionState() classify.State {
	state := classify.NoState
	if k.last != nil {
		state = k.last.standing()
	}
	for _, d := range k.defects {
		state = classify.Worse(state, d.state)
	}
	if len(k.envelopes) > 0 || k.refused != nil {
		state = classify.Worse(state, classify.Conflicting)
	}
	if k.effect != nil || len(k.outstanding(AlertPostObservationMissing)) > 0 {
		state = classify.Worse(state, classify.Unverified)
	}
	return state
}

// standing is a boundary's own state with what cleared it taken into account.
func (x *bound) standing() classify.State {
	state := classify.NoState
	for _, f := range x.findings {
		if !f.Optional {
			state = classify.Worse(state, f.Now())
		}
	}
	if x.override != "" || state == classify.NoState {
		state = classify.Worse(state, classify.Unverified)
	}
	return state
}

// pending are the findings of a boundary that time or its end decided: what it
// owes, each for the boundary's reason. Findings of looks stay.
func (k *keyState) pending(x *bound) []classify.Finding {
	if x.observed() {
		return x.findings
	}
	var out []classify.Finding
	seen := map[string]bool{}
	add := func(f classify.Finding) {
		if !seen[f.Name] {
			seen[f.Name] = true
			out = append(out, f)
		}
	}
	for _, s := range slices.Backward(k.snaps) {
		for i, d := range s.decisions {
			if x.snapshots > 0 && x.inPlay(s) && s.debts[i].status == owed {
				add(classify.Finding{
					Name: d.name, State: classify.Unverified, Reason: x.override,
					Optional: d.optional,
					Revision: d.revision, ApprovalRef: d.approvalRef,
				})
			}
		}
	}
	for _, name := range k.core.cfg.RequiredInvariants {
		if x.snapshots > 0 {
			add(classify.Finding{Name: name, State: classify.Unverified, Reason: classify.NoBaseline})
		}
	}
	classify.Sort(out)
	return out
}

// judge makes the verdict of a boundary as it stands.
func (k *keyState) judge(x *bound) *Verdict {
	if x.override != "" {
		x.findings = k.pending(x)
	}
	state, reason := classify.Rollup(x.findings)
	switch {
	case x.override != "":
		state, reason = classify.Worse(state, classify.Unverified), x.override
	case state == classify.NoState: // nothing required was stated before
		state, reason = classify.Unverified, classify.NoBaseline
	}
	v := &Verdict{
		BoundaryID: x.id, Revision: x.revision, State: k.sessionState(), Boundary: state, Reason: reason,
		Findings: slices.Clone(x.findings), ChangedSince: slices.Clone(x.changedSince), Late: x.late,
		ApprovalUsed: x.approved, ApprovalSigned: x.signed, Coverage: k.coverage(x),
	}
	if v.State == classify.NoState {
		v.State = state
	}
	if x.validated {
		v.Validation = k.validation(x)
	}
	v.Actions = k.actions(x)
	return v
}

// validation judges the envelope beside the invariants.
func (k *keyState) validation(x *bound) classify.Validation {
	invariants := classify.NoState
	for _, f := range x.findings {
		if !f.Optional && !slices.Contains(x.envelopeReasons, f.Reason) {
			invariants = classify.Worse(invariants, f.State)
		}
	}
	v := classify.Judge(slices.Clone(x.envelopeReasons), invariants)
	if x.refusal != nil && slices.Equal(x.envelopeReasons, []classify.Reason{x.refused()}) && x.refusal.Status != "" {
		v.Status = x.refusal.Status
	}
	return v
}

// refused is the reason that the runtime's refusal stands for.
func (x *bound) refused() classify.Reason {
	switch {
	case x.refusal.Status == classify.StatusBlocked && !classify.IsEffect(x.refusal.Reason):
		return classify.UnknownSideEffect
	case x.refusal.Reason == "":
		return classify.ValidationFailed
	}
	return x.refusal.Reason
}

func (k *keyState) coverage(x *bound) Coverage {
	known := x.snapshots > 0 || slices.ContainsFunc(k.snaps, func(s *snap) bool { return s.heldBy(x) })
	switch {
	case known && x.observed():
		return CoverageObserved
	case known:
		return CoverageBaseline
	}
	return CoverageBoundary
}

// actions lists what the findings and what is outstanding call for.
func (k *keyState) actions(x *bound) []classify.Action {
	var set classify.ActionSet
	decided := false // by something that is required
	for _, f := range x.findings {
		if !f.Optional {
			set, decided = set.With(f.Action()), true
		}
	}
	if x.override != "" || !decided {
		set = set.With(classify.Reobserve)
	}
	for _, d := range k.defects {
		set = set.With(classify.ActionFor(d.state))
	}
	if len(k.envelopes) > 0 || k.refused != nil {
		set = set.With(classify.HoldAndAsk)
	}
	if k.effect != nil {
		set = set.With(classify.Reconcile)
	}
	if len(k.outstanding(AlertPostObservationMissing)) > 0 {
		set = set.With(classify.Reobserve)
	}
	return set.List()
}

// emit issues a receipt where findings, session state or alerts changed.
func (k *keyState) emit(now time.Time, x *bound, res *Result) {
	k.issue(now, x, k.edges(now, x), res)
}

// clearedLater issues a revision only where the session's state changed by what
// was just done, or alerts did.
func (k *keyState) clearedLater(now time.Time, x *bound, before classify.State, res *Result) {
	alerts := k.edges(now, x)
	if len(alerts) > 0 || x.verdict != nil && k.sessionState() != before {
		k.issue(now, x, alerts, res)
	}
}

func (k *keyState) issue(now time.Time, x *bound, alerts []Alert, res *Result) {
	v := k.judge(x)
	if x.verdict != nil && len(alerts) == 0 && x.verdict.same(v) {
		return
	}
	x.revision++
	v.Revision = x.revision
	x.verdict = v
	res.Receipts = append(res.Receipts, k.receipt(now, x, v, alerts))
}

// same reports whether a verdict says nothing new.
func (v *Verdict) same(w *Verdict) bool {
	return v.State == w.State && v.Boundary == w.Boundary && v.Reason == w.Reason &&
		slices.EqualFunc(v.Findings, w.Findings, classify.Finding.SaysSame) && slices.Equal(v.ChangedSince, w.ChangedSince) &&
		reflect.DeepEqual(v.Validation, w.Validation)
}

func (k *keyState) receipt(now time.Time, x *bound, v *Verdict, alerts []Alert) Receipt {
	parent, links := x.contexts()
	after := time.Duration(-1)
	if !x.firstLook.IsZero() {
		after = max(x.firstLook.Sub(x.start), 0)
	}
	return Receipt{
		Verdict: v, Key: Key{k.key, k.agent}, Alerts: alerts, Start: x.start, End: now, Window: x.window,
		Superseded: x.superseded(), Outcome: x.outcome, TokensBefore: x.tokensBefore, TokensAfter: x.tokensAfter, Writes: x.writes, Runtime: x.runtime, Trigger: x.trigger, Activity: x.activity,
		Identity: x.identity, Resource: x.resource, Parent: parent, Links: links, Origin: x.origin, ObservedAfter: after,
	}
}
