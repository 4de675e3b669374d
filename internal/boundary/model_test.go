package boundary_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// model is a second reading of the contract, sections 3 to 7: slow, plain, and
// without a line of the core. It forgets nothing and looks everything up anew.
// It shares only types with the core (Instant, Digest, Envelope, Finding,
// Rollup). This file is what happens to boundaries, model_compare_test.go what
// they find, model_envelope_test.go the envelope, model_receipt_test.go what is
// said of it.
type model struct {
	cfg      *boundary.Config
	fleet    *fleet
	sessions map[boundary.SessionKey]*mSession
	order    []*mSession
	linked   map[string]bool
	seq      int
	now      time.Time
	outs     []out
	// doubts are places that the history came through where the contract can
	// be read in more than one way.
	doubts map[string]bool
}

func newModel(cfg *boundary.Config) *model {
	return &model{
		cfg: cfg, fleet: newFleet(), sessions: map[boundary.SessionKey]*mSession{}, linked: map[string]bool{}, doubts: map[string]bool{},
	}
}

func (m *model) doubt(what string) { m.doubts[what] = true }

// turn orders everything that happens.
func (m *model) turn() int {
	m.seq++
	return m.seq
}

type mSession struct {
	key       boundary.SessionKey
	seen      map[string]bool
	agents    []*mAgent
	approvals []*mApproval
}

// mAgent is one pairing key: an agent of a session.
type mAgent struct {
	s       *mSession
	name    string
	bounds  []*mBound
	last    *mBound // whose findings are part of the session's state
	snaps   []*mSnap
	looks   []*mLook // that were taken up
	waiting []*mLook
	ends    []mEnd
	active  map[boundary.AlertKind]bool
	items   map[boundary.AlertKind][]string // at the last receipt
	healthy map[string]mValue

	// What is outstanding.
	defects  map[string]*mDefect
	envs     []*mEnvDefect
	refused  *mRefusal
	effect   *mEffect
	overlook *mBound // whose window closed on a look that was bad itself
}

type mValue struct {
	d    digest.Digest
	form digest.Form
}

func (v mValue) nothing() bool { return !v.d.IsValue() }

func (v mValue) none() digest.Digest {
	if v.nothing() {
		return digest.None
	}
	return v.d
}

func (v mValue) comparable(w mValue) bool { return digest.Comparable(v.d, v.form, w.d, w.form) }

func (v mValue) same(w mValue) bool {
	if v.nothing() || w.nothing() {
		return v.nothing() && w.nothing()
	}
	return v.d == w.d && v.comparable(w)
}

type mSnap struct {
	ev    *boundary.Event
	at    classify.Instant
	seq   int
	bound *mBound
	like  *mSnap // the first of equal ones: they are one baseline
	end   classify.Instant
	// failed says of itself that it is none, or states none everywhere; hollow
	// ones are baselines only where no other is owed.
	failed, hollow bool
	debts          map[string]*mDebt // by name; "" is the whole: envelope, flaws, marker
}

type mDebt struct {
	status   debtStatus
	by       *mBound // that answered or retired it
	seq      int     // when it did so first
	shown    mValue
	seenAt   time.Time
	instead  *mValue // compared in the place of the snapshot's own value
	overdue  bool
	optional bool
}

type debtStatus int

const (
	owed debtStatus = iota
	answered
	retired // reported once and no longer compared
)

type mLook struct {
	ev  *boundary.Event
	at  time.Time
	seq int
}

func (l *mLook) received() classify.Instant { return classify.At(l.at) }
func (l *mLook) time() classify.Instant     { return l.ev.Time.Or(l.received()) }
func (sn *mSnap) time() classify.Instant    { return sn.ev.Time.Or(sn.at) }

type mEnd struct{ end, received classify.Instant }

type mState int

const (
	mOpen mState = iota
	mParked
	mSettled
)

type mBound struct {
	key       string // its name: the id of its first event, or one of its own
	id        string // the id that its events meet by
	seq       int
	state     mState
	deadline  time.Time // zero: waits for activity
	window    time.Duration
	from      time.Time // when its window first opened
	settledAt time.Time
	parkedAt  classify.Instant
	runtime   string
	outcome   boundary.Outcome

	snaps, comps int
	begun        classify.Instant // the newest snapshot or completion that joined
	openedEnd    classify.Instant // of the completion that opened it
	lastEnd      classify.Instant
	summary      string
	looks        []*mLook
	vf           *boundary.Event
	vfAt         time.Time
	vfSeq        int
	vfKept       bool
	passed       bool // its deadline
	unconfirmed  bool
	sufficient   bool // a look decided something
	denied       bool // a completion said that there was no compaction
	void         bool
	late         bool
	override     classify.Reason // where time or its end decided
	findings     []classify.Finding
	validated    bool
	envReasons   []classify.Reason
	since        map[string]bool
	originals    map[string][]mValue // of old defects that it compared
	raised       map[string]classify.Instant
	fired        map[boundary.AlertKind]bool
	rev          int
	reported     bool
	last         string
}

