package boundary

import (
	"slices"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// envelopeDefect are failed envelope checks, until an observed envelope equals
// the original again.
type envelopeDefect struct {
	original *classify.Envelope
	summary  string
	reasons  []classify.Reason
	// refused is the runtime's own verdict among them, "" for none.
	refused classify.Reason
}

func (d *envelopeDefect) empty() bool { return len(d.reasons) == 0 && d.refused == "" }

// effectDefect is an effect whose outcome nobody knows, until an envelope shows
// it.
type effectDefect struct {
	reason classify.Reason
	at     classify.Instant
}

// evaluateWhole returns the findings that have no name: of the envelope, of the
// snapshots and of the looks as a whole.
func (k *keyState) evaluateWhole(x *bound, named []classify.Finding) []classify.Finding {
	var out []classify.Finding
	add := func(s classify.State, r classify.Reason, wants bool) {
		f := classify.Finding{State: s, Reason: r, Wants: wants, Effect: classify.IsEffect(r) && s == classify.Unverified}
		if !slices.ContainsFunc(out, func(o classify.Finding) bool { return o.Reason == r && o.State == s }) {
			out = append(out, f)
		}
	}
	envelope := k.evaluateEnvelope(x, add)
	baseline := false
	for _, s := range k.snaps {
		if !x.inPlay(s) {
			continue
		}
		baseline = true
		if s.whole.status == answered && s.whole.by != x {
			continue
		}
		for _, r := range s.flaws() {
			if s.hollow() && k.solidAt(x) {
				break
			}
			if !slices.ContainsFunc(named, func(f classify.Finding) bool { return f.Reason == r && r == classify.EvidenceMissing }) {
				add(classify.Unverified, r, false)
			}
		}
		k.settleWhole(x, s, envelope[s])
	}
	if n := len(x.looks); n > 0 {
		empty := !slices.ContainsFunc(x.looks, func(l *look) bool { return len(l.statements) > 0 || l.envelope != nil })
		switch {
		case x.looks[n-1].badName:
			add(classify.Unverified, classify.NameInvalid, baseline)
		case empty && baseline && len(named) == 0:
			add(classify.Unverified, classify.ObservationEmpty, true)
		}
	}
	if len(named)+len(out) == 0 {
		add(classify.Unverified, classify.NoBaseline, false)
	}
	return out
}

// settleWhole settles the debt that has no name: once the envelope was shown,
// where there is one, and any look is evidence that followed the snapshot.
func (k *keyState) settleWhole(x *bound, s *snap, shown bool) {
	if s.whole.status != owed && s.whole.by != x {
		return
	}
	if (s.content.envelope == nil || shown) && (len(s.decisions) == 0 && s.content.envelope != nil || k.followed(x, s)) {
		s.whole.status, s.whole.by, s.whole.turn = answered, x, k.turn
	} else {
		s.whole.reopen()
	}
}

// followed reports whether a look of the boundary states anything that is
// evidence towards a snapshot.
func (k *keyState) followed(x *bound, s *snap) bool {
	taken := classify.Taken{Event: s.time(), Received: s.received}
	for _, l := range x.looks {
		b := classify.Before{Taken: taken, CompactedUntil: k.compactedUntil(x, s, l.received)}
		for i := range l.statements {
			st := &l.statements[i]
			after := l.stated(st, k.core.cfg.accepted(st.Name))
			if classify.Insufficient(&b, &after) == "" {
				return true
			}
		}
	}
	return false
}

// evaluateEnvelope adds the findings of the envelope, and says for which
// snapshots it was shown.
func (k *keyState) evaluateEnvelope(x *bound, add func(classify.State, classify.Reason, bool)) map[*snap]bool {
	shown := map[*snap]bool{}
	x.envelopeReasons, x.validated = nil, false
	var owing []*snap
	for _, s := range k.snaps {
		if x.inPlay(s) && s.content.envelope != nil && (s.whole.status == owed || s.whole.by == x) {
			owing = append(owing, s)
		}
	}
	best, weak := k.bestEnvelope(x, owing)
	if x.refusal != nil && (best == nil || best.time() <= x.refusedAt) {
		k.refuse(x, add)
		return shown
	}
	switch {
	case best != nil && len(owing) > 0:
		k.checkEnvelope(x, best, owing, shown, add)
	case len(owing) > 0 && len(x.looks) > 0:
		add(classify.Unverified, weak, true)
		x.envelopeReasons, x.validated = nil, true
	case best != nil:
		k.checkLoose(x, best, add)
	}
	if best != nil {
		k.clearEnvelope(x, best, add)
		k.envelopeSeen = max(k.envelopeSeen, best.envelopeTime())
	}
	return shown
}

// bestEnvelope finds the latest envelope that is evidence towards all that owe
// one; else the reason why there is none.
func (k *keyState) bestEnvelope(x *bound, owing []*snap) (best *look, weak classify.Reason) {
	weak = classify.EnvelopeNotObserved
	for _, l := range x.looks {
		if l.envelope == nil {
			continue
		}
		t := l.envelopeTime()
		reason := classify.Reason("")
		if !classify.Dated(t, l.event, l.received) {
			reason = classify.NotFresh
		}
		for _, s := range owing {
			taken := classify.Taken{ObservedAt: s.eventObservedAt, Event: s.event, Received: s.received}
			switch {
			case !taken.Fresh(t, l.event, l.received):
				reason = classify.NotFresh
			case classify.EarlierThan(t, k.compactedUntil(x, s, l.received)):
				reason = classify.ObservedTooEarly
			case !k.pair(x, s, l).SummaryShown():
				reason = classify.EnvelopeNotObserved
			}
		}
		switch {
		case reason != "":
			weak = reason
		case best == nil || best.envelopeTime() <= t:
			best = l
		}
	}
	return best, weak
}

func (k *keyState) pair(x *bound, s *snap, l *look) *classify.EnvelopePair {
	return &classify.EnvelopePair{Before: s.content.envelope, Now: l.envelope, Summary: x.summary, Received: l.received}
}

// checkEnvelope compares an envelope with those that are owed.
func (k *keyState) checkEnvelope(x *bound, best *look, owing []*snap, shown map[*snap]bool, add func(classify.State, classify.Reason, bool)) {
	x.validated = true
	clean, failing := 0, [][]classify.Reason(nil)
	for _, s := range owing {
		shown[s] = true
		if r := k.pair(x, s, best).Check(); len(r) > 0 {
			failing = append(failing, r)
		} else {
			clean++
		}
	}
	effect := best.envelope.Effect()
	if clean > 0 && len(failing) > 0 && effect == "" {
		add(classify.Unverified, classify.Ambiguous, false)
		return
	}
	for _, r := range failing {
		x.envelopeReasons = union(x.envelopeReasons, r)
	}
	k.reportEnvelope(x, add)
	newest := owing[len(owing)-1]
	k.raiseEnvelope(x, newest.content.envelope, best)
	if len(x.envelopeReasons) == 0 {
		add(classify.Preserved, classify.Match, false)
	}
}

// checkLoose reads an envelope that no baseline recorded: nothing can be
// compared, but an effect that is unresolved now is a fact.
func (k *keyState) checkLoose(x *bound, best *look, add func(classify.State, classify.Reason, bool)) {
	x.validated = true
	if r := best.envelope.Effect(); r != "" {
		x.envelopeReasons = []classify.Reason{r}
		k.reportEnvelope(x, add)
		k.raiseEnvelope(x, nil, best)
	}
	if x.summary != "" && best.envelope.Fields[classify.FieldSummarySHA256] != "" {
		p := classify.EnvelopePair{Before: best.envelope, Now: best.envelope, Summary: x.summary}
		if p.SummaryDiffers() {
			x.envelopeReasons = union(x.envelopeReasons, []classify.Reason{classify.SummaryDigestMismatch})
			k.reportEnvelope(x, add)
			k.raiseEnvelope(x, best.envelope, best)
			return
		}
	}
	if k.envelope == nil || k.envelope.original == nil {
		add(classify.Unverified, classify.NoBaseline, false)
	}
}

func (k *keyState) reportEnvelope(x *bound, add func(classify.State, classify.Reason, bool)) {
	for _, r := range x.envelopeReasons {
		add(classify.EnvelopeState(r), r, false)
	}
}

// raiseEnvelope makes failed checks outstanding.
func (k *keyState) raiseEnvelope(x *bound, original *classify.Envelope, best *look) {
	if best.envelopeTime() < k.envelopeSeen {
		return // a late revision of an old boundary raises nothing anew
	}
	for _, r := range x.envelopeReasons {
		if classify.IsEffect(r) {
			k.effect = &effectDefect{reason: r, at: best.envelopeTime()}
			continue
		}
		if k.envelope == nil || k.envelope.original == nil {
			refused := classify.Reason("")
			if k.envelope != nil {
				refused = k.envelope.refused
			}
			k.envelope = &envelopeDefect{original: original, summary: x.summary, refused: refused}
		}
		k.envelope.reasons = union(k.envelope.reasons, []classify.Reason{r})
	}
}

// clearEnvelope clears what an observed envelope shows to be well again, and
// reports what of the original still differs.
func (k *keyState) clearEnvelope(x *bound, best *look, add func(classify.State, classify.Reason, bool)) {
	if k.effect != nil && best.envelope.EffectResolved() && best.envelopeTime() > k.effect.at {
		k.effect = nil
	}
	d := k.envelope
	if d == nil {
		return
	}
	if d.original != nil {
		p := classify.EnvelopePair{Before: d.original, Now: best.envelope, Summary: d.summary, Received: best.received}
		failing := p.Check()
		var still []classify.Reason
		for _, r := range d.reasons {
			if slices.Contains(failing, r) || !classify.Readable(failing) {
				still = append(still, r)
			}
		}
		d.reasons = still
		if again := intersect(d.reasons, failing); len(again) > 0 {
			x.envelopeReasons = union(x.envelopeReasons, again)
			k.reportEnvelope(x, add)
		}
	}
	if len(x.envelopeReasons) == 0 {
		d.refused = ""
	}
	if d.empty() {
		k.envelope = nil
	}
}

// refuse reports the runtime's own refusal to resume.
func (k *keyState) refuse(x *bound, add func(classify.State, classify.Reason, bool)) {
	r := x.refusal.Reason
	if r == "" {
		r = classify.ValidationFailed
	}
	if x.refusal.Status == classify.StatusBlocked || classify.IsEffect(r) {
		if !classify.IsEffect(r) {
			r = classify.UnknownSideEffect
		}
		if !x.refusalKept {
			k.effect = &effectDefect{reason: r, at: x.refusedAt}
		}
	} else {
		if k.envelope == nil && !x.refusalKept {
			k.envelope = &envelopeDefect{}
		}
		if !x.refusalKept {
			k.envelope.refused = r
		}
	}
	x.refusalKept = true
	x.envelopeReasons, x.validated = []classify.Reason{r}, true
	k.reportEnvelope(x, add)
}

func union(a, b []classify.Reason) []classify.Reason {
	out := slices.Clone(a)
	for _, r := range b {
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(p, q classify.Reason) int {
		return slices.Index(classify.EnvelopeReasons, p) - slices.Index(classify.EnvelopeReasons, q)
	})
	return out
}

func intersect(a, b []classify.Reason) []classify.Reason {
	var out []classify.Reason
	for _, r := range a {
		if slices.Contains(b, r) {
			out = append(out, r)
		}
	}
	return out
}
