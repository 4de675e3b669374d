package boundary

import (
	"slices"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// decision is one invariant as a baseline states it.
type decision struct {
	name                  string
	digest                digest.Digest
	fault                 classify.Reason
	text, optional        bool
	revision, approvalRef string
}

// content is what a snapshot states, apart from when. Equal contents are one
// baseline that counts its snapshots.
type content struct {
	// number tells contents of one session apart.
	number     uint64
	boundaryID string
	decisions  []decision // sorted by authority
	form       digest.Form
	envelope   *classify.Envelope
	// What is wrong with the snapshot as a whole.
	failed, truncated, badName, tooMany bool
}

func newContent(ev *Event, required []string) *content {
	c := &content{
		boundaryID: ev.BoundaryID, form: ev.Form, envelope: ev.Envelope,
		failed: ev.SnapshotFailed, truncated: ev.Dropped, badName: ev.BadName, tooMany: ev.TooMany,
		decisions: make([]decision, len(ev.Statements)),
	}
	if c.envelope != nil {
		c.envelope.Normalize()
	}
	nothing := true
	for i, s := range ev.Statements {
		c.decisions[i] = decision{s.Name, s.Digest, s.Fault, s.Text, s.Optional && classify.MayBeOptional(s.Name) && !slices.Contains(required, s.Name), s.Revision, s.ApprovalRef}
		nothing = nothing && s.Digest.IsNothing() && s.Fault == ""
	}
	if c.failed || nothing && len(c.decisions) > 0 {
		// A producer that finds nothing writes none everywhere: no baseline.
		c.failed = true
		for i := range c.decisions {
			c.decisions[i].fault = classify.EvidenceMissing
		}
	}
	return c
}

func (c *content) equal(d *content) bool {
	return c.boundaryID == d.boundaryID && c.form == d.form && c.envelope.Equal(d.envelope) &&
		c.failed == d.failed && c.truncated == d.truncated && c.badName == d.badName && c.tooMany == d.tooMany &&
		slices.Equal(c.decisions, d.decisions)
}

// hollow reports whether the snapshot is a baseline only where no other is owed:
// the host's own bare event, one that could not be taken, or one that states
// none everywhere.
func (c *content) hollow() bool {
	return c.failed || len(c.decisions) == 0 && c.envelope == nil && !c.truncated && !c.badName && !c.tooMany
}

func (c *content) find(name string) int {
	for i := range c.decisions { // in place: this is the innermost loop
		if c.decisions[i].name == name {
			return i
		}
	}
	return -1
}

// flaws are the findings of a boundary as a whole that its snapshot causes.
func (c *content) flaws() []classify.Reason {
	var out []classify.Reason
	add := func(is bool, r classify.Reason) {
		if is {
			out = append(out, r)
		}
	}
	add(c.failed, classify.EvidenceMissing)
	add(c.truncated, classify.SnapshotTruncated)
	add(c.badName, classify.NameInvalid)
	add(c.tooMany, classify.Capacity)
	return out
}

// debt is what a session owes for one decision of one snapshot.
type debt struct {
	status debtStatus
	// by is the boundary that answered or retired it, at its turn.
	by   *bound
	turn uint64
	// shown is what was seen where a retired decision differed.
	shown digest.Digest
	// instead is what was compared in the place of the snapshot's own value: the
	// original of a defect that was outstanding then. Nil for none.
	instead *classify.Value
	// overdue is set once a deadline passed without an answer.
	overdue bool
}

// unanswered reports whether a deadline passed and nothing has answered since:
// what was retired was not answered.
func (d *debt) unanswered() bool { return d.overdue && d.status != answered }

// reopen makes the decision owed again.
func (d *debt) reopen() { *d = debt{overdue: d.overdue} }

type debtStatus uint8

const (
	owed debtStatus = iota
	// answered: a sufficient observation gave it, or an approval covers it.
	answered
	// retired: reported once, no longer compared; an alert that it raised stays.
	retired
)

// snap is one snapshot: a content, when it was taken, and what is still owed.
type snap struct {
	*content
	turn       uint64
	bound      *bound
	event      classify.Instant
	received   classify.Instant
	observedAt []classify.Instant // by decision
	// eventObservedAt is the event-level time: the envelope's.
	eventObservedAt classify.Instant
	debts           []debt // by decision
	// whole is the debt of what has no name: the envelope, a marker, the flaws.
	whole debt
	// more is how many equal snapshots it stands for besides itself.
	more int
	// completion is the end of its compaction, 0 for none yet.
	completion classify.Instant
}

func newSnap(c *content, ev *Event, now classify.Instant, turn uint64) *snap {
	s := &snap{
		content: c, turn: turn, event: ev.Time, received: now,
		observedAt: make([]classify.Instant, len(ev.Statements)), eventObservedAt: ev.ObservedAt,
		debts: make([]debt, len(ev.Statements)),
	}
	for i := range ev.Statements {
		s.observedAt[i] = ev.Statements[i].ObservedAt
	}
	if c.failed { // what it states is no baseline: only the whole is owed
		for i := range s.debts {
			s.debts[i].status = answered
		}
	}
	if len(c.decisions) > 0 && c.envelope == nil && len(c.flaws()) == 0 {
		s.whole.status = answered // nothing is owed but the decisions
	}
	return s
}

// time orders snapshots: by event time where it can be believed.
func (s *snap) time() classify.Instant { return s.event.Or(s.received) }

func (s *snap) taken(i int) classify.Taken {
	return classify.Taken{ObservedAt: s.observedAt[i], Event: s.event, Received: s.received}
}

// owes reports whether anything of the snapshot is still to be answered.
func (s *snap) owes() bool {
	if s.whole.status == owed {
		return true
	}
	for i := range s.debts {
		if s.debts[i].status == owed {
			return true
		}
	}
	return false
}

// unanswered reports whether anything required is overdue.
func (s *snap) unanswered() bool {
	for i := range s.debts {
		if s.debts[i].unanswered() && !s.decisions[i].optional {
			return true
		}
	}
	return s.whole.unanswered()
}

// passDeadline marks what is owed as overdue, and reports whether there was
// anything required.
func (s *snap) passDeadline() bool {
	found := false
	for i := range s.debts {
		if s.debts[i].status == owed {
			s.debts[i].overdue = true
			found = found || !s.decisions[i].optional
		}
	}
	if s.whole.status == owed {
		s.whole.overdue, found = true, true
	}
	return found
}

// heldBy reports whether a boundary answered or retired part of the snapshot.
func (s *snap) heldBy(x *bound) bool {
	if s.whole.by == x {
		return true
	}
	for i := range s.debts {
		if s.debts[i].by == x {
			return true
		}
	}
	return false
}

// meets reports whether two explicit pairing ids may meet: events with
// different ids never do, an event without id meets any.
func meets(a, b string) bool { return a == "" || b == "" || a == b }

// addSnap records a snapshot of the key, merged with an equal baseline where
// there is one.
func (k *keyState) addSnap(ev *Event, now classify.Instant) *snap {
	c := newContent(ev, k.core.cfg.RequiredInvariants)
	for _, s := range k.snaps {
		if s.owes() && s.content.equal(c) {
			c = s.content
			break
		}
	}
	s := newSnap(c, ev, now, k.nextTurn())
	if c.number == 0 {
		c.number = s.turn
	}
	k.absorbHollow(s)
	k.snaps = append(k.snaps, s)
	k.boundCandidates()
	return s
}

// absorbHollow sees to it that a hollow snapshot is a baseline only where no
// other is owed: the host's own event and the producer's snapshot are one
// compaction.
func (k *keyState) absorbHollow(s *snap) {
	if s.hollow() {
		if slices.ContainsFunc(k.snaps, func(o *snap) bool { return o.owes() && !o.hollow() }) {
			s.absorb()
		}
		return
	}
	for _, h := range k.snaps {
		if h.hollow() && !h.whole.overdue {
			h.absorb()
		}
	}
}

// absorb takes all debts off a hollow snapshot that were not answered: another
// one asks.
func (s *snap) absorb() {
	s.whole.absorb()
	for i := range s.debts {
		s.debts[i].absorb()
	}
}

func (d *debt) absorb() {
	if d.status == owed {
		d.status = answered
	}
}

// absorbed reports whether another snapshot asks in this one's place.
func (s *snap) absorbed() bool { return s.hollow() && s.whole.status == answered && s.whole.by == nil }

// forgive takes what is still owed off a snapshot that met no compaction. What
// its boundary found stays.
func (s *snap) forgive(x *bound) {
	for i := range s.debts {
		s.debts[i].forgive(x)
	}
	s.whole.forgive(x)
}

func (d *debt) forgive(x *bound) {
	if d.status == owed {
		d.status, d.by = answered, x
	}
	d.overdue = false
}

// boundCandidates keeps at most Limits.Candidates different owed baselines, the
// oldest and the newest always.
func (k *keyState) boundCandidates() {
	var different []*content
	for _, s := range k.snaps {
		if s.owes() && !slices.Contains(different, s.content) {
			different = append(different, s.content)
		}
	}
	for ; len(different) > max(k.core.cfg.Limits.Candidates, 2); different = slices.Delete(different, 1, 2) {
		given := different[1]
		for i := len(k.snaps) - 1; i >= 0; i-- {
			if s := k.snaps[i]; s.content == given && s.owes() {
				k.lose(i)
			}
		}
	}
	for len(k.snaps) > maxSnaps {
		k.foldSnaps()
	}
}

// maxSnaps bounds the snapshots of one key: retries of equal content beyond it
// are told apart no longer.
const maxSnaps = 64

// foldSnaps merges the oldest pair of equal, wholly owed snapshots of one
// boundary where there are too many: the later's times hold for both.
func (k *keyState) foldSnaps() {
	if i := slices.IndexFunc(k.snaps, func(s *snap) bool { return !s.owes() && !s.unanswered() }); i >= 0 {
		k.snaps = slices.Delete(k.snaps, i, i+1) // only history needs it
		return
	}
	for i, a := range k.snaps {
		for _, b := range k.snaps[i+1:] {
			if a.content == b.content && a.bound == b.bound {
				b.more += a.more + 1
				for n := range b.debts {
					b.debts[n].overdue = b.debts[n].overdue || a.debts[n].overdue
				}
				k.snaps = slices.Delete(k.snaps, i, i+1)
				return
			}
		}
	}
	// All differ: the second oldest gives way, and healthy findings say so.
	k.lose(1)
}

// lose gives up an owed snapshot for want of room: healthy findings will say so
// once, and an alert that it raised stays until the session is healthy again.
func (k *keyState) lose(i int) {
	k.lost = true
	k.reach(LimitBaselines)
	k.lostOverdue = k.lostOverdue || k.snaps[i].unanswered()
	k.snaps = slices.Delete(k.snaps, i, i+1)
}

// forgetSnaps drops what is neither owed nor needed by a remembered boundary.
func (k *keyState) forgetSnaps() {
	k.snaps = slices.DeleteFunc(k.snaps, func(s *snap) bool {
		if s.owes() || s.unanswered() {
			return false
		}
		return !slices.ContainsFunc(k.bounds, func(x *bound) bool { return s.bound == x || s.heldBy(x) })
	})
}
