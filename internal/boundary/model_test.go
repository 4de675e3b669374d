package boundary_test

import (
	"cmp"
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
// without a line of the core. It keeps everything that a session was told in
// lists and derives findings, debts and alerts from the lists again whenever
// something happens. It shares only types with the core (Instant, Digest,
// Finding, Rollup).
type model struct {
	cfg      *boundary.Config
	fleet    *fleet
	sessions map[boundary.SessionKey]*mSession
	moved    map[boundary.SessionKey]bool
	seq      int
	now      time.Time
	outs     []out
	// doubts are places that the history came through where the contract can
	// be read in more than one way.
	doubts map[string]bool
}

func (m *model) doubt(what string) { m.doubts[what] = true }

type mSession struct {
	key       boundary.SessionKey
	seen      map[uint64]bool
	snaps     []*mSnap
	looks     []*mLook
	comps     []*mComp
	approvals []*mApproval
	bounds    []*mBound
	agents    map[string]*mAgent
	activity  map[string][]time.Time
}

// mAgent is what one key of a session has outstanding.
type mAgent struct {
	defects map[string]*mDefect
	env     map[classify.Reason]*mEnvDefect // "effect" for an unresolved one
	healthy map[string]mValue
	active  map[boundary.AlertKind]bool
	items   map[mItem]bool // at the last receipt
}

type mItem struct {
	kind boundary.AlertKind
	name string
}

type mValue struct {
	d    digest.Digest
	form digest.Form
}

type mSnap struct {
	ev        *boundary.Event
	at        time.Time
	seq       int
	comp      *mComp
	cancelled bool
	marker    bool // states no invariant, or nothing but none
	missing   bool // marker that says so: failed, or nothing but none
	changed   []string
	debts     map[string]*mDebt // by name; of a marker: the one named ""
}

type mDebt struct {
	status  debtStatus
	by      *mBound // that answered or retired it
	seq     int     // when
	shown   mValue  // what the look showed, where retired
	covered bool
	overdue bool // its deadline passed before there was an answer
}

type debtStatus int

const (
	owed debtStatus = iota
	answered
	retired // reported once and no longer compared
)

type mLook struct {
	ev      *boundary.Event
	at      time.Time
	seq     int
	waiting bool
}

type mComp struct {
	ev  *boundary.Event
	at  time.Time
	seq int
}

type mApproval struct {
	*approval.Approval
	user *mBound
	name string
}

type mDefect struct {
	name   string
	state  classify.State
	orig   mValue
	snap   *mSnap // whose value it was
	t      classify.Instant
	strong bool // shown by an agent or a human
	shown  mValue
	at     time.Time // receipt of the look that showed it
	seq    int       // of the first look that showed it
	bounds []*mBound // that showed it
}

type mEnvDefect struct {
	orig    *classify.Envelope // nil: the runtime said so
	effect  bool
	verdict bool
	bound   *mBound
}

type mState int

const (
	mOpen mState = iota
	mParked
	mSettled
	mEnded // of a compaction that did not happen
)

type mBound struct {
	id, key     string // explicit id, "" for none; name of its own
	agent       string
	seq         int
	state       mState
	snaps       []*mSnap
	comps       []*mComp
	looks       []*mLook
	vf          *boundary.Event
	vfSeq       int
	rearmed     time.Time
	settledAt   time.Time
	touched     time.Time // by a completion that was only counted
	byDeadline  bool
	adds        bool // its deadline made a baseline overdue
	unconfirmed bool
	late        bool
	flaw        bool // its deadline found a flaw of the look itself
	void        bool // of a compaction that did not happen, known after the deadline
	lastState   classify.State
	reason      classify.Reason // of a boundary that nobody observed
	override    classify.Reason // session_ended, collector_shutdown
	outcome     boundary.Outcome
	rev         int
	findings    []classify.Finding
	validation  classify.Validation
	flawed      map[*mSnap]bool     // snapshots whose own flaws it reports
	cleared     map[string]*mDefect // by an approval after the verdict
	shown       map[string]mValue   // by the looks that count
	origs       map[string]*mDefect // whose original values were its baselines
	fired       map[boundary.AlertKind]bool
	last        string
	reported    bool
}

const slack = time.Second

// envelopeDebt is the name of the debt of an envelope: no invariant's.
const envelopeDebt = "\x00envelope"

func newModel(cfg *boundary.Config) *model {
	return &model{cfg: cfg, fleet: newFleet(), sessions: map[boundary.SessionKey]*mSession{}, moved: map[boundary.SessionKey]bool{}, doubts: map[string]bool{}}
}

// ---- events ----

func (m *model) observe(now time.Time, ev *boundary.Event) []out {
	m.now = now
	m.seq++
	if ev.Previous != "" {
		m.link(ev)
	}
	s := m.session(ev.Key.SessionKey)
	if s.seen[ev.Fingerprint] {
		return m.flush()
	}
	s.seen[ev.Fingerprint] = true
	agents := []string{ev.Key.Agent}
	if ev.Key.Agent == "" {
		agents = s.agentNames()
	}
	for _, sn := range s.snaps {
		if (sn.ev.BoundaryID == "") != (ev.BoundaryID == "") && (ev.Kind == boundary.Snapshot || ev.Kind == boundary.Observation || ev.Kind == boundary.Completion) {
			m.doubt("boundary ids on some events only")
		}
	}
	switch ev.Kind {
	case boundary.Snapshot:
		m.arm(s, []string{ev.Key.Agent})
		m.snapshot(s, ev)
	case boundary.Observation:
		m.arm(s, []string{ev.Key.Agent})
		m.look(s, ev)
	case boundary.Completion:
		m.completion(s, ev, agents)
	case boundary.Approval:
		m.approve(s, ev, agents)
	case boundary.ValidationFailure:
		m.refuse(s, ev)
	case boundary.SessionStart:
		m.arm(s, agents)
	case boundary.SessionEnd:
		for _, b := range s.bounds {
			if b.state == mOpen && slices.Contains(agents, b.agent) {
				b.state, b.override = mParked, classify.SessionEnded
				m.emit(s, b)
			}
		}
	case boundary.Activity:
		if ev.Runtime != "" {
			m.fleet.Saw(ev.Key.Tenant(), ev.Runtime, boundary.ReportsActivity)
		}
		s.activity[ev.Key.Agent] = append(s.activity[ev.Key.Agent], now)
		m.arm(s, []string{ev.Key.Agent})
	}
	return m.flush()
}

func (m *model) flush() []out {
	outs := m.outs
	m.outs = nil
	return outs
}

func (m *model) session(k boundary.SessionKey) *mSession {
	s := m.sessions[k]
	if s == nil {
		s = &mSession{key: k, seen: map[uint64]bool{}, agents: map[string]*mAgent{}, activity: map[string][]time.Time{}}
		m.sessions[k] = s
	}
	return s
}

func (s *mSession) agent(name string) *mAgent {
	a := s.agents[name]
	if a == nil {
		a = &mAgent{
			defects: map[string]*mDefect{}, env: map[classify.Reason]*mEnvDefect{}, healthy: map[string]mValue{},
			active: map[boundary.AlertKind]bool{}, items: map[mItem]bool{},
		}
		s.agents[name] = a
	}
	return a
}

func (s *mSession) agentNames() []string {
	names := []string{""}
	for n := range s.agents {
		if n != "" {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

// link moves the previous session's state to the new id, once.
func (m *model) link(ev *boundary.Event) {
	from := boundary.SessionKey{Scope: ev.Key.Scope, Session: ev.Previous}
	old := m.sessions[from]
	if old == nil || from == ev.Key.SessionKey || m.moved[from] || m.sessions[ev.Key.SessionKey] != nil {
		return
	}
	m.moved[from] = true
	delete(m.sessions, from)
	old.key = ev.Key.SessionKey
	m.sessions[old.key] = old
}

// arm gives parked boundaries a full window again.
func (m *model) arm(s *mSession, agents []string) {
	for _, b := range s.bounds {
		if b.state == mParked && slices.Contains(agents, b.agent) {
			b.state, b.rearmed, b.override = mOpen, m.now, ""
		}
	}
}

func (m *model) open(s *mSession, ev *boundary.Event, agent string) *mBound {
	b := &mBound{
		id: ev.BoundaryID, agent: agent, seq: m.seq, key: fmt.Sprintf("b-%d", m.seq),
		cleared: map[string]*mDefect{}, shown: map[string]mValue{}, origs: map[string]*mDefect{}, flawed: map[*mSnap]bool{}, fired: map[boundary.AlertKind]bool{},
	}
	if b.id != "" {
		b.key = b.id
	}
	s.agent(agent)
	s.bounds = append(s.bounds, b)
	return b
}

// openFor lists the open boundaries that an event meets.
func (s *mSession) openFor(ev *boundary.Event, agents []string) []*mBound {
	var same, plain []*mBound
	for _, b := range s.bounds {
		if b.state != mOpen {
			continue
		}
		switch {
		case ev.BoundaryID != "" && b.id == ev.BoundaryID:
			same = append(same, b)
		case slices.Contains(agents, b.agent) && (ev.BoundaryID == "" || b.id == ""):
			plain = append(plain, b)
		}
	}
	switch {
	case len(same) > 0:
		return same
	case ev.BoundaryID != "" && ev.Kind == boundary.Snapshot:
		plain = slices.DeleteFunc(plain, func(b *mBound) bool { return len(b.snaps) > 0 }) // each id has its own
	}
	return plain
}

// meets reports whether a look is compared with a snapshot, or a boundary with
// a snapshot of another one.
func meets(snap *boundary.Event, id, agent string) bool {
	if snap.BoundaryID != "" && id != "" {
		return snap.BoundaryID == id
	}
	return snap.Key.Agent == agent
}

func (m *model) snapshot(s *mSession, ev *boundary.Event) {
	sn := &mSnap{ev: ev, at: m.now, seq: m.seq, debts: map[string]*mDebt{}}
	nones := 0
	for _, st := range ev.Statements {
		sn.debts[st.Name] = &mDebt{}
		if st.Fault == "" && st.Digest == digest.None {
			nones++
		}
	}
	sn.missing = ev.SnapshotFailed || len(ev.Statements) > 0 && nones == len(ev.Statements)
	sn.marker = sn.missing || len(ev.Statements) == 0
	if sn.marker {
		sn.debts = map[string]*mDebt{"": {}}
	}
	if ev.Envelope != nil {
		sn.debts[envelopeDebt] = &mDebt{}
	}
	sn.changed = m.changedSince(s, sn)
	s.snaps = append(s.snaps, sn)
	var joined []*mBound
	for _, b := range s.openFor(ev, []string{ev.Key.Agent}) {
		if len(b.snaps) == 0 && len(b.comps) > 0 && b.seq == b.comps[0].seq && etime(ev, m.now).After(etime(b.comps[0].ev, b.comps[0].at).Add(slack)) {
			b.reason = classify.NoBaseline // taken from the summary
			m.settle(b)
			m.emit(s, b)
			continue
		}
		joined = append(joined, b)
	}
	if len(joined) == 0 {
		joined = []*mBound{m.open(s, ev, ev.Key.Agent)}
	}
	for _, b := range joined {
		if ev.BoundaryID != "" {
			b.id = ev.BoundaryID
		}
		if len(b.comps) > 0 && b.comps[0].seq == b.seq && sn.comp == nil {
			sn.comp = b.comps[0]
		}
		b.snaps = append(b.snaps, sn)
		for _, l := range s.looks {
			if l.at.Add(m.cfg.Window).After(m.now) && meets(ev, l.ev.BoundaryID, l.ev.Key.Agent) &&
				earlier(ev, m.now, l) && !slices.Contains(b.looks, l) {
				if slices.ContainsFunc(b.snaps, func(x *mSnap) bool { return etime(x.ev, x.at).After(etime(l.ev, l.at)) }) {
					m.doubt("an earlier snapshot joins a later one")
				}
				for _, st := range ev.Statements {
					if seenAt(l, st.Name).Before(etime(ev, m.now)) {
						m.doubt("a kept look that was seen before the snapshot")
					}
				}
				l.waiting = false
				b.looks = append(b.looks, l)
			} else if !slices.Contains(b.looks, l) && earlier(ev, m.now, l) && m.now.Before(l.at.Add(2*m.cfg.Window)) {
				m.doubt("how long a look is kept")
			}
		}
		if len(b.looks) > 0 {
			m.evaluate(s, b)
		}
	}
}

// earlier reports whether a snapshot that comes after a look is compared with it.
func earlier(ev *boundary.Event, now time.Time, l *mLook) bool {
	if l.waiting {
		return !etime(ev, now).After(etime(l.ev, l.at))
	}
	return etime(ev, now).Before(etime(l.ev, l.at))
}

func etime(ev *boundary.Event, at time.Time) classify.Instant { return ev.Time.Or(classify.At(at)) }

func (m *model) changedSince(s *mSession, sn *mSnap) []string {
	if sn.marker {
		return nil
	}
	var names []string
	a := s.agent(sn.ev.Key.Agent)
	for name, v := range a.healthy {
		st, ok := statement(sn.ev, name)
		switch {
		case a.defects[name] != nil || ok && st.Fault != "":
			continue
		case !ok && (sn.ev.Dropped || sn.ev.TooMany):
			continue
		case !ok:
			st.Digest = digest.None
		}
		if st.Digest == v.d && (!st.Digest.IsValue() || digest.Comparable(st.Digest, sn.ev.Form, v.d, v.form)) {
			continue
		}
		if st.Digest.IsValue() && v.d.IsValue() && !digest.Comparable(st.Digest, sn.ev.Form, v.d, v.form) {
			continue
		}
		if m.path(s, sn.ev.Key.Agent, name, v.d, st.Digest, m.now, nil) == nil {
			names = append(names, name)
		}
	}
	return names
}

func (m *model) look(s *mSession, ev *boundary.Event) {
	l := &mLook{ev: ev, at: m.now, seq: m.seq, waiting: true}
	s.looks = append(s.looks, l)
	if targets := s.openFor(ev, []string{ev.Key.Agent}); len(targets) > 0 {
		m.join(s, l, targets)
	}
}

func (m *model) join(s *mSession, l *mLook, targets []*mBound) {
	l.waiting = false
	for _, b := range targets {
		if b.id == "" && l.ev.BoundaryID != "" {
			b.id = l.ev.BoundaryID
		}
		if len(b.snaps) == 0 && len(b.comps) > 0 && etime(l.ev, l.at).Before(etime(b.comps[0].ev, b.comps[0].at)) {
			m.doubt("a look older than the completion that opened")
		}
		b.looks = append(b.looks, l)
		m.evaluate(s, b)
	}
}

// waited is the end of the reorder grace of a look that found nothing open.
func (m *model) waited(s *mSession, l *mLook) {
	if slices.ContainsFunc(s.bounds, func(b *mBound) bool { return b.state == mParked }) {
		m.doubt("a look that waited while the session ended")
	}
	if targets := s.openFor(l.ev, []string{l.ev.Key.Agent}); len(targets) > 0 {
		m.doubt("early look, later snapshot")
		m.join(s, l, targets)
		return
	}
	var last *mBound
	for _, b := range s.bounds {
		if b.state == mSettled && (b.id == l.ev.BoundaryID && b.id != "" || b.agent == l.ev.Key.Agent && (b.id == "" || l.ev.BoundaryID == "")) {
			last = b
		}
	}
	if last != nil && !last.touched.IsZero() && l.at.After(last.settledAt) {
		m.doubt("a look after a completion that was only counted")
	}
	if last != nil && (m.isOwed(s, last) || l.at.Before(last.settledAt.Add(m.window(last)))) {
		if slices.ContainsFunc(last.snaps, func(sn *mSnap) bool { return etime(l.ev, l.at).Before(etime(sn.ev, sn.at)) }) {
			m.doubt("early look, later snapshot")
		}
		if slices.ContainsFunc(last.snaps, func(sn *mSnap) bool { return sn.cancelled }) {
			m.doubt("look after a compaction that did not happen")
		}
		if last.byDeadline {
			last.late = true
		}
		m.join(s, l, []*mBound{last})
		return
	}
	m.join(s, l, []*mBound{m.open(s, l.ev, l.ev.Key.Agent)})
}

func (m *model) isOwed(s *mSession, b *mBound) bool {
	for _, sn := range b.snaps {
		if sn.marker && slices.ContainsFunc(s.snaps, func(x *mSnap) bool { return !x.marker && !x.cancelled && m.anyOwed(x) && meets(x.ev, b.id, b.agent) }) {
			continue // no baseline beside another one
		}
		for _, d := range sn.debts {
			if !sn.cancelled && d.status == owed {
				return true
			}
		}
	}
	return false
}

func (m *model) completion(s *mSession, ev *boundary.Event, agents []string) {
	if ev.Runtime != "" {
		m.fleet.Saw(ev.Key.Tenant(), ev.Runtime, boundary.ReportsCompletions)
	}
	c := &mComp{ev: ev, at: m.now, seq: m.seq}
	if !ev.Outcome.Happened() {
		for _, agent := range agents {
			m.cancel(s, c, agent)
		}
		return
	}
	var targets []*mBound
	for _, b := range s.bounds {
		if (b.state == mOpen || b.state == mParked) && slices.Contains(agents, b.agent) && (ev.BoundaryID == "" || b.id == "" || b.id == ev.BoundaryID) {
			targets = append(targets, b)
		}
	}
	s.comps = append(s.comps, c)
	rest := slices.DeleteFunc(slices.Clone(agents), func(agent string) bool {
		return slices.ContainsFunc(targets, func(b *mBound) bool { return b.agent == agent })
	})
	m.completionAfter(s, c, rest, len(targets) > 0)
	for _, agent := range agents {
		if slices.Contains(rest, agent) {
			continue
		}
		if sn := m.concerned(s, c, agent); sn != nil {
			sn.comp = c
		}
	}
	for _, b := range targets {
		m.joinCompletion(b, c)
		if b.state == mOpen && len(b.looks) > 0 {
			m.evaluate(s, b)
		}
	}
}

func (m *model) joinCompletion(b *mBound, c *mComp) {
	b.comps = append(b.comps, c)
	b.outcome = c.ev.Outcome
	if b.id == "" && c.ev.BoundaryID != "" {
		b.id = c.ev.BoundaryID
	}
}

// completionAfter is a completion that finds nothing open.
func (m *model) completionAfter(s *mSession, c *mComp, agents []string, counted bool) {
	if len(agents) > 1 {
		m.doubt("completion of nobody, after the verdicts of several agents")
	}
	for _, agent := range agents {
		for _, x := range s.bounds {
			if x.agent == agent && len(x.snaps)+len(x.comps) == 0 {
				m.doubt("completion after a look without a baseline")
			}
		}
		b := s.lastOf(agent)
		if b != nil && b.id != "" && c.ev.BoundaryID != "" && b.id != c.ev.BoundaryID {
			continue
		}
		if sn := m.concerned(s, c, agent); sn != nil { // its boundary
			for _, x := range s.bounds {
				if slices.Contains(x.snaps, sn) {
					b = x
				}
			}
		}
		if b == nil || b.state != mSettled || len(b.snaps) > 0 && !slices.ContainsFunc(b.snaps, func(sn *mSnap) bool { return !sn.cancelled }) {
			continue
		}
		switch {
		case b.byDeadline && len(b.snaps) > 0 && (!m.sufficed(b) || b.unconfirmed):
			counted = true
			if sn := m.concerned(s, c, agent); sn != nil {
				sn.comp = c
			}
			m.joinCompletion(b, c)
			b.state, b.rearmed = mOpen, m.now
			if len(b.looks) > 0 {
				m.evaluate(s, b)
			}
		case len(b.comps) == 0:
			counted = true
			b.touched = m.now
			b.comps = append(b.comps, c)
			b.outcome = c.ev.Outcome
			sn := m.concerned(s, c, agent)
			if sn == nil {
				continue
			}
			sn.comp = c
			for _, b := range s.bounds { // the boundary of that snapshot, settled by a look that was too early
				if b.state != mSettled || !slices.Contains(b.snaps, sn) || len(b.looks) == 0 {
					continue
				}
				old := b.findings
				if b.byDeadline {
					m.doubt("too early, after the deadline")
				}
				m.evaluate(s, b)
				for _, f := range b.findings {
					if f.Reason == classify.ObservedTooEarly && !slices.ContainsFunc(old, func(o classify.Finding) bool { return o.Name == f.Name && o.Reason == f.Reason }) {
						b.state, b.rearmed, b.byDeadline = mOpen, m.now, false
					}
				}
			}
		}
	}
	for _, b := range s.bounds {
		for _, o := range b.comps {
			if o != c && !etime(c.ev, c.at).After(etime(o.ev, o.at)) {
				m.doubt("older completion after the verdict")
			}
		}
		for _, l := range b.looks {
			if etime(c.ev, c.at).Before(etime(l.ev, l.at)) {
				m.doubt("older completion after the verdict")
			}
		}
	}
	if !counted {
		b := m.open(s, c.ev, c.ev.Key.Agent)
		m.joinCompletion(b, c)
	}
}

func (s *mSession) lastOf(agent string) *mBound {
	var last *mBound
	for _, b := range s.bounds {
		if b.agent == agent && b.state != mEnded {
			last = b
		}
	}
	return last
}

// sufficed reports whether anything sufficient was observed at a boundary.
func (m *model) sufficed(b *mBound) bool {
	return slices.ContainsFunc(b.findings, func(f classify.Finding) bool { return !f.Wants && f.State != classify.Unverified })
}

// concerned is the newest snapshot without a completion that is not later than
// this one.
func (m *model) concerned(s *mSession, c *mComp, agent string) *mSnap {
	var best *mSnap
	for _, sn := range s.snaps {
		if sn.comp != nil || sn.cancelled || sn.ev.Key.Agent != agent {
			continue
		}
		if slices.ContainsFunc(s.snaps, func(x *mSnap) bool { // equal baselines are one
			return x.seq > sn.seq && x.comp != nil && !x.cancelled && x.ev.Key.Agent == agent && x.content() == sn.content()
		}) && c.ev.Outcome.Happened() {
			continue
		}
		if c.ev.BoundaryID != "" && sn.ev.BoundaryID != "" && c.ev.BoundaryID != sn.ev.BoundaryID {
			continue
		}
		if etime(sn.ev, sn.at).After(etime(c.ev, c.at).Add(slack)) {
			continue
		}
		if best == nil || best.marker && !sn.marker || best.marker == sn.marker && !etime(sn.ev, sn.at).Before(etime(best.ev, best.at)) {
			best = sn
		}
	}
	for _, sn := range s.snaps {
		if best != nil && sn.comp != nil && sn.comp.ev.Outcome.Happened() && sn.seq > best.seq && sn.ev.Key.Agent == agent {
			m.doubt("completion for an older baseline")
		}
	}
	return best
}

// cancel is a completion that says that nothing was compacted.
func (m *model) cancel(s *mSession, c *mComp, agent string) {
	sn := m.concerned(s, c, agent)
	if sn == nil {
		return
	}
	sn.comp, sn.cancelled = c, true
	for _, b := range s.bounds {
		if !slices.Contains(b.snaps, sn) {
			continue
		}
		left := len(b.comps) > 0 || slices.ContainsFunc(b.snaps, func(x *mSnap) bool { return !x.cancelled && !x.marker })
		switch {
		case b.state == mSettled:
			if len(b.looks) == 0 && !left && c.ev.Outcome == boundary.Failed && m.alertsChange(s, b) {
				b.reason = classify.CompactionFailed
			}
			if len(b.looks) == 0 && len(b.comps) == 0 {
				b.outcome = c.ev.Outcome
			}
			b.void = len(b.looks) == 0 && !left
			m.emitIfStateChanged(s, b)
		case !left:
			b.state, b.outcome = mEnded, c.ev.Outcome
			if c.ev.Outcome == boundary.Failed {
				b.override = classify.CompactionFailed
				m.emit(s, b)
			}
		case len(b.looks) > 0 && b.state == mOpen:
			m.evaluate(s, b)
		}
	}
}

func (m *model) refuse(s *mSession, ev *boundary.Event) {
	targets := s.openFor(ev, []string{ev.Key.Agent})
	if len(targets) == 0 {
		if len(s.bounds) > 0 {
			m.doubt("a refusal that finds nothing open")
		}
		targets = []*mBound{m.open(s, ev, ev.Key.Agent)}
	}
	for _, b := range targets {
		b.vf, b.vfSeq = ev, m.seq
		f := refusal(ev)
		s.agent(b.agent).env[verdictKey(f)] = &mEnvDefect{effect: f.Effect, verdict: true}
		m.evaluate(s, b)
	}
}

func verdictKey(f classify.Finding) classify.Reason {
	if f.Effect {
		return "effect"
	}
	return "verdict"
}

func refusal(ev *boundary.Event) classify.Finding {
	f := classify.Finding{State: classify.Conflicting, Reason: ev.Verdict.Reason}
	if f.Reason == "" {
		f.Reason = classify.ValidationFailed
	}
	if ev.Verdict.Status == classify.StatusBlocked || f.Reason == classify.UnknownSideEffect || f.Reason == classify.PartialSideEffect {
		f.State, f.Effect = classify.Unverified, true
	}
	return f
}

// ---- time ----

func (m *model) advance(now time.Time) []out {
	var outs []out
	for {
		var due time.Time
		var act func()
		seq := 0
		consider := func(t time.Time, n int, f func()) {
			if t.After(now) || act != nil && (due.Before(t) || due.Equal(t) && seq <= n) {
				return
			}
			due, seq, act = t, n, f
		}
		for _, s := range m.sessions {
			for _, b := range s.bounds {
				if t, ok := m.deadline(s, b); ok {
					consider(t, b.seq, func() { m.expire(s, b) })
				}
			}
			for _, l := range s.looks {
				if l.waiting {
					consider(l.at.Add(m.cfg.ReorderGrace), l.seq, func() { m.waited(s, l) })
				}
			}
		}
		if act == nil {
			return outs
		}
		m.now = due
		m.seq++
		act()
		outs = append(outs, m.flush()...)
	}
}

func (b *mBound) runtime() string {
	type stated struct {
		seq     int
		runtime string
	}
	var all []stated
	for _, sn := range b.snaps {
		all = append(all, stated{sn.seq, sn.ev.Runtime})
	}
	for _, c := range b.comps {
		all = append(all, stated{c.seq, c.ev.Runtime})
	}
	for _, l := range b.looks {
		all = append(all, stated{l.seq, l.ev.Runtime})
	}
	slices.SortFunc(all, func(x, y stated) int { return x.seq - y.seq })
	for _, x := range all {
		if x.runtime != "" {
			return x.runtime
		}
	}
	return ""
}

func (m *model) window(b *mBound) time.Duration {
	if w := m.cfg.Runtimes[b.runtime()].Window; w > 0 {
		return w
	}
	return m.cfg.Window
}

func (m *model) deadline(s *mSession, b *mBound) (time.Time, bool) {
	if b.state != mOpen {
		return time.Time{}, false
	}
	start := b.rearmed
	if len(b.snaps) > 0 && b.snaps[0].at.After(start) {
		start = b.snaps[0].at
	}
	if len(b.comps) > 0 {
		first := b.comps[0].at
		if m.cfg.Runtimes[b.runtime()].StartsWithActivity && m.fleet.Seen(s.key.Tenant(), b.runtime(), boundary.ReportsActivity) {
			i := slices.IndexFunc(s.activity[b.agent], func(t time.Time) bool { return t.After(first) })
			if i < 0 {
				return time.Time{}, false
			}
			first = s.activity[b.agent][i]
		}
		if first.After(start) {
			start = first
		}
	}
	return start.Add(m.window(b)), true
}

func (m *model) settle(b *mBound) { b.state, b.settledAt = mSettled, m.now }

// expire is a boundary's deadline.
func (m *model) expire(s *mSession, b *mBound) {
	m.settle(b)
	b.byDeadline = true
	m.besides(s)
	if len(b.snaps) > 0 && !slices.ContainsFunc(b.snaps, func(sn *mSnap) bool { return !sn.marker }) && slices.ContainsFunc(b.findings, func(f classify.Finding) bool { return f.Name != "" }) {
		m.doubt("deadline of a marker that was observed")
	}
	if b.unconfirmed = m.cfg.Runtimes[b.runtime()].Confirm && len(b.comps) == 0 && m.fleet.Seen(s.key.Tenant(), b.runtime(), boundary.ReportsCompletions); b.unconfirmed {
		b.reason = classify.CompactionUnconfirmed
		if len(b.looks) > 0 {
			m.doubt("unconfirmed, and a weak look")
		}
		m.emit(s, b)
		return
	}
	b.reason = classify.NoObservation
	if len(b.snaps) > 0 {
		b.reason = classify.PostObservationMissing
	}
	if len(b.flawed) > 0 && slices.ContainsFunc(b.findings, func(f classify.Finding) bool { return f.Name == "" && f.Wants }) {
		b.flaw, b.adds = true, true
	}
	for _, sn := range s.snaps {
		mine := slices.Contains(b.snaps, sn)
		inherited := !mine && len(b.snaps) > 0 && sn.seq < b.seq && meets(sn.ev, b.id, b.agent)
		baseline := !sn.marker || sn.ev.Envelope != nil || !slices.ContainsFunc(s.snaps, func(x *mSnap) bool {
			return !x.marker && !x.cancelled && m.anyOwed(x) && meets(x.ev, b.id, b.agent)
		})
		if (mine || inherited && !sn.marker) && !sn.cancelled && baseline && !m.missing(sn) {
			known := slices.ContainsFunc(s.snaps, func(x *mSnap) bool { // equal ones are one
				return m.missing(x) && x.ev.Key.Agent == sn.ev.Key.Agent && x.content() == sn.content()
			}) && slices.ContainsFunc(s.snaps, func(x *mSnap) bool {
				return x.seq < sn.seq && m.anyOwed(x) && x.ev.Key.Agent == sn.ev.Key.Agent && x.content() == sn.content()
			})
			for _, d := range sn.debts {
				d.overdue = d.overdue || d.status == owed
				if mine && d.status == retired {
					m.doubt("retired before the deadline")
				}
			}
			b.adds = b.adds || !known && m.missing(sn)
		}
	}
	m.emit(s, b)
}

func (m *model) shutdown(now time.Time) []out {
	m.now = now
	var all []*mBound
	owner := map[*mBound]*mSession{}
	for _, s := range m.sessions {
		for _, b := range s.bounds {
			if b.state == mOpen {
				all, owner[b] = append(all, b), s
			}
		}
	}
	slices.SortFunc(all, func(x, y *mBound) int { return x.seq - y.seq })
	for _, b := range all {
		m.settle(b)
		b.override = classify.CollectorShutdown
		m.emit(owner[b], b)
	}
	return m.flush()
}

// ---- approvals ----

func (m *model) approve(s *mSession, ev *boundary.Event, agents []string) {
	if ev.Approval.Ref == "" {
		return
	}
	a := ev.Approval
	i := slices.IndexFunc(s.approvals, func(x *mApproval) bool {
		return x.Ref == a.Ref && x.Invariant == a.Invariant && x.From == a.From && x.To == a.To
	})
	if i < 0 {
		s.approvals = append(s.approvals, &mApproval{Approval: a})
	} else if a.Revoked {
		s.approvals[i].Revoked = true
	}
	for _, agent := range agents {
		k := s.agent(agent)
		if d := k.defects[a.Invariant]; d != nil {
			if p := m.path(s, agent, d.name, d.orig.d, d.shown.d, d.at, d.last()); p != nil {
				m.use(p, d.last(), d.name)
				delete(k.defects, d.name)
				for _, b := range s.bounds {
					if b.origs[d.name] == d {
						delete(b.origs, d.name)
					}
				}
				k.healthy[d.name] = d.shown
				for _, b := range d.bounds {
					b.cleared[d.name] = d
				}
				b := d.last()
				b.findings = m.clearFindings(b, b.findings)
				for _, o := range d.bounds {
					o.findings = m.clearFindings(o, o.findings)
				}
				m.emit(s, b)
			}
		}
		for _, sn := range s.snaps {
			d := sn.debts[a.Invariant]
			if d == nil || sn.ev.Key.Agent != agent || d.status != retired || d.covered || !d.overdue {
				continue
			}
			st, _ := statement(sn.ev, a.Invariant)
			if p := m.path(s, agent, a.Invariant, st.Digest, d.shown.d, d.by.lookAt(), d.by); p != nil {
				m.use(p, d.by, a.Invariant)
				d.covered = true
				m.emitIfStateChanged(s, d.by)
			}
		}
	}
}

func (d *mDefect) last() *mBound { return d.bounds[len(d.bounds)-1] }

func (b *mBound) lookAt() time.Time {
	if len(b.looks) == 0 {
		return b.settledAt
	}
	return b.looks[len(b.looks)-1].at
}

// path finds valid approvals that lead from one value to another, shortest
// first; nil if there are none.
func (m *model) path(s *mSession, agent, name string, from, to digest.Digest, then time.Time, b *mBound) []*mApproval {
	return m.search(s, agent, name, from, to, func(a *mApproval) bool { return m.fault(a, then, b, name) == "" })
}

func (m *model) search(s *mSession, agent, name string, from, to digest.Digest, ok func(*mApproval) bool) []*mApproval {
	if from == to {
		return nil
	}
	paths := [][]*mApproval{nil}
	visited := []digest.Digest{from}
	for len(paths) > 0 {
		p := paths[0]
		paths = paths[1:]
		at := from
		if len(p) > 0 {
			at = p[len(p)-1].To
		}
		for _, a := range s.approvals {
			if a.Invariant != name || a.From != at || a.Agent != "" && a.Agent != agent || !ok(a) {
				continue
			}
			next := append(slices.Clone(p), a)
			if a.To == to {
				return next
			}
			if !slices.Contains(visited, a.To) {
				visited = append(visited, a.To)
				paths = append(paths, next)
			}
		}
	}
	return nil
}

func (m *model) use(path []*mApproval, b *mBound, name string) {
	for _, a := range path {
		a.user, a.name = b, name
	}
}

func (m *model) fault(a *mApproval, then time.Time, b *mBound, name string) classify.Reason {
	if a.ExpiresAt != "" {
		t, err := time.Parse(time.RFC3339Nano, a.ExpiresAt)
		if err != nil || !then.Before(t) {
			return classify.ApprovalExpired
		}
	}
	if a.Revoked && (a.user == nil || a.user != b) {
		return classify.ApprovalRevoked
	}
	if !a.Independent {
		return classify.ApprovalNotIndependent
	}
	if a.user != nil && (a.user != b || a.name != name) {
		return classify.ApprovalReused
	}
	if at, err := time.Parse(time.RFC3339Nano, a.ApprovedAt); err == nil {
		limit := then
		if a.Received.After(limit) {
			limit = a.Received
		}
		if at.After(limit.Add(5 * time.Minute)) {
			return classify.ApprovalNotYetValid
		}
	}
	return ""
}

// misfit is the reason why an approval that would fit does not count, "" if
// none would.
func (m *model) misfit(s *mSession, agent, name string, from, to digest.Digest, then time.Time, b *mBound) classify.Reason {
	var worst classify.Reason
	for _, a := range m.search(s, agent, name, from, to, func(*mApproval) bool { return true }) {
		if f := m.fault(a, then, b, name); f != "" && worst == "" {
			worst = f
		}
	}
	return worst
}

// ---- comparison ----

// row is one owed baseline of one invariant.
type row struct {
	snap   *mSnap
	st     boundary.Statement
	value  mValue
	silent bool // a later snapshot that does not state it
}

func statement(ev *boundary.Event, name string) (boundary.Statement, bool) {
	for _, st := range ev.Statements {
		if st.Name == name {
			return st, true
		}
	}
	return boundary.Statement{}, false
}

// owedTo lists the snapshots whose debt of one name a boundary's looks are
// compared with.
func (m *model) owedTo(s *mSession, b *mBound, name string) []*mSnap {
	newest := 0
	for _, sn := range b.snaps {
		if sn.debts[name] != nil && !sn.cancelled && !sn.marker {
			newest = max(newest, sn.seq)
		}
	}
	var list []*mSnap
	for _, sn := range s.snaps {
		d := sn.debts[name]
		mine := slices.Contains(b.snaps, sn)
		if d == nil || sn.cancelled || sn.marker || !mine && (sn.seq >= b.seq || !meets(sn.ev, b.id, b.agent)) {
			continue
		}
		if d.status == owed || d.by == b && d.seq >= newest {
			list = append(list, sn)
		}
	}
	return list
}

func (m *model) rows(s *mSession, b *mBound, name string) []row {
	var rows []row
	d := s.agent(b.agent).defects[name]
	if d == nil {
		d = b.origs[name] // cleared here: looking again changes nothing
	} else {
		b.origs[name] = d
	}
	var latest classify.Instant
	for _, sn := range m.owedTo(s, b, name) {
		st, _ := statement(sn.ev, name)
		r := row{snap: sn, st: st, value: mValue{st.Digest, sn.ev.Form}}
		if d != nil && sn.seq > d.seq && d.orig.d.IsValue() {
			r.value = d.orig
			r.st.Fault = ""
		}
		rows = append(rows, r)
		if t := etime(sn.ev, sn.at); t.After(latest) || latest == 0 {
			latest = t
		}
	}
	if d != nil && (len(rows) > 0 || b.states(name) || len(b.snaps) == 0) {
		if later := slices.ContainsFunc(rows, func(r row) bool { return r.snap.seq > d.seq }); later && !d.orig.d.IsValue() || len(rows) == 0 {
			rows = append([]row{{snap: d.snap, st: stOf(d), value: d.orig}}, rows...)
		}
		if len(rows) == 1 && rows[0].snap == d.snap && !slices.Contains(b.snaps, d.snap) {
			return rows // the original value stays its baseline
		}
	}
	if len(rows) == 0 {
		return nil
	}
	for _, sn := range s.snaps {
		_, states := statement(sn.ev, name)
		live := slices.Contains(b.snaps, sn) || b.flawed[sn]
		if live && !states && !sn.marker && !sn.cancelled && etime(sn.ev, sn.at).After(latest) {
			rows = append(rows, row{snap: sn, silent: true})
		}
	}
	return rows
}

func stOf(d *mDefect) boundary.Statement {
	st, _ := statement(d.snap.ev, d.name)
	return st
}

func (m *model) anyOwed(sn *mSnap) bool {
	for _, d := range sn.debts {
		if d.status == owed {
			return true
		}
	}
	return false
}

func (b *mBound) states(name string) bool {
	return slices.ContainsFunc(b.looks, func(l *mLook) bool { _, ok := statement(l.ev, name); return ok })
}

// seenAt is when a look saw an invariant, stated or absent.
func seenAt(l *mLook, name string) classify.Instant {
	if st, ok := statement(l.ev, name); ok {
		return st.ObservedAt
	}
	if l.ev.ObservedAt != 0 {
		return l.ev.ObservedAt
	}
	var t classify.Instant
	for _, st := range l.ev.Statements {
		t = max(t, st.ObservedAt)
	}
	return t
}

func strong(l *mLook, name string) bool {
	if st, ok := statement(l.ev, name); ok {
		return st.Source != classify.Environment
	}
	return !slices.ContainsFunc(l.ev.Statements, func(st boundary.Statement) bool { return st.Source == classify.Environment })
}

func (m *model) accepts(name string, src classify.Source) bool {
	if set, ok := m.cfg.SourcesByInvariant[name]; ok {
		return set.Has(src)
	}
	if set, ok := m.cfg.SourcesByInvariant[strings.SplitN(name, ".", 2)[0]]; ok {
		return set.Has(src)
	}
	return m.cfg.Sources.Has(src)
}

// fresh is the rule of section 5.
func fresh(t classify.Instant, l *mLook, r row) bool {
	before := r.st.ObservedAt
	if before > classify.At(r.snap.at) {
		before = 0
	}
	return freshTo(t, before, l, r.snap)
}

func freshTo(t, before classify.Instant, l *mLook, sn *mSnap) bool {
	plausible := sn.ev.Time.Plausible(classify.At(sn.at))
	switch {
	case t == 0, before == 0 && !plausible:
		return false
	case before != 0 && !t.After(before):
		return false
	case plausible && t.Before(sn.ev.Time):
		return false
	}
	return !t.After(etime(l.ev, l.at).Add(5 * time.Minute))
}

// insufficient is the reason of the after side why a look says nothing of an
// invariant, towards the usable baselines; "" if it suffices.
func (m *model) insufficient(s *mSession, b *mBound, l *mLook, name string, rows []row) classify.Reason {
	st, ok := statement(l.ev, name)
	t := seenAt(l, name)
	allFresh := true
	for _, r := range rows {
		if !r.silent && r.st.Fault == "" {
			allFresh = allFresh && fresh(t, l, r)
			if d := s.agent(b.agent).defects[name]; d != nil && r.value == d.orig && !slices.Contains(d.bounds, b) {
				if !t.After(d.t) && !d.t.After(t) {
					m.doubt("two looks of one time")
				}
				allFresh = allFresh && t.After(d.t) // to clear a defect, later than the look that showed it
			} else if d != nil && r.value == d.orig && d.bounds[0] != b {
			}
		}
	}
	switch {
	case ok && st.Fault != "":
		return st.Fault
	case !ok && len(l.ev.Statements) == 0:
		return classify.ObservationEmpty
	case !ok:
		stated := slices.ContainsFunc(l.ev.Statements, func(x boundary.Statement) bool { return x.Fault == "" })
		proven := stated && !l.ev.Partial && !l.ev.Dropped && !l.ev.TooMany && allFresh
		for _, x := range l.ev.Statements {
			proven = proven && m.accepts(name, x.Source)
		}
		if !proven {
			return classify.ObservationIncomplete
		}
	case st.Source == classify.NoSource:
		return classify.SourceMissing
	case !m.accepts(name, st.Source):
		return classify.SourceNotAccepted
	case !allFresh:
		return classify.NotFresh
	}
	for _, r := range rows {
		if !r.silent && r.st.Fault == "" && m.compare(s, b, l, name, r).Reason == classify.RestatementDiffers {
			return classify.RestatementDiffers
		}
	}
	for _, r := range rows {
		if !r.silent && m.tooEarly(s, b, l, r.snap, t) {
			return classify.ObservedTooEarly
		}
	}
	return ""
}

func (m *model) tooEarly(s *mSession, b *mBound, l *mLook, sn *mSnap, t classify.Instant) bool {
	before := func(c *mComp) bool { return t.Before(etime(c.ev, c.at).Add(-slack)) }
	if sn.comp != nil && !sn.cancelled && before(sn.comp) {
		return true
	}
	if len(b.comps) > 0 && before(b.comps[len(b.comps)-1]) {
		return true
	}
	for _, c := range s.comps {
		followed := !etime(c.ev, c.at).Add(slack).Before(etime(sn.ev, sn.at))
		mine := c.ev.Key.Agent == "" || c.ev.Key.Agent == b.agent
		if mine && followed && c.seq < max(sn.seq, l.seq) && before(c) {
			return true
		}
	}
	return false
}

// compare is the table of section 5 for one baseline and one look.
func (m *model) compare(s *mSession, b *mBound, l *mLook, name string, r row) classify.Finding {
	st, _ := statement(l.ev, name)
	after, before := st.Digest, r.value.d
	finding := func(state classify.State, reason classify.Reason) classify.Finding {
		return classify.Finding{Name: name, State: state, Reason: reason}
	}
	if r.silent {
		if after.IsValue() {
			return finding(classify.Unverified, classify.NoBaseline)
		}
		return finding(classify.Preserved, classify.Match)
	}
	if !after.IsValue() {
		after = digest.None
	}
	approved := m.path(s, b.agent, name, before, after, l.at, b) != nil
	misfit := m.misfit(s, b.agent, name, before, after, l.at, b)
	switch {
	case before.IsValue() && after.IsValue():
		switch {
		case before != after && approved:
			return finding(classify.ApprovedChange, classify.ApprovedTransition)
		case !digest.Comparable(before, r.value.form, after, l.ev.Form):
			return finding(classify.Unverified, classify.DigestIncomparable)
		case before == after:
			return finding(classify.Preserved, classify.Match)
		}
	case !before.IsValue() && !after.IsValue():
		return finding(classify.Preserved, classify.Match)
	case before.IsValue() && approved:
		return finding(classify.ApprovedChange, classify.ApprovedRemoval)
	case before.IsValue():
		return finding(classify.Dropped, classify.MissingAfter)
	case approved:
		return finding(classify.ApprovedChange, classify.ApprovedAddition)
	case misfit != "":
		return finding(classify.Conflicting, misfit)
	default:
		return finding(classify.Conflicting, classify.UnapprovedAddition)
	}
	switch {
	case misfit != "":
		return finding(classify.Conflicting, misfit)
	case r.st.Text && st.Source == classify.Agent:
		return finding(classify.Unverified, classify.RestatementDiffers)
	}
	return finding(classify.Conflicting, classify.ChangedWithoutApproval)
}

// chosen is the look that counts for an invariant: the sufficient one with the
// latest observed_at, what people or agents stated before a probe.
func (m *model) chosen(s *mSession, b *mBound, name string, rows []row) (*mLook, classify.Reason) {
	var best *mLook
	var reason, silence, empty classify.Reason
	for _, l := range b.looks {
		if why := m.insufficient(s, b, l, name, rows); why != "" {
			if _, ok := statement(l.ev, name); ok {
				reason = why
			} else if why == classify.ObservationEmpty {
				empty = why
			} else {
				silence = why
			}
			continue
		}
		if best != nil && strong(l, name) == strong(best, name) && !seenAt(l, name).After(seenAt(best, name)) && !seenAt(best, name).After(seenAt(l, name)) {
			m.doubt("two looks of one time")
		}
		if best == nil || strong(l, name) && !strong(best, name) ||
			strong(l, name) == strong(best, name) && seenAt(l, name).After(seenAt(best, name)) {
			best = l
		}
	}
	return best, cmp.Or(reason, silence, empty)
}

// finding derives the finding of one invariant at an observed boundary, and
// what it means for the debts.
func (m *model) finding(s *mSession, b *mBound, name string) (f classify.Finding, use *mLook, rows []row) {
	rows = m.rows(s, b, name)
	f = classify.Finding{Name: name, State: classify.Unverified, Optional: m.optional(rows, name)}
	stating := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.silent })
	newest := stating[len(stating)-1]
	for _, r := range stating { // what this boundary said of the debt is said anew
		if d := r.snap.debts[name]; d != nil && d.by == b {
			if d.overdue && d.status == answered {
				m.doubt("an answer taken back after the deadline")
			}
			*d = mDebt{overdue: d.overdue, seq: d.seq}
		}
	}
	unusable := slices.DeleteFunc(slices.Clone(stating), func(r row) bool { return r.st.Fault == "" })
	if len(unusable) == len(stating) {
		f.Reason = newest.st.Fault
		m.retire(b, name, unusable, mValue{})
		return f, nil, rows
	}
	l, why := m.chosen(s, b, name, rows)
	if l == nil {
		old := !slices.ContainsFunc(stating, func(r row) bool { return r.snap.debts[name] != nil && r.snap.debts[name].status == owed })
		f.Reason, f.Wants = why, !old
		return f, nil, rows
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { // silence that came after the look
		return r.silent && seenAt(l, name).Before(etime(r.snap.ev, r.snap.at))
	})
	shown := shownBy(l, name)
	var results []classify.Finding
	for _, r := range rows {
		if r.st.Fault != "" {
			continue
		}
		results = append(results, m.compare(s, b, l, name, r))
	}
	if len(unusable) > 0 {
		f.Reason = unusable[len(unusable)-1].st.Fault
		m.retire(b, name, unusable, shown)
		for _, r := range stating {
			if r.st.Fault == "" && m.compare(s, b, l, name, r).State.Healthy() {
				m.answer(b, name, r.snap)
			}
		}
		return f, nil, rows
	}
	same, healthy := true, true
	for _, x := range results {
		same = same && x.State == results[0].State
		healthy = healthy && x.State.Healthy()
	}
	if !same && !healthy {
		f.Reason = classify.Ambiguous
		for i, r := range rows {
			newerAgrees := false
			for j, o := range rows {
				if results[j].State.Healthy() && etime(o.snap.ev, o.snap.at).After(etime(r.snap.ev, r.snap.at)) {
					newerAgrees = true
				}
			}
			switch {
			case r.silent || r.snap.debts[name] == nil:
			case results[i].State.Healthy():
				m.answer(b, name, r.snap)
			case results[i].Reason == classify.DigestIncomparable, newerAgrees:
				m.retire(b, name, []row{r}, shown)
			}
		}
		return f, l, rows
	}
	for _, x := range results {
		if x.State > f.State || f.Reason == "" {
			f.State, f.Reason = x.State, x.Reason
		}
	}
	for i, r := range rows {
		if r.silent || r.snap.debts[name] == nil {
			continue
		}
		if results[i].State == classify.Unverified {
			m.retire(b, name, []row{r}, shown)
		} else {
			m.answer(b, name, r.snap)
		}
		if results[i].State == classify.ApprovedChange {
			m.use(m.path(s, b.agent, name, r.value.d, shown.d, l.at, b), b, name)
		}
	}
	return f, l, rows
}

func (m *model) answer(b *mBound, name string, sn *mSnap) {
	if d := sn.debts[name]; d.status == owed || d.by == b {
		*d = mDebt{status: answered, by: b, seq: m.seq, overdue: d.overdue}
	}
}

func (m *model) retire(b *mBound, name string, rows []row, shown mValue) {
	for _, r := range rows {
		if d := r.snap.debts[name]; d.status == owed || d.by == b && d.status == answered {
			*d = mDebt{status: retired, by: b, seq: m.seq, shown: shown, overdue: d.overdue}
		}
	}
}

func (m *model) optional(rows []row, name string) bool {
	if !classify.MayBeOptional(name) || slices.Contains(m.cfg.RequiredInvariants, name) {
		return false
	}
	opt := false
	for _, r := range rows {
		if r.silent {
			continue
		}
		if !r.st.Optional {
			return false
		}
		opt = true
	}
	return opt
}

// ---- a boundary ----

// evaluate derives everything of an observed (or refused) boundary again.
func (m *model) evaluate(s *mSession, b *mBound) {
	a := s.agent(b.agent)
	b.findings = nil
	for _, sn := range s.snaps { // that this boundary has to do with
		if slices.Contains(b.snaps, sn) || len(b.looks) > 0 && sn.seq < b.seq && meets(sn.ev, b.id, b.agent) && m.anyOwed(sn) {
			b.flawed[sn] = true
		}
	}
	m.besides(s)
	if len(b.looks) > 0 {
		m.compareAll(s, b, a)
	}
	m.clearShown(s, b, a)
	m.boundaryFindings(s, b, a)
	b.findings = m.clearFindings(b, b.findings)
	classify.Sort(b.findings)
	state, _ := classify.Rollup(b.findings)
	if b.state == mOpen && (state >= classify.Dropped || !classify.Wanting(b.findings) || b.vf != nil || len(b.flawed) == 0) {
		m.settle(b)
	}
	if b.state == mSettled && !b.byDeadline && state == classify.Unverified && classify.Wanting(b.findings) && len(b.snaps) > 0 && b.vf == nil {
		b.state = mOpen // what settled it is gone: the window is still armed
		if t, ok := m.deadline(s, b); !ok || !t.After(m.now) {
			b.state = mSettled
			m.doubt("wanting again after the window")
		}
	}
	if !classify.Wanting(b.findings) {
		for _, x := range s.bounds {
			x.flaw = x.flaw && x.agent != b.agent
		}
		for _, sn := range s.snaps {
			if sn.marker && m.toldSomething(s, b, sn) && (sn.seq < b.seq || slices.Contains(b.snaps, sn)) && meets(sn.ev, b.id, b.agent) {
				if sn.missing && sn.debts[""].overdue {
					m.doubt("overdue, and could not be taken")
				}
				if sn.missing {
					*sn.debts[""] = mDebt{status: retired, by: b, seq: m.seq, overdue: sn.debts[""].overdue}
				} else {
					*sn.debts[""] = mDebt{status: answered, by: b, seq: m.seq}
				}
			}
		}
	}
	if classify.Wanting(b.findings) && slices.ContainsFunc(s.snaps, func(sn *mSnap) bool { return sn.marker && m.missing(sn) }) {
		m.doubt("overdue marker, and a weak look")
	}
	b.reason = ""
	if state.Healthy() && b.vf == nil && !m.envelopeOwed(s, b) {
		delete(a.env, "verdict") // the session's next healthy boundary clears it
	}
	m.emit(s, b)
}

// besides notes a snapshot that could not be taken beside one that is owed.
func (m *model) besides(s *mSession) {
	if slices.ContainsFunc(s.snaps, func(sn *mSnap) bool { return sn.missing }) && slices.ContainsFunc(s.snaps, func(sn *mSnap) bool { return !sn.marker }) {
		m.doubt("missing snapshot beside a baseline")
	}
}

// toldSomething reports whether any statement of a boundary's looks would
// suffice towards a snapshot that stated nothing.
func (m *model) toldSomething(s *mSession, b *mBound, sn *mSnap) bool {
	for _, l := range b.looks {
		for _, st := range l.ev.Statements {
			if m.insufficient(s, b, l, st.Name, []row{{snap: sn}}) == "" || sn.missing {
				return true
			}
		}
	}
	return false
}

func (m *model) compareAll(s *mSession, b *mBound, a *mAgent) {
	names := map[string]bool{}
	for _, n := range m.cfg.RequiredInvariants {
		names[n] = true
	}
	for _, l := range b.looks {
		for _, st := range l.ev.Statements {
			names[st.Name] = true
		}
	}
	for n := range a.defects {
		if len(b.snaps) == 0 {
			names[n] = true
		}
	}
	real := false
	for _, sn := range s.snaps {
		for n := range sn.debts {
			if n != "" && n != envelopeDebt && slices.Contains(m.owedTo(s, b, n), sn) {
				names[n], real = true, true
			}
		}
	}
	for _, sn := range b.snaps {
		for _, st := range sn.ev.Statements {
			if sn.missing && !sn.cancelled {
				names[st.Name] = true
			}
		}
	}
	missing := !real && slices.ContainsFunc(b.snaps, func(sn *mSnap) bool { return sn.missing && !sn.cancelled })
	for _, name := range sortedKeys(names) {
		if rows := m.rows(s, b, name); len(b.snaps) == 0 && a.defects[name] != nil && !b.states(name) {
			if l, _ := m.chosen(s, b, name, rows); l == nil {
				continue // nothing was said of it
			}
		}
		if m.rows(s, b, name) == nil {
			f := classify.Finding{Name: name, State: classify.Unverified, Reason: classify.NoBaseline}
			if missing {
				f.Reason = classify.EvidenceMissing
				var said []row
				for _, sn := range b.snaps {
					if st, ok := statement(sn.ev, name); ok {
						said = append(said, row{st: st})
					}
				}
				f.Optional = m.optional(said, name)
			}
			b.findings = append(b.findings, f)
			continue
		}
		f, l, rows := m.finding(s, b, name)
		b.findings = append(b.findings, f)
		if l == nil || f.State == classify.Unverified {
			continue
		}
		m.outstanding(s, b, a, f, l, rows)
	}
	if missing && len(b.findings) == 0 {
		b.findings = append(b.findings, classify.Finding{State: classify.Unverified, Reason: classify.EvidenceMissing})
	}
	if !real && !slices.ContainsFunc(b.findings, func(f classify.Finding) bool { return f.Name != "" }) {
		if b.vf != nil {
			m.doubt("a refusal, and a look of nothing")
		}
		f := classify.Finding{State: classify.Unverified, Reason: classify.NoBaseline}
		if len(b.snaps) > 0 && !slices.ContainsFunc(b.looks, func(l *mLook) bool { return l.ev.Envelope != nil }) {
			f.Reason, f.Wants = classify.ObservationEmpty, true
		}
		b.findings = append(b.findings, f)
	}
}

func sortedKeys(set map[string]bool) []string {
	var keys []string
	for k := range set {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, classify.CompareNames)
	return keys
}

func shownBy(l *mLook, name string) mValue {
	st, _ := statement(l.ev, name)
	if !st.Digest.IsValue() {
		return mValue{d: digest.None}
	}
	return mValue{st.Digest, l.ev.Form}
}

func (m *model) outstanding(s *mSession, b *mBound, a *mAgent, f classify.Finding, l *mLook, rows []row) {
	shown := shownBy(l, f.Name)
	b.shown[f.Name] = shown
	if f.State.Healthy() {
		a.healthy[f.Name] = shown
	}
	if f.Optional {
		return
	}
	d := a.defects[f.Name]
	if f.State.Healthy() {
		if f.State == classify.ApprovedChange && d != nil {
			m.doubt("an approved change clears a defect of another value")
		}
		if d != nil && (strong(l, f.Name) || !d.strong) && seenAt(l, f.Name).After(d.t) {
			delete(a.defects, f.Name)
		}
		return
	}
	if c, ok := b.cleared[f.Name]; ok && c.shown.d == shown.d {
		return
	}
	delete(b.cleared, f.Name)
	if d == nil {
		r := rows[0]
		for _, x := range rows {
			if !x.silent {
				r = x
			}
		}
		for _, x := range rows {
			if !x.silent && x.value != r.value {
				m.doubt("two originals")
			}
		}
		d = &mDefect{name: f.Name, orig: r.value, snap: r.snap, seq: l.seq}
		a.defects[f.Name] = d
	}
	d.state, d.shown, d.at = f.State, shown, l.at
	d.t, d.strong = max(d.t, seenAt(l, f.Name)), d.strong || strong(l, f.Name)
	d.bounds = append(slices.DeleteFunc(d.bounds, func(x *mBound) bool { return x == b }), b)
}

// clearShown clears defects whose original value is shown again, whatever the
// finding of this boundary is.
func (m *model) clearShown(s *mSession, b *mBound, a *mAgent) {
	for name, d := range a.defects {
		r := row{snap: d.snap, st: stOf(d), value: d.orig}
		for _, sn := range s.snaps { // later than the newest snapshot that states it
			if st, ok := statement(sn.ev, name); ok && !sn.cancelled && st.Fault == "" && sn.ev.Key.Agent == b.agent {
				r.snap, r.st = sn, st
			}
		}
		for _, l := range b.looks {
			if m.insufficient(s, b, l, name, []row{r}) != "" || !seenAt(l, name).After(d.t) || d.strong && !strong(l, name) {
				continue
			}
			st, _ := statement(l.ev, name)
			if shown := shownBy(l, name); shown.d == d.orig.d && (!shown.d.IsValue() || digest.Comparable(st.Digest, l.ev.Form, d.orig.d, d.orig.form)) {
				if slices.ContainsFunc(b.findings, func(f classify.Finding) bool { return f.Name == name && f.Reason == classify.Ambiguous }) {
					m.doubt("ambiguous, and the original of a defect")
				}
				delete(a.defects, name)
				break
			}
		}
	}
}

func (m *model) clearFindings(b *mBound, fs []classify.Finding) []classify.Finding {
	fs = slices.Clone(fs)
	for i, f := range fs {
		if c, ok := b.cleared[f.Name]; ok && f.Name != "" && (f.State >= classify.Dropped || f.State == classify.ApprovedChange) && b.shown[f.Name].d == c.shown.d {
			fs[i].State, fs[i].Cleared, fs[i].Reason = c.state, classify.ApprovedChange, classify.ApprovedAfter
		}
	}
	return fs
}

// boundaryFindings are those without a name: truncation, bad names, envelope.
func (m *model) boundaryFindings(s *mSession, b *mBound, a *mAgent) {
	add := func(f classify.Finding) { b.findings = append(b.findings, f) }
	once := func(ok bool, f classify.Finding) {
		if ok && !slices.ContainsFunc(b.findings, func(x classify.Finding) bool { return x.Name == "" && x.Reason == f.Reason }) {
			add(f)
		}
	}
	if len(b.looks) > 0 {
		for _, sn := range s.snaps {
			if sn.cancelled || !b.flawed[sn] {
				continue
			}
			if (sn.ev.Dropped || sn.ev.BadName || sn.ev.TooMany) && !slices.Contains(b.snaps, sn) {
				m.doubt("flaws of an older snapshot")
			}
			once(sn.ev.Dropped, classify.Finding{State: classify.Unverified, Reason: classify.SnapshotTruncated})
			once(sn.ev.BadName, classify.Finding{State: classify.Unverified, Reason: classify.NameInvalid})
			once(sn.ev.TooMany, classify.Finding{State: classify.Unverified, Reason: classify.Capacity})
		}
		last := b.looks[len(b.looks)-1].ev
		if last.BadName && len(last.Statements) == 0 {
			m.doubt("a look of bad names alone")
		}
		once(last.BadName, classify.Finding{State: classify.Unverified, Reason: classify.NameInvalid, Wants: true})
		if last.TooMany {
			m.doubt("a look of too many")
		}
		once(last.TooMany, classify.Finding{State: classify.Unverified, Reason: classify.Capacity})
	}
	m.envelope(s, b, a, add)
}

// ---- the envelope ----

func (m *model) envelopeOwed(s *mSession, b *mBound) bool { return m.envelopeBaseline(s, b) != nil }

func (m *model) envelopeBaseline(s *mSession, b *mBound) *mSnap {
	var base *mSnap
	for _, sn := range s.snaps {
		d := sn.debts[envelopeDebt]
		mine := slices.Contains(b.snaps, sn)
		if d != nil && base != nil && fmt.Sprint(*base.ev.Envelope) != fmt.Sprint(*sn.ev.Envelope) && (mine || d.status == owed) {
			m.doubt("two envelopes")
		}
		if d != nil && !sn.cancelled && (mine || sn.seq < b.seq && meets(sn.ev, b.id, b.agent) && (d.status == owed || d.by == b)) {
			base = sn
		}
	}
	return base
}

func (m *model) envelope(s *mSession, b *mBound, a *mAgent, add func(classify.Finding)) {
	b.validation = classify.Validation{}
	for _, d := range a.env {
		if d.orig != nil && d.bound != b {
			m.doubt("an envelope outstanding, and a later boundary")
		}
	}
	base := m.envelopeBaseline(s, b)
	var look *mLook
	stale := false
	for _, l := range b.looks {
		if l.ev.Envelope == nil {
			continue
		}
		t := l.ev.ObservedAt
		if t == 0 {
			t = etime(l.ev, l.at)
		}
		if base != nil && !freshTo(t, base.ev.ObservedAt, l, base) {
			stale = true
			continue
		}
		look = l
	}
	if b.vf != nil && (look == nil || look.seq < b.vfSeq) {
		f := refusal(b.vf)
		add(f)
		b.validation = classify.Validation{Status: b.vf.Verdict.Status, Reason: f.Reason, Findings: []classify.Reason{f.Reason}}
		if b.validation.Status == "" {
			b.validation.Status = classify.StatusValidationFailed
		}
		return
	}
	switch {
	case base == nil && look == nil:
		return
	case look == nil:
		f := classify.Finding{State: classify.Unverified, Reason: classify.EnvelopeNotObserved, Wants: true}
		if stale {
			f.Reason = classify.NotFresh
		}
		if len(b.looks) > 0 {
			add(f)
			b.validation = classify.Validation{Status: classify.StatusValidationFailed, Reason: decision(b.findings)}
		}
		return
	case base == nil:
		if !resolvedEffect(look.ev.Envelope) && effect(look.ev.Envelope) != "" {
			m.doubt("an unresolved effect without a baseline")
		}
		add(classify.Finding{State: classify.Unverified, Reason: classify.NoBaseline})
		b.validation = classify.Validation{Status: classify.StatusValidationFailed, Reason: decision(b.findings)}
		delete(a.env, "verdict")
		return
	}
	before, after := m.withSummary(s, b, base), look.ev.Envelope
	found := checkEnvelope(before, after, look.at)
	if before.Fields[classify.FieldSummarySHA256] != "" && after.Fields[classify.FieldSummarySHA256] == "" {
		add(classify.Finding{State: classify.Unverified, Reason: classify.EnvelopeNotObserved, Wants: true})
	}
	if before.Fields[classify.FieldSummarySHA256] == "" || after.Fields[classify.FieldSummarySHA256] != "" {
		for _, sn := range s.snaps {
			if sn.debts[envelopeDebt] != nil && (sn.seq < b.seq || slices.Contains(b.snaps, sn)) && meets(sn.ev, b.id, b.agent) {
				m.answer(b, envelopeDebt, sn)
			}
		}
	}
	resolved := resolvedEffect(after)
	for r, d := range a.env {
		switch {
		case d.effect:
			if resolved {
				delete(a.env, r)
			}
		case d.verdict || !slices.Contains(checkEnvelope(d.orig, after, look.at), r):
			delete(a.env, r)
		}
	}
	for _, r := range found {
		f := classify.Finding{State: classify.Conflicting, Reason: r}
		key := r
		if r == classify.UnknownSideEffect || r == classify.PartialSideEffect {
			f.State, f.Effect, key = classify.Unverified, true, "effect"
		}
		if a.env[key] == nil {
			a.env[key] = &mEnvDefect{orig: before, effect: f.Effect, bound: b}
		}
		add(f)
	}
	if len(found) == 0 && !slices.ContainsFunc(b.findings, func(f classify.Finding) bool { return f.Reason == classify.EnvelopeNotObserved }) {
		add(classify.Finding{State: classify.Preserved, Reason: classify.Match})
	}
	v := classify.Validation{Status: classify.StatusReauthorization, Reason: classify.ContinuityValidated, Findings: found}
	if len(found) > 0 {
		v.Status, v.Reason = classify.StatusValidationFailed, found[0]
		if found[0] == classify.UnknownSideEffect || found[0] == classify.PartialSideEffect {
			v.Status = classify.StatusBlocked
		}
	} else if state, _ := classify.Rollup(b.findings); state > classify.ApprovedChange {
		v.Status, v.Reason = classify.StatusValidationFailed, decision(b.findings)
	}
	b.validation = v
}

func decision(fs []classify.Finding) classify.Reason {
	state, _ := classify.Rollup(fs)
	return map[classify.State]classify.Reason{
		classify.Conflicting: classify.DecisionConflicting, classify.Dropped: classify.DecisionDropped, classify.Unverified: classify.DecisionUnverified,
	}[state]
}

// withSummary adds the digest that came with the completion.
func (m *model) withSummary(s *mSession, b *mBound, base *mSnap) *classify.Envelope {
	e := *base.ev.Envelope
	for _, c := range b.comps {
		if c.ev.Envelope != nil && e.Fields[classify.FieldSummarySHA256] == "" {
			e.Fields[classify.FieldSummarySHA256] = c.ev.Envelope.Fields[classify.FieldSummarySHA256]
		}
	}
	return &e
}

var effectNames = map[string]string{
	"not_executed": "not_executed", "applied": "applied", "side_effect_unknown": "side_effect_unknown",
	"partial_side_effect": "partial_side_effect", "not_started": "not_executed", "side_effect_committed": "applied",
}

func effect(e *classify.Envelope) string {
	return effectNames[e.Fields[classify.FieldSideEffectStatus]]
}

func summary(e *classify.Envelope) (digest.Digest, bool) {
	d, fault := digest.Parse(e.Fields[classify.FieldSummarySHA256])
	return d, fault != digest.Malformed && d.Alg == digest.SHA256
}

func resolvedEffect(e *classify.Envelope) bool {
	return effect(e) == "applied" || effect(e) == "not_executed"
}

// checkEnvelope is the list of section 7, in order.
func checkEnvelope(before, after *classify.Envelope, now time.Time) []classify.Reason {
	var found []classify.Reason
	check := func(bad bool, r classify.Reason) {
		if bad && !slices.Contains(found, r) {
			found = append(found, r)
		}
	}
	both := []*classify.Envelope{before, after}
	either := func(f func(e *classify.Envelope) bool) bool { return f(before) || f(after) }
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
		_, ok := summary(e)
		return !ok && e.Fields[classify.FieldSummarySHA256] != ""
	}), classify.SummaryDigestMalformed)
	check(either(func(e *classify.Envelope) bool { return e.HasReauthorization && !e.Reauthorization }), classify.ReauthorizationNotRequired)
	x, okx := summary(before)
	y, oky := summary(after)
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
	check(resolvedEffect(before) && resolvedEffect(after) && effect(before) != effect(after), classify.SideEffectStatusChanged)
	check(differs(classify.FieldCheckpointRef), classify.CheckpointChanged)
	check(differs(classify.FieldSandboxSnapshotRef), classify.SandboxChanged)
	check(differs(classify.FieldSourceEventFirst, classify.FieldSourceEventLast), classify.SourceRangeChanged)
	lost := func(l classify.ListField, also []string) bool {
		return after.Lists[l] != nil && slices.ContainsFunc(before.Lists[l], func(x string) bool {
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

// ---- what comes out ----

func (m *model) itemsOf(s *mSession, agent string) map[mItem]bool {
	items := map[mItem]bool{}
	a := s.agent(agent)
	for name, d := range a.defects {
		if d.state == classify.Conflicting {
			items[mItem{boundary.AlertDecisionConflicting, name}] = true
		} else {
			items[mItem{boundary.AlertDecisionDropped, name}] = true
		}
	}
	for r, d := range a.env {
		if d.effect {
			items[mItem{boundary.AlertReconciliationRequired, ""}] = true
		} else {
			items[mItem{boundary.AlertDecisionConflicting, "\x00" + string(r)}] = true
		}
	}
	for _, b := range s.bounds {
		if b.agent == agent && b.flaw && slices.ContainsFunc(b.snaps, func(sn *mSnap) bool { return !sn.cancelled }) && slices.ContainsFunc(b.findings, func(f classify.Finding) bool { return f.Name == "" && f.Wants }) {
			items[mItem{boundary.AlertPostObservationMissing, ""}] = true
		}
	}
	for _, sn := range s.snaps {
		if sn.ev.Key.Agent == agent && m.missing(sn) {
			items[mItem{boundary.AlertPostObservationMissing, ""}] = true
		}
	}
	return items
}

// content is what a snapshot stated: equal ones are one baseline.
func (sn *mSnap) content() string {
	var b strings.Builder
	fmt.Fprint(&b, sn.ev.BoundaryID, sn.marker, sn.missing, sn.ev.Form, sn.ev.Dropped, sn.ev.BadName, sn.ev.TooMany)
	if sn.ev.Envelope != nil {
		fmt.Fprint(&b, *sn.ev.Envelope)
	}
	for _, st := range sn.ev.Statements {
		fmt.Fprint(&b, st.Name, st.Digest, st.Fault, st.Text, st.Optional)
	}
	return b.String()
}

// missing reports whether a snapshot is past its deadline and not answered.
func (m *model) missing(sn *mSnap) bool {
	if sn.cancelled {
		return false
	}
	for name, d := range sn.debts {
		st, _ := statement(sn.ev, name)
		optional := st.Optional && m.optional([]row{{st: st}}, name)
		if d.overdue && d.status != answered && !d.covered && optional {
			m.doubt("overdue and optional")
		}
		if d.overdue && d.status != answered && !d.covered && !optional {
			return true
		}
	}
	return false
}

func (m *model) sessionState(s *mSession, agent string, now *mBound) classify.State {
	worst := classify.NoState
	for item := range m.itemsOf(s, agent) {
		switch item.kind {
		case boundary.AlertDecisionConflicting:
			worst = classify.Worse(worst, classify.Conflicting)
		case boundary.AlertDecisionDropped:
			worst = classify.Worse(worst, classify.Dropped)
		default:
			worst = classify.Worse(worst, classify.Unverified)
		}
	}
	var last *mBound
	for _, b := range s.bounds {
		if b.agent == agent && b.state != mEnded && !b.void && (b.reported || b == now) {
			last = b
		}
	}
	if last != nil {
		for _, f := range m.verdict(last) {
			if !f.Optional {
				worst = classify.Worse(worst, f.Now())
			}
		}
	}
	if worst == classify.NoState {
		worst = classify.Unverified
	}
	return worst
}

// verdict lists the findings of a boundary as they are reported.
func (m *model) verdict(b *mBound) []classify.Finding {
	fs := slices.Clone(b.findings)
	switch {
	case b.override != "":
		fs = append(fs, classify.Finding{State: classify.Unverified, Reason: b.override})
	case b.unconfirmed && len(b.comps) == 0 && len(b.looks) == 0:
		fs = append(fs, classify.Finding{State: classify.Unverified, Reason: classify.CompactionUnconfirmed})
	case len(fs) == 0:
		names := map[string]bool{}
		for _, sn := range b.snaps {
			for n := range sn.debts {
				if b.reason == classify.PostObservationMissing && n != "" && n != envelopeDebt && !sn.cancelled {
					names[n] = true
				}
			}
		}
		for _, n := range sortedKeys(names) {
			var rows []row
			for _, sn := range b.snaps {
				if st, ok := statement(sn.ev, n); ok && !sn.cancelled {
					rows = append(rows, row{st: st})
				}
			}
			fs = append(fs, classify.Finding{Name: n, State: classify.Unverified, Reason: b.reason, Optional: m.optional(rows, n)})
		}
		if len(fs) == 0 {
			fs = append(fs, classify.Finding{State: classify.Unverified, Reason: b.reason})
		}
	}
	return fs
}

func (m *model) alertsChange(s *mSession, b *mBound) bool {
	a := s.agent(b.agent)
	items := m.itemsOf(s, b.agent)
	for k := range a.active {
		if a.active[k] && !slices.ContainsFunc(mapKeys(items), func(i mItem) bool { return i.kind == k }) {
			return true
		}
	}
	return false
}

func mapKeys(items map[mItem]bool) []mItem {
	var keys []mItem
	for k := range items {
		keys = append(keys, k)
	}
	return keys
}

func (m *model) emitIfStateChanged(s *mSession, b *mBound) {
	if m.alertsChange(s, b) || m.sessionState(s, b.agent, b) != b.lastState {
		m.emit(s, b)
	}
}

// emit reports a boundary if it has something new to say.
func (m *model) emit(s *mSession, b *mBound) {
	a := s.agent(b.agent)
	fs := m.verdict(b)
	o := out{
		at: m.now.Sub(epoch), key: boundary.Key{SessionKey: s.key, Agent: b.agent}, id: b.key, findings: map[string]string{},
		validation: b.validation, late: b.late, superseded: max(0, len(b.snaps)-1, len(b.comps)-1), outcome: b.outcome, runtime: b.runtime(),
	}
	o.verdict, o.reason = classify.Rollup(fs)
	if o.verdict == classify.NoState {
		m.doubt("no required invariant at all")
		o.verdict = classify.Unverified
	}
	if b.override != "" {
		o.verdict, o.reason = classify.Unverified, b.override
	}
	for _, f := range fs {
		addFinding(o.findings, f)
	}
	items := m.itemsOf(s, b.agent)
	for _, k := range boundary.AlertKinds {
		added, left := false, false
		for i := range items {
			if i.kind == k {
				left = true
				added = added || !a.items[i] && k != boundary.AlertPostObservationMissing
			}
		}
		if k == boundary.AlertPostObservationMissing {
			added, b.adds = b.adds && left, false
		}
		switch {
		case !m.cfg.Alerts[k]:
		case added && !b.fired[k]:
			if a.active[k] && k == boundary.AlertPostObservationMissing {
				m.doubt("fires again while it is active")
			}
			b.fired[k], a.active[k] = true, true
			o.alerts = append(o.alerts, k.String()+":firing")
		case !left && a.active[k]:
			a.active[k] = false
			for _, x := range s.bounds {
				delete(x.fired, k)
			}
			o.alerts = append(o.alerts, k.String()+":resolved")
		}
	}
	a.items = items
	slices.Sort(o.alerts)
	o.state = m.sessionState(s, b.agent, b)
	o.actions = m.actions(s, b, fs, items)
	since := map[string]bool{}
	for _, sn := range b.snaps {
		for _, n := range sn.changed {
			since[n] = true
		}
	}
	o.since = sortedKeys(since)
	switch {
	case b.vf != nil && len(b.snaps) > 0:
		o.coverage = boundary.CoverageObserved
	case len(b.snaps) == 0 && (len(b.looks) == 0 || len(b.flawed) == 0):
		o.coverage = boundary.CoverageBoundary
	case len(b.looks) == 0:
		o.coverage = boundary.CoverageBaseline
	case len(b.snaps) == 0:
		o.coverage = boundary.CoverageObserved
	default:
		o.coverage = boundary.CoverageObserved
	}
	signature := fmt.Sprint(o.verdict, o.reason, o.findings, o.state, o.since)
	if b.reported && signature == b.last && len(o.alerts) == 0 {
		sources := map[string]classify.Source{}
		for _, l := range b.looks {
			for _, st := range l.ev.Statements {
				sources[st.Name] = st.Source
			}
		}
		return
	}
	b.last, b.lastState, b.reported = signature, o.state, true
	b.rev++
	o.rev = b.rev
	m.outs = append(m.outs, o)
}

func (m *model) actions(s *mSession, b *mBound, fs []classify.Finding, items map[mItem]bool) []string {
	var set classify.ActionSet
	for _, f := range fs {
		if !f.Optional {
			set = set.With(f.Action())
		}
	}
	for i := range items {
		switch i.kind {
		case boundary.AlertDecisionConflicting:
			set = set.With(classify.HoldAndAsk)
		case boundary.AlertDecisionDropped:
			set = set.With(classify.PauseAndRestore)
		case boundary.AlertReconciliationRequired:
			set = set.With(classify.Reconcile)
		default:
			set = set.With(classify.Reobserve)
		}
	}
	var names []string
	for _, x := range set.List() {
		names = append(names, x.String())
	}
	return names
}