func (b *mBound) open() bool     { return b.state != mSettled }
func (b *mBound) observed() bool { return len(b.looks) > 0 || b.vf != nil }

const slack = time.Second

func meets(a, b string) bool { return a == "" || b == "" || a == b }

func notLaterThan(t, u classify.Instant) bool { return t <= u.Add(slack) }

// ---- events ----

func (m *model) observe(now time.Time, ev *boundary.Event) []out {
	m.now = now
	m.turn()
	if ev.Previous != "" {
		m.link(ev)
	}
	s := m.sessions[ev.Key.SessionKey]
	if ev.Kind == boundary.Completion && ev.Runtime != "" && (s == nil || !s.seen[eventID(ev)]) {
		m.fleet.Saw(ev.Key.Tenant(), ev.Runtime, boundary.ReportsCompletions)
	}
	if s == nil {
		switch ev.Kind {
		case boundary.Activity:
			if ev.Runtime != "" {
				m.fleet.Saw(ev.Key.Tenant(), ev.Runtime, boundary.ReportsActivity)
			}
			return nil
		case boundary.SessionStart, boundary.SessionEnd:
			return nil // nothing is known of it, and nothing need be
		case boundary.Completion:
			if !ev.Outcome.Happened() {
				return nil
			}
		}
		s = &mSession{key: ev.Key.SessionKey, seen: map[string]bool{}}
		m.sessions[s.key] = s
		m.order = append(m.order, s)
	}
	if s.seen[eventID(ev)] {
		return nil
	}
	s.seen[eventID(ev)] = true
	concerned := s.agents
	if ev.Key.Agent != "" {
		concerned = slices.DeleteFunc(slices.Clone(s.agents), func(k *mAgent) bool { return k.name != ev.Key.Agent })
	}
	switch ev.Kind {
	case boundary.Snapshot:
		m.snapshot(s, s.meeting(ev), ev)
	case boundary.Observation:
		m.look(s.meeting(ev), ev)
	case boundary.ValidationFailure:
		m.refuse(s.meeting(ev), ev)
	case boundary.Completion:
		if owner := s.owner(ev.BoundaryID); owner != nil {
			concerned = []*mAgent{owner}
		}
		m.completion(s, concerned, ev)
	case boundary.Approval:
		m.approve(s, ev.Approval)
	case boundary.SessionStart:
		for _, k := range concerned {
			m.wake(k, ev)
		}
	case boundary.SessionEnd:
		for _, k := range concerned {
			for _, b := range k.bounds {
				if b.state == mOpen && !m.time(ev).Before(b.begun) {
					m.end(k, b, classify.SessionEnded)
					b.state, b.parkedAt = mParked, m.time(ev)
				}
			}
		}
	case boundary.Activity:
		if ev.Runtime != "" {
			m.fleet.Saw(ev.Key.Tenant(), ev.Runtime, boundary.ReportsActivity)
		}
		for _, k := range s.agents {
			if k.name != ev.Key.Agent {
				continue
			}
			m.wake(k, ev)
			for _, b := range k.bounds {
				end := max(b.lastEnd, b.openedEnd)
				if b.state == mOpen && b.deadline.IsZero() && (!m.time(ev).Before(end) || end.After(classify.At(now))) {
					m.arm(b)
				}
			}
		}
	}
	return m.flush()
}

func eventID(ev *boundary.Event) string { return fmt.Sprint(ev.Fingerprint, ev.Key.Agent) }

func (m *model) flush() []out {
	outs := m.outs
	m.outs = nil
	return outs
}

func (m *model) time(ev *boundary.Event) classify.Instant { return ev.Time.Or(classify.At(m.now)) }

// link moves the previous session's state to the new id, once.
func (m *model) link(ev *boundary.Event) {
	from := boundary.SessionKey{Scope: ev.Key.Scope, Session: ev.Previous}
	old, pair := m.sessions[from], ev.Previous+">"+ev.Key.Session
	if old == nil || from == ev.Key.SessionKey || m.linked[pair] {
		return
	}
	if m.sessions[ev.Key.SessionKey] != nil {
		m.doubt("two sessions become one")
		return
	}
	m.linked[pair] = true
	delete(m.sessions, from)
	old.key = ev.Key.SessionKey
	m.sessions[old.key] = old
}

func (s *mSession) agent(name string) *mAgent {
	for _, k := range s.agents {
		if k.name == name {
			return k
		}
	}
	k := &mAgent{
		s: s, name: name, defects: map[string]*mDefect{}, healthy: map[string]mValue{},
		active: map[boundary.AlertKind]bool{}, items: map[boundary.AlertKind][]string{},
	}
	s.agents = append(s.agents, k)
	return k
}

