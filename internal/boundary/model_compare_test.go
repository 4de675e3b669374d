package boundary_test

import (
	"slices"
	"strings"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// Section 5 as the model reads it: evidence, comparison, what is outstanding.

type mDefect struct {
	name      string
	state     classify.State
	originals []mValue // that nobody has shown again
	text      bool
	seq       int // when it was raised
	bound     *mBound
	// What showed it last.
	shown   mValue
	shownAt classify.Instant
	seenAt  time.Time
	probe   bool
}

func (d *mDefect) wasNone() bool { return slices.ContainsFunc(d.originals, mValue.nothing) }

// row is one baseline of one invariant. Without a snapshot it is the original of
// a defect that no baseline states.
type row struct {
	snap  *mSnap
	value mValue
	fault classify.Reason
	text  bool
	seen  classify.Instant // observed_at of the snapshot
	since classify.Instant // of the look that showed the defect
}

func (r row) debt(name string) *mDebt {
	if r.snap == nil {
		return nil
	}
	return r.snap.debts[name]
}

func statement(ev *boundary.Event, name string) (boundary.Statement, bool) {
	for _, st := range ev.Statements {
		if st.Name == name {
			return st, true
		}
	}
	return boundary.Statement{}, false
}

func (b *mBound) states(name string) bool {
	return slices.ContainsFunc(b.looks, func(l *mLook) bool { _, ok := statement(l.ev, name); return ok })
}

// evaluate derives everything of an observed or refused boundary again.
func (m *model) evaluate(k *mAgent, b *mBound) {
	b.override = ""
	b.findings = nil
	if len(b.looks) > 0 {
		for _, name := range m.names(k, b) {
			if f, ok := m.finding(k, b, name); ok {
				b.findings = append(b.findings, f)
			}
		}
	}
	b.findings = append(b.findings, m.wholeFindings(k, b, b.findings)...)
	classify.Sort(b.findings)
	k.decided(b)
	state, _ := classify.Rollup(b.findings)
	wanting := classify.Wanting(b.findings)
	b.sufficient = slices.ContainsFunc(k.snaps, func(sn *mSnap) bool { return sn.heldBy(b) })
	if !wanting && b.sufficient {
		b.unconfirmed = false
		if k.overlook != nil && k.overlook.seq <= b.seq {
			k.overlook = nil
		}
	}
	refusedLast := b.vf != nil && (len(b.looks) == 0 || b.looks[len(b.looks)-1].seq < b.vfSeq)
	switch {
	case state >= classify.Dropped, !wanting, refusedLast, b.snaps+b.comps == 0:
		m.settle(b)
	case b.state == mSettled && !b.passed: // what settled it is gone
		m.arm(b)
		if first := b.from.Add(b.window); first.After(m.now) {
			b.deadline = first
		}
	}
	owesEnvelope := func(sn *mSnap) bool { return sn.ev.Envelope != nil && sn.debts[""].status == owed }
	if state.Healthy() && k.refused != nil && b.seq > k.refused.seq && !slices.ContainsFunc(k.snaps, owesEnvelope) {
		k.refused = nil
	}
	m.emit(k, b)
}

// names are what a boundary speaks of.
func (m *model) names(k *mAgent, b *mBound) []string {
	names := slices.Clone(m.cfg.RequiredInvariants)
	for _, sn := range k.baselines(b) {
		for name, d := range sn.debts {
			if name != "" && (d.status == owed || d.by == b) {
				names = append(names, name)
			}
		}
	}
	for _, l := range b.looks {
		for _, st := range l.ev.Statements {
			names = append(names, st.Name)
		}
	}
	for name, d := range k.defects {
		if d.wasNone() {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, classify.CompareNames)
	return slices.Compact(names)
}

// rows are the baselines that a boundary compares: what is owed, and what it
// answered itself unless a later snapshot asks again. While a defect is
// outstanding its original stands in the place of what later snapshots state, an
// original none beside them.
func (m *model) rows(k *mAgent, b *mBound, name string) []row {
	var asked []*mSnap
	newest := 0
	for _, sn := range k.baselines(b) {
		if d := sn.debts[name]; d != nil && name != "" && (d.status == owed || d.by == b) {
			asked = append(asked, sn)
			newest = max(newest, sn.seq)
		}
	}
	var rows []row
	for _, sn := range asked {
		d := sn.debts[name]
		if d.status != owed && newest > d.seq {
			continue
		}
		st, _ := statement(sn.ev, name)
		r := row{snap: sn, value: mValue{st.Digest, sn.ev.Form}, fault: st.Fault, text: st.Text, seen: st.ObservedAt}
		if d.by == b && d.instead != nil {
			r.value, r.fault = *d.instead, ""
		}
		rows = append(rows, r)
	}
	d := k.defects[name]
	if d == nil {
		if len(rows) == 0 {
			for _, v := range b.originals[name] {
				rows = append(rows, row{value: v})
			}
		}
		return rows
	}
	if len(rows) == 0 {
		for _, v := range d.originals {
			if v.nothing() || b.states(name) || b.snaps == 0 {
				rows = append(rows, row{value: v, text: d.text, since: d.shownAt})
			}
		}
		return rows
	}
	later := func(r row) bool { return r.snap != nil && r.snap.seq > d.seq && r.debt(name).instead == nil }
	if !slices.ContainsFunc(rows, later) {
		return rows
	}
	values := slices.DeleteFunc(slices.Clone(d.originals), mValue.nothing)
	if len(values) > 0 {
		for i := range rows {
			if later(rows[i]) {
				rows[i].value, rows[i].fault = values[0], ""
			}
		}
	}
	for i, v := range d.originals {
		if v.nothing() || i != slices.IndexFunc(d.originals, func(v mValue) bool { return !v.nothing() }) {
			rows = append(rows, row{value: v, text: d.text})
		}
	}
	return rows
}

// ---- evidence ----

// sight is one look at one invariant: stated, or proven to be absent.
type sight struct {
	*mLook
	stated bool
	value  mValue
	seen   classify.Instant
	source classify.Source
	fault  classify.Reason
}

func (x *sight) probe() bool { return x.source == classify.Environment }

func (m *model) accepts(name string, src classify.Source) bool {
	set, ok := m.cfg.SourcesByInvariant[name]
	if !ok {
		set, ok = m.cfg.SourcesByInvariant[strings.SplitN(name, ".", 2)[0]]
	}
	if !ok {
		set = m.cfg.Sources
	}
	return set.Has(src)
}

// sight is what a look shows of an invariant; nil where it shows nothing.
func (m *model) sight(l *mLook, name string) *sight {
	if st, ok := statement(l.ev, name); ok {
		return &sight{l, true, mValue{st.Digest, l.ev.Form}, st.ObservedAt, st.Source, st.Fault}
	}
	x := &sight{mLook: l, value: mValue{digest.None, l.ev.Form}, seen: l.ev.ObservedAt, source: classify.Agent}
	proven := false
	for _, st := range l.ev.Statements {
		if !m.accepts(name, st.Source) {
			return nil
		}
		proven = proven || st.Fault == ""
		if l.ev.ObservedAt == 0 {
			x.seen = max(x.seen, st.ObservedAt)
		}
		if st.Source == classify.Environment {
			x.source = st.Source
		}
	}
	if !proven || l.ev.Partial || l.ev.Dropped || l.ev.TooMany {
		return nil
	}
	return x
}

// dated: not ahead of its own event.
func dated(t classify.Instant, l *mLook) bool { return t != 0 && !t.After(l.time().Add(5*time.Minute)) }

// fresh is the rule of section 5. What came after the look cannot have been seen
// by it, however it is dated.
func fresh(t, stated, event, received classify.Instant, l *mLook) bool {
	timed := event.Plausible(received)
	known := stated.Plausible(received) && stated <= received
	switch {
	case !dated(t, l), !timed && !known:
		return false
	case known && !t.After(stated), timed && t.Before(event):
		return false
	case !timed || received <= l.received():
		return true
	}
	byEvents := l.ev.Time.Plausible(l.received()) && event.After(l.ev.Time)
	byReceipt := event <= received && event.After(l.received())
	return !byEvents && !byReceipt
}

func (r row) fresh(x *sight) bool {
	switch {
	case x.seen.Before(r.since):
		return false
	case r.snap == nil:
		return dated(x.seen, x.mLook)
	}
	return fresh(x.seen, r.seen, r.snap.ev.Time, r.snap.at, x.mLook)
}

// until is the end of the compaction that a look must not precede.
func (k *mAgent) until(b *mBound, sn *mSnap, l *mLook) classify.Instant {
	end := b.lastEnd
	if sn == nil {
		return end
	}
	end = max(end, sn.end)
	for _, e := range k.ends {
		if e.end > sn.time() && e.received <= max(sn.at, l.received()) {
			end = max(end, e.end)
		}
	}
	return end
}

func early(t, end classify.Instant) bool { return end != 0 && t.Before(end.Add(-slack)) }

// weak is why a sight does not suffice towards the rows, "" if it does.
func (m *model) weak(k *mAgent, b *mBound, name string, rows []row, x *sight) classify.Reason {
	usable := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.fault != "" })
	switch {
	case x.fault != "":
		return x.fault
	case x.stated && x.source == classify.NoSource:
		return classify.SourceMissing
	case x.stated && !m.accepts(name, x.source):
		return classify.SourceNotAccepted
	case slices.ContainsFunc(usable, func(r row) bool { return !r.fresh(x) }):
		return classify.NotFresh
	case slices.ContainsFunc(usable, func(r row) bool { return early(min(x.seen, x.time()), k.until(b, r.snap, x.mLook)) }):
		return classify.ObservedTooEarly
	case slices.ContainsFunc(usable, func(r row) bool { return m.compare(k, b, name, r, x).Reason == classify.RestatementDiffers }):
		return classify.RestatementDiffers
	}
	return ""
}

