package boundary_test

import (
	"fmt"
	"slices"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// What the model says of a boundary: section 6, and receipts.

// outstandingOf lists the things that an alert of a kind speaks of.
func (k *mAgent) outstandingOf(kind boundary.AlertKind) []string {
	var items []string
	switch kind {
	case boundary.AlertPostObservationMissing:
		for _, sn := range k.snaps {
			if sn.missing() {
				items = append(items, fmt.Sprint(sn.like.seq))
			}
		}
		if k.overlook != nil {
			items = append(items, "a look")
		}
	case boundary.AlertDecisionConflicting, boundary.AlertDecisionDropped:
		for name, d := range k.defects {
			if (d.state == classify.Conflicting) == (kind == boundary.AlertDecisionConflicting) {
				items = append(items, name)
			}
		}
		if kind == boundary.AlertDecisionConflicting {
			for _, d := range k.envs {
				for _, r := range d.reasons {
					items = append(items, "the envelope: "+string(r))
				}
			}
			if k.refused != nil {
				items = append(items, "the runtime: "+string(k.refused.reason))
			}
		}
	case boundary.AlertReconciliationRequired:
		if k.effect != nil {
			items = append(items, string(k.effect.reason))
		}
	}
	return items
}

// sessionState is the worst of what is outstanding and of the last boundary.
func (m *model) sessionState(k *mAgent) classify.State {
	worst := classify.NoState
	if k.last != nil {
		for _, f := range k.last.findings {
			if !f.Optional {
				worst = classify.Worse(worst, f.Now())
			}
		}
		if k.last.override != "" || worst == classify.NoState {
			worst = classify.Worse(worst, classify.Unverified)
		}
	}
	for kind, state := range map[boundary.AlertKind]classify.State{
		boundary.AlertPostObservationMissing: classify.Unverified, boundary.AlertReconciliationRequired: classify.Unverified,
		boundary.AlertDecisionDropped: classify.Dropped, boundary.AlertDecisionConflicting: classify.Conflicting,
	} {
		if len(k.outstandingOf(kind)) > 0 {
			worst = classify.Worse(worst, state)
		}
	}
	return worst
}

// pending are the findings of a boundary that nobody observed: what it owes.
func (m *model) pending(k *mAgent, b *mBound) []classify.Finding {
	var fs []classify.Finding
	add := func(f classify.Finding) {
		if b.snaps > 0 && !slices.ContainsFunc(fs, func(o classify.Finding) bool { return o.Name == f.Name }) {
			f.State = classify.Unverified
			fs = append(fs, f)
		}
	}
	for _, sn := range slices.Backward(k.compared(b)) {
		for _, st := range sn.ev.Statements {
			if d := sn.debts[st.Name]; d != nil && d.status == owed {
				add(classify.Finding{Name: st.Name, Reason: b.override, Optional: d.optional})
			}
		}
	}
	for _, name := range m.cfg.RequiredInvariants {
		add(classify.Finding{Name: name, Reason: classify.NoBaseline})
	}
	classify.Sort(fs)
	return fs
}

// emitIfStateChanged reports a boundary where the session's state is not what it
// was before, or alerts change.
func (m *model) emitIfStateChanged(k *mAgent, b *mBound, before classify.State) {
	changed := b.reported && m.sessionState(k) != before
	for kind := range k.active {
		changed = changed || k.active[kind] && len(k.outstandingOf(kind)) == 0
	}
	if changed {
		m.emit(k, b)
	}
	for _, kind := range boundary.AlertKinds { // what is gone can come again
		k.items[kind] = k.outstandingOf(kind)
	}
}

// emit reports a boundary if it has something new to say.
func (m *model) emit(k *mAgent, b *mBound) {
	o := out{
		at: m.now.Sub(epoch), key: boundary.Key{SessionKey: k.s.key, Agent: k.name}, id: b.key, findings: map[string]string{},
		late: b.late, superseded: max(b.snaps, b.comps, 1) - 1, outcome: b.outcome, runtime: b.runtime,
	}
	for _, kind := range boundary.AlertKinds {
		items := k.outstandingOf(kind)
		added := slices.ContainsFunc(items, func(i string) bool { return !slices.Contains(k.items[kind], i) })
		k.items[kind] = items
		switch {
		case !m.cfg.Alerts[kind]:
		case len(items) == 0 && k.active[kind]:
			k.active[kind] = false
			for _, x := range k.bounds {
				delete(x.fired, kind)
			}
			o.alerts = append(o.alerts, kind.String()+":resolved")
		case added && !b.fired[kind]: // once a boundary and kind
			b.fired[kind], k.active[kind] = true, true
			o.alerts = append(o.alerts, kind.String()+":firing")
		}
	}
	slices.Sort(o.alerts)
	if b.override != "" && !b.observed() {
		b.findings = m.pending(k, b)
	}
	o.verdict, o.reason = classify.Rollup(b.findings)
	switch {
	case b.override != "":
		o.verdict, o.reason = classify.Worse(o.verdict, classify.Unverified), b.override
	case o.verdict == classify.NoState: // nothing is required
		o.verdict, o.reason = classify.Unverified, classify.NoBaseline
	}
	if o.state = m.sessionState(k); o.state == classify.NoState {
		o.state = o.verdict
	}
	for _, f := range b.findings {
		addFinding(o.findings, f)
	}
	for name := range b.since {
		o.since = append(o.since, name)
	}
	slices.SortFunc(o.since, classify.CompareNames)
	o.validation = b.validation()
	o.actions = k.actions(b)
	known := b.snaps > 0 || slices.ContainsFunc(k.snaps, func(sn *mSnap) bool { return sn.heldBy(b) })
	switch {
	case known && b.observed():
		o.coverage = boundary.CoverageObserved
	case known:
		o.coverage = boundary.CoverageBaseline
	}
	signature := fmt.Sprint(o.verdict, o.reason, o.findings, o.state, o.since, o.validation)
	if b.reported && signature == b.last && len(o.alerts) == 0 {
		return
	}
	b.last, b.reported = signature, true
	b.rev++
	o.rev = b.rev
	m.outs = append(m.outs, o)
}

func (k *mAgent) actions(b *mBound) []string {
	var set classify.ActionSet
	required := func(f classify.Finding) bool { return !f.Optional }
	if b.override != "" || !slices.ContainsFunc(b.findings, required) {
		set = set.With(classify.Reobserve)
	}
	for _, f := range b.findings {
		switch {
		case f.Optional:
		case f.Effect:
			set = set.With(classify.Reconcile)
		default:
			set = set.With(classify.ActionFor(f.Now()))
		}
	}
	for kind, action := range map[boundary.AlertKind]classify.Action{
		boundary.AlertPostObservationMissing: classify.Reobserve, boundary.AlertReconciliationRequired: classify.Reconcile,
		boundary.AlertDecisionDropped: classify.PauseAndRestore, boundary.AlertDecisionConflicting: classify.HoldAndAsk,
	} {
		if len(k.outstandingOf(kind)) > 0 {
			set = set.With(action)
		}
	}
	var names []string
	for _, x := range set.List() {
		names = append(names, x.String())
	}
	return names
}