// owner is the agent that has a boundary of an explicit id.
func (s *mSession) owner(id string) *mAgent {
	for _, k := range s.agents {
		if slices.ContainsFunc(k.bounds, func(b *mBound) bool { return id != "" && b.id == id }) {
			return k
		}
	}
	return nil
}

// meeting is the agent whose boundaries an event meets: explicit ids pair across
// agents.
func (s *mSession) meeting(ev *boundary.Event) *mAgent {
	if k := s.owner(ev.BoundaryID); k != nil {
		return k
	}
	return s.agent(ev.Key.Agent)
}

// wake gives parked boundaries a full window again, unless the event is a
// leftover from before the session's end.
func (m *model) wake(k *mAgent, ev *boundary.Event) {
	for _, b := range k.bounds {
		at := m.time(ev)
		if b.state == mParked && (b.parkedAt.Before(at) || at == b.parkedAt && ev.Kind != boundary.Activity) {
			m.arm(b)
		}
	}
}

func (m *model) window(runtime string) time.Duration {
	if w := m.cfg.Runtimes[runtime].Window; w > 0 {
		return w
	}
	return m.cfg.Window
}

func (m *model) arm(b *mBound) {
	b.state, b.deadline, b.passed = mOpen, m.now.Add(b.window), false
}

func (m *model) open(k *mAgent, ev *boundary.Event) *mBound {
	b := &mBound{
		id: ev.BoundaryID, seq: m.turn(), from: m.now, runtime: ev.Runtime, window: m.window(ev.Runtime), since: map[string]bool{},
		originals: map[string][]mValue{}, raised: map[string]classify.Instant{}, fired: map[boundary.AlertKind]bool{},
	}
	b.key = fmt.Sprintf("b-%d", b.seq)
	if b.id != "" {
		b.key = b.id
		for _, o := range k.bounds {
			if o.key == b.key { // a receipt's name is its id and revision
				b.rev = max(b.rev, o.rev)
			}
		}
	}
	m.arm(b)
	k.bounds = append(k.bounds, b)
	return b
}

// learn takes what a boundary hears from whatever joins it.
func (b *mBound) learn(ev *boundary.Event) {
	if b.id == "" {
		b.id = ev.BoundaryID
	}
	if b.runtime == "" {
		b.runtime = ev.Runtime
	}
}

// own is the open boundary that an event with this id belongs to: its own, else
// the newest that has no other id.
func (k *mAgent) own(id string) *mBound {
	var own, other *mBound
	for _, b := range k.bounds {
		switch {
		case !b.open() || !meets(b.id, id):
		case b.id == id:
			own = b
		default:
			other = b
		}
	}
	if own != nil {
		return own
	}
	return other
}

// openFor lists the open boundaries that an event with this id meets.
func (k *mAgent) openFor(id string) []*mBound {
	var open []*mBound
	for _, b := range k.bounds {
		if b.open() && (id == "" || b == k.own(id)) {
			open = append(open, b)
		}
	}
	return open
}

// newest is the latest boundary that an event with this id meets.
func (k *mAgent) newest(id string) *mBound {
	var newest *mBound
	for _, b := range k.bounds {
		if !b.void && meets(b.id, id) {
			newest = b
		}
	}
	return newest
}

// ---- snapshots ----

func (m *model) snapshot(s *mSession, k *mAgent, ev *boundary.Event) {
	m.wake(k, ev)
	for _, b := range k.openFor(ev.BoundaryID) {
		if b.snaps == 0 && b.comps > 0 && !notLaterThan(m.time(ev), b.openedEnd) {
			m.end(k, b, classify.NoBaseline) // taken from the summary
		}
	}
	sn := m.newSnap(k, ev)
	b := k.own(ev.BoundaryID)
	switch {
	case b == nil:
		b = m.open(k, ev)
	case b.snaps == 0 && b.state == mOpen:
		b.from = m.now
		m.arm(b)
	}
	b.learn(ev)
	b.snaps++
	b.begun = max(b.begun, ev.Time)
	sn.bound = b
	for _, e := range k.ends { // that came before it
		if notLaterThan(sn.time(), e.end) && (sn.end == 0 || e.end < sn.end) {
			sn.end = e.end
		}
	}
	for _, name := range m.changedSince(k, sn) {
		b.since[name] = true
	}
	m.gather(s, k, b, sn)
	if b.observed() {
		m.evaluate(k, b)
	}
}