// best is the sight that counts; else why there is none.
func (m *model) best(k *mAgent, b *mBound, name string, rows []row) (best *sight, why classify.Reason) {
	alone := rows[0].snap == nil
	silence := classify.ObservationEmpty
	for _, l := range b.looks {
		if len(l.ev.Statements) > 0 {
			silence = classify.ObservationIncomplete
		}
		x := m.sight(l, name)
		if x == nil || !x.stated && alone && b.snaps > 0 && !rows[0].value.nothing() {
			continue
		}
		switch r := m.weak(k, b, name, rows, x); {
		case r != "" && x.stated:
			why = r
		case r == classify.ObservedTooEarly:
			silence = r
		case r != "":
		case best == nil, best.probe() && !x.probe(), best.probe() == x.probe() && x.seen.After(best.seen):
			best = x
		}
	}
	switch {
	case best != nil:
		return best, ""
	case why == "" && !alone:
		why = silence
	}
	return nil, why
}

// ---- comparison ----

// vote is what one baseline says of what was seen.
type vote struct {
	classify.Finding
	path mPath
}

// compare is the table of section 5 for one baseline and one sight.
func (m *model) compare(k *mAgent, b *mBound, name string, r row, x *sight) vote {
	say := func(s classify.State, reason classify.Reason) vote {
		return vote{Finding: classify.Finding{Name: name, State: s, Reason: reason}}
	}
	if r.value.same(x.value) {
		return say(classify.Preserved, classify.Match)
	}
	path := m.ask(k, name, r.value, x.value, x.at, b, x.mLook)
	otherwise, approved := say(classify.Conflicting, classify.ChangedWithoutApproval), classify.ApprovedTransition
	switch {
	case x.value.nothing():
		otherwise, approved = say(classify.Dropped, classify.MissingAfter), classify.ApprovedRemoval
	case r.value.nothing():
		otherwise, approved = say(classify.Conflicting, classify.UnapprovedAddition), classify.ApprovedAddition
	}
	switch {
	case path.covers() && path.after():
		otherwise.Reason, otherwise.Cleared, otherwise.path = classify.ApprovedAfter, classify.ApprovedChange, path
		return otherwise
	case path.covers():
		v := say(classify.ApprovedChange, approved)
		v.path = path
		return v
	case x.value.nothing():
	case !r.value.nothing() && !r.value.comparable(x.value):
		return say(classify.Unverified, classify.DigestIncomparable)
	case len(path.links) > 0:
		otherwise.Reason = path.fault
	case !r.value.nothing() && r.text && x.source == classify.Agent:
		return say(classify.Unverified, classify.RestatementDiffers)
	}
	return otherwise
}

