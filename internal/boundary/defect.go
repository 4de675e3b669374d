package boundary

import (
	"slices"
	"strings"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// defect is an invariant that was dropped or put in conflict, until something
// clears it. Its original value stays the baseline.
type defect struct {
	name  string
	state classify.State
	// originals are the values that baselines gave and nobody has shown again;
	// text as the newest said.
	originals []classify.Value
	text      bool
	// What showed it last, when, and whether it was a probe.
	shown   classify.Value
	shownAt classify.Instant
	seenAt  time.Time
	probe   bool
	// turn is when it was raised: later snapshots do not change what counts.
	turn uint64
	// origin raised it, bound showed it last.
	origin, bound *bound
}

func (k *keyState) defect(name string) *defect {
	for _, d := range k.defects {
		if d.name == name {
			return d
		}
	}
	return nil
}

func (k *keyState) removeDefect(d *defect) {
	k.defects = slices.DeleteFunc(k.defects, func(e *defect) bool { return e == d })
}

// overlay puts the original value in the place of what later snapshots state:
// the damaged context must not become its own baseline. An original none stands
// beside them. Where nobody states the invariant any more, the original is held
// against what a look states.
func (d *defect) overlay(entries []entry, stated bool) []entry {
	if len(entries) == 0 {
		return d.alone(stated)
	}
	var later []int
	for i, e := range entries {
		if e.snap.turn > d.turn && e.debts[e.at].instead == nil {
			later = append(later, i)
		}
	}
	if len(later) == 0 {
		return entries
	}
	replaced := false
	for _, original := range d.originals {
		if original.Digest.IsNothing() || replaced {
			entries = append(entries, entry{before: classify.Before{Value: original, Text: d.text}})
			continue
		}
		replaced = true
		for _, i := range later {
			entries[i].before.Value, entries[i].before.Fault = original, ""
		}
	}
	return entries
}

// alone holds the originals against a look where no baseline states the
// invariant any more. Silence shows an original none again, but nothing else.
func (d *defect) alone(stated bool) []entry {
	var entries []entry
	for _, original := range d.originals {
		if stated || original.Digest.IsNothing() {
			entries = append(entries, entry{before: classify.Before{Value: original, Text: d.text, Since: d.shownAt}})
		}
	}
	return entries
}

// explicitNone reports whether the decision originally did not exist: silence
// then shows the original again.
func (d *defect) explicitNone() bool {
	return slices.ContainsFunc(d.originals, func(v classify.Value) bool { return v.Digest.IsNothing() })
}

// recordDefect keeps the session's outstanding list in step with a finding that
// a sufficient look decided.
func (k *keyState) recordDefect(x *bound, f *classify.Finding, entries []entry, decided classify.Vote, best *evidence) {
	k.clearDefect(f.Name, best)
	d := k.defect(f.Name)
	switch {
	case decided.State.Healthy():
		k.remember(f.Name, best.Value)
		if d != nil && decided.State == classify.ApprovedChange {
			k.approveDefect(d, best.Value, best.at, x.use, best.turn, false)
		}
		return
	case decided.State < classify.Dropped || decided.Cleared != classify.NoState || f.Optional:
		return
	case d == nil && !best.ObservedAt.After(x.raised[f.Name]):
		return // it was raised by this look already, and cleared since
	case d != nil && d.bound != x && d.shownAt.After(best.ObservedAt):
		x.raise(f.Name, best.ObservedAt)
		return // another boundary's later look is what must be outdone
	}
	if d == nil {
		d = &defect{name: f.Name, text: newestEntry(entries).Text, origin: x, turn: k.turn}
		for _, e := range entries {
			if !slices.ContainsFunc(d.originals, e.before.Same) {
				d.originals = append(d.originals, e.before.Value)
			}
		}
		k.defects = append(k.defects, d)
	}
	d.state, d.shown, d.shownAt, d.seenAt = decided.State, best.Value, best.ObservedAt, best.at
	d.probe, d.bound = best.Probe(), x
	x.raise(f.Name, best.ObservedAt)
}

// raise notes when the look was taken by which a defect was raised; the name of
// the envelope is "".
func (x *bound) raise(name string, at classify.Instant) {
	if x.raised == nil {
		x.raised = map[string]classify.Instant{}
	}
	x.raised[name] = max(x.raised[name], at)
}

func newestEntry(entries []entry) *classify.Before {
	best := &entries[0]
	for i := range entries {
		if e := &entries[i]; e.snap != nil && (best.snap == nil || e.time() >= best.time()) {
			best = e
		}
	}
	return &best.before
}

// clearDefect clears a defect whose original value a sufficient look shows
// again, later than the look that showed the defect. What an agent or a human
// showed, a probe does not clear.
func (k *keyState) clearDefect(name string, best *evidence) {
	d := k.defect(name)
	if d == nil || !best.ObservedAt.After(d.shownAt) || best.Probe() && !d.probe {
		return
	}
	d.originals = slices.DeleteFunc(d.originals, best.Same)
	if len(d.originals) == 0 {
		k.removeDefect(d)
	}
}

// approveDefect clears what approvals cover of the way from the originals to
// what was shown, and reports whether they covered anything.
func (k *keyState) approveDefect(d *defect, shown classify.Value, seen time.Time, boundary string, look uint64, after bool) bool {
	before := len(d.originals)
	d.originals = slices.DeleteFunc(d.originals, func(original classify.Value) bool {
		a := k.book.Ask(approval.Question{
			Invariant: d.name, Agent: k.agent, From: noneFor(original), To: noneFor(shown), At: seen, Boundary: boundary, Look: look,
		})
		if a.Covers() {
			a.Use(boundary, after)
			d.bound.noteApproval(a.Signed())
		}
		return a.Covers()
	})
	if len(d.originals) == 0 {
		k.removeDefect(d)
	}
	return len(d.originals) < before
}

func noneFor(v classify.Value) digest.Digest {
	if v.Digest.IsNothing() {
		return digest.None
	}
	return v.Digest
}

// maxHealthy bounds the names whose last healthy value is remembered.
const maxHealthy = 64

func (k *keyState) remember(name string, v classify.Value) {
	i, known := slices.BinarySearchFunc(k.healthy, name, func(h healthyValue, name string) int { return strings.Compare(h.name, name) })
	switch {
	case known:
		k.healthy[i].Value = v
	case len(k.healthy) < maxHealthy:
		k.healthy = slices.Insert(k.healthy, i, healthyValue{name, v})
	}
}

// healthyValues are sorted by name.
type healthyValues []healthyValue

type healthyValue struct {
	name string
	classify.Value
}

func (h healthyValues) find(name string) int {
	return slices.IndexFunc(h, func(v healthyValue) bool { return v.name == name })
}

// changedSince lists what a snapshot states otherwise than it was last found
// healthy, without an approval (not used up by this) and not outstanding:
// something changed while nobody looked.
func (k *keyState) changedSince(s *snap, now time.Time) []string {
	if s.hollow() || len(s.decisions) == 0 {
		return nil
	}
	var out []string
	for _, h := range k.healthy {
		name, last := h.name, h.Value
		v := classify.Value{Digest: digest.None, Form: s.form}
		switch i := s.content.find(name); {
		case i < 0 && (s.truncated || s.tooMany), i >= 0 && s.decisions[i].fault != "":
			continue // it may have been stated, or cannot be read
		case i >= 0:
			v.Digest = s.decisions[i].digest
		}
		if last.Same(v) || v.Digest.IsValue() && last.Digest.IsValue() && !v.Comparable(last) || k.defect(name) != nil {
			continue
		}
		a := k.book.Ask(approval.Question{Invariant: name, Agent: k.agent, From: noneFor(last), To: noneFor(v), At: now})
		if !a.Covers() {
			out = append(out, name)
		}
	}
	return sortNames(out)
}

// shownAt is the receipt of the look that showed a value: what expired before
// that covers nothing, what expired since does.
func (x *bound) shownAt(name string, shown digest.Digest, otherwise time.Time) time.Time {
	var best *look
	var latest classify.Instant
	for _, l := range x.looks {
		st := l.find(name)
		if st == nil && !shown.IsNothing() || st != nil && st.Digest != shown {
			continue
		}
		seen := l.observedAt
		if st != nil {
			seen = st.ObservedAt
		}
		if best == nil || seen.After(latest) {
			best, latest = l, seen
		}
	}
	if best == nil {
		return otherwise
	}
	return best.at
}

// approve takes an approval: it covers changes to come, and clears what it
// covers of those that were found already.
func (s *session) approve(now time.Time, ev *Event, res *Result) bool {
	limit := s.core.cfg.Limits.Approvals
	if s.tight {
		limit = 0 // only what is about one that is here already
	}
	if ev.Approval == nil || !s.book.Add(ev.Approval, s.core.cfg.PublicKeys, limit) {
		if !s.tight {
			s.reach(LimitApprovals)
		}
		return false
	}
	for _, k := range s.agents {
		k.approvedAfter(now, ev.Approval.Invariant, res)
	}
	return true
}

// approvedAfter looks for defects and retired debts that approvals cover now. An
// approval never rewrites the boundary that showed the defect; a revision of it
// records the clearing.
func (k *keyState) approvedAfter(now time.Time, name string, res *Result) {
	var touched *bound
	if d := k.defect(name); d != nil {
		if k.approveDefect(d, d.shown, d.seenAt, d.bound.use, 0, true) {
			k.remember(name, d.shown)
			touched = d.bound
		}
	}
	for _, s := range k.snaps {
		i := s.content.find(name)
		if i < 0 || s.debts[i].status != retired || s.decisions[i].fault != "" || s.debts[i].by == nil {
			continue
		}
		by := s.debts[i].by
		a := k.book.Ask(approval.Question{
			Invariant: name, Agent: k.agent, At: by.shownAt(name, s.debts[i].shown, now), Boundary: by.use,
			From: noneFor(classify.Value{Digest: s.decisions[i].digest}), To: noneFor(classify.Value{Digest: s.debts[i].shown}),
		})
		if a.Covers() {
			a.Use(by.use, true)
			s.debts[i].status = answered
			touched = by
		}
	}
	if touched != nil {
		for i, f := range touched.findings {
			if f.Name == name && f.State >= classify.Dropped && k.defect(name) == nil {
				touched.findings[i].Reason, touched.findings[i].Cleared = classify.ApprovedAfter, classify.ApprovedChange
			}
		}
		k.emit(now, touched, res)
	}
}
