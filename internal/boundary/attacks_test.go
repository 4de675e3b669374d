package boundary_test

import (
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// attackEpoch is second 0 of every attack; it is no whole second.
var attackEpoch = time.Date(2026, 6, 1, 12, 0, 0, 500_000_123, time.UTC)

func attackTime(seconds float64) time.Time {
	return attackEpoch.Add(time.Duration(seconds*1000) * time.Millisecond)
}

func attackInstant(seconds float64) classify.Instant { return classify.At(attackTime(seconds)) }

// attackFleet is a fleet of one core.
type attackFleet struct {
	limit, used int
	habits      map[string]bool
}

func (f *attackFleet) TakeSession() bool {
	if f.used >= f.limit {
		return false
	}
	f.used++
	return true
}
func (f *attackFleet) GiveSession()       { f.used-- }
func (f *attackFleet) Weigh(int)          {}
func (f *attackFleet) Room(int, int) bool { return true }
func (f *attackFleet) Saw(tenant, runtime string, h boundary.Habit) {
	f.habits[fmt.Sprint(tenant, "|", runtime, "|", h)] = true
}

func (f *attackFleet) Seen(tenant, runtime string, h boundary.Habit) bool {
	return f.habits[fmt.Sprint(tenant, "|", runtime, "|", h)]
}

// attackStep is one event at a second of the collector's clock.
type attackStep struct {
	at float64
	ev *boundary.Event
}

type tweak func(*boundary.Event)

func eventAt(at float64, session string, kind boundary.Kind, stated string, mods []tweak) attackStep {
	ev := &boundary.Event{Kind: kind, Time: attackInstant(at), ObservedAt: attackInstant(at)}
	ev.Key.Session, ev.Key.Agent, _ = strings.Cut(session, "/")
	for _, f := range strings.Fields(stated) {
		name, value, _ := strings.Cut(f, "=")
		value, source, _ := strings.Cut(value, "@")
		s := boundary.Statement{Name: name, Digest: digestOf(value), ObservedAt: ev.ObservedAt}
		if kind == boundary.Observation {
			s.Source = classify.Agent
			if source != "" {
				s.Source = classify.ParseSource(source)
			}
		}
		if strings.HasPrefix(value, "!") {
			s.Digest, s.Fault = digest.Digest{}, classify.Reason(value[1:])
		}
		ev.Statements = append(ev.Statements, s)
	}
	slices.SortFunc(ev.Statements, func(a, b boundary.Statement) int { return classify.CompareNames(a.Name, b.Name) })
	for _, mod := range mods {
		mod(ev)
	}
	if ev.Fingerprint == 0 {
		h := fnv.New64a()
		fmt.Fprintln(h, at, session, kind, stated, ev.BoundaryID, ev.Time, ev.Outcome)
		ev.Fingerprint = h.Sum64()
	}
	return attackStep{at, ev}
}

func digestOf(label string) digest.Digest {
	if label == "none" {
		return digest.None
	}
	return digest.Digest{Alg: digest.SHA256, Sum: sha256.Sum256([]byte(label))}
}

func snapAt(at float64, session, stated string, mods ...tweak) attackStep {
	return eventAt(at, session, boundary.Snapshot, stated, mods)
}

func lookAt(at float64, session, stated string, mods ...tweak) attackStep {
	return eventAt(at, session, boundary.Observation, stated, mods)
}

func compactedAt(at float64, session string, o boundary.Outcome, mods ...tweak) attackStep {
	return eventAt(at, session, boundary.Completion, "", append([]tweak{func(e *boundary.Event) { e.Outcome = o }}, mods...))
}

func endsAt(at float64, session string, mods ...tweak) attackStep {
	return eventAt(at, session, boundary.SessionEnd, "", mods)
}

func startsAt(at float64, session string, mods ...tweak) attackStep {
	return eventAt(at, session, boundary.SessionStart, "", mods)
}

func refusesAt(at float64, session string, mods ...tweak) attackStep {
	return eventAt(at, session, boundary.ValidationFailure, "", mods)
}

// approvesAt takes "scope S0>S1 ref".
func approvesAt(at float64, session, what string, mods ...tweak) attackStep {
	f := strings.Fields(what)
	from, to, _ := strings.Cut(f[1], ">")
	return eventAt(at, session, boundary.Approval, "", append([]tweak{func(e *boundary.Event) {
		e.Fingerprint = uint64(at*1000) + 7
		e.Approval = &approval.Approval{
			Session: e.Key.Session, Agent: e.Key.Agent, Invariant: f[0], Ref: f[2], From: digestOf(from), To: digestOf(to),
			Approver: "reviewer-1", Independent: true, Received: attackTime(at),
		}
	}}, mods...))
}

// Modifiers: when it says it happened and was seen, and what else it says.
func happened(s float64) tweak {
	return func(e *boundary.Event) { e.Time = attackInstant(s) }
}
func untimed(e *boundary.Event) { e.Time = 0 }
func seen(s float64) tweak      { return seenInstant(attackInstant(s)) }
func seenInstant(i classify.Instant) tweak {
	return func(e *boundary.Event) {
		e.ObservedAt = i
		for n := range e.Statements {
			e.Statements[n].ObservedAt = i
		}
	}
}

func seenInWholeSeconds(s float64) tweak {
	return seenInstant(classify.At(attackTime(s).Truncate(time.Second)))
}
func withID(id string) tweak         { return func(e *boundary.Event) { e.BoundaryID = id } }
func continuing(id string) tweak     { return func(e *boundary.Event) { e.Previous = id } }
func withFingerprint(n uint64) tweak { return func(e *boundary.Event) { e.Fingerprint = n } }
func ofRuntime(r string) tweak       { return func(e *boundary.Event) { e.Runtime = r } }
func partial(e *boundary.Event)      { e.Partial = true }
func cut(e *boundary.Event)          { e.Dropped = true }
func badName(e *boundary.Event)      { e.BadName = true }
func textual(e *boundary.Event) {
	for n := range e.Statements {
		e.Statements[n].Text = true
	}
}

func optional(e *boundary.Event) {
	for n := range e.Statements {
		e.Statements[n].Optional = true
	}
}
func withdrawn(e *boundary.Event) { e.Approval.Revoked = true }
func expires(s float64) tweak {
	return func(e *boundary.Event) { e.Approval.ExpiresAt = attackTime(s).Format(time.RFC3339Nano) }
}

// withEnvelope is an envelope of the four required fields, and more as "field=value".
func withEnvelope(more ...string) tweak {
	return func(e *boundary.Event) {
		v := &classify.Envelope{}
		for _, f := range append([]string{"schema_version=continuity-envelope/v1", "tenant_id=T", "principal_id=P", "policy_version=1"}, more...) {
			name, value, _ := strings.Cut(f, "=")
			if i := slices.Index(classify.FieldNames[:], name); i >= 0 {
				v.Fields[i] = value
			} else if i := slices.Index(classify.ListFieldNames[:], name); i >= 0 {
				v.Lists[i] = strings.Split(value, ",")
			} else {
				panic(name)
			}
		}
		e.Envelope = v
	}
}

// attackRow is one attack: what happened, and every receipt that must come of it.
type attackRow struct {
	name  string
	cfg   func(*boundary.Config)
	limit int
	until float64
	// state is the key whose continuity state is asked in the end, "" for none.
	state string
	steps []attackStep
	want  string
}

func (r *attackRow) run() []string {
	cfg := boundary.DefaultConfig()
	cfg.Window, cfg.ReorderGrace = time.Minute, time.Second
	if r.cfg != nil {
		r.cfg(&cfg)
	}
	limit := r.limit
	if limit == 0 {
		limit = 1000
	}
	core := boundary.New(&cfg, &attackFleet{limit: limit, habits: map[string]bool{}})
	var out []string
	take := func(now time.Time, res boundary.Result) {
		for i := range res.Receipts {
			out = append(out, receiptLine(now, &res.Receipts[i]))
		}
	}
	pass := func(to time.Time) {
		for next, ok := core.Next(); ok && !next.After(to); next, ok = core.Next() {
			res, _ := core.Expire(next)
			take(next, res)
		}
	}
	for _, s := range r.steps {
		now := attackTime(s.at)
		pass(now)
		if s.ev.Previous != "" {
			take(now, core.Adopt(now, core, s.ev))
		}
		_, res := core.Observe(now, s.ev)
		take(now, res)
	}
	pass(attackTime(r.until))
	if r.state != "" {
		key := boundary.Key{}
		key.Session, key.Agent, _ = strings.Cut(r.state, "/")
		out = append(out, strings.TrimSpace("state "+core.State(key).String()))
	}
	return out
}

// receiptLine is a receipt as text: second, session, revision, state/reason of the
// boundary, state of the session, findings, alerts.
func receiptLine(now time.Time, r *boundary.Receipt) string {
	key := r.Key.Session
	if r.Key.Agent != "" {
		key += "/" + r.Key.Agent
	}
	line := fmt.Sprintf("%g %s r%d %s/%s %s", now.Sub(attackEpoch).Seconds(), key, r.Revision, r.Boundary, r.Reason, r.State)
	for _, f := range r.Findings {
		name := f.Name
		if name == "" {
			name = "-"
		}
		line += fmt.Sprintf(" %s=%s/%s", name, f.State, f.Reason)
	}
	for _, a := range r.Alerts {
		line += fmt.Sprintf(" !%s:%s", a.Kind, a.Status)
	}
	return line
}

// attacks held when they were tried: each row is kept so that it goes on to.
var attacks = []attackRow{
	{
		name: "a second clean compaction launders no conflict", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
			snapAt(10, "a", "scope=S1"),
			lookAt(15, "a", "scope=S1"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			15 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval
			state conflicting
		`,
	},
	{
		name: "silence about a lost decision launders nothing", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "mine=S0"),
			lookAt(2, "a", "mine=S1"),
			snapAt(10, "a", "target=T0"),
			lookAt(15, "a", "target=T0"),
		},
		want: `
			2 a r1 conflicting/changed_without_approval conflicting mine=conflicting/changed_without_approval !decision_conflicting:firing
			15 a r1 preserved/match conflicting target=preserved/match
			state conflicting
		`,
	},
	{
		name: "a cancelled compaction does not take its conflict back", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
			compactedAt(6, "a", boundary.Cancelled, happened(4)),
			snapAt(10, "a", "scope=S1"),
			lookAt(12, "a", "scope=S1"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			12 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval
			state conflicting
		`,
	},
	{
		name: "a probe replaces no restatement", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "target=T0"),
			lookAt(5, "a", "target=T0"),
			lookAt(6, "a", "target=T1@environment"),
		},
		want: `
			5 a r1 preserved/match preserved target=preserved/match
			state preserved
		`,
	},
	{
		name: "a probe clears nothing that an agent showed", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "target=T0"),
			lookAt(5, "a", "target=T1"),
			lookAt(7, "a", "target=T0@environment"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting target=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an older look clears nothing", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "target=T0"),
			lookAt(5, "a", "target=T1@environment"),
			lookAt(6, "a", "target=T0", seen(4), happened(4)),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting target=conflicting/changed_without_approval !decision_conflicting:firing
			7 a r2 preserved/match conflicting target=preserved/match
			state conflicting
		`,
	},
	{
		name: "a look in the same whole second clears nothing", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "target=T0"),
			lookAt(5, "a", "target=T1"),
			lookAt(5.2, "a", "target=T0", seenInWholeSeconds(5.2)),
			snapAt(10, "a", "target=T1"),
			lookAt(12, "a", "target=T1"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting target=conflicting/changed_without_approval !decision_conflicting:firing
			12 a r1 conflicting/changed_without_approval conflicting target=conflicting/changed_without_approval
			state conflicting
		`,
	},
	{
		name: "a look a day and more ahead is not fresh", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "a", "scope=S0", happened(200000), seen(200000)),
		},
		want: `
			5 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			60 a r2 unverified/not_fresh unverified scope=unverified/not_fresh !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a look more than five minutes ahead of its event is not fresh", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "a", "scope=S0", seen(306)),
		},
		want: `
			5 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			60 a r2 unverified/not_fresh unverified scope=unverified/not_fresh !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a look without a time is not fresh", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "a", "scope=S0", seenInstant(0)),
		},
		want: `
			5 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			60 a r2 unverified/not_fresh unverified scope=unverified/not_fresh !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a snapshot without any time makes nothing fresh", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0", untimed, seenInstant(0)),
			lookAt(5, "a", "scope=S0"),
		},
		want: `
			5 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			60 a r2 unverified/not_fresh unverified scope=unverified/not_fresh !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a snapshot from the future without event time makes nothing fresh", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0", untimed, seen(3600)),
			lookAt(5, "a", "scope=S0", happened(3700), seen(3700)),
		},
		want: `
			5 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			60 a r2 unverified/not_fresh unverified scope=unverified/not_fresh !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "seconds where nanoseconds belong are not fresh", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "a", "scope=S0", seenInstant(1780315200)),
		},
		want: `
			5 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			60 a r2 unverified/not_fresh unverified scope=unverified/not_fresh !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "milliseconds where nanoseconds belong are not fresh", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "a", "scope=S0", seenInstant(1780315200123)),
		},
		want: `
			5 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			60 a r2 unverified/not_fresh unverified scope=unverified/not_fresh !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a look in the whole second of its snapshot is not fresh", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0.4, "a", "scope=S0"),
			lookAt(0.45, "a", "scope=S0", seenInWholeSeconds(0.4)),
		},
		want: `
			0.45 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			60.4 a r2 unverified/not_fresh unverified scope=unverified/not_fresh !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a stored file proves nothing, and does not disarm the window", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "a", "scope=S0@record"),
		},
		want: `
			5 a r1 unverified/source_not_accepted unverified scope=unverified/source_not_accepted
			60 a r2 unverified/source_not_accepted unverified scope=unverified/source_not_accepted !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a probe says nothing of what is forbidden", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "constraint.c0=C0 approval_boundary=A0"),
			lookAt(5, "a", "constraint.c0=C0@environment approval_boundary=A0@environment"),
		},
		want: `
			5 a r1 unverified/source_not_accepted unverified approval_boundary=unverified/source_not_accepted constraint.c0=unverified/source_not_accepted
			60 a r2 unverified/source_not_accepted unverified approval_boundary=unverified/source_not_accepted constraint.c0=unverified/source_not_accepted !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a partial look proves no absence", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "mine=none target=T0"),
			lookAt(5, "a", "target=T0", partial),
		},
		want: `
			5 a r1 unverified/observation_incomplete unverified target=preserved/match mine=unverified/observation_incomplete
			60 a r2 unverified/observation_incomplete unverified target=preserved/match mine=unverified/observation_incomplete !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a cut look proves no absence", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "mine=none target=T0"),
			lookAt(5, "a", "target=T0", cut),
		},
		want: `
			5 a r1 unverified/observation_incomplete unverified target=preserved/match mine=unverified/observation_incomplete
			60 a r2 unverified/observation_incomplete unverified target=preserved/match mine=unverified/observation_incomplete !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a look that states rubbish only proves no absence", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "mine=none target=T0"),
			lookAt(5, "a", "target=!digest_malformed"),
		},
		want: `
			5 a r1 unverified/digest_malformed unverified target=unverified/digest_malformed mine=unverified/observation_incomplete
			60 a r2 unverified/digest_malformed unverified target=unverified/digest_malformed mine=unverified/observation_incomplete !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a look whose sources do not count for it proves no absence", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "constraint.c0=none target=T0"),
			lookAt(5, "a", "target=T0@environment"),
		},
		want: `
			5 a r1 unverified/observation_incomplete unverified constraint.c0=unverified/observation_incomplete target=preserved/match
			60 a r2 unverified/observation_incomplete unverified constraint.c0=unverified/observation_incomplete target=preserved/match !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "none everywhere is no baseline", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=none target=none"),
			lookAt(5, "a", "scope=none target=none"),
		},
		want: `
			5 a r1 unverified/evidence_missing unverified scope=unverified/evidence_missing target=unverified/evidence_missing
			state unverified
		`,
	},
	{
		name: "equal rubbish is no continuity", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=!digest_empty"),
			lookAt(5, "a", "scope=!digest_empty"),
		},
		want: `
			5 a r1 unverified/digest_empty unverified scope=unverified/digest_empty
			state unverified
		`,
	},
	{
		name: "honest rewording is no conflict, and no match", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0", textual),
			lookAt(5, "a", "scope=S1"),
		},
		want: `
			5 a r1 unverified/restatement_differs unverified scope=unverified/restatement_differs
			60 a r2 unverified/restatement_differs unverified scope=unverified/restatement_differs !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "one required baseline makes the name required", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "mine=S0"),
			snapAt(1, "a", "mine=S0", optional),
			lookAt(5, "a", "mine=S1"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting mine=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "two baselines that differ are ambiguous, and the alert stays", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			snapAt(100, "a", "scope=S1"),
			lookAt(105, "a", "scope=S1"),
			snapAt(120, "a", "scope=S1"),
			lookAt(125, "a", "scope=S1"),
		},
		want: `
			60 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			105 a r1 unverified/ambiguous unverified scope=unverified/ambiguous
			125 a r1 preserved/match unverified scope=preserved/match
			state unverified
		`,
	},
	{
		name: "an older baseline that agrees leaves the newer owed", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			snapAt(1, "a", "scope=S1"),
			lookAt(5, "a", "scope=S0"),
			lookAt(9, "a", "scope=S0"),
		},
		want: `
			5 a r1 unverified/ambiguous unverified scope=unverified/ambiguous
			state unverified
		`,
	},
	{
		name: "a look before the second of two completions is too early", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			compactedAt(10, "a", boundary.Completed),
			compactedAt(20, "a", boundary.Completed),
			compactedAt(21, "a", boundary.Completed, happened(8)),
			lookAt(22, "a", "scope=S0", seen(15), happened(15)),
		},
		want: `
			22 a r1 unverified/observed_too_early unverified scope=unverified/observed_too_early
			70 a r2 unverified/observed_too_early unverified scope=unverified/observed_too_early !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a late completion takes an early look back", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(15, "a", "scope=S0"),
			compactedAt(30, "a", boundary.Completed, happened(20)),
			compactedAt(31, "a", boundary.Completed, happened(8)),
		},
		want: `
			15 a r1 preserved/match preserved scope=preserved/match
			30 a r2 unverified/observed_too_early unverified scope=unverified/observed_too_early
			90 a r3 unverified/observed_too_early unverified scope=unverified/observed_too_early !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a completion after the deadline gives a full window", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			compactedAt(100, "a", boundary.Completed, happened(5)),
		},
		want: `
			60 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "an unconfirmed compaction that was real alarms in the end", until: 300, state: "a",
		steps: []attackStep{
			compactedAt(0, "z", boundary.Completed, ofRuntime("claude_code")),
			snapAt(1, "a", "scope=S0", ofRuntime("claude_code")),
			compactedAt(100, "a", boundary.Completed, ofRuntime("claude_code"), happened(5)),
		},
		want: `
			60 z r1 unverified/no_observation unverified
			61 a r1 unverified/compaction_unconfirmed unverified scope=unverified/compaction_unconfirmed
			160 a r2 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "an unconfirmed baseline is still owed", until: 300, state: "a",
		steps: []attackStep{
			compactedAt(0, "z", boundary.Completed, ofRuntime("claude_code")),
			snapAt(1, "a", "scope=S0", ofRuntime("claude_code")),
			snapAt(100, "a", "scope=S1", ofRuntime("claude_code")),
			lookAt(105, "a", "scope=S1", ofRuntime("claude_code")),
		},
		want: `
			60 z r1 unverified/no_observation unverified
			61 a r1 unverified/compaction_unconfirmed unverified scope=unverified/compaction_unconfirmed
			105 a r1 unverified/ambiguous unverified scope=unverified/ambiguous
			state unverified
		`,
	},
	{
		name: "each agent owes its own answer", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			snapAt(1, "a/x", "scope=S0"),
			compactedAt(2, "a/x", boundary.Cancelled),
			lookAt(5, "a/x", "scope=S0"),
		},
		want: `
			6 a/x r1 unverified/no_baseline unverified scope=unverified/no_baseline
			60 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a cancellation without agent concerns all agents", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			snapAt(1, "a/x", "scope=S0"),
			compactedAt(2, "a", boundary.Cancelled),
		},
		want: `
			state
		`,
	},
	{
		name: "a cancellation of something earlier cancels nothing", until: 300, state: "a",
		steps: []attackStep{
			snapAt(10, "a", "scope=S0"),
			compactedAt(12, "a", boundary.Cancelled, happened(5)),
		},
		want: `
			70 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a retry that was cancelled leaves the first owed", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			snapAt(10, "a", "scope=S0"),
			compactedAt(12, "a", boundary.NoOp),
		},
		want: `
			60 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a revocation that comes first counts", until: 300, state: "a",
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r1", withdrawn),
			approvesAt(1, "a", "scope S0>S1 r1"),
			snapAt(2, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
		},
		want: `
			5 a r1 conflicting/approval_revoked conflicting scope=conflicting/approval_revoked !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "a revocation after the use rewrites nothing", until: 300, state: "a",
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r1"),
			snapAt(2, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
			approvesAt(6, "a", "scope S0>S1 r1", withdrawn),
		},
		want: `
			5 a r1 approved_change/approved_transition approved_change scope=approved_change/approved_transition
			state approved_change
		`,
	},
	{
		name: "a full book still takes revocations", until: 300, state: "a",
		cfg: func(c *boundary.Config) { c.Limits.Approvals = 3 },
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r0"),
			approvesAt(0.1, "a", "scope S1>S2 r1"),
			approvesAt(0.2, "a", "scope S2>S3 r2"),
			approvesAt(0.3, "a", "scope S1>S2 r1", withdrawn),
			snapAt(2, "a", "scope=S0"),
			lookAt(3, "a", "scope=S3"),
		},
		want: `
			3 a r1 conflicting/approval_revoked conflicting scope=conflicting/approval_revoked !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval beyond the limit is none", until: 300, state: "a",
		cfg: func(c *boundary.Config) { c.Limits.Approvals = 1 },
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r0"),
			approvesAt(0.1, "a", "scope S1>S2 r1"),
			snapAt(2, "a", "scope=S0"),
			lookAt(3, "a", "scope=S2"),
		},
		want: `
			3 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval is used once", until: 300, state: "a",
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r1"),
			snapAt(1, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
			snapAt(10, "a", "scope=S0"),
			lookAt(15, "a", "scope=S1"),
		},
		want: `
			5 a r1 approved_change/approved_transition approved_change scope=approved_change/approved_transition
			15 a r1 conflicting/approval_reused conflicting scope=conflicting/approval_reused !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval is used once, whatever the agent", until: 300, state: "a",
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r1"),
			snapAt(1, "a/x", "scope=S0"),
			lookAt(5, "a/x", "scope=S1"),
			snapAt(10, "a/y", "scope=S0"),
			lookAt(15, "a/y", "scope=S1"),
		},
		want: `
			5 a/x r1 approved_change/approved_transition approved_change scope=approved_change/approved_transition
			15 a/y r1 conflicting/approval_reused conflicting scope=conflicting/approval_reused !decision_conflicting:firing
			state
		`,
	},
	{
		name: "a used link breaks a chain", until: 300, state: "a",
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r1"),
			snapAt(1, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
			approvesAt(6, "a", "scope S1>S2 r2"),
			snapAt(10, "a", "scope=S0"),
			lookAt(15, "a", "scope=S2"),
		},
		want: `
			5 a r1 approved_change/approved_transition approved_change scope=approved_change/approved_transition
			15 a r1 conflicting/approval_reused conflicting scope=conflicting/approval_reused !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "a cycle of approvals leads nowhere", until: 300, state: "a",
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r1"),
			approvesAt(0.1, "a", "scope S1>S0 r2"),
			snapAt(1, "a", "scope=S0"),
			lookAt(5, "a", "scope=S2"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval the other way round is none", until: 300, state: "a",
		steps: []attackStep{
			approvesAt(0, "a", "scope S1>S0 r1"),
			snapAt(1, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval of another decision is none", until: 300, state: "a",
		steps: []attackStep{
			approvesAt(0, "a", "target S0>S1 r1"),
			snapAt(1, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval that expires at the moment is expired", until: 300, state: "a",
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r1", expires(5)),
			snapAt(1, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
		},
		want: `
			5 a r1 conflicting/approval_expired conflicting scope=conflicting/approval_expired !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval of a removal covers absence, not another value", until: 300, state: "a",
		steps: []attackStep{
			approvesAt(0, "a", "mine M0>none r1"),
			snapAt(1, "a", "mine=M0 target=T0"),
			lookAt(5, "a", "mine=M1 target=T0"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting target=preserved/match mine=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval after the verdict clears, and is used up", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0"),
			lookAt(2, "a", "scope=S1"),
			approvesAt(4, "a", "scope S0>S1 r1"),
			snapAt(10, "a", "scope=S0"),
			lookAt(12, "a", "scope=S1"),
		},
		want: `
			2 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			4 a r2 conflicting/approved_after approved_change scope=conflicting/approved_after !decision_conflicting:resolved
			12 a r1 conflicting/approval_reused conflicting scope=conflicting/approval_reused !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval of what is not shown any more clears nothing", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0"),
			lookAt(2, "a", "scope=S1"),
			lookAt(3, "a", "scope=S2"),
			approvesAt(5, "a", "scope S0>S1 r1"),
		},
		want: `
			2 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval after the verdict clears a removal", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "mine=S0 target=T0"),
			lookAt(2, "a", "target=T0"),
			approvesAt(20, "a", "mine S0>none r1"),
		},
		want: `
			2 a r1 dropped/missing_after dropped target=preserved/match mine=dropped/missing_after !decision_dropped:firing
			20 a r2 dropped/approved_after approved_change target=preserved/match mine=dropped/approved_after !decision_dropped:resolved
			state approved_change
		`,
	},
	{
		name: "an approval of one agent covers no other's change", until: 300, state: "a/y",
		steps: []attackStep{
			approvesAt(0, "a/x", "scope S0>S1 r1"),
			snapAt(1, "a/y", "scope=S0"),
			lookAt(5, "a/y", "scope=S1"),
		},
		want: `
			5 a/y r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "a link there and back brings the defect back", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(1, "a", "scope=S1"),
			startsAt(2, "b", continuing("a")),
			startsAt(3, "a", continuing("b")),
			snapAt(10, "a", "scope=S1"),
			lookAt(12, "a", "scope=S1"),
		},
		want: `
			1 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			12 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval
			state conflicting
		`,
	},
	{
		name: "a session that continues itself stays what it is", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(1, "a", "scope=S1"),
			startsAt(2, "a", continuing("a")),
		},
		want: `
			1 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "a chain of links carries a defect", until: 300, state: "c",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(1, "a", "scope=S1"),
			startsAt(2, "b", continuing("a")),
			startsAt(3, "c", continuing("b")),
			snapAt(10, "c", "scope=S1"),
			lookAt(12, "c", "scope=S1"),
		},
		want: `
			1 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			12 c r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval
			state conflicting
		`,
	},
	{
		name: "a link carries what is owed", until: 300, state: "b",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			endsAt(2, "a"),
			startsAt(10, "b", continuing("a")),
		},
		want: `
			2 a r1 unverified/session_ended unverified scope=unverified/session_ended
			70 b r2 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a look under the new id answers the old one's snapshot", until: 300, state: "b",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			endsAt(2, "a"),
			lookAt(10, "b", "scope=S0", continuing("a")),
		},
		want: `
			2 a r1 unverified/session_ended unverified scope=unverified/session_ended
			10 b r2 preserved/match preserved scope=preserved/match
			state preserved
		`,
	},
	{
		name: "a link sent again moves nothing more", until: 300, state: "b",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			startsAt(2, "b", continuing("a")),
			snapAt(3, "a", "target=T0"),
			startsAt(4, "b", continuing("a")),
			lookAt(6, "b", "scope=S0"),
			lookAt(7, "a", "target=T0"),
		},
		want: `
			6 b r1 preserved/match preserved scope=preserved/match
			7 a r1 preserved/match preserved target=preserved/match
			state preserved
		`,
	},
	{
		name: "a resumed session gets a full window", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			endsAt(50, "a"),
			startsAt(100, "a"),
		},
		want: `
			50 a r1 unverified/session_ended unverified scope=unverified/session_ended
			160 a r2 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a completion after the end arms nothing", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			endsAt(2, "a"),
			compactedAt(3, "a", boundary.Completed),
		},
		want: `
			2 a r1 unverified/session_ended unverified scope=unverified/session_ended
			state unverified
		`,
	},
	{
		name: "an ended session's baseline is still owed", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			endsAt(2, "a"),
			snapAt(100, "a", "scope=S1"),
			lookAt(101, "a", "scope=S1"),
		},
		want: `
			2 a r1 unverified/session_ended unverified scope=unverified/session_ended
			101 a r2 unverified/ambiguous unverified scope=unverified/ambiguous
			state unverified
		`,
	},
	{
		name: "events with different ids do not meet", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0", withID("x")),
			lookAt(5, "a", "scope=S0", withID("y")),
		},
		want: `
			6 a r1 unverified/no_baseline unverified scope=unverified/no_baseline
			60 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a hand-over pairs across agents", until: 300, state: "a/x",
		steps: []attackStep{
			snapAt(0, "a/x", "scope=S0", withID("h")),
			lookAt(5, "a/y", "scope=S1", withID("h")),
		},
		want: `
			5 a/x r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "sessions do not meet", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "b", "scope=S0"),
		},
		want: `
			6 b r1 unverified/no_baseline unverified scope=unverified/no_baseline
			60 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "the same snapshot again is the same", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0", withFingerprint(5)),
			lookAt(5, "a", "scope=S0"),
			snapAt(20, "a", "scope=S0", withFingerprint(5)),
		},
		want: `
			5 a r1 preserved/match preserved scope=preserved/match
			state preserved
		`,
	},
	{
		name: "the same look again answers nothing new", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "a", "scope=S0", withFingerprint(5)),
			snapAt(20, "a", "scope=S0"),
			lookAt(25, "a", "scope=S0", withFingerprint(5)),
		},
		want: `
			5 a r1 preserved/match preserved scope=preserved/match
			80 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "an old look that is sent anew answers nothing new", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "a", "scope=S0"),
			snapAt(20, "a", "scope=S0"),
			lookAt(25, "a", "scope=S0", happened(5), seen(5)),
		},
		want: `
			5 a r1 preserved/match preserved scope=preserved/match
			25 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			80 a r2 unverified/not_fresh unverified scope=unverified/not_fresh !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a look from before a later snapshot does not answer it", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			snapAt(100, "a", "scope=S0"),
			lookAt(101, "a", "scope=S0", seen(50), happened(50)),
		},
		want: `
			60 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			101 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			state unverified
		`,
	},
	{
		name: "a late snapshot finds its look", until: 300, state: "a",
		steps: []attackStep{
			lookAt(5, "a", "scope=S0"),
			snapAt(8, "a", "scope=S0", happened(2), seen(2)),
		},
		want: `
			6 a r1 unverified/no_baseline unverified scope=unverified/no_baseline
			8 a r1 preserved/match preserved scope=preserved/match
			state preserved
		`,
	},
	{
		name: "a snapshot after the compaction is no baseline for it", until: 300, state: "a",
		steps: []attackStep{
			compactedAt(5, "a", boundary.Completed),
			snapAt(10, "a", "scope=S1"),
			lookAt(12, "a", "scope=S1"),
		},
		want: `
			10 a r1 unverified/no_baseline unverified
			12 a r1 preserved/match preserved scope=preserved/match
			state preserved
		`,
	},
	{
		name: "an unresolved effect outlives a clean boundary", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "target=T0", withEnvelope("side_effect_status=not_executed")),
			lookAt(5, "a", "target=T0", withEnvelope("side_effect_status=side_effect_unknown")),
			snapAt(10, "a", "target=T0"),
			lookAt(12, "a", "target=T0"),
		},
		want: `
			5 a r1 unverified/unknown_side_effect unverified target=preserved/match -=unverified/unknown_side_effect !reconciliation_required:firing
			12 a r1 preserved/match unverified target=preserved/match
			state unverified
		`,
	},
	{
		name: "an effect that is left out is not resolved", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "target=T0", withEnvelope("side_effect_status=side_effect_unknown")),
			lookAt(7, "a", "target=T0", withEnvelope()),
			snapAt(10, "a", "target=T0", withEnvelope()),
			lookAt(12, "a", "target=T0", withEnvelope()),
		},
		want: `
			7 a r1 conflicting/envelope_field_missing conflicting target=preserved/match -=conflicting/envelope_field_missing !decision_conflicting:firing
			12 a r1 conflicting/envelope_field_missing conflicting target=preserved/match -=conflicting/envelope_field_missing -=preserved/match
			state conflicting
		`,
	},
	{
		name: "an envelope that is not shown is missed", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "target=T0", withEnvelope()),
			lookAt(7, "a", "target=T0"),
		},
		want: `
			7 a r1 unverified/envelope_not_observed unverified target=preserved/match -=unverified/envelope_not_observed
			60 a r2 unverified/envelope_not_observed unverified target=preserved/match -=unverified/envelope_not_observed !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "an envelope of another boundary clears nothing", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "", withEnvelope(), withID("x")),
			snapAt(1, "a", "", withEnvelope("tenant_id=Q"), withID("y")),
			lookAt(5, "a", "", withEnvelope(), withID("x")),
			lookAt(6, "a", "", withEnvelope(), withID("y")),
			lookAt(8, "a", "", withEnvelope(), withID("x")),
		},
		want: `
			5 a r1 preserved/match preserved -=preserved/match
			6 a r1 conflicting/tenant_mismatch conflicting -=conflicting/tenant_mismatch !decision_conflicting:firing
			9 a r2 conflicting/tenant_mismatch conflicting -=conflicting/tenant_mismatch -=preserved/match
			state conflicting
		`,
	},
	{
		name: "an envelope from before the refusal does not count", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0", withEnvelope()),
			refusesAt(10, "a"),
			lookAt(12, "a", "scope=S0", withEnvelope(), happened(8), seen(8)),
		},
		want: `
			10 a r1 conflicting/continuity_validation_failed conflicting -=conflicting/continuity_validation_failed !decision_conflicting:firing
			13 a r2 conflicting/continuity_validation_failed conflicting scope=preserved/match -=conflicting/continuity_validation_failed
			state conflicting
		`,
	},
	{
		name: "a refusal outlives a clean look at the same boundary", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "target=T0"),
			refusesAt(1, "a"),
			lookAt(7, "a", "target=T0"),
		},
		want: `
			1 a r1 conflicting/continuity_validation_failed conflicting -=conflicting/continuity_validation_failed !decision_conflicting:firing
			8 a r2 conflicting/continuity_validation_failed conflicting target=preserved/match -=conflicting/continuity_validation_failed
			state conflicting
		`,
	},
	{
		name: "a refusal of one agent is not cleared by another", until: 300, state: "a",
		steps: []attackStep{
			refusesAt(1, "a"),
			snapAt(3, "a/x", "target=T0"),
			lookAt(7, "a/x", "target=T0"),
		},
		want: `
			1 a r1 conflicting/continuity_validation_failed conflicting -=conflicting/continuity_validation_failed !decision_conflicting:firing
			7 a/x r1 preserved/match preserved target=preserved/match
			state conflicting
		`,
	},
	{
		name: "a summary's digest that came late is wanted", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0", withEnvelope()),
			lookAt(12, "a", "scope=S0", withEnvelope()),
			compactedAt(15, "a", boundary.Completed, happened(5), withEnvelope("summary_sha256=sha256:"+strings.Repeat("ab", 32))),
		},
		want: `
			12 a r1 preserved/match preserved scope=preserved/match -=preserved/match
			15 a r2 unverified/envelope_not_observed unverified scope=preserved/match -=unverified/envelope_not_observed
			75 a r3 unverified/envelope_not_observed unverified scope=preserved/match -=unverified/envelope_not_observed !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "baselines that were lost for want of room are said", until: 300, state: "a",
		cfg: func(c *boundary.Config) { c.Limits.Candidates = 2 },
		steps: []attackStep{
			snapAt(0, "a", "scope=S0 mine=M0"),
			snapAt(1, "a", "scope=S0 mine=M1"),
			snapAt(2, "a", "scope=S0 mine=M2"),
			lookAt(20, "a", "scope=S0 mine=M2"),
			snapAt(30, "a", "scope=S0 mine=M2"),
			lookAt(32, "a", "scope=S0 mine=M2"),
		},
		want: `
			20 a r1 unverified/capacity unverified scope=unverified/capacity mine=unverified/ambiguous
			32 a r1 preserved/match preserved scope=preserved/match mine=preserved/match
			state preserved
		`,
	},
	{
		name: "a session beyond the limit takes nobody's place", until: 300, state: "a",
		limit: 1,
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			snapAt(1, "b", "scope=S0"),
			lookAt(2, "b", "scope=S0"),
			lookAt(5, "a", "scope=S0"),
		},
		want: `
			5 a r1 preserved/match preserved scope=preserved/match
			state preserved
		`,
	},
	{
		name: "a required decision without baseline is said", until: 300, state: "a",
		cfg: func(c *boundary.Config) { c.RequiredInvariants = []string{"scope"} },
		steps: []attackStep{
			snapAt(0, "a", "target=T0"),
			lookAt(5, "a", "target=T0 scope=S0"),
		},
		want: `
			5 a r1 unverified/no_baseline unverified scope=unverified/no_baseline target=preserved/match
			state unverified
		`,
	},
	{
		name: "what expires is closed, never resolved", until: 4000, state: "a",
		cfg: func(c *boundary.Config) { c.Retention, c.SessionTTL = 10*time.Minute, time.Hour },
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			3605 a r2 conflicting/session_expired conflicting scope=conflicting/changed_without_approval !decision_conflicting:closed
			state
		`,
	},
	{
		name: "a truncated baseline is no healthy one", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0", cut),
			lookAt(5, "a", "scope=S0"),
		},
		want: `
			5 a r1 unverified/snapshot_truncated unverified scope=preserved/match -=unverified/snapshot_truncated
			state unverified
		`,
	},
}