// join makes one finding of the votes.
func join(votes []vote) classify.Finding {
	f := votes[0].Finding
	for _, v := range votes[1:] {
		switch {
		case v.State == f.State && v.Cleared == classify.NoState && f.Reason == classify.ApprovedAfter:
			f = v.Finding // cleared only where all are
		case v.State == f.State && v.Cleared == classify.NoState:
			f.Cleared = classify.NoState
		case v.State == f.State:
		case v.State.Healthy() && f.State.Healthy():
			if v.State > f.State {
				f = v.Finding
			}
		default:
			return classify.Finding{Name: f.Name, State: classify.Unverified, Reason: classify.Ambiguous}
		}
	}
	return f
}

// finding decides one invariant and settles what is owed of it; false where
// there is nothing to say.
func (m *model) finding(k *mAgent, b *mBound, name string) (classify.Finding, bool) {
	rows := m.rows(k, b, name)
	f := classify.Finding{Name: name, State: classify.Unverified}
	if len(rows) == 0 {
		f.Reason = classify.NoBaseline
		if slices.ContainsFunc(k.baselines(b), func(sn *mSnap) bool { return sn.failed }) {
			f.Reason = classify.EvidenceMissing
		}
		return f, b.states(name) || slices.Contains(m.cfg.RequiredInvariants, name)
	}
	f.Optional = !slices.ContainsFunc(rows, func(r row) bool { return r.snap == nil || !r.debt(name).optional })
	alone := rows[0].snap == nil
	var bad []row
	for _, r := range rows {
		if r.fault != "" {
			bad = append(bad, r)
		}
	}
	if len(bad) == len(rows) {
		f.Reason = bad[0].fault
		for _, r := range bad {
			m.answer(b, name, r, retired, nil)
		}
		return f, true
	}
	x, why := m.best(k, b, name, rows)
	if x == nil {
		f.Reason, f.Wants = why, !alone
		for _, r := range rows {
			if why != "" {
				m.reopen(k, b, name, r)
			}
		}
		return f, why != ""
	}
	if alone && b.originals[name] == nil {
		for _, r := range rows { // cleared, they are compared still
			b.originals[name] = append(b.originals[name], r.value)
		}
	}
	votes := make([]vote, len(rows))
	for i, r := range rows {
		if r.fault == "" {
			votes[i] = m.compare(k, b, name, r, x)
		}
	}
	if len(bad) > 0 {
		f.Reason = bad[0].fault
		for i, r := range rows {
			switch {
			case r.fault != "":
				m.answer(b, name, r, retired, nil)
			case votes[i].State.Healthy():
				m.answer(b, name, r, answered, nil)
				votes[i].path.use(b, x.mLook, false)
			default:
				m.reopen(k, b, name, r)
			}
		}
		k.shownAgain(name, x)
		return f, true
	}
	silent := k.silentLater(b, name, rows, x)
	all := votes
	if silent {
		v := vote{Finding: classify.Finding{Name: name, State: classify.Unverified, Reason: classify.NoBaseline}}
		if x.value.nothing() {
			v.State, v.Reason = classify.Preserved, classify.Match
		}
		all = append(slices.Clone(votes), v)
	}
	joined := join(all)
	f.State, f.Reason, f.Cleared = joined.State, joined.Reason, joined.Cleared
	for i, r := range rows {
		newerAgrees := r.snap != nil && silent && x.value.nothing()
		for j, o := range rows {
			newerAgrees = newerAgrees || r.snap != nil && o.snap != nil && votes[j].State.Healthy() && o.snap.time() > r.snap.time()
		}
		v := votes[i]
		switch {
		case v.State.Healthy(), v.State >= classify.Dropped && f.State == v.State:
			m.answer(b, name, r, answered, x)
		case v.Reason == classify.DigestIncomparable, newerAgrees:
			m.answer(b, name, r, retired, x)
		default:
			m.reopen(k, b, name, r)
		}
		if f.State == classify.ApprovedChange && v.State == f.State {
			v.path.use(b, x.mLook, false)
		}
	}
	m.outstanding(k, b, f, rows, x)
	return f, !alone || b.states(name) || b.snaps == 0
}