func (m *model) newSnap(k *mAgent, ev *boundary.Event) *mSnap {
	sn := &mSnap{ev: ev, at: classify.At(m.now), seq: m.turn(), debts: map[string]*mDebt{"": {}}}
	nones := 0
	for _, st := range ev.Statements {
		optional := st.Optional && classify.MayBeOptional(st.Name) && !slices.Contains(m.cfg.RequiredInvariants, st.Name)
		sn.debts[st.Name] = &mDebt{optional: optional}
		if st.Fault == "" && !st.Digest.IsValue() {
			nones++
		}
	}
	sn.failed = ev.SnapshotFailed || nones > 0 && nones == len(ev.Statements)
	flawed := ev.Dropped || ev.BadName || ev.TooMany
	sn.hollow = sn.failed || len(ev.Statements) == 0 && ev.Envelope == nil && !flawed
	if sn.failed { // what it states is no baseline: only the whole is owed
		sn.debts = map[string]*mDebt{"": {}}
	} else if len(ev.Statements) > 0 && ev.Envelope == nil && !flawed {
		sn.debts[""].status = answered
	}
	sn.like = sn
	for _, o := range k.snaps {
		if o.owes() && o.content() == sn.content() {
			sn.like = o.like
		}
	}
	for _, o := range k.snaps { // hollow ones give way
		switch {
		case sn.hollow && !o.hollow && o.owes():
			sn.debts[""].status = answered
		case !sn.hollow && o.hollow && o.debts[""].status == owed && !o.debts[""].overdue:
			o.debts[""].status = answered
		}
	}
	k.snaps = append(k.snaps, sn)
	return sn
}

// content is what a snapshot stated: equal ones are one baseline.
func (sn *mSnap) content() string {
	var b strings.Builder
	fmt.Fprint(&b, sn.ev.BoundaryID, sn.failed, sn.ev.Form, sn.ev.Dropped, sn.ev.BadName, sn.ev.TooMany)
	if sn.ev.Envelope != nil {
		fmt.Fprint(&b, *sn.ev.Envelope)
	}
	for _, st := range sn.ev.Statements {
		fmt.Fprint(&b, st.Name, st.Digest, st.Fault, st.Text, st.Optional)
	}
	return b.String()
}

func (sn *mSnap) owes() bool {
	for _, d := range sn.debts {
		if d.status == owed {
			return true
		}
	}
	return false
}

// missing reports whether anything required is past its deadline and not
// answered.
func (sn *mSnap) missing() bool {
	for _, d := range sn.debts {
		if d.overdue && d.status != answered && !d.optional {
			return true
		}
	}
	return false
}

func (sn *mSnap) heldBy(b *mBound) bool {
	for _, d := range sn.debts {
		if d.by == b {
			return true
		}
	}
	return false
}

// replaced reports whether another snapshot asks in the place of a hollow one.
func (sn *mSnap) replaced() bool {
	return sn.hollow && sn.debts[""].status == answered && sn.debts[""].by == nil
}

// inPlay reports whether a boundary compares a snapshot: what it answered itself,
// and what was owed when it was open.
func (b *mBound) inPlay(sn *mSnap) bool {
	return meets(b.id, sn.ev.BoundaryID) && (sn.heldBy(b) || sn.owes() && sn.bound.seq <= b.seq)
}

// compared lists the snapshots that a boundary compares.
func (k *mAgent) compared(b *mBound) []*mSnap {
	return slices.DeleteFunc(slices.Clone(k.snaps), func(sn *mSnap) bool { return !b.inPlay(sn) })
}

// baselines are those without the hollow ones, where there are others.
func (k *mAgent) baselines(b *mBound) []*mSnap {
	all := k.compared(b)
	solid := slices.DeleteFunc(slices.Clone(all), func(sn *mSnap) bool { return sn.hollow })
	if len(solid) > 0 {
		return solid
	}
	return all
}

func (k *mAgent) owedFrom(b *mBound) bool {
	return slices.ContainsFunc(k.snaps, func(sn *mSnap) bool { return sn.bound == b && sn.owes() })
}

// gather joins the looks that a snapshot finds: those that wait and are not
// earlier than it, and those of the last window that are later than every
// snapshot of the boundary.
func (m *model) gather(s *mSession, k *mAgent, b *mBound, sn *mSnap) {
	timed := func(sn *mSnap) bool { return sn.ev.Time.Plausible(sn.at) }
	for _, o := range s.agents {
		for _, l := range slices.Clone(o.waiting) {
			mine := o == k && meets(l.ev.BoundaryID, b.id) || l.ev.BoundaryID != "" && l.ev.BoundaryID == b.id
			if mine && !(timed(sn) && l.ev.Time.Plausible(l.received()) && l.ev.Time < sn.ev.Time) {
				o.waiting = slices.DeleteFunc(o.waiting, func(x *mLook) bool { return x == l })
				k.take(b, l)
				k.looks = append(k.looks, l)
			}
		}
	}
	for _, l := range k.looks {
		if slices.Contains(b.looks, l) || !meets(l.ev.BoundaryID, b.id) || m.now.Sub(l.at) > m.cfg.Window ||
			!l.ev.Time.Plausible(l.received()) || sn.ev.Time > l.received() {
			continue
		}
		if !slices.ContainsFunc(k.snaps, func(o *mSnap) bool { return o.bound == b && !(timed(o) && l.ev.Time.After(o.ev.Time)) }) {
			b.looks = append(b.looks, l) // it told its own boundary what else it knows
		}
	}
	slices.SortFunc(b.looks, func(x, y *mLook) int { return x.seq - y.seq })
}

