package boundary

import (
	"slices"

	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// room is where one invariant after the other is decided. It keeps its memory, and
// nothing else.
type room struct {
	entries  []entry
	votes    []classify.Vote
	evidence [2]evidence
}

// other returns the evidence that is not the best so far.
func (r *room) other(best *evidence) *evidence {
	if best == &r.evidence[0] {
		return &r.evidence[1]
	}
	return &r.evidence[0]
}

// ballot returns n empty votes.
func (r *room) ballot(n int) []classify.Vote {
	at := len(r.votes)
	r.votes = slices.Grow(r.votes, n)[:at+n]
	clear(r.votes[at:])
	return r.votes[at:]
}

// clear forgets what was decided.
func (r *room) clear() {
	clear(r.entries[:cap(r.entries)])
	clear(r.votes[:cap(r.votes)])
	r.evidence = [2]evidence{}
}

// entry is one baseline's statement of the invariant at hand. A value that is
// outstanding and that no snapshot states has no snap.
type entry struct {
	*snap
	at     int // the decision in snap
	before classify.Before
}

// evaluate compares what a boundary's looks show with everything that is owed,
// settles the debts accordingly and returns the findings. Doing it twice gives
// the same.
func (k *keyState) evaluate(x *bound) []classify.Finding {
	names := k.namesAt(x)
	findings := make([]classify.Finding, 0, len(names)+1)
	sufficient := false
	x.resting = x.resting[:0]
	for _, name := range names {
		f, ok, enough := k.evaluateName(x, name)
		sufficient = sufficient || enough
		if ok {
			findings = append(findings, f)
		}
	}
	k.core.room.clear()
	if k.lost && sufficient {
		k.lostBy, k.lost = x, false
	}
	findings = append(findings, k.evaluateWhole(x, findings)...)
	if k.lost && x.validated && len(x.looks) > 0 {
		k.lostBy, k.lost = x, false
	}
	if k.lostBy == x {
		for i, f := range findings {
			if f.State.Healthy() {
				findings[i].State, findings[i].Reason = classify.Unverified, classify.Capacity
			}
		}
	}
	classify.Sort(findings)
	return findings
}

// namesAt lists the names that a boundary speaks of: those of the baselines in
// play, those that its looks state, those that are required.
func (k *keyState) namesAt(x *bound) []string {
	if len(x.looks) == 0 {
		return nil // the runtime refused before anybody looked
	}
	names := append(make([]string, 0, 16), k.core.cfg.RequiredInvariants...)
	for _, s := range k.snaps {
		if !x.inPlay(s) || s.hollow() && k.solidAt(x) {
			continue
		}
		for i, d := range s.decisions {
			if s.debts[i].status == owed || s.debts[i].by == x {
				names = append(names, d.name)
			}
		}
	}
	for _, d := range k.defects {
		if d.explicitNone() {
			names = append(names, d.name)
		}
	}
	return sortNames(k.addStated(x, names))
}

// maxLoose bounds the names of which a boundary says that they have no baseline.
const maxLoose = 64

// addStated adds the names that a boundary's looks state. Of those that nothing
// before them states the first by authority stand for all: each gives the same
// finding.
func (k *keyState) addStated(x *bound, names []string) []string {
	var loose []string
	stated := len(names)
	for _, l := range x.looks {
		stated += len(l.statements)
	}
	known := newNameSet(names, stated)
	for _, l := range x.looks {
		for i := range l.statements {
			name := l.statements[i].Name
			if !known.add(name) {
				continue
			}
			if k.defect(name) != nil || x.originals[name] != nil {
				names = append(names, name)
				continue
			}
			at, _ := slices.BinarySearchFunc(loose, name, classify.CompareNames)
			if at == maxLoose {
				continue
			}
			if len(loose) == maxLoose {
				loose = loose[:maxLoose-1]
			}
			loose = slices.Insert(loose, at, name)
		}
	}
	return append(names, loose...)
}

// nameSet is a set of names. Most are so small that no map is needed.
type nameSet struct {
	list []string
	set  map[string]struct{}
}

func newNameSet(names []string, most int) *nameSet {
	s := &nameSet{list: slices.Clip(names)}
	if most > maxPlaces {
		s.set = make(map[string]struct{}, most)
		for _, name := range names {
			s.set[name] = struct{}{}
		}
	}
	return s
}

// add takes a name in, and reports whether it was not there.
func (s *nameSet) add(name string) bool {
	if s.set == nil {
		if slices.Contains(s.list, name) {
			return false
		}
		s.list = append(s.list, name)
		return true
	}
	_, known := s.set[name]
	s.set[name] = struct{}{}
	return !known
}

// evaluateName decides one invariant. ok is false where there is nothing to say;
// enough reports whether a look sufficed.
func (k *keyState) evaluateName(x *bound, name string) (f classify.Finding, ok, enough bool) {
	room := &k.core.room
	room.votes = room.votes[:0]
	entries, stated := k.entries(x, name)
	room.entries = entries[:0]
	alone := len(entries) > 0 && entries[0].snap == nil
	f = classify.Finding{Name: name, State: classify.Unverified, Optional: k.optional(entries, name)}
	fillBefore(&f, entries)
	if len(entries) == 0 {
		return k.withoutBaseline(x, f, stated)
	}
	fault, whole := unusable(entries)
	if whole { // no evidence could decide it
		f.Reason = fault
		k.settleAround(x, entries, nil)
		return f, true, false
	}
	best, votes, reason := k.bestEvidence(x, name, entries, alone && x.snapshots > 0)
	if best == nil {
		if reason == "" { // an outstanding value, and nobody spoke of it
			return f, false, false
		}
		// A value that only the past states is not owed at this boundary.
		f.Reason, f.Wants = reason, !alone
		k.reopen(x, entries)
		return f, true, false
	}
	x.resting = append(x.resting, best.look)
	if alone {
		x.keepOriginals(name, entries)
	}
	f.Source = best.Source
	if st := best.statement; st != nil {
		f.Choices = st.Choices
		if st.Revision != "" {
			f.Revision = st.Revision
		}
		if st.ApprovalRef != "" {
			f.ApprovalRef = st.ApprovalRef
		}
	}
	if fault != "" {
		f.Reason = fault
		k.settleAround(x, entries, votes)
		k.clearDefect(name, best)
		return f, true, true
	}
	decided := classify.Decide(k.withSilence(x, entries, votes, best))
	f.State, f.Reason, f.Cleared = decided.State, decided.Reason, decided.Cleared
	k.settleDebts(x, entries, votes, decided, best)
	k.recordDefect(x, &f, entries, decided, best)
	// That silence shows an old none again is no finding of this boundary.
	return f, !alone || stated || x.snapshots == 0, true
}

// fillBefore takes what is passed through from the newest snapshot.
func fillBefore(f *classify.Finding, entries []entry) {
	for _, e := range entries {
		if e.snap != nil {
			f.Revision, f.ApprovalRef = e.decisions[e.at].revision, e.decisions[e.at].approvalRef
		}
	}
}

func (k *keyState) optional(entries []entry, name string) bool {
	if slices.Contains(k.core.cfg.RequiredInvariants, name) || len(entries) == 0 {
		return false
	}
	for _, e := range entries {
		if e.snap == nil || !e.decisions[e.at].optional {
			return false
		}
	}
	return true
}

// withoutBaseline is the finding of a name that no baseline has.
func (k *keyState) withoutBaseline(x *bound, f classify.Finding, stated bool) (classify.Finding, bool, bool) {
	if !stated && !slices.Contains(k.core.cfg.RequiredInvariants, f.Name) {
		return f, false, false
	}
	f.Reason = classify.NoBaseline
	for _, s := range k.snaps {
		if x.inPlay(s) && s.failed && !k.solidAt(x) {
			f.Reason = classify.EvidenceMissing
		}
	}
	for _, l := range x.looks {
		if st := l.find(f.Name); st != nil {
			f.Source, f.Choices = st.Source, st.Choices
		}
	}
	return f, true, false
}

// entries collects what states an invariant at a boundary: what is owed, and
// what this boundary answered itself unless a later snapshot asked again. stated
// reports whether a look speaks of the name.
func (k *keyState) entries(x *bound, name string) (entries []entry, stated bool) {
	entries = k.core.room.entries[:0]
	newest := uint64(0)
	for _, s := range k.snaps {
		if !x.inPlay(s) || s.hollow() && k.solidAt(x) {
			continue
		}
		i := s.content.find(name)
		if i < 0 || s.debts[i].status != owed && s.debts[i].by != x {
			continue
		}
		d := &s.decisions[i]
		e := entry{s, i, classify.Before{Fault: d.fault, Text: d.text, Taken: s.taken(i)}}
		if e.before.Value = e.value(); s.debts[i].by == x && s.debts[i].instead != nil {
			e.before.Value, e.before.Fault = *s.debts[i].instead, ""
		}
		entries = append(entries, e)
		newest = max(newest, s.turn)
	}
	entries = slices.DeleteFunc(entries, func(e entry) bool {
		d := e.debts[e.at]
		return d.status != owed && newest > d.turn
	})
	stated = slices.ContainsFunc(x.looks, func(l *look) bool { return l.find(name) != nil })
	d := k.defect(name)
	switch {
	case d != nil:
		entries = d.overlay(entries, stated || x.snapshots == 0)
	case len(entries) == 0:
		for _, original := range x.originals[name] {
			entries = append(entries, entry{before: classify.Before{Value: original}})
		}
	}
	return entries, stated
}

// keepOriginals remembers the values of an old defect that a boundary compared
// though no baseline states them: cleared, they are compared still.
func (x *bound) keepOriginals(name string, entries []entry) {
	if x.originals == nil {
		x.originals = map[string][]classify.Value{}
	}
	if x.originals[name] == nil {
		for _, e := range entries {
			x.originals[name] = append(x.originals[name], e.before.Value)
		}
	}
}

// solidAt reports whether a boundary compares a baseline that is not hollow.
func (k *keyState) solidAt(x *bound) bool {
	return slices.ContainsFunc(k.snaps, func(s *snap) bool { return x.inPlay(s) && !s.hollow() })
}

// unusable returns why a baseline is unusable for the invariant, "" where none
// is; whole is set where all are.
func unusable(entries []entry) (fault classify.Reason, whole bool) {
	whole = true
	for _, e := range entries {
		switch {
		case e.before.Fault == "":
			whole = false
		case fault == "":
			fault = e.before.Fault
		}
	}
	return fault, whole
}

// evidence is the statement that counts, and the look that made it.
type evidence struct {
	classify.After
	*look
	statement *Statement // nil where absence was proven
}

// replacedBy reports whether newer evidence takes the place of e: the later look
// does, but a probe never replaces what an agent or a human showed.
func (e *evidence) replacedBy(n *evidence) bool {
	if e == nil {
		return true
	}
	if e.Probe() != n.Probe() {
		return e.Probe()
	}
	return n.ObservedAt.After(e.ObservedAt) // of two at one time the first stays
}

// bestEvidence finds the sufficient statement that counts, with the vote of each
// entry; or the reason why there is none, "" where no look was asked.
func (k *keyState) bestEvidence(x *bound, name string, entries []entry, statedOnly bool) (best *evidence, votes []classify.Vote, reason classify.Reason) {
	accepted := k.core.cfg.accepted(name)
	silence := classify.ObservationEmpty
	var weak classify.Reason
	for _, l := range x.looks {
		if len(l.statements) > 0 {
			silence = classify.ObservationIncomplete
		}
		e := k.core.room.other(best)
		*e = evidence{look: l}
		if e.statement = l.find(name); e.statement != nil {
			e.After = l.stated(e.statement, accepted)
		} else if after, ok := l.absent(accepted); ok && (!statedOnly || entries[0].before.Digest.IsNothing()) {
			e.After = after
		} else {
			continue
		}
		found, r := k.hold(x, name, entries, e)
		switch {
		case r == "" && best.replacedBy(e):
			best, votes = e, found
		case r != "" && e.statement != nil:
			weak = r
		case r == classify.ObservedTooEarly:
			silence = r
		}
	}
	switch {
	case best != nil:
		return best, votes, ""
	case weak != "":
		return nil, nil, weak
	case entries[0].snap != nil:
		return nil, nil, silence
	}
	return nil, nil, ""
}

// hold holds one look against all entries: the reason why it does not suffice
// for one of them, or the vote of each.
func (k *keyState) hold(x *bound, name string, entries []entry, e *evidence) ([]classify.Vote, classify.Reason) {
	var weak classify.Reason
	for i := range entries {
		b := entries[i].before
		if b.Fault != "" {
			continue // nothing is tested against rubbish
		}
		b.CompactedUntil = k.compactedUntil(x, entries[i].snap, e.received)
		weak = classify.Weaker(weak, classify.Insufficient(&b, &e.After))
	}
	if weak != "" {
		return nil, weak
	}
	ask := func(from, to digest.Digest) approval.Answer {
		return k.book.Ask(approval.Question{Invariant: name, Agent: k.agent, From: from, To: to, At: e.at, Boundary: x.use, Look: e.turn})
	}
	votes := k.core.room.ballot(len(entries))
	for i := range entries {
		if entries[i].before.Fault != "" {
			continue
		}
		votes[i] = classify.Compare(&entries[i].before, &e.After, ask)
		if votes[i].Reason == classify.RestatementDiffers {
			return nil, classify.RestatementDiffers
		}
	}
	return votes, ""
}

// withSilence adds the vote of a baseline that is later than every one that
// states the invariant and says nothing of it.
func (k *keyState) withSilence(x *bound, entries []entry, votes []classify.Vote, best *evidence) []classify.Vote {
	if s := k.silentAfter(x, entries, best); s != nil {
		return append(slices.Clip(votes), classify.SilentVote(&best.After))
	}
	return votes
}

// silentAfter finds a baseline that is later than every one that states the
// invariant and says nothing of it. It has a vote only on looks that followed it.
func (k *keyState) silentAfter(x *bound, entries []entry, best *evidence) *snap {
	var latest classify.Instant
	for _, e := range entries {
		if e.snap != nil {
			latest = max(latest, e.time())
		}
	}
	if latest == 0 {
		return nil
	}
	name := entries[0].name()
	for _, s := range k.snaps {
		whole := !s.failed && !s.truncated && !s.tooMany && !s.badName // a cut silence says nothing
		silent := x.inPlay(s) && len(s.decisions) > 0 && whole && s.content.find(name) < 0 && s.time() > latest
		taken := classify.Taken{Event: s.time(), Received: s.received}
		if silent && taken.Fresh(best.ObservedAt, best.event, best.received) {
			return s
		}
	}
	return nil
}

func (e entry) name() string {
	if e.snap == nil {
		return ""
	}
	return e.decisions[e.at].name
}
