package boundary_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// What must hold of the core whatever the model says. Each property reads only
// the history and what came out of it.

var everything = features{
	batches: true, completions: true, outcomes: true, approvals: true, chains: true, agents: true, lifecycle: true, weak: true,
	odd: true, late: true, text: true, optional: true, required: true, nones: true, forms: true,
}

func soundly(t *testing.T, f features, property func(t *rapid.T, text string, h history)) {
	rapid.Check(t, func(t *rapid.T) {
		text := genHistory(t, f)
		property(t, text, parseHistory(text))
	})
}

// `preserved` needs a snapshot that states the invariant and evidence that
// section 5 demands.
func TestPreservedHasEvidence(t *testing.T) {
	soundly(t, everything, func(t *rapid.T, text string, h history) {
		for _, o := range h.run(newCore(&h.cfg)) {
			for name, f := range o.findings {
				if name != "" && strings.HasPrefix(f, "preserved/") && !h.evidence(o, name) {
					t.Fatalf("%s is preserved without evidence\n%s\n%s", name, text, o)
				}
			}
		}
	})
}

func (h history) evidence(o out, name string) bool {
	for _, s := range h.before(o, boundary.Snapshot) {
		for _, l := range h.before(o, boundary.Observation) {
			if sufficient(&h.cfg, s, l, name) {
				return true
			}
		}
	}
	return false
}

// before lists the steps of one kind that a receipt may know.
func (h history) before(o out, kind boundary.Kind) []step {
	var steps []step
	for _, s := range h.steps {
		if s.ev != nil && s.ev.Kind == kind && s.at <= o.at && s.ev.Key == o.key {
			steps = append(steps, s)
		}
	}
	return steps
}

// sufficient reports whether a look agrees with a snapshot on an invariant, as
// section 5 demands.
func sufficient(cfg *boundary.Config, s, l step, name string) bool {
	before, stated := statement(s.ev, name)
	after, seen := statement(l.ev, name)
	at := after.ObservedAt
	if !seen {
		if at = l.ev.ObservedAt; at == 0 {
			for _, st := range l.ev.Statements {
				at = max(at, st.ObservedAt)
			}
		}
		if l.ev.Partial || l.ev.Dropped || len(l.ev.Statements) == 0 {
			return false
		}
		for _, st := range l.ev.Statements {
			if !acceptedSource(cfg, name, st.Source) {
				return false
			}
		}
	} else if after.Fault != "" || !acceptedSource(cfg, name, after.Source) {
		return false
	}
	received := classify.At(epoch.Add(s.at))
	switch {
	case !stated, before.Fault != "", at == 0:
		return false
	case s.ev.Time.Plausible(received) && at.Before(s.ev.Time):
		return false
	case before.ObservedAt != 0 && before.ObservedAt <= received && !at.After(before.ObservedAt):
		return false
	case at.After(l.ev.Time.Or(classify.At(epoch.Add(l.at))).Add(5 * time.Minute)):
		return false
	case !before.Digest.IsValue():
		return !after.Digest.IsValue()
	}
	return before.Digest == after.Digest && digest.Comparable(before.Digest, s.ev.Form, after.Digest, l.ev.Form)
}

func acceptedSource(cfg *boundary.Config, name string, src classify.Source) bool {
	if src == classify.Environment {
		return name != "approval_boundary" && !strings.HasPrefix(name, "constraint.")
	}
	return src == classify.Agent || src == classify.Human
}

// An alert fires, is resolved, and fires again; the session is never healthier
// than what it says, and what a boundary finds wrong is said.
func TestAlertsAlternate(t *testing.T) {
	soundly(t, everything, func(t *rapid.T, text string, h history) {
		active := map[string]map[string]bool{}
		fired := map[string]bool{}
		before := map[string]string{} // finding of a boundary's name
		for _, o := range h.run(newCore(&h.cfg)) {
			k := fmt.Sprint(o.key)
			if active[k] == nil {
				active[k] = map[string]bool{}
			}
			for _, a := range o.alerts {
				kind, status, _ := strings.Cut(a, ":")
				once := fmt.Sprint(k, o.id, kind)
				switch {
				case status == "firing" && active[k][kind] && fired[once]:
					t.Fatalf("%s fires twice for one boundary\n%s\n%s", kind, text, o)
				case status == "firing":
					active[k][kind], fired[once] = true, true
				case !active[k][kind]:
					t.Fatalf("%s is %s and never fired\n%s\n%s", kind, status, text, o)
				default:
					active[k][kind] = false
					for f := range fired {
						if strings.HasPrefix(f, k) && strings.HasSuffix(f, kind) {
							delete(fired, f)
						}
					}
					// What is in conflict may turn out to be gone: then another begins.
					begins := slices.ContainsFunc(o.alerts, func(a string) bool { return strings.HasSuffix(a, ":firing") })
					if status == "resolved" && !h.positive(o) && !begins {
						t.Fatalf("%s is resolved by nothing\n%s\n%s", kind, text, o)
					}
				}
			}
			for kind, least := range map[string]classify.State{
				"decision_conflicting": classify.Conflicting, "decision_dropped": classify.Dropped,
				"reconciliation_required": classify.Unverified, "post_observation_missing": classify.Unverified,
			} {
				if active[k][kind] && o.state < least {
					t.Fatalf("%s is active and the session %s\n%s\n%s", kind, o.state, text, o)
				}
			}
			for name, f := range o.findings {
				said := fmt.Sprint(k, o.id, name)
				if old := before[said]; old == f {
					continue
				}
				before[said] = f
				for _, bad := range []string{"conflicting", "dropped"} {
					if strings.HasPrefix(f, bad+"/") && !strings.HasSuffix(f, "approved_after") && !strings.HasSuffix(f, "?") && !active[k]["decision_"+bad] {
						t.Fatalf("%s is found and no alert is active\n%s\n%s", bad, text, o)
					}
				}
			}
		}
	})
}