func (k *mAgent) take(b *mBound, l *mLook) {
	b.learn(l.ev)
	b.looks = append(b.looks, l)
}

func (m *model) changedSince(k *mAgent, sn *mSnap) []string {
	var names []string
	for name, last := range k.healthy {
		v := mValue{digest.None, sn.ev.Form}
		st, ok := statement(sn.ev, name)
		switch {
		case sn.hollow || len(sn.ev.Statements) == 0 || k.defects[name] != nil:
			continue
		case ok && st.Fault != "" || !ok && (sn.ev.Dropped || sn.ev.TooMany):
			continue
		case ok:
			v.d = st.Digest
		}
		if v.same(last) || !v.nothing() && !last.nothing() && !v.comparable(last) {
			continue
		}
		if !m.ask(k, name, last, v, m.now, nil, nil).covers() {
			names = append(names, name)
		}
	}
	return names
}

// ---- looks and refusals ----

func (m *model) look(k *mAgent, ev *boundary.Event) {
	m.wake(k, ev)
	l := &mLook{ev: ev, at: m.now, seq: m.turn()}
	open := k.openFor(ev.BoundaryID)
	if !slices.ContainsFunc(open, func(b *mBound) bool { return b.snaps > 0 }) {
		k.waiting = append(k.waiting, l)
		return
	}
	k.looks = append(k.looks, l)
	for _, b := range open {
		k.take(b, l)
		m.evaluate(k, b)
	}
}

// takeUp is the end of the reorder grace of a look that found nothing open.
func (m *model) takeUp(k *mAgent, l *mLook) {
	m.turn()
	b := k.newest(l.ev.BoundaryID)
	if open := k.openFor(l.ev.BoundaryID); len(open) > 0 {
		b = open[len(open)-1]
	}
	switch {
	case b == nil || !b.open() && !k.owedFrom(b) && l.at.Sub(b.settledAt) >= b.window:
		b = m.open(k, l.ev)
	case b.passed:
		b.late = true
	}
	k.looks = append(k.looks, l)
	k.take(b, l)
	m.evaluate(k, b)
}

func (m *model) refuse(k *mAgent, ev *boundary.Event) {
	b := k.own(ev.BoundaryID)
	if b == nil {
		b = k.newest(ev.BoundaryID)
		if b == nil || !k.owedFrom(b) && m.now.Sub(b.settledAt) >= b.window {
			b = m.open(k, ev)
		}
	}
	b.vf, b.vfAt, b.vfSeq, b.vfKept = ev, m.now, m.turn(), false
	b.learn(ev)
	m.evaluate(k, b)
}

// ---- completions ----

func (m *model) completion(s *mSession, agents []*mAgent, ev *boundary.Event) {
	if !ev.Outcome.Happened() {
		for _, k := range agents {
			if sn := k.concerned(m.time(ev), ev.BoundaryID); sn != nil {
				m.cancel(k, sn, ev)
			}
		}
		return
	}
	taken := false
	for _, k := range agents { // what is open comes first
		open := k.openFor(ev.BoundaryID)
		taken = taken || len(open) > 0
		if len(open) > 0 {
			m.ended(k, ev)
		}
		for _, b := range open {
			m.confirm(b, s, ev)
			if b.observed() && b.state != mParked {
				m.evaluate(k, b)
			}
		}
	}
	if taken {
		return
	}
	for _, k := range agents {
		taken = m.completionAfter(k, ev) || taken
	}
	if !taken {
		k := s.agent(ev.Key.Agent)
		b := m.open(k, ev)
		b.openedEnd = m.time(ev)
		k.addEnd(b.openedEnd, classify.At(m.now))
		last := b.lastEnd
		m.confirm(b, s, ev)
		b.lastEnd = last
	}
}

// completionAfter is a completion that finds its boundary settled; false where
// it is a compaction of its own.
func (m *model) completionAfter(k *mAgent, ev *boundary.Event) bool {
	end := m.time(ev)
	b := k.newest(ev.BoundaryID)
	if sn := k.concerned(end, ev.BoundaryID); sn != nil && slices.Contains(k.bounds, sn.bound) {
		b = sn.bound
	}
	if b == nil {
		return false
	}
	covered := slices.ContainsFunc(b.looks, func(l *mLook) bool {
		early := slices.ContainsFunc(l.ev.Statements, func(st boundary.Statement) bool { return st.ObservedAt <= end })
		return l.time() > end && len(l.ev.Statements) > 0 && !early
	})
	again := b.passed && !b.sufficient || b.unconfirmed
	switch {
	case b.comps > 0 && covered:
		return true // the same compaction, or an older one
	case b.snaps == 0 && !covered:
		return false
	case !again && (b.comps > 0 || b.denied):
		return false
	}
	m.ended(k, ev)
	if again {
		b.unconfirmed = false
		m.arm(b)
		m.confirm(b, k.s, ev)
		return true
	}
	b.from = m.now
	m.confirm(b, k.s, ev)
	if b.observed() {
		b.passed = false
		m.evaluate(k, b)
	}
	return true
}