func TestAttacks(t *testing.T) {
	for _, row := range attacks {
		t.Run(row.name, func(t *testing.T) {
			got := strings.Join(row.run(), "\n")
			var want []string
			for _, line := range strings.Split(row.want, "\n") {
				if line = strings.TrimSpace(line); line != "" {
					want = append(want, line)
				}
			}
			if got != strings.Join(want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
			}
		})
	}
}

// TestFaults are attacks that won: no line of a row's output may contain what it
// denies, and one must contain what it needs.
func TestFaults(t *testing.T) {
	for _, row := range faults {
		t.Run(row.name, func(t *testing.T) {
			lines := row.run()
			got := strings.Join(lines, "\n")
			for _, d := range strings.Split(row.deny, ";") {
				if d != "" && strings.Contains(got, d) {
					t.Errorf("denied: %q", d)
				}
			}
			if !strings.Contains(got, row.need) {
				t.Errorf("missing: %q", row.need)
			}
			if t.Failed() {
				t.Log("\n" + got)
			}
		})
	}
}

type faultRow struct {
	attackRow
	deny, need string
}

var faults = []faultRow{
	{attackRow{
		name: "link: a defect of the same name is forgotten", until: 300, state: "b",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
			snapAt(10, "b", "scope=S1"),
			lookAt(15, "b", "scope=S2"),
			startsAt(20, "b", continuing("a")),
			snapAt(30, "b", "scope=S2"),
			lookAt(35, "b", "scope=S1"),
		},
	}, "35 b r1 preserved/match preserved;state preserved", ""},
	{attackRow{
		name: "link: an envelope's defect is forgotten", until: 300, state: "b",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0", withEnvelope()),
			lookAt(5, "a", "scope=S0", withEnvelope("tenant_id=X")),
			snapAt(10, "b", "scope=S0", withEnvelope("tenant_id=X")),
			lookAt(15, "b", "scope=S0", withEnvelope("tenant_id=X", "policy_version=2")),
			startsAt(20, "b", continuing("a")),
			snapAt(30, "b", "scope=S0", withEnvelope("tenant_id=X")),
			lookAt(35, "b", "scope=S0", withEnvelope("tenant_id=X")),
		},
	}, "resolved;state preserved", ""},
	{attackRow{
		name: "link: a repeated link in a cycle moves the defect away", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(1, "a", "scope=S1"),
			startsAt(2, "b", continuing("a")),
			startsAt(3, "a", continuing("b")),
			startsAt(4, "b", continuing("a")),
			snapAt(10, "a", "scope=S1"),
			lookAt(12, "a", "scope=S1"),
		},
	}, "12 a r1 preserved/match preserved", ""},
	{attackRow{
		name: "link: an approval is used twice", until: 300, state: "b",
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r1"),
			snapAt(1, "a", "scope=S0"),
			lookAt(2, "a", "scope=S1"),
			approvesAt(3, "b", "scope S0>S1 r1"),
			startsAt(5, "b", continuing("a")),
			snapAt(6, "b", "scope=S0"),
			lookAt(7, "b", "scope=S1"),
		},
	}, "7 b r1 approved_change", ""},
	{attackRow{
		name: "a healthy look from a fast clock hides a conflict", until: 400, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "a", "scope=S0", seen(240)),
			snapAt(100, "a", "scope=S0"),
			lookAt(105, "a", "scope=S1"),
			snapAt(300, "a", "scope=S1"),
			lookAt(305, "a", "scope=S1"),
		},
	}, "305 a r1 preserved/match preserved;state preserved", "!decision_conflicting:firing"},
	{attackRow{
		name: "an envelope from a fast clock hides a changed tenant", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0", withEnvelope()),
			lookAt(5, "a", "scope=S0", withEnvelope(), seen(240)),
			snapAt(100, "a", "scope=S0", withEnvelope()),
			lookAt(105, "a", "scope=S0", withEnvelope("tenant_id=EVIL")),
			snapAt(200, "a", "scope=S0", withEnvelope("tenant_id=EVIL")),
			lookAt(205, "a", "scope=S0", withEnvelope("tenant_id=EVIL")),
		},
	}, "205 a r1 preserved/match preserved;state preserved", "!decision_conflicting:firing"},
	{attackRow{
		name: "an envelope from a fast clock hides an unresolved effect", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "", withEnvelope("side_effect_status=applied")),
			lookAt(5, "a", "", withEnvelope("side_effect_status=applied"), seen(240)),
			snapAt(100, "a", "", withEnvelope("side_effect_status=applied")),
			lookAt(105, "a", "", withEnvelope("side_effect_status=side_effect_unknown")),
			snapAt(200, "a", "scope=S1"),
			lookAt(205, "a", "scope=S1"),
		},
	}, "state preserved", "!reconciliation_required:firing"},
	{attackRow{
		name: "a look from before the end of the compaction", until: 55, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "a", "scope=S0", seen(240)),
			compactedAt(50, "a", boundary.Completed),
		},
	}, "state preserved", "observed_too_early"},
	{attackRow{
		name: "a look from before a later snapshot of the open boundary", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0 target=T0"),
			lookAt(5, "a", "scope=S0", partial, seen(240)),
			snapAt(20, "a", "scope=S0 target=T0"),
			lookAt(25, "a", "target=T0", partial),
		},
	}, "25 a r2 preserved/match preserved", ""},
	{attackRow{
		name: "a look that was received before the snapshot happened", until: 300, state: "a",
		steps: []attackStep{
			lookAt(5, "a", "scope=S0", happened(600), seen(600)),
			snapAt(5.5, "a", "scope=S0"),
		},
	}, "5.5 a r1 preserved", ""},
	{attackRow{
		name: "a cut snapshot's silence retires a full baseline", until: 100, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0 target=T0"),
			snapAt(1, "a", "target=T0", cut),
			lookAt(5, "a", "target=T0"),
			snapAt(10, "a", "target=T0"),
			lookAt(12, "a", "target=T0"),
		},
	}, "12 a r1 preserved/match preserved;state preserved", ""},
	{attackRow{
		name: "a refusal is cleared by an older boundary's revision", until: 30, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0", withID("x")),
			lookAt(5, "a", "scope=S0", withID("x")),
			snapAt(10, "a", "scope=S0", withID("y")),
			refusesAt(12, "a", withID("y")),
			lookAt(20, "a", "scope=S0", withID("x"), seen(6), happened(6)),
		},
	}, "21 a r2 preserved/match preserved;!decision_conflicting:resolved", ""},
	{attackRow{
		name: "a refusal is cleared while an envelope is owed", until: 30, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0", withID("x"), withEnvelope()),
			refusesAt(5, "a", withID("x")),
			snapAt(10, "a", "scope=S0", withID("y")),
			lookAt(12, "a", "scope=S0", withID("y")),
		},
	}, "!decision_conflicting:resolved", ""},
	{attackRow{
		name: "a refusal is cleared by an envelope without baseline", until: 300, state: "a",
		steps: []attackStep{
			refusesAt(5, "a"),
			lookAt(100, "a", "", withEnvelope()),
		},
	}, "!decision_conflicting:resolved", ""},
	{attackRow{
		name: "a refusal is cleared by an ambiguous envelope", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "", withEnvelope("policy_version=1")),
			snapAt(1, "a", "", withEnvelope("policy_version=2")),
			refusesAt(5, "a"),
			lookAt(10, "a", "", withEnvelope("policy_version=2")),
		},
	}, "!decision_conflicting:resolved", ""},
	{attackRow{
		name: "a mismatch of the summary is cleared by leaving it out", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0", withEnvelope()),
			compactedAt(5, "a", boundary.Completed, withEnvelope("summary_sha256=sha256:"+strings.Repeat("ab", 32))),
			lookAt(14, "a", "scope=S0", withEnvelope("summary_sha256=sha256:"+strings.Repeat("cd", 32))),
			snapAt(20, "a", "scope=S0", withEnvelope()),
			lookAt(25, "a", "scope=S0", withEnvelope()),
		},
	}, "!decision_conflicting:resolved;state preserved", ""},
	{attackRow{
		name: "an effect is resolved by another action's envelope", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "", withEnvelope("idempotency_key=K1", "side_effect_status=not_executed")),
			lookAt(5, "a", "", withEnvelope("idempotency_key=K1", "side_effect_status=side_effect_unknown")),
			snapAt(20, "a", "", withEnvelope("idempotency_key=K2", "side_effect_status=applied")),
			lookAt(25, "a", "", withEnvelope("idempotency_key=K2", "side_effect_status=applied")),
		},
	}, "!reconciliation_required:resolved;state preserved", ""},
	{attackRow{
		name: "an effect is resolved within the whole second that showed it", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "", withEnvelope("side_effect_status=side_effect_unknown")),
			lookAt(5, "a", "", withEnvelope("side_effect_status=side_effect_unknown"), seenInWholeSeconds(5)),
			lookAt(6, "a", "", withEnvelope("side_effect_status=applied"), seen(5.4)),
		},
	}, "!reconciliation_required:resolved", ""},
	{attackRow{
		name: "the older of two original envelopes is forgotten", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "", withEnvelope("policy_version=1")),
			snapAt(1, "a", "", withEnvelope("policy_version=2")),
			lookAt(5, "a", "", withEnvelope("policy_version=3")),
			lookAt(10, "a", "", withEnvelope("policy_version=2")),
			snapAt(20, "a", "", withEnvelope("policy_version=2")),
			lookAt(25, "a", "", withEnvelope("policy_version=2")),
		},
	}, "!decision_conflicting:resolved;state preserved", ""},
	{attackRow{
		name: "a snapshot that joins its completion is cancelled by a later attempt", until: 300, state: "a",
		steps: []attackStep{
			compactedAt(10, "a", boundary.Completed),
			snapAt(11, "a", "scope=S0", happened(9), seen(9)),
			compactedAt(20, "a", boundary.Failed),
			lookAt(130, "a", "scope=S1"),
		},
	}, "", "changed_without_approval"},
	{attackRow{
		name: "a boundary id used again uses its approval again", until: 300, state: "a",
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r1"),
			snapAt(1, "a", "scope=S0", withID("x")),
			lookAt(5, "a", "scope=S1", withID("x")),
			snapAt(100, "a", "scope=S0", withID("x")),
			lookAt(105, "a", "scope=S1", withID("x")),
		},
	}, "105 a r1 approved_change", ""},
	{attackRow{
		name: "a missing look is resolved by a stored file", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "a", "scope=S0", badName),
			lookAt(200, "a", "target=T0@record"),
		},
	}, "!post_observation_missing:resolved", ""},
	{attackRow{
		name: "a missing look is resolved by an empty one", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "a", "scope=S0", badName),
			lookAt(70, "a", "", partial, cut),
		},
	}, "!post_observation_missing:resolved;71 a r3 preserved", ""},
	{attackRow{
		name: "a late revision of an older boundary heals the session", until: 30, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0", withID("x")),
			lookAt(5, "a", "scope=S0", withID("x")),
			snapAt(10, "a", "scope=!digest_malformed", withID("y")),
			lookAt(12, "a", "scope=S0", withID("y")),
			lookAt(20, "a", "scope=S0", withID("x"), happened(6), seen(6)),
		},
	}, "state preserved", ""},
	{attackRow{
		name: "an envelope that was lost for want of room is not said", until: 300, state: "a",
		cfg: func(c *boundary.Config) { c.Limits.Candidates = 2 },
		steps: []attackStep{
			snapAt(0, "a", "", withEnvelope("id=0")),
			snapAt(1, "a", "", withEnvelope("id=1", "policy_version=2")),
			snapAt(2, "a", "", withEnvelope("id=2")),
			lookAt(20, "a", "", withEnvelope()),
		},
	}, "20 a r1 preserved/match preserved", "capacity"},
	{attackRow{
		name: "what was parked under another id never alarms", until: 500, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0", withID("x")),
			endsAt(5, "a"),
			snapAt(100, "a", "scope=S0", withID("y")),
			lookAt(105, "a", "scope=S0", withID("y")),
		},
	}, "", "!post_observation_missing:firing"},
	{attackRow{
		name: "a late snapshot whose completion came is called unconfirmed", until: 300, state: "a",
		steps: []attackStep{
			compactedAt(10, "a", boundary.Completed, ofRuntime("claude_code")),
			lookAt(12, "a", "scope=S0", partial, ofRuntime("claude_code")),
			snapAt(13, "a", "scope=S0 target=T0", happened(9), seen(9), ofRuntime("claude_code")),
		},
	}, "compaction_unconfirmed", "!post_observation_missing:firing"},
	{attackRow{
		name: "the main agent's completion alarms for a sub-agent", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a/x", "scope=S0"),
			lookAt(2, "a/x", "scope=S0"),
			snapAt(10, "a", "scope=S0"),
			compactedAt(12, "a", boundary.Completed),
			lookAt(13, "a", "scope=S0"),
		},
	}, "!post_observation_missing:firing", ""},
	{attackRow{
		name: "leftovers of an ended session arm its window", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0 target=T0"),
			endsAt(5, "a"),
			lookAt(6, "a", "scope=S0", partial, happened(4), seen(4)),
		},
	}, "!post_observation_missing:firing", ""},
	{attackRow{
		name: "a look in time but shown long after hides a compaction", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			compactedAt(2, "a", boundary.Completed),
			lookAt(50, "a", "scope=S0", seen(5), happened(50)),
			compactedAt(55, "a", boundary.Completed, happened(30)),
		},
	}, "", "no_observation"},
	{attackRow{
		name: "nothing but optional decisions gives no reason", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "mine=S0", optional),
			lookAt(5, "a", "mine=S0"),
		},
	}, "5 a r1 unverified/ ", ""},
	{attackRow{
		name: "an approval that answered beside rubbish is not used up", until: 300, state: "a",
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r1"),
			snapAt(1, "a", "scope=!digest_malformed"),
			snapAt(2, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
			snapAt(10, "a", "scope=S0"),
			lookAt(15, "a", "scope=S1"),
		},
	}, "15 a r1 approved_change", ""},
	{attackRow{
		name: "required_invariants do not make an optional debt required", until: 300, state: "a",
		cfg: func(c *boundary.Config) { c.RequiredInvariants = []string{"mine"} },
		steps: []attackStep{
			snapAt(0, "a", "mine=S0", optional, withID("x")),
			snapAt(100, "a", "mine=S0", optional, withID("y")),
			lookAt(105, "a", "mine=S0", withID("y")),
		},
	}, "105 a r1 preserved/match preserved;!post_observation_missing:resolved;state preserved", ""},
	{attackRow{
		name: "an approval of a retracted answer stays used up", until: 300, state: "a",
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r1"),
			snapAt(1, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
			compactedAt(20, "a", boundary.Completed),
			snapAt(100, "a", "scope=S0"),
			lookAt(105, "a", "scope=S1"),
		},
	}, "approval_reused", ""},
	{attackRow{
		name: "one change seen by one look at two boundaries needs two approvals", until: 300, state: "a",
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r1"),
			snapAt(1, "a", "scope=S0", withID("x")),
			snapAt(2, "a", "scope=S0", withID("y")),
			lookAt(5, "a", "scope=S1"),
		},
	}, "approval_reused", ""},
	{attackRow{name: "weak looks push out the sufficient one", until: 200, state: "a", steps: append([]attackStep{snapAt(0, "a", "scope=S0 target=T0"), lookAt(1, "a", "scope=S0", partial)}, repeated(70, func(i int) attackStep { return lookAt(2+float64(i)/10, "a", "", partial) })...)}, "scope=unverified/observation_empty", ""},
	{attackRow{name: "folded snapshots forget how many they were", until: 200, state: "a", steps: append(repeated(70, func(i int) attackStep { return snapAt(float64(i)/10, "a", "scope=S0") }), repeated(69, func(i int) attackStep { return compactedAt(8+float64(i)/10, "a", boundary.Cancelled) })...)}, "", "!post_observation_missing:firing"},
}

func repeated(n int, f func(i int) attackStep) (out []attackStep) {
	for i := range n {
		out = append(out, f(i))
	}
	return out
}