// positive reports whether anything came that can resolve an alert: a look, an
// approval, a snapshot that finds its look, a compaction that did not happen.
func (h history) positive(o out) bool {
	return slices.ContainsFunc(h.steps, func(s step) bool {
		if s.ev == nil || s.ev.Key.Session != o.key.Session {
			return false
		}
		switch s.ev.Kind {
		case boundary.Observation:
			return s.at == o.at || s.at+h.cfg.ReorderGrace == o.at
		case boundary.Approval, boundary.Snapshot:
			return s.at == o.at
		case boundary.Completion:
			return s.at == o.at && !s.ev.Outcome.Happened()
		}
		return false
	})
}

// A healthy session has seen, after each defect, the value from before it or an
// approval.
func TestNothingIsLaundered(t *testing.T) {
	f := everything
	f.late = false
	soundly(t, f, func(t *rapid.T, text string, h history) {
		type defect struct {
			name string
			at   time.Duration
		}
		found := map[boundary.Key][]defect{}
		for _, o := range h.run(newCore(&h.cfg)) {
			for name, f := range o.findings {
				bad := strings.HasPrefix(f, "conflicting/") || strings.HasPrefix(f, "dropped/")
				if name != "" && bad && !strings.HasSuffix(f, "?") && !strings.HasSuffix(f, "approved_after") {
					found[o.key] = append(found[o.key], defect{name, o.at})
				}
			}
			if !o.state.Healthy() {
				continue
			}
			for _, d := range found[o.key] {
				if !h.cleared(o, d.name, d.at) {
					t.Fatalf("the session is %s, and nothing cleared %s\n%s\n%s", o.state, d.name, text, o)
				}
			}
		}
	})
}

func (h history) cleared(o out, name string, since time.Duration) bool {
	grace := h.cfg.ReorderGrace
	for _, s := range h.steps {
		if s.ev == nil || s.at > o.at || s.at+grace < since || s.ev.Key.SessionKey != o.key.SessionKey {
			continue
		}
		if s.ev.Kind == boundary.Approval && s.ev.Approval.Invariant == name {
			return true
		}
		if s.ev.Kind != boundary.Observation || s.ev.Key != o.key {
			continue
		}
		for _, b := range h.before(o, boundary.Snapshot) {
			if b.at <= since && sufficient(&h.cfg, b, s, name) {
				return true
			}
		}
	}
	// an approval that came early
	return slices.ContainsFunc(h.steps, func(s step) bool {
		return s.ev != nil && s.ev.Kind == boundary.Approval && s.ev.Approval.Invariant == name && s.at <= o.at
	})
}

// Revisions of one boundary are 1, 2, 3.
func TestRevisionsCountUp(t *testing.T) {
	soundly(t, everything, func(t *rapid.T, text string, h history) {
		next := map[string]int{}
		for _, o := range h.run(newCore(&h.cfg)) {
			next[o.id]++
			if o.rev != next[o.id] {
				t.Fatalf("revision %d, want %d\n%s\n%s", o.rev, next[o.id], text, o)
			}
		}
	})
}

// Each event twice is each event once.
//
// The session is known first: an event that left no state is not remembered.
func TestDuplicatesChangeNothing(t *testing.T) {
	soundly(t, everything, func(t *rapid.T, text string, _ history) {
		text = strings.Replace(text, "\n", "\n0 s1 snapshot scope=A\n0 s2 snapshot scope=A\n", 1)
		h := parseHistory(text)
		once := h.run(newCore(&h.cfg))
		twice := h
		twice.steps = nil
		for i, s := range h.steps {
			twice.steps = append(twice.steps, s)
			for j := range i + 1 {
				again := h.steps[j]
				again.at = s.at
				twice.steps = append(twice.steps, again)
			}
		}
		same(t, text, once, twice.run(newCore(&twice.cfg)))
	})
}

