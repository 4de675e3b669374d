package boundary

import (
	"slices"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// envelopeDefect are checks that failed against one recorded envelope, until an
// observed one passes them.
type envelopeDefect struct {
	original *classify.Envelope
	summary  string
	reasons  []classify.Reason
	// at is the time of the envelope that showed them last.
	at classify.Instant
}

// effectDefect is an effect whose outcome nobody knows, until an envelope of the
// same action shows it.
type effectDefect struct {
	reason classify.Reason
	at     classify.Instant
	// key and action tell the action from others, "" where they were not stated.
	key, action string
}

// refusal is the runtime's own verdict, until an envelope was checked and found
// well, or, where none is owed, the next healthy boundary.
type refusal struct {
	reason classify.Reason
	at     classify.Instant
	turn   uint64
}

// addFinding adds a finding that has no name.
type addFinding func(s classify.State, r classify.Reason, wants bool)

// evaluateWhole returns the findings that have no name: of the envelope, of the
// snapshots and of the looks as a whole.
func (k *keyState) evaluateWhole(x *bound, named []classify.Finding) []classify.Finding {
	var out []classify.Finding
	var add addFinding = func(s classify.State, r classify.Reason, wants bool) {
		f := classify.Finding{State: s, Reason: r, Wants: wants, Effect: classify.IsEffect(r) && s == classify.Unverified}
		if i := slices.IndexFunc(out, func(o classify.Finding) bool { return o.Reason == r && o.State == s }); i >= 0 {
			out[i].Wants = out[i].Wants || wants // a bad name on both sides: the look's can still be mended
			return
		}
		out = append(out, f)
	}
	envelope := k.evaluateEnvelope(x, add)
	slices.SortStableFunc(out, func(a, b classify.Finding) int { return rank(a.Reason) - rank(b.Reason) })
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
	if len(x.looks) > 0 {
		empty := !slices.ContainsFunc(x.looks, func(l *look) bool { return len(l.statements) > 0 || l.envelope != nil })
		switch {
		case x.lastStating().badName:
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

// lastStating is the last look that states anything, a bad name included.
func (x *bound) lastStating() *look {
	for _, l := range slices.Backward(x.looks) {
		if len(l.statements) > 0 || l.badName {
			return l
		}
	}
	return x.looks[len(x.looks)-1]
}

// settleWhole settles the debt that has no name: once the envelope was shown,
// where there is one, and any look is evidence that followed the snapshot.
func (k *keyState) settleWhole(x *bound, s *snap, shown bool) {
	if s.whole.status != owed && s.whole.by != x {
		return
	}
	if (s.content.envelope == nil || shown) && (len(s.decisions) == 0 && s.content.envelope != nil || k.followed(x, s)) {
		s.whole = debt{status: answered, by: x, turn: k.turn}
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
func (k *keyState) evaluateEnvelope(x *bound, add addFinding) map[*snap]bool {
	x.envelopeReasons, x.validated = nil, false
	owing := k.owingEnvelope(x)
	best, weak := k.bestEnvelope(x, owing)
	if best != nil {
		x.resting = append(x.resting, best)
	}
	switch {
	case x.refusal != nil && (best == nil || best.time() <= x.refusedAt):
		k.refuse(x, add)
		return nil
	case best != nil && len(owing) > 0:
		clean := k.checkEnvelope(x, best, owing, add)
		k.clearEnvelope(x, best, clean, add)
		shown := map[*snap]bool{}
		for _, s := range owing {
			shown[s] = true
		}
		return shown
	case best != nil:
		k.checkLoose(x, best, add)
		k.clearEnvelope(x, best, false, add)
	case len(owing) > 0 && len(x.looks) > 0:
		add(classify.Unverified, weak, true)
		x.validated = true
	}
	return nil
}

// owingEnvelope lists the snapshots whose envelope a boundary compares.
func (k *keyState) owingEnvelope(x *bound) []*snap {
	var owing []*snap
	for _, s := range k.snaps {
		if x.inPlay(s) && s.content.envelope != nil && (s.whole.status == owed || s.whole.by == x) {
			owing = append(owing, s)
		}
	}
	return owing
}

// bestEnvelope finds the latest envelope that is evidence towards all that owe
// one; else the reason why there is none.
func (k *keyState) bestEnvelope(x *bound, owing []*snap) (best *look, weak classify.Reason) {
	weak = classify.EnvelopeNotObserved
	for _, l := range x.looks {
		if l.envelope == nil {
			continue
		}
		reason := k.weakEnvelope(x, owing, l)
		switch {
		case reason != "":
			weak = reason
		case best == nil || best.envelopeTime() <= l.envelopeTime():
			best = l
		}
	}
	return best, weak
}

// weakEnvelope is why a look's envelope is no evidence towards one that owes it.
func (k *keyState) weakEnvelope(x *bound, owing []*snap, l *look) classify.Reason {
	t := l.envelopeTime()
	if !classify.Dated(t, l.event, l.received) {
		return classify.NotFresh
	}
	for _, s := range owing {
		taken := classify.Taken{ObservedAt: s.eventObservedAt, Event: s.event, Received: s.received}
		switch {
		case !taken.Fresh(t, l.event, l.received):
			return classify.NotFresh
		case classify.EarlierThan(t, k.compactedUntil(x, s, l.received)):
			return classify.ObservedTooEarly
		case !k.pair(x, s, l).SummaryShown():
			return classify.EnvelopeNotObserved
		}
	}
	return ""
}

func (k *keyState) pair(x *bound, s *snap, l *look) *classify.EnvelopePair {
	return &classify.EnvelopePair{Before: s.content.envelope, Now: l.envelope, Summary: x.summary, Received: l.received}
}

// checkEnvelope compares an envelope with those that are owed, and reports
// whether it passes all checks against all of them.
func (k *keyState) checkEnvelope(x *bound, best *look, owing []*snap, add addFinding) (clean bool) {
	x.validated = true
	failing := make([][]classify.Reason, len(owing))
	failed := 0
	for i, s := range owing {
		if failing[i] = k.pair(x, s, best).Check(); len(failing[i]) > 0 {
			failed++
		}
	}
	switch {
	case failed == 0:
		add(classify.Preserved, classify.Match, false)
		return true
	case failed < len(owing): // an effect that is unresolved now fails all of them
		add(classify.Unverified, classify.Ambiguous, false)
		return false
	}
	for i, s := range owing {
		x.envelopeReasons = union(x.envelopeReasons, failing[i])
		k.raiseEnvelope(x, s.content.envelope, failing[i], best)
	}
	x.raise("", best.envelopeTime())
	k.reportEnvelope(x, add)
	return false
}

// checkLoose reads an envelope that no baseline recorded: nothing can be
// compared, but an effect that is unresolved now is a fact, and so is a summary
// that is not the one that the completion gave.
func (k *keyState) checkLoose(x *bound, best *look, add addFinding) {
	x.validated = true
	if r := best.envelope.Effect(); r != "" {
		x.envelopeReasons = append(x.envelopeReasons, r)
	}
	p := classify.EnvelopePair{Before: best.envelope, Now: best.envelope, Summary: x.summary}
	if p.SummaryDiffers() {
		x.envelopeReasons = union(x.envelopeReasons, []classify.Reason{classify.SummaryDigestMismatch})
	}
	k.raiseEnvelope(x, best.envelope, x.envelopeReasons, best)
	x.raise("", best.envelopeTime())
	k.reportEnvelope(x, add)
	if len(k.envelopes) == 0 {
		add(classify.Unverified, classify.NoBaseline, false)
	}
}

func (k *keyState) reportEnvelope(x *bound, add addFinding) {
	for _, r := range x.envelopeReasons {
		add(classify.EnvelopeState(r), r, false)
	}
}

// raiseEnvelope makes failed checks outstanding. A boundary that is evaluated
// again raises nothing anew by the same look.
func (k *keyState) raiseEnvelope(x *bound, original *classify.Envelope, failing []classify.Reason, best *look) {
	t := best.envelopeTime()
	if !t.After(x.raised[""]) {
		return
	}
	var checks []classify.Reason
	for _, r := range failing {
		if !classify.IsEffect(r) {
			checks = append(checks, r)
			continue
		}
		k.effect = &effectDefect{
			reason: r, at: t,
			key: best.envelope.Fields[classify.FieldIdempotencyKey], action: best.envelope.Fields[classify.FieldActionDigest],
		}
	}
	if len(checks) == 0 {
		return
	}
	i := slices.IndexFunc(k.envelopes, func(d *envelopeDefect) bool { return d.original.Equal(original) })
	if i < 0 {
		i = len(k.envelopes)
		k.envelopes = append(k.envelopes, &envelopeDefect{original: original, summary: x.summary})
	}
	d := k.envelopes[i]
	d.reasons, d.at = union(d.reasons, checks), max(d.at, t)
}

// clearEnvelope clears what an observed envelope shows to be well again, and
// reports what of an original still differs. clean says that it was checked
// against what is owed and passed.
func (k *keyState) clearEnvelope(x *bound, best *look, clean bool, add addFinding) {
	t := best.envelopeTime()
	if e := k.effect; e != nil && best.envelope.EffectResolved() && t.After(e.at) && e.isOf(best.envelope) {
		k.effect = nil
	}
	if r := k.refused; r != nil && clean && best.time() > r.at {
		k.refused = nil
	}
	k.envelopes = slices.DeleteFunc(k.envelopes, func(d *envelopeDefect) bool {
		p := classify.EnvelopePair{Before: d.original, Now: best.envelope, Summary: d.summary, Received: best.received}
		failing := p.Check()
		again := intersect(d.reasons, failing)
		x.envelopeReasons = union(x.envelopeReasons, again)
		if !t.After(d.at) || !classify.Readable(failing) {
			return false
		}
		if slices.Contains(d.reasons, classify.SummaryDigestMismatch) && !p.SummaryShown() {
			again = union(again, []classify.Reason{classify.SummaryDigestMismatch})
		}
		d.reasons = again
		return len(again) == 0
	})
	k.reportEnvelope(x, add)
}

// isOf reports whether an envelope speaks of the action that the effect was of.
func (d *effectDefect) isOf(e *classify.Envelope) bool {
	return (d.key == "" || d.key == e.Fields[classify.FieldIdempotencyKey]) &&
		(d.action == "" || d.action == e.Fields[classify.FieldActionDigest])
}

// refuse reports the runtime's own refusal to resume, and makes it outstanding
// once.
func (k *keyState) refuse(x *bound, add addFinding) {
	r := x.refused()
	switch {
	case x.refusalKept:
	case classify.IsEffect(r):
		k.effect = &effectDefect{reason: r, at: x.refusedAt}
	default:
		k.refused = &refusal{reason: r, at: x.refusedAt, turn: x.refusedTurn}
	}
	x.refusalKept = true
	x.envelopeReasons, x.validated = []classify.Reason{r}, true
	k.reportEnvelope(x, add)
}

// rank is the place of a check in their order; what is no check comes last.
func rank(r classify.Reason) int {
	if i := slices.Index(classify.EnvelopeReasons, r); i >= 0 {
		return i
	}
	return len(classify.EnvelopeReasons)
}

func union(a, b []classify.Reason) []classify.Reason {
	out := slices.Clone(a)
	for _, r := range b {
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(p, q classify.Reason) int { return rank(p) - rank(q) })
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