// ended notes the end of a compaction, and whose it was.
func (m *model) ended(k *mAgent, ev *boundary.Event) {
	end := m.time(ev)
	k.addEnd(end, classify.At(m.now))
	if sn := k.concerned(end, ev.BoundaryID); sn != nil {
		sn.end = end
	}
}

// addEnd notes an end, unless a later one was known before.
func (k *mAgent) addEnd(end, received classify.Instant) {
	if !slices.ContainsFunc(k.ends, func(e mEnd) bool { return e.end >= end && e.received <= received }) {
		k.ends = append(k.ends, mEnd{end, received})
	}
}

func (m *model) confirm(b *mBound, s *mSession, ev *boundary.Event) {
	b.learn(ev)
	b.comps++
	b.begun = max(b.begun, ev.Time)
	b.outcome, b.lastEnd, b.window = ev.Outcome, m.time(ev), m.window(b.runtime)
	if b.runtime != "" {
		m.fleet.Saw(s.key.Tenant(), b.runtime, boundary.ReportsCompletions)
	}
	if e := ev.Envelope; e != nil && e.Fields[classify.FieldSummarySHA256] != "" {
		b.summary = e.Fields[classify.FieldSummarySHA256]
	}
	if b.comps > 1 || b.state != mOpen {
		return
	}
	b.from = m.now
	m.arm(b)
	if m.cfg.Runtimes[b.runtime].StartsWithActivity && m.fleet.Seen(s.key.Tenant(), b.runtime, boundary.ReportsActivity) {
		b.deadline = time.Time{}
	}
}

// concerned is the snapshot that a completion speaks of: the newest that has none
// and is not later than it, unless a later one has one already and this one is
// equal to it or owes nothing.
func (k *mAgent) concerned(end classify.Instant, id string) *mSnap {
	newest := func(completed bool) *mSnap {
		var best *mSnap
		for _, sn := range k.snaps {
			if (sn.end != 0) == completed && !sn.replaced() && meets(sn.ev.BoundaryID, id) && notLaterThan(sn.time(), end) &&
				(best == nil || sn.time() >= best.time()) {
				best = sn
			}
		}
		return best
	}
	sn, done := newest(false), newest(true)
	if sn != nil && done != nil && done.time() > sn.time() && (!sn.owes() || sn.content() == done.content()) {
		return nil
	}
	return sn
}

// cancel is a completion that says that a snapshot met no compaction.
func (m *model) cancel(k *mAgent, sn *mSnap, ev *boundary.Event) {
	b := sn.bound
	wasOpen, state := b.open(), m.sessionState(k)
	b.learn(ev)
	b.denied = true
	if !wasOpen && b.observed() { // its findings stay
		sn.end = m.time(ev)
		for _, d := range sn.debts {
			if d.status == owed {
				d.status, d.by = answered, b
			}
			d.overdue = false
		}
	} else {
		k.snaps = slices.DeleteFunc(k.snaps, func(x *mSnap) bool { return x == sn })
	}
	switch {
	case b.comps == 0 && !k.owedFrom(b) && (wasOpen || !b.observed()): // nothing is left of it
		b.outcome, b.void = ev.Outcome, true
		m.settle(b)
		if k.last == b {
			k.last = nil
			for _, o := range k.bounds {
				if o != b && !o.void && o.reported {
					k.last = o
				}
			}
		}
		if ev.Outcome == boundary.Failed {
			b.override = classify.CompactionFailed
			if wasOpen {
				m.emit(k, b)
				return
			}
		}
		if !b.reported {
			k.bounds = slices.DeleteFunc(k.bounds, func(x *mBound) bool { return x == b })
		}
	case wasOpen && b.observed() && b.state != mParked:
		m.evaluate(k, b)
		return
	}
	m.emitIfStateChanged(k, b, state)
}

// ---- time ----

// advance does what is due, in order: looks that waited long enough, then
// deadlines.
func (m *model) advance(now time.Time) []out {
	for {
		var due time.Time
		consider := func(t time.Time) {
			if !t.IsZero() && !t.After(now) && (due.IsZero() || t.Before(due)) {
				due = t
			}
		}
		for _, s := range m.order {
			for _, k := range s.agents {
				for _, l := range k.waiting {
					consider(l.at.Add(m.cfg.ReorderGrace))
				}
				for _, b := range k.bounds {
					if b.state == mOpen {
						consider(b.deadline)
					}
				}
			}
		}
		if due.IsZero() {
			return m.flush()
		}
		m.now = due
		for _, s := range m.order {
			for _, k := range s.agents {
				m.takeUpAll(k, due.Add(-m.cfg.ReorderGrace))
				for _, b := range slices.Clone(k.bounds) {
					if b.state == mOpen && !b.deadline.IsZero() && !b.deadline.After(due) {
						m.expire(k, b)
					}
				}
			}
		}
	}
}