// answer notes what became of a debt. When it was answered first stays: a later
// snapshot asks again.
func (m *model) answer(b *mBound, name string, r row, to debtStatus, x *sight) {
	d := r.debt(name)
	if d == nil {
		return
	}
	if d.status == owed || d.by != b {
		d.seq = m.seq
	}
	d.status, d.by, d.instead, d.shown, d.seenAt = to, b, nil, mValue{}, time.Time{}
	if x != nil {
		d.shown, d.seenAt = x.value, x.at
	}
	if st, _ := statement(r.snap.ev, name); (mValue{st.Digest, r.snap.ev.Form}) != r.value {
		d.instead = &r.value
	}
	d.overdue = d.overdue && to != answered
}

// reopen takes back what a boundary answered: it was no evidence.
func (m *model) reopen(k *mAgent, b *mBound, name string, r row) {
	d := r.debt(name)
	if d == nil || d.by != b {
		return
	}
	*d = mDebt{overdue: d.overdue, optional: d.optional}
	for _, a := range k.s.approvals {
		if a.Invariant == name && a.user == b && !a.after {
			a.user, a.look = nil, nil
		}
	}
}

// silentLater reports whether a snapshot that is later than all that state the
// invariant says nothing of it; what was cut has no say, nor has one that came
// after the look.
func (k *mAgent) silentLater(b *mBound, name string, rows []row, x *sight) bool {
	var latest classify.Instant
	for _, r := range rows {
		if r.snap != nil {
			latest = max(latest, r.snap.time())
		}
	}
	return latest != 0 && slices.ContainsFunc(k.compared(b), func(sn *mSnap) bool {
		_, states := statement(sn.ev, name)
		cut := sn.failed || sn.ev.Dropped || sn.ev.TooMany || sn.ev.BadName
		return !states && !cut && len(sn.ev.Statements) > 0 && sn.time() > latest && fresh(x.seen, 0, sn.time(), sn.at, x.mLook)
	})
}

