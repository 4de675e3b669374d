package boundary

import (
	"slices"
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
func (d *defect) overlay(x *bound, entries []entry, stated bool) []entry {
	if d.origin == x && len(entries) > 0 {
		return entries
	}
	own := entry{before: classify.Before{Text: d.text, Since: d.shownAt}}
	replaced := false
	for _, original := range d.originals {
		own.before.Value = original
		switch {
		case original.Digest.IsNothing():
			entries = append(entries, own)
		case !replaced:
			replaced = true
			if len(entries) == 0 && stated {
				entries = []entry{own}
				continue
			}
			for i := range entries {
				entries[i].before.Value, entries[i].before.Text, entries[i].before.Fault = original, d.text, ""
			}
		case len(entries) > 0:
			entries = append(entries, own)
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
	k.clearDefect(x, f.Name, best)
	d := k.defect(f.Name)
	switch {
	case decided.State.Healthy():
		k.remember(f.Name, lastHealthy{best.Value, best.ObservedAt, best.Probe()})
		if d != nil && decided.State == classify.ApprovedChange {
			k.approveDefect(d, best.Value, best.at, x.id, false)
		}
		return
	case decided.State < classify.Dropped || decided.Cleared != classify.NoState || f.Optional:
		return
	case d == nil && k.healthy[f.Name].outdates(best):
		return // a late revision of an old boundary raises nothing anew
	}
	if d == nil {
		d = &defect{name: f.Name, text: newestEntry(entries).Text, origin: x}
		for _, e := range entries {
			if !slices.ContainsFunc(d.originals, e.before.Same) {
				d.originals = append(d.originals, e.before.Value)
			}
		}
		k.defects = append(k.defects, d)
	}
	d.state, d.shown, d.shownAt, d.seenAt = decided.State, best.Value, best.ObservedAt, best.at
	d.probe, d.bound = best.Probe(), x
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
func (k *keyState) clearDefect(x *bound, name string, best *evidence) {
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
func (k *keyState) approveDefect(d *defect, shown classify.Value, seen time.Time, boundary string, after bool) bool {
	before := len(d.originals)
	d.originals = slices.DeleteFunc(d.originals, func(original classify.Value) bool {
		a := k.book.Ask(approval.Question{
			Invariant: d.name, Agent: k.agent, From: noneFor(original), To: noneFor(shown), At: seen, Boundary: boundary,
		})
		if a.Covers() {
			a.Use(boundary, after)
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

// lastHealthy is a value that was found healthy, and by what look.
type lastHealthy struct {
	classify.Value
	at    classify.Instant
	probe bool
}

// outdates reports whether what showed the healthy value counts before older
// evidence.
func (h lastHealthy) outdates(e *evidence) bool {
	return h.at.After(e.ObservedAt) && (!h.probe || e.Probe())
}

func (k *keyState) remember(name string, v lastHealthy) {
	if k.healthy == nil {
		k.healthy = map[string]lastHealthy{}
	}
	if _, known := k.healthy[name]; known || len(k.healthy) < maxHealthy {
		k.healthy[name] = v
	}
}

// changedSince lists what a snapshot states otherwise than it was last found
// healthy, without an approval (not used up by this) and not outstanding:
// something changed while nobody looked.
func (k *keyState) changedSince(s *snap, now time.Time) []string {
	if s.marker() || s.failed || len(s.decisions) == 0 {
		return nil
	}
	var out []string
	for name, last := range k.healthy {
		v := classify.Value{Digest: digest.None, Form: s.form}
		if i := s.content.find(name); i >= 0 {
			if s.decisions[i].fault != "" {
				continue
			}
			v.Digest = s.decisions[i].digest
		}
		if last.Same(v) || v.Digest.IsValue() && last.Digest.IsValue() && !v.Comparable(last.Value) || k.defect(name) != nil {
			continue
		}
		a := k.book.Ask(approval.Question{Invariant: name, Agent: k.agent, From: noneFor(last.Value), To: noneFor(v), At: now})
		if !a.Covers() {
			out = append(out, name)
		}
	}
	return sortNames(out)
}

// approve takes an approval: it covers changes to come, and clears what it
// covers of those that were found already.
func (s *session) approve(now time.Time, ev *Event, res *Result) bool {
	if ev.Approval == nil || !s.book.Add(ev.Approval, s.core.cfg.PublicKeys, s.core.cfg.Limits.Approvals) {
		res.count(Tally{What: CountRejected, Reason: classify.Capacity})
		return true
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
		if k.approveDefect(d, d.shown, d.seenAt, d.bound.id, true) {
			k.remember(name, lastHealthy{d.shown, d.shownAt, d.probe})
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
			Invariant: name, Agent: k.agent, At: now, Boundary: by.id,
			From: noneFor(classify.Value{Digest: s.decisions[i].digest}), To: noneFor(classify.Value{Digest: s.debts[i].shown}),
		})
		if a.Covers() {
			a.Use(by.id, true)
			s.debts[i].status = answered
			touched = by
		}
	}
	if touched != nil && touched.observed() {
		k.revise(now, touched, res)
	}
}