// takeUpAll takes up the looks that came until then.
func (m *model) takeUpAll(k *mAgent, until time.Time) {
	for len(k.waiting) > 0 && !k.waiting[0].at.After(until) {
		l := k.waiting[0]
		k.waiting = k.waiting[1:]
		m.takeUp(k, l)
	}
}

func (m *model) settle(b *mBound) {
	if b.open() {
		b.settledAt = m.now
	}
	b.state, b.deadline = mSettled, time.Time{}
}

func (k *mAgent) decided(b *mBound) {
	if k.last == nil || k.last.seq <= b.seq {
		k.last = b
	}
}

// end settles a boundary for a reason that is no look's.
func (m *model) end(k *mAgent, b *mBound, reason classify.Reason) {
	m.settle(b)
	b.override = reason
	k.decided(b)
	m.emit(k, b)
}

// expire is a boundary's deadline.
func (m *model) expire(k *mAgent, b *mBound) {
	b.passed = true
	m.settle(b)
	k.decided(b)
	owes := slices.ContainsFunc(k.compared(b), (*mSnap).owes)
	confirmed := b.comps > 0 || slices.ContainsFunc(k.snaps, func(sn *mSnap) bool { return sn.bound == b && sn.end != 0 })
	switch {
	case !b.observed() && b.comps > 0 && (b.snaps == 0 || !owes):
		b.override = classify.NoObservation
		m.emit(k, b)
		return
	case m.cfg.Runtimes[b.runtime].Confirm && !confirmed && m.fleet.Seen(k.s.key.Tenant(), b.runtime, boundary.ReportsCompletions):
		b.override, b.unconfirmed = classify.CompactionUnconfirmed, true
		m.emit(k, b)
		return
	case b.observed():
		b.override = ""
	default:
		b.override = classify.PostObservationMissing
	}
	found := false
	for _, sn := range k.compared(b) {
		for _, d := range sn.debts {
			if d.status == owed {
				d.overdue = true
				found = found || !d.optional
			}
		}
	}
	if !found && b.observed() { // else another boundary answered what this one asked
		k.overlook = b
	}
	m.emit(k, b)
}

func (m *model) shutdown(now time.Time) []out {
	m.now = now
	for _, s := range m.order {
		for _, k := range s.agents {
			m.takeUpAll(k, now)
			for _, b := range k.bounds {
				if b.state == mOpen {
					m.end(k, b, classify.CollectorShutdown)
				}
			}
		}
	}
	return m.flush()
}

// ---- approvals ----

type mApproval struct {
	approval.Approval
	revokedAt time.Time
	user      *mBound // that it was used up by
	after     bool    // its verdict
	look      *mLook
}

// mPath is what approvals say of a change.
type mPath struct {
	links []*mApproval
	fault classify.Reason // "" for none
}

func (p mPath) covers() bool { return len(p.links) > 0 && p.fault == "" }

func (p mPath) after() bool {
	return slices.ContainsFunc(p.links, func(a *mApproval) bool { return a.after })
}

func (p mPath) use(b *mBound, l *mLook, after bool) {
	for _, a := range p.links {
		if a.user == nil {
			a.user, a.look, a.after = b, l, after
		}
	}
}

func (a *mApproval) expired(at time.Time) bool {
	if a.ExpiresAt == "" {
		return false
	}
	t, err := time.Parse(time.RFC3339Nano, a.ExpiresAt)
	return err != nil || !at.Before(t)
}

func (a *mApproval) notYet() bool {
	t, err := time.Parse(time.RFC3339Nano, a.ApprovedAt)
	return a.ApprovedAt != "" && (err != nil || t.After(a.Received.Add(5*time.Minute)))
}

func (a *mApproval) good() bool { return a.Independent && !a.notYet() }

// faults are in the order in which one is named where several hold.
var approvalFaults = []classify.Reason{
	"", classify.ApprovalExpired, classify.ApprovalRevoked, classify.ApprovalNotIndependent, classify.ApprovalReused, classify.ApprovalNotYetValid,
}

func (a *mApproval) fault(at time.Time, b *mBound, l *mLook) classify.Reason {
	own := a.user != nil && (a.user == b || l != nil && a.look == l)
	switch {
	case a.expired(at):
		return classify.ApprovalExpired
	case !a.revokedAt.IsZero() && (!own || !a.revokedAt.After(at)):
		return classify.ApprovalRevoked
	case !a.Independent:
		return classify.ApprovalNotIndependent
	case a.user != nil && !own:
		return classify.ApprovalReused
	case a.notYet():
		return classify.ApprovalNotYetValid
	}
	return ""
}