// ---- outstanding defects ----

// outstanding keeps the session's list in step with a finding.
func (m *model) outstanding(k *mAgent, b *mBound, f classify.Finding, rows []row, x *sight) {
	k.shownAgain(f.Name, x)
	d := k.defects[f.Name]
	switch {
	case f.State.Healthy():
		k.healthy[f.Name] = x.value
		if d != nil && f.State == classify.ApprovedChange {
			m.cover(k, d, x.value, x.at, b, x.mLook, false)
		}
		return
	case f.State < classify.Dropped, f.Cleared != classify.NoState, f.Optional:
		return
	case d == nil && !x.seen.After(b.raised[f.Name]):
		return // raised by this look already, and cleared since
	case d != nil && d.bound != b && d.shownAt.After(x.seen):
		b.raised[f.Name] = max(b.raised[f.Name], x.seen)
		return // another boundary's later look is what must be outdone
	}
	if d == nil {
		d = &mDefect{name: f.Name, seq: m.seq}
		var newest *row
		for _, r := range rows {
			if !slices.ContainsFunc(d.originals, r.value.same) {
				d.originals = append(d.originals, r.value)
			}
			if newest == nil || r.snap != nil && (newest.snap == nil || r.snap.time() >= newest.snap.time()) {
				newest = &r
			}
		}
		d.text = newest.text
		k.defects[f.Name] = d
	}
	d.state, d.bound = f.State, b
	d.shown, d.shownAt, d.seenAt, d.probe = x.value, x.seen, x.at, x.probe()
	b.raised[f.Name] = max(b.raised[f.Name], x.seen)
}

// shownAgain clears the originals of a defect that a later look shows again; a
// probe does not clear what an agent or a human showed.
func (k *mAgent) shownAgain(name string, x *sight) {
	d := k.defects[name]
	if d == nil || !x.seen.After(d.shownAt) || x.probe() && !d.probe {
		return
	}
	d.originals = slices.DeleteFunc(d.originals, x.value.same)
	if len(d.originals) == 0 {
		delete(k.defects, name)
	}
}