// Sessions and tenants do not know each other.
func TestSessionsAreAlone(t *testing.T) {
	f := everything
	soundly(t, f, func(t *rapid.T, text string, h history) {
		other := parseHistory(genHistory(t, f))
		tenant := rapid.Bool().Draw(t, "tenant")
		both := h
		both.steps = slices.Clone(h.steps)
		for _, s := range other.steps {
			ev := *s.ev
			if ev.Key.Session = "s9"; tenant {
				ev.Key.Session, ev.Key.Scope = "s1", boundary.JoinScope([]string{"t"}, nil)
			}
			s.ev = &ev
			both.steps = append(both.steps, s)
		}
		slices.SortStableFunc(both.steps, func(a, b step) int { return int(a.at - b.at) })
		both.until = max(h.until, other.until)
		h.until = both.until
		var mine []out
		for _, o := range both.run(newCore(&both.cfg)) {
			if o.key.SessionKey == (boundary.SessionKey{Session: "s1"}) {
				mine = append(mine, o)
			}
		}
		same(t, text, h.run(newCore(&h.cfg)), mine)
	})
}

func same(t *rapid.T, text string, want, got []out) {
	x, y := lines(ordinals(want)), lines(ordinals(got))
	if !slices.Equal(x, y) {
		t.Fatalf("not the same\n%s\nwant:\n  %s\ngot:\n  %s", text, strings.Join(x, "\n  "), strings.Join(y, "\n  "))
	}
}

// One request in another order does not make an ill session well. Its events happen
// one after the other: which of two at one moment was first nobody can tell. For the
// same reason there are no completions, whose ends have a second of slack: all orders
// of one compaction's events are played where recordings are replayed.
func TestOrderOfOneRequest(t *testing.T) {
	f := everything
	f.lifecycle, f.outcomes, f.late, f.completions = false, false, false, false
	soundly(t, f, func(t *rapid.T, text string, h history) {
		h.steps = slices.Clone(h.steps)
		for i := range h.steps {
			if ev := *h.steps[i].ev; ev.Time != 0 {
				ev.Time = ev.Time.Add(time.Duration(i) * time.Microsecond)
				h.steps[i].ev = &ev
			}
		}
		back := h
		back.steps = slices.Clone(h.steps)
		for i := 0; i < len(back.steps); {
			j := i
			for j < len(back.steps) && back.steps[j].at == back.steps[i].at {
				j++
			}
			looks := 0
			for _, s := range back.steps[i:j] {
				if s.ev.Kind == boundary.Observation {
					looks++
				}
			}
			if looks <= 1 {
				slices.Reverse(back.steps[i:j])
			}
			i = j
		}
		x, y := newCore(&h.cfg), newCore(&back.cfg)
		a, b := h.run(x), back.run(y)
		for _, s := range h.steps {
			if p, q := x.c.State(s.ev.Key), y.c.State(s.ev.Key); p.Healthy() != q.Healthy() {
				t.Fatalf("%v is %s, in another order %s\n%s\n%s\n\n%s", s.ev.Key, p, q, text, strings.Join(lines(a), "\n"), strings.Join(lines(b), "\n"))
			}
		}
	})
}

// When Expire is done, nothing is due; late turns say the same as punctual ones.
func TestExpireIsComplete(t *testing.T) {
	soundly(t, everything, func(t *rapid.T, text string, h history) {
		c := boundary.New(&h.cfg, newFleet())
		for _, s := range h.steps {
			now := epoch.Add(s.at)
			for more := true; more; {
				_, more = c.Expire(now)
			}
			if next, ok := c.Next(); ok && !next.After(now) {
				t.Fatalf("Expire(%s) is done and Next is %s\n%s", s.at, next.Sub(epoch), text)
			}
			ev := *s.ev
			c.Observe(now, &ev)
		}
	})
}

// Shutdown takes up the looks that wait, settles what is open, once, without an
// alert, and leaves nothing open.
func TestShutdownSettlesOnce(t *testing.T) {
	soundly(t, everything, func(t *rapid.T, text string, h history) {
		m := newCore(&h.cfg)
		last := h.steps[len(h.steps)-1].at
		h.until = last
		h.run(m)
		waits := slices.ContainsFunc(h.steps, func(s step) bool {
			return s.ev.Kind == boundary.Observation && s.at+h.cfg.ReorderGrace > last
		})
		for _, o := range m.shutdown(epoch.Add(last)) {
			settled := o.reason == classify.CollectorShutdown && o.verdict == classify.Unverified && len(o.alerts) == 0
			if !settled && !waits {
				t.Fatalf("shutdown says\n%s\n%s", o, text)
			}
		}
		if again := m.shutdown(epoch.Add(last)); len(again) > 0 {
			t.Fatalf("shutdown says again\n%s\n%s", again[0], text)
		}
		if open := m.c.Stats().Open; open > 0 && !strings.Contains(text, " end") {
			t.Fatalf("%d boundaries are open after shutdown\n%s", open, text)
		}
	})
}