// ask looks for the approvals that lead from one value to another: the fewest
// faulty ones, then the fewest.
func (m *model) ask(k *mAgent, name string, from, to mValue, at time.Time, b *mBound, l *mLook) mPath {
	type pair struct{ from, to digest.Digest }
	links := map[pair]*mApproval{}
	fault := func(a *mApproval) classify.Reason { return a.fault(at, b, l) }
	for _, a := range k.s.approvals {
		if a.Invariant != name || a.Agent != "" && a.Agent != k.name {
			continue
		}
		p := pair{a.From, a.To}
		if o := links[p]; o == nil || slices.Index(approvalFaults, fault(a)) < slices.Index(approvalFaults, fault(o)) {
			links[p] = a
		}
	}
	var best mPath
	faulty, tied := 0, false
	var walk func(at digest.Digest, visited []digest.Digest, path []*mApproval, n int)
	walk = func(at digest.Digest, visited []digest.Digest, path []*mApproval, n int) {
		if at == to.none() && len(path) > 0 {
			better := best.links == nil || n < faulty || n == faulty && len(path) < len(best.links)
			if !better {
				tied = tied || n == faulty && len(path) == len(best.links)
				return
			}
			best, faulty, tied = mPath{links: slices.Clone(path)}, n, false
			for _, a := range path {
				if best.fault == "" {
					best.fault = fault(a)
				}
			}
			return
		}
		for p, a := range links {
			if p.from != at || slices.Contains(visited, p.to) {
				continue
			}
			bad := n
			if fault(a) != "" {
				bad++
			}
			walk(p.to, append(slices.Clone(visited), p.to), append(slices.Clone(path), a), bad)
		}
	}
	walk(from.none(), []digest.Digest{from.none()}, nil, 0)
	if tied {
		m.doubt("two chains of approvals, and none is better")
	}
	return best
}

func (m *model) approve(s *mSession, a *approval.Approval) {
	if a.Ref == "" {
		return
	}
	i := slices.IndexFunc(s.approvals, func(x *mApproval) bool {
		return x.Ref == a.Ref && x.Invariant == a.Invariant && x.From == a.From && x.To == a.To
	})
	if i < 0 {
		i = len(s.approvals)
		s.approvals = append(s.approvals, &mApproval{Approval: *a})
	}
	x, again := s.approvals[i], &mApproval{Approval: *a}
	switch {
	case a.Revoked:
		if x.revokedAt.IsZero() {
			x.revokedAt = a.Received
		}
	case x.Revoked, !x.good() && again.good(), again.good() && x.expired(a.Received) && !again.expired(a.Received):
		agent := x.Agent
		x.Approval = *a
		if agent == "" && a.Agent != "" {
			m.doubt("a better copy of an approval, for one agent only")
		}
	}
	if !a.Revoked && a.Agent == "" && again.good() {
		x.Agent = ""
	}
	for _, k := range s.agents {
		m.approvedAfter(k, a.Invariant)
	}
}

// approvedAfter marks what approvals cover of what was found already. Nothing is
// evaluated again.
func (m *model) approvedAfter(k *mAgent, name string) {
	var touched *mBound
	if d := k.defects[name]; d != nil && m.cover(k, d, d.shown, d.seenAt, d.bound, nil, true) {
		k.healthy[name] = d.shown
		touched = d.bound
	}
	for _, sn := range k.snaps {
		d := sn.debts[name]
		st, _ := statement(sn.ev, name)
		if d == nil || d.status != retired || st.Fault != "" {
			continue
		}
		if p := m.ask(k, name, mValue{st.Digest, sn.ev.Form}, d.shown, d.seenAt, d.by, nil); p.covers() {
			p.use(d.by, nil, true)
			d.status = answered
			touched = d.by
		}
	}
	if touched == nil {
		return
	}
	for i, f := range touched.findings {
		if f.Name == name && f.State >= classify.Dropped && k.defects[name] == nil {
			touched.findings[i].Reason, touched.findings[i].Cleared = classify.ApprovedAfter, classify.ApprovedChange
		}
	}
	m.emit(k, touched)
}

// cover takes the originals off a defect whose way to what was shown is
// approved, and reports whether there were any.
func (m *model) cover(k *mAgent, d *mDefect, shown mValue, seen time.Time, b *mBound, l *mLook, after bool) bool {
	n := len(d.originals)
	d.originals = slices.DeleteFunc(d.originals, func(original mValue) bool {
		p := m.ask(k, d.name, original, shown, seen, b, l)
		if p.covers() {
			p.use(b, l, after)
		}
		return p.covers()
	})
	if len(d.originals) == 0 {
		delete(k.defects, d.name)
	}
	return len(d.originals) < n
}
