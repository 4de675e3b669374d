package boundary

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// alertState is one kind of alert of one key.
type alertState struct {
	active bool
	since  time.Time
	// things were outstanding when it was last looked at.
	things []string
	// fired are the boundaries that fired it since it was last resolved, by when
	// they were opened.
	fired []uint64
	// others are fingerprints under which it was raised before sessions were
	// joined.
	others []string
	// onlyOthers is set while it was raised under those only.
	onlyOthers bool
}

// noAlerts are the alerts of who never had any. Nothing writes to them.
var noAlerts [alertKinds]alertState

// alerting returns all alerts of a key, to look at.
func (k *keyState) alerting() *[alertKinds]alertState {
	if k.alerts == nil {
		return &noAlerts
	}
	return k.alerts
}

// alarmed reports whether one of them is active.
func (k *keyState) alarmed() bool {
	return k.alerts != nil && slices.ContainsFunc(k.alerts[:], func(a alertState) bool { return a.active })
}

// outstanding lists the things that an alert of a kind speaks of. Their text
// only tells them apart.
func (k *keyState) outstanding(kind AlertKind) []string {
	var out []string
	switch kind {
	case AlertPostObservationMissing:
		for _, s := range k.snaps {
			if s.unanswered() {
				out = append(out, strconv.FormatUint(s.content.number, 10))
			}
		}
		if k.overdueLook != nil {
			out = append(out, "look")
		}
		if k.lostOverdue {
			out = append(out, "lost")
		}
	case AlertDecisionConflicting, AlertDecisionDropped:
		want := classify.Conflicting
		if kind == AlertDecisionDropped {
			want = classify.Dropped
		}
		for _, d := range k.defects {
			if d.state == want {
				out = append(out, d.name)
			}
		}
		if kind == AlertDecisionConflicting {
			for _, d := range k.envelopes {
				for _, r := range d.reasons {
					out = append(out, "envelope "+string(r))
				}
			}
			if k.refused != nil {
				out = append(out, "runtime "+string(k.refused.reason))
			}
		}
	case AlertReconciliationRequired:
		if k.effect != nil {
			out = append(out, string(k.effect.reason))
		}
	default:
		if x := k.soft[kind]; x != nil {
			out = append(out, x.id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// edges compares what is outstanding with what was, and returns what changed:
// an alert fires when a boundary adds a thing (once a boundary and kind, until
// resolved), and resolves when none is left.
func (k *keyState) edges(now time.Time, x *bound) []Alert {
	var out []Alert
	for _, kind := range AlertKinds {
		things := k.outstanding(kind)
		if k.alerts == nil && len(things) == 0 {
			continue
		}
		if k.alerts == nil {
			k.alerts = new([alertKinds]alertState)
		}
		a := &k.alerts[kind]
		added := slices.ContainsFunc(things, func(t string) bool { return !slices.Contains(a.things, t) })
		a.things = things
		if !k.core.cfg.Alerts[kind] {
			continue
		}
		switch {
		case len(things) == 0 && a.active:
			out = append(out, k.ending(kind, Resolved)...)
			*a = alertState{}
		case added && !slices.Contains(a.fired, x.opened):
			if !a.active {
				a.active, a.since = true, now
			}
			a.onlyOthers = false
			a.fired = append(a.fired, x.opened)
			if len(a.fired) > maxRemembered {
				a.fired = slices.Delete(a.fired, 0, 1)
			}
			out = append(out, k.alert(kind, Firing, a.since))
		}
	}
	return out
}

// closeAlerts ends what is active when the session's state expires.
func (k *keyState) closeAlerts() []Alert {
	var out []Alert
	for _, kind := range AlertKinds {
		if a := &k.alerting()[kind]; a.active {
			out = append(out, k.ending(kind, Closed)...)
			*a = alertState{things: a.things}
		}
	}
	return out
}

// ending ends an alert under all its fingerprints.
func (k *keyState) ending(kind AlertKind, status AlertStatus) []Alert {
	a := &k.alerts[kind]
	alert := k.alert(kind, status, a.since)
	fingerprints := a.others
	if !a.onlyOthers {
		fingerprints = append([]string{alert.Fingerprint}, fingerprints...)
	}
	out := make([]Alert, len(fingerprints))
	for i, fingerprint := range fingerprints {
		out[i] = alert
		out[i].Fingerprint = fingerprint
	}
	return out
}

func (k *keyState) alert(kind AlertKind, status AlertStatus, since time.Time) Alert {
	return Alert{Kind: kind, Status: status, Since: since, Invariants: k.invariantsOf(kind), Fingerprint: k.fingerprint(kind)}
}

// invariantsOf names what an alert is about.
func (k *keyState) invariantsOf(kind AlertKind) []string {
	var out []string
	switch kind {
	case AlertPostObservationMissing:
		for _, s := range k.snaps {
			for i, d := range s.decisions {
				if s.debts[i].unanswered() {
					out = append(out, d.name)
				}
			}
		}
	case AlertDecisionConflicting, AlertDecisionDropped:
		for _, d := range k.defects {
			if (kind == AlertDecisionDropped) == (d.state == classify.Dropped) {
				out = append(out, d.name)
			}
		}
	default: // the others speak of no invariant
	}
	return sortNames(out)
}

// fingerprint is stable for session, agent and kind, and survives links. Nobody can
// choose a session id that has another's: its `resolved` would end the other's alert.
func (k *keyState) fingerprint(kind AlertKind) string {
	h := sha256.New()
	for _, part := range []string{k.origin.Scope, k.origin.Session, k.agent, kind.String()} {
		h.Write([]byte(frame(part)))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
