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

// atkEpoch is second 0 of every attack; it is no whole second.
var atkEpoch = time.Date(2026, 6, 1, 12, 0, 0, 500_000_123, time.UTC)

func atkAt(seconds float64) time.Time {
	return atkEpoch.Add(time.Duration(seconds*1000) * time.Millisecond)
}

func atkInstant(seconds float64) classify.Instant { return classify.At(atkAt(seconds)) }

// atkFleet is a fleet of one core.
type atkFleet struct {
	limit, used int
	habits      map[string]bool
}

func (f *atkFleet) TakeSession() bool {
	if f.used >= f.limit {
		return false
	}
	f.used++
	return true
}
func (f *atkFleet) GiveSession() { f.used-- }
func (f *atkFleet) Saw(tenant, atkRuntime string, h boundary.Habit) {
	f.habits[fmt.Sprint(tenant, "|", atkRuntime, "|", h)] = true
}
func (f *atkFleet) Seen(tenant, atkRuntime string, h boundary.Habit) bool {
	return f.habits[fmt.Sprint(tenant, "|", atkRuntime, "|", h)]
}

// atkStep is one event at a second of the collector's clock.
type atkStep struct {
	at float64
	ev *boundary.Event
}

type atkMod func(*boundary.Event)

func atkEvent(at float64, session string, kind boundary.Kind, stated string, mods []atkMod) atkStep {
	ev := &boundary.Event{Kind: kind, Time: atkInstant(at), ObservedAt: atkInstant(at)}
	ev.Key.Session, ev.Key.Agent, _ = strings.Cut(session, "/")
	for _, f := range strings.Fields(stated) {
		name, value, _ := strings.Cut(f, "=")
		value, source, _ := strings.Cut(value, "@")
		s := boundary.Statement{Name: name, Digest: atkDigest(value), ObservedAt: ev.ObservedAt}
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
	return atkStep{at, ev}
}

func atkDigest(label string) digest.Digest {
	if label == "none" {
		return digest.None
	}
	return digest.Digest{Alg: digest.SHA256, Sum: sha256.Sum256([]byte(label))}
}

func atkSnap(at float64, session, stated string, mods ...atkMod) atkStep {
	return atkEvent(at, session, boundary.Snapshot, stated, mods)
}
func atkLook(at float64, session, stated string, mods ...atkMod) atkStep {
	return atkEvent(at, session, boundary.Observation, stated, mods)
}
func atkDone(at float64, session string, o boundary.Outcome, mods ...atkMod) atkStep {
	return atkEvent(at, session, boundary.Completion, "", append([]atkMod{func(e *boundary.Event) { e.Outcome = o }}, mods...))
}
func atkEnds(at float64, session string, mods ...atkMod) atkStep {
	return atkEvent(at, session, boundary.SessionEnd, "", mods)
}
func atkStarts(at float64, session string, mods ...atkMod) atkStep {
	return atkEvent(at, session, boundary.SessionStart, "", mods)
}
func atkRefuses(at float64, session string, mods ...atkMod) atkStep {
	return atkEvent(at, session, boundary.ValidationFailure, "", mods)
}

// approves takes "scope S0>S1 ref".
func atkApproves(at float64, session, what string, mods ...atkMod) atkStep {
	f := strings.Fields(what)
	from, to, _ := strings.Cut(f[1], ">")
	return atkEvent(at, session, boundary.Approval, "", append([]atkMod{func(e *boundary.Event) {
		e.Fingerprint = uint64(at*1000) + 7
		e.Approval = &approval.Approval{
			Session: e.Key.Session, Agent: e.Key.Agent, Invariant: f[0], Ref: f[2], From: atkDigest(from), To: atkDigest(to),
			Approver: "reviewer-1", Independent: true, Received: atkAt(at),
		}
	}}, mods...))
}

// Modifiers: when it says it happened and was seen, and what else it says.
func atkTimed(s float64) atkMod {
	return func(e *boundary.Event) { e.Time = atkInstant(s) }
}
func atkUntimed(e *boundary.Event) { e.Time = 0 }
func atkSeen(s float64) atkMod     { return atkSeenAt(atkInstant(s)) }
func atkSeenAt(i classify.Instant) atkMod {
	return func(e *boundary.Event) {
		e.ObservedAt = i
		for n := range e.Statements {
			e.Statements[n].ObservedAt = i
		}
	}
}
func atkWhole(s float64) atkMod {
	return atkSeenAt(classify.At(atkAt(s).Truncate(time.Second)))
}
func atkBid(id string) atkMod        { return func(e *boundary.Event) { e.BoundaryID = id } }
func atkPrev(id string) atkMod       { return func(e *boundary.Event) { e.Previous = id } }
func atkPrint(n uint64) atkMod       { return func(e *boundary.Event) { e.Fingerprint = n } }
func atkRuntime(r string) atkMod     { return func(e *boundary.Event) { e.Runtime = r } }
func atkPartial(e *boundary.Event)   { e.Partial = true }
func atkCut(e *boundary.Event)       { e.Dropped = true }
func atkBadName(e *boundary.Event)   { e.BadName = true }
func atkAttempted(e *boundary.Event) { e.SnapshotFailed = true }
func atkTextual(e *boundary.Event) {
	for n := range e.Statements {
		e.Statements[n].Text = true
	}
}
func atkOptional(e *boundary.Event) {
	for n := range e.Statements {
		e.Statements[n].Optional = true
	}
}
func atkWithdrawn(e *boundary.Event) { e.Approval.Revoked = true }
func atkExpires(s float64) atkMod {
	return func(e *boundary.Event) { e.Approval.ExpiresAt = atkAt(s).Format(time.RFC3339Nano) }
}

// env is an envelope of the four required fields, and more as "field=value".
func atkEnv(more ...string) atkMod {
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

// atkRow is one attack: what happened, and every receipt that must come of it.
type atkRow struct {
	name  string
	cfg   func(*boundary.Config)
	limit int
	until float64
	// state is the key whose continuity state is asked in the end, "" for none.
	state string
	steps []atkStep
	want  string
}

func (r *atkRow) run() []string {
	cfg := boundary.DefaultConfig()
	cfg.Window, cfg.ReorderGrace = time.Minute, time.Second
	if r.cfg != nil {
		r.cfg(&cfg)
	}
	limit := r.limit
	if limit == 0 {
		limit = 1000
	}
	core := boundary.New(&cfg, &atkFleet{limit: limit, habits: map[string]bool{}})
	var out []string
	take := func(now time.Time, res boundary.Result) {
		for i := range res.Receipts {
			out = append(out, atkLine(now, &res.Receipts[i]))
		}
	}
	pass := func(to time.Time) {
		for next, ok := core.Next(); ok && !next.After(to); next, ok = core.Next() {
			res, _ := core.Expire(next)
			take(next, res)
		}
	}
	for _, s := range r.steps {
		now := atkAt(s.at)
		pass(now)
		if s.ev.Previous != "" {
			take(now, core.Adopt(now, core, s.ev))
		}
		_, res := core.Observe(now, s.ev)
		take(now, res)
	}
	pass(atkAt(r.until))
	if r.state != "" {
		key := boundary.Key{}
		key.Session, key.Agent, _ = strings.Cut(r.state, "/")
		out = append(out, strings.TrimSpace("state "+core.State(key).String()))
	}
	return out
}

// atkLine is a receipt as text: second, session, revision, state/reason of the
// boundary, state of the session, findings, alerts.
func atkLine(now time.Time, r *boundary.Receipt) string {
	key := r.Key.Session
	if r.Key.Agent != "" {
		key += "/" + r.Key.Agent
	}
	line := fmt.Sprintf("%g %s r%d %s/%s %s", now.Sub(atkEpoch).Seconds(), key, r.Revision, r.Boundary, r.Reason, r.State)
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
var attacks = []atkRow{
	{
		name: "a second clean compaction launders no conflict", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(5, "a", "scope=S1"),
			atkSnap(10, "a", "scope=S1"),
			atkLook(15, "a", "scope=S1"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			15 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval
			state conflicting
		`,
	},
	{
		name: "silence about a lost decision launders nothing", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "mine=S0"),
			atkLook(2, "a", "mine=S1"),
			atkSnap(10, "a", "target=T0"),
			atkLook(15, "a", "target=T0"),
		},
		want: `
			2 a r1 conflicting/changed_without_approval conflicting mine=conflicting/changed_without_approval !decision_conflicting:firing
			15 a r1 preserved/match conflicting target=preserved/match
			state conflicting
		`,
	},
	{
		name: "a cancelled compaction does not take its conflict back", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(5, "a", "scope=S1"),
			atkDone(6, "a", boundary.Cancelled, atkTimed(4)),
			atkSnap(10, "a", "scope=S1"),
			atkLook(12, "a", "scope=S1"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			12 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval
			state conflicting
		`,
	},
	{
		name: "a probe replaces no restatement", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "target=T0"),
			atkLook(5, "a", "target=T0"),
			atkLook(6, "a", "target=T1@environment"),
		},
		want: `
			5 a r1 preserved/match preserved target=preserved/match
			state preserved
		`,
	},
	{
		name: "a probe clears nothing that an agent showed", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "target=T0"),
			atkLook(5, "a", "target=T1"),
			atkLook(7, "a", "target=T0@environment"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting target=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an older look clears nothing", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "target=T0"),
			atkLook(5, "a", "target=T1@environment"),
			atkLook(6, "a", "target=T0", atkSeen(4), atkTimed(4)),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting target=conflicting/changed_without_approval !decision_conflicting:firing
			7 a r2 preserved/match conflicting target=preserved/match
			state conflicting
		`,
	},
	{
		name: "a look in the same whole second clears nothing", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "target=T0"),
			atkLook(5, "a", "target=T1"),
			atkLook(5.2, "a", "target=T0", atkWhole(5.2)),
			atkSnap(10, "a", "target=T1"),
			atkLook(12, "a", "target=T1"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting target=conflicting/changed_without_approval !decision_conflicting:firing
			12 a r1 conflicting/changed_without_approval conflicting target=conflicting/changed_without_approval
			state conflicting
		`,
	},
	{
		name: "a look a day and more ahead is not fresh", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(5, "a", "scope=S0", atkTimed(200000), atkSeen(200000)),
		},
		want: `
			5 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			60 a r2 unverified/not_fresh unverified scope=unverified/not_fresh !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a look more than five minutes ahead of its event is not fresh", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(5, "a", "scope=S0", atkSeen(306)),
		},
		want: `
			5 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			60 a r2 unverified/not_fresh unverified scope=unverified/not_fresh !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a look without a time is not fresh", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(5, "a", "scope=S0", atkSeenAt(0)),
		},
		want: `
			5 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			60 a r2 unverified/not_fresh unverified scope=unverified/not_fresh !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a snapshot without any time makes nothing fresh", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0", atkUntimed, atkSeenAt(0)),
			atkLook(5, "a", "scope=S0"),
		},
		want: `
			5 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			60 a r2 unverified/not_fresh unverified scope=unverified/not_fresh !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a snapshot from the future without event time makes nothing fresh", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0", atkUntimed, atkSeen(3600)),
			atkLook(5, "a", "scope=S0", atkTimed(3700), atkSeen(3700)),
		},
		want: `
			5 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			60 a r2 unverified/not_fresh unverified scope=unverified/not_fresh !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "seconds where nanoseconds belong are not fresh", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(5, "a", "scope=S0", atkSeenAt(1780315200)),
		},
		want: `
			5 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			60 a r2 unverified/not_fresh unverified scope=unverified/not_fresh !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "milliseconds where nanoseconds belong are not fresh", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(5, "a", "scope=S0", atkSeenAt(1780315200123)),
		},
		want: `
			5 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			60 a r2 unverified/not_fresh unverified scope=unverified/not_fresh !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a look in the whole second of its snapshot is not fresh", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0.4, "a", "scope=S0"),
			atkLook(0.45, "a", "scope=S0", atkWhole(0.4)),
		},
		want: `
			0.45 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			60.4 a r2 unverified/not_fresh unverified scope=unverified/not_fresh !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a stored file proves nothing, and does not disarm the window", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(5, "a", "scope=S0@record"),
		},
		want: `
			5 a r1 unverified/source_not_accepted unverified scope=unverified/source_not_accepted
			60 a r2 unverified/source_not_accepted unverified scope=unverified/source_not_accepted !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a probe says nothing of what is forbidden", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "constraint.c0=C0 approval_boundary=A0"),
			atkLook(5, "a", "constraint.c0=C0@environment approval_boundary=A0@environment"),
		},
		want: `
			5 a r1 unverified/source_not_accepted unverified approval_boundary=unverified/source_not_accepted constraint.c0=unverified/source_not_accepted
			60 a r2 unverified/source_not_accepted unverified approval_boundary=unverified/source_not_accepted constraint.c0=unverified/source_not_accepted !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a partial look proves no absence", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "mine=none target=T0"),
			atkLook(5, "a", "target=T0", atkPartial),
		},
		want: `
			5 a r1 unverified/observation_incomplete unverified target=preserved/match mine=unverified/observation_incomplete
			60 a r2 unverified/observation_incomplete unverified target=preserved/match mine=unverified/observation_incomplete !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a cut look proves no absence", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "mine=none target=T0"),
			atkLook(5, "a", "target=T0", atkCut),
		},
		want: `
			5 a r1 unverified/observation_incomplete unverified target=preserved/match mine=unverified/observation_incomplete
			60 a r2 unverified/observation_incomplete unverified target=preserved/match mine=unverified/observation_incomplete !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a look that states rubbish only proves no absence", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "mine=none target=T0"),
			atkLook(5, "a", "target=!digest_malformed"),
		},
		want: `
			5 a r1 unverified/digest_malformed unverified target=unverified/digest_malformed mine=unverified/observation_incomplete
			60 a r2 unverified/digest_malformed unverified target=unverified/digest_malformed mine=unverified/observation_incomplete !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a look whose sources do not count for it proves no absence", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "constraint.c0=none target=T0"),
			atkLook(5, "a", "target=T0@environment"),
		},
		want: `
			5 a r1 unverified/observation_incomplete unverified constraint.c0=unverified/observation_incomplete target=preserved/match
			60 a r2 unverified/observation_incomplete unverified constraint.c0=unverified/observation_incomplete target=preserved/match !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "none everywhere is no baseline", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=none target=none"),
			atkLook(5, "a", "scope=none target=none"),
		},
		want: `
			5 a r1 unverified/evidence_missing unverified scope=unverified/evidence_missing target=unverified/evidence_missing
			state unverified
		`,
	},
	{
		name: "equal rubbish is no continuity", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=!digest_empty"),
			atkLook(5, "a", "scope=!digest_empty"),
		},
		want: `
			5 a r1 unverified/digest_empty unverified scope=unverified/digest_empty
			state unverified
		`,
	},
	{
		name: "honest rewording is no conflict, and no match", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0", atkTextual),
			atkLook(5, "a", "scope=S1"),
		},
		want: `
			5 a r1 unverified/restatement_differs unverified scope=unverified/restatement_differs
			60 a r2 unverified/restatement_differs unverified scope=unverified/restatement_differs !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "one required baseline makes the name required", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "mine=S0"),
			atkSnap(1, "a", "mine=S0", atkOptional),
			atkLook(5, "a", "mine=S1"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting mine=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "two baselines that differ are ambiguous, and the alert stays", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkSnap(100, "a", "scope=S1"),
			atkLook(105, "a", "scope=S1"),
			atkSnap(120, "a", "scope=S1"),
			atkLook(125, "a", "scope=S1"),
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
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkSnap(1, "a", "scope=S1"),
			atkLook(5, "a", "scope=S0"),
			atkLook(9, "a", "scope=S0"),
		},
		want: `
			5 a r1 unverified/ambiguous unverified scope=unverified/ambiguous
			state unverified
		`,
	},
	{
		name: "a look before the second of two completions is too early", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkDone(10, "a", boundary.Completed),
			atkDone(20, "a", boundary.Completed),
			atkDone(21, "a", boundary.Completed, atkTimed(8)),
			atkLook(22, "a", "scope=S0", atkSeen(15), atkTimed(15)),
		},
		want: `
			22 a r1 unverified/observed_too_early unverified scope=unverified/observed_too_early
			70 a r2 unverified/observed_too_early unverified scope=unverified/observed_too_early !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a late completion takes an early look back", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(15, "a", "scope=S0"),
			atkDone(30, "a", boundary.Completed, atkTimed(20)),
			atkDone(31, "a", boundary.Completed, atkTimed(8)),
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
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkDone(100, "a", boundary.Completed, atkTimed(5)),
		},
		want: `
			60 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "an unconfirmed compaction that was real alarms in the end", until: 300, state: "a",
		steps: []atkStep{
			atkDone(0, "z", boundary.Completed, atkRuntime("claude_code")),
			atkSnap(1, "a", "scope=S0", atkRuntime("claude_code")),
			atkDone(100, "a", boundary.Completed, atkRuntime("claude_code"), atkTimed(5)),
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
		steps: []atkStep{
			atkDone(0, "z", boundary.Completed, atkRuntime("claude_code")),
			atkSnap(1, "a", "scope=S0", atkRuntime("claude_code")),
			atkSnap(100, "a", "scope=S1", atkRuntime("claude_code")),
			atkLook(105, "a", "scope=S1", atkRuntime("claude_code")),
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
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkSnap(1, "a/x", "scope=S0"),
			atkDone(2, "a/x", boundary.Cancelled),
			atkLook(5, "a/x", "scope=S0"),
		},
		want: `
			6 a/x r1 unverified/no_baseline unverified scope=unverified/no_baseline
			60 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a cancellation without agent concerns all agents", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkSnap(1, "a/x", "scope=S0"),
			atkDone(2, "a", boundary.Cancelled),
		},
		want: `
			state
		`,
	},
	{
		name: "a cancellation of something earlier cancels nothing", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(10, "a", "scope=S0"),
			atkDone(12, "a", boundary.Cancelled, atkTimed(5)),
		},
		want: `
			70 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a retry that was cancelled leaves the first owed", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkSnap(10, "a", "scope=S0"),
			atkDone(12, "a", boundary.NoOp),
		},
		want: `
			60 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a revocation that comes first counts", until: 300, state: "a",
		steps: []atkStep{
			atkApproves(0, "a", "scope S0>S1 r1", atkWithdrawn),
			atkApproves(1, "a", "scope S0>S1 r1"),
			atkSnap(2, "a", "scope=S0"),
			atkLook(5, "a", "scope=S1"),
		},
		want: `
			5 a r1 conflicting/approval_revoked conflicting scope=conflicting/approval_revoked !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "a revocation after the use rewrites nothing", until: 300, state: "a",
		steps: []atkStep{
			atkApproves(0, "a", "scope S0>S1 r1"),
			atkSnap(2, "a", "scope=S0"),
			atkLook(5, "a", "scope=S1"),
			atkApproves(6, "a", "scope S0>S1 r1", atkWithdrawn),
		},
		want: `
			5 a r1 approved_change/approved_transition approved_change scope=approved_change/approved_transition
			state approved_change
		`,
	},
	{
		name: "a full book still takes revocations", until: 300, state: "a",
		cfg: func(c *boundary.Config) { c.Limits.Approvals = 3 },
		steps: []atkStep{
			atkApproves(0, "a", "scope S0>S1 r0"),
			atkApproves(0.1, "a", "scope S1>S2 r1"),
			atkApproves(0.2, "a", "scope S2>S3 r2"),
			atkApproves(0.3, "a", "scope S1>S2 r1", atkWithdrawn),
			atkSnap(2, "a", "scope=S0"),
			atkLook(3, "a", "scope=S3"),
		},
		want: `
			3 a r1 conflicting/approval_revoked conflicting scope=conflicting/approval_revoked !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval beyond the limit is none", until: 300, state: "a",
		cfg: func(c *boundary.Config) { c.Limits.Approvals = 1 },
		steps: []atkStep{
			atkApproves(0, "a", "scope S0>S1 r0"),
			atkApproves(0.1, "a", "scope S1>S2 r1"),
			atkSnap(2, "a", "scope=S0"),
			atkLook(3, "a", "scope=S2"),
		},
		want: `
			3 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval is used once", until: 300, state: "a",
		steps: []atkStep{
			atkApproves(0, "a", "scope S0>S1 r1"),
			atkSnap(1, "a", "scope=S0"),
			atkLook(5, "a", "scope=S1"),
			atkSnap(10, "a", "scope=S0"),
			atkLook(15, "a", "scope=S1"),
		},
		want: `
			5 a r1 approved_change/approved_transition approved_change scope=approved_change/approved_transition
			15 a r1 conflicting/approval_reused conflicting scope=conflicting/approval_reused !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval is used once, whatever the agent", until: 300, state: "a",
		steps: []atkStep{
			atkApproves(0, "a", "scope S0>S1 r1"),
			atkSnap(1, "a/x", "scope=S0"),
			atkLook(5, "a/x", "scope=S1"),
			atkSnap(10, "a/y", "scope=S0"),
			atkLook(15, "a/y", "scope=S1"),
		},
		want: `
			5 a/x r1 approved_change/approved_transition approved_change scope=approved_change/approved_transition
			15 a/y r1 conflicting/approval_reused conflicting scope=conflicting/approval_reused !decision_conflicting:firing
			state
		`,
	},
	{
		name: "a used link breaks a chain", until: 300, state: "a",
		steps: []atkStep{
			atkApproves(0, "a", "scope S0>S1 r1"),
			atkSnap(1, "a", "scope=S0"),
			atkLook(5, "a", "scope=S1"),
			atkApproves(6, "a", "scope S1>S2 r2"),
			atkSnap(10, "a", "scope=S0"),
			atkLook(15, "a", "scope=S2"),
		},
		want: `
			5 a r1 approved_change/approved_transition approved_change scope=approved_change/approved_transition
			15 a r1 conflicting/approval_reused conflicting scope=conflicting/approval_reused !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "a cycle of approvals leads nowhere", until: 300, state: "a",
		steps: []atkStep{
			atkApproves(0, "a", "scope S0>S1 r1"),
			atkApproves(0.1, "a", "scope S1>S0 r2"),
			atkSnap(1, "a", "scope=S0"),
			atkLook(5, "a", "scope=S2"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval the other way round is none", until: 300, state: "a",
		steps: []atkStep{
			atkApproves(0, "a", "scope S1>S0 r1"),
			atkSnap(1, "a", "scope=S0"),
			atkLook(5, "a", "scope=S1"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval of another decision is none", until: 300, state: "a",
		steps: []atkStep{
			atkApproves(0, "a", "target S0>S1 r1"),
			atkSnap(1, "a", "scope=S0"),
			atkLook(5, "a", "scope=S1"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval that expires at the moment is expired", until: 300, state: "a",
		steps: []atkStep{
			atkApproves(0, "a", "scope S0>S1 r1", atkExpires(5)),
			atkSnap(1, "a", "scope=S0"),
			atkLook(5, "a", "scope=S1"),
		},
		want: `
			5 a r1 conflicting/approval_expired conflicting scope=conflicting/approval_expired !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval of a removal covers absence, not another value", until: 300, state: "a",
		steps: []atkStep{
			atkApproves(0, "a", "mine M0>none r1"),
			atkSnap(1, "a", "mine=M0 target=T0"),
			atkLook(5, "a", "mine=M1 target=T0"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting target=preserved/match mine=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval after the verdict clears, and is used up", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(1, "a", "scope=S0"),
			atkLook(2, "a", "scope=S1"),
			atkApproves(4, "a", "scope S0>S1 r1"),
			atkSnap(10, "a", "scope=S0"),
			atkLook(12, "a", "scope=S1"),
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
		steps: []atkStep{
			atkSnap(1, "a", "scope=S0"),
			atkLook(2, "a", "scope=S1"),
			atkLook(3, "a", "scope=S2"),
			atkApproves(5, "a", "scope S0>S1 r1"),
		},
		want: `
			2 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "an approval after the verdict clears a removal", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(1, "a", "mine=S0 target=T0"),
			atkLook(2, "a", "target=T0"),
			atkApproves(20, "a", "mine S0>none r1"),
		},
		want: `
			2 a r1 dropped/missing_after dropped target=preserved/match mine=dropped/missing_after !decision_dropped:firing
			20 a r2 dropped/approved_after approved_change target=preserved/match mine=dropped/approved_after !decision_dropped:resolved
			state approved_change
		`,
	},
	{
		name: "an approval of one agent covers no other's change", until: 300, state: "a/y",
		steps: []atkStep{
			atkApproves(0, "a/x", "scope S0>S1 r1"),
			atkSnap(1, "a/y", "scope=S0"),
			atkLook(5, "a/y", "scope=S1"),
		},
		want: `
			5 a/y r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "a link there and back brings the defect back", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(1, "a", "scope=S1"),
			atkStarts(2, "b", atkPrev("a")),
			atkStarts(3, "a", atkPrev("b")),
			atkSnap(10, "a", "scope=S1"),
			atkLook(12, "a", "scope=S1"),
		},
		want: `
			1 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			12 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval
			state conflicting
		`,
	},
	{
		name: "a session that continues itself stays what it is", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(1, "a", "scope=S1"),
			atkStarts(2, "a", atkPrev("a")),
		},
		want: `
			1 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "a chain of links carries a defect", until: 300, state: "c",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(1, "a", "scope=S1"),
			atkStarts(2, "b", atkPrev("a")),
			atkStarts(3, "c", atkPrev("b")),
			atkSnap(10, "c", "scope=S1"),
			atkLook(12, "c", "scope=S1"),
		},
		want: `
			1 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			12 c r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval
			state conflicting
		`,
	},
	{
		name: "a link carries what is owed", until: 300, state: "b",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkEnds(2, "a"),
			atkStarts(10, "b", atkPrev("a")),
		},
		want: `
			2 a r1 unverified/session_ended unverified scope=unverified/session_ended
			70 b r2 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a look under the new id answers the old one's snapshot", until: 300, state: "b",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkEnds(2, "a"),
			atkLook(10, "b", "scope=S0", atkPrev("a")),
		},
		want: `
			2 a r1 unverified/session_ended unverified scope=unverified/session_ended
			10 b r2 preserved/match preserved scope=preserved/match
			state preserved
		`,
	},
	{
		name: "a link sent again moves nothing more", until: 300, state: "b",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkStarts(2, "b", atkPrev("a")),
			atkSnap(3, "a", "target=T0"),
			atkStarts(4, "b", atkPrev("a")),
			atkLook(6, "b", "scope=S0"),
			atkLook(7, "a", "target=T0"),
		},
		want: `
			6 b r1 preserved/match preserved scope=preserved/match
			7 a r1 preserved/match preserved target=preserved/match
			state preserved
		`,
	},
	{
		name: "a resumed session gets a full window", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkEnds(50, "a"),
			atkStarts(100, "a"),
		},
		want: `
			50 a r1 unverified/session_ended unverified scope=unverified/session_ended
			160 a r2 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a completion after the end arms nothing", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkEnds(2, "a"),
			atkDone(3, "a", boundary.Completed),
		},
		want: `
			2 a r1 unverified/session_ended unverified scope=unverified/session_ended
			state unverified
		`,
	},
	{
		name: "an ended session's baseline is still owed", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkEnds(2, "a"),
			atkSnap(100, "a", "scope=S1"),
			atkLook(101, "a", "scope=S1"),
		},
		want: `
			2 a r1 unverified/session_ended unverified scope=unverified/session_ended
			101 a r2 unverified/ambiguous unverified scope=unverified/ambiguous
			state unverified
		`,
	},
	{
		name: "events with different ids do not meet", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0", atkBid("x")),
			atkLook(5, "a", "scope=S0", atkBid("y")),
		},
		want: `
			6 a r1 unverified/no_baseline unverified scope=unverified/no_baseline
			60 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "a hand-over pairs across agents", until: 300, state: "a/x",
		steps: []atkStep{
			atkSnap(0, "a/x", "scope=S0", atkBid("h")),
			atkLook(5, "a/y", "scope=S1", atkBid("h")),
		},
		want: `
			5 a/x r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "sessions do not meet", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(5, "b", "scope=S0"),
		},
		want: `
			6 b r1 unverified/no_baseline unverified scope=unverified/no_baseline
			60 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "the same snapshot again is the same", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0", atkPrint(5)),
			atkLook(5, "a", "scope=S0"),
			atkSnap(20, "a", "scope=S0", atkPrint(5)),
		},
		want: `
			5 a r1 preserved/match preserved scope=preserved/match
			state preserved
		`,
	},
	{
		name: "the same look again answers nothing new", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(5, "a", "scope=S0", atkPrint(5)),
			atkSnap(20, "a", "scope=S0"),
			atkLook(25, "a", "scope=S0", atkPrint(5)),
		},
		want: `
			5 a r1 preserved/match preserved scope=preserved/match
			80 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "an old look that is sent anew answers nothing new", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(5, "a", "scope=S0"),
			atkSnap(20, "a", "scope=S0"),
			atkLook(25, "a", "scope=S0", atkTimed(5), atkSeen(5)),
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
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkSnap(100, "a", "scope=S0"),
			atkLook(101, "a", "scope=S0", atkSeen(50), atkTimed(50)),
		},
		want: `
			60 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			101 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			state unverified
		`,
	},
	{
		name: "a late snapshot finds its look", until: 300, state: "a",
		steps: []atkStep{
			atkLook(5, "a", "scope=S0"),
			atkSnap(8, "a", "scope=S0", atkTimed(2), atkSeen(2)),
		},
		want: `
			6 a r1 unverified/no_baseline unverified scope=unverified/no_baseline
			8 a r1 preserved/match preserved scope=preserved/match
			state preserved
		`,
	},
	{
		name: "a snapshot after the compaction is no baseline for it", until: 300, state: "a",
		steps: []atkStep{
			atkDone(5, "a", boundary.Completed),
			atkSnap(10, "a", "scope=S1"),
			atkLook(12, "a", "scope=S1"),
		},
		want: `
			10 a r1 unverified/no_baseline unverified
			12 a r1 preserved/match preserved scope=preserved/match
			state preserved
		`,
	},
	{
		name: "an unresolved effect outlives a clean boundary", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "target=T0", atkEnv("side_effect_status=not_executed")),
			atkLook(5, "a", "target=T0", atkEnv("side_effect_status=side_effect_unknown")),
			atkSnap(10, "a", "target=T0"),
			atkLook(12, "a", "target=T0"),
		},
		want: `
			5 a r1 unverified/unknown_side_effect unverified target=preserved/match -=unverified/unknown_side_effect !reconciliation_required:firing
			12 a r1 preserved/match unverified target=preserved/match
			state unverified
		`,
	},
	{
		name: "an effect that is left out is not resolved", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "target=T0", atkEnv("side_effect_status=side_effect_unknown")),
			atkLook(7, "a", "target=T0", atkEnv()),
			atkSnap(10, "a", "target=T0", atkEnv()),
			atkLook(12, "a", "target=T0", atkEnv()),
		},
		want: `
			7 a r1 conflicting/envelope_field_missing conflicting target=preserved/match -=conflicting/envelope_field_missing !decision_conflicting:firing
			12 a r1 conflicting/envelope_field_missing conflicting target=preserved/match -=preserved/match -=conflicting/envelope_field_missing
			state conflicting
		`,
	},
	{
		name: "an envelope that is not shown is missed", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "target=T0", atkEnv()),
			atkLook(7, "a", "target=T0"),
		},
		want: `
			7 a r1 unverified/envelope_not_observed unverified target=preserved/match -=unverified/envelope_not_observed
			60 a r2 unverified/envelope_not_observed unverified target=preserved/match -=unverified/envelope_not_observed !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "an envelope of another boundary clears nothing", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "", atkEnv(), atkBid("x")),
			atkSnap(1, "a", "", atkEnv("tenant_id=Q"), atkBid("y")),
			atkLook(5, "a", "", atkEnv(), atkBid("x")),
			atkLook(6, "a", "", atkEnv(), atkBid("y")),
			atkLook(8, "a", "", atkEnv(), atkBid("x")),
		},
		want: `
			5 a r1 preserved/match preserved -=preserved/match
			6 a r1 conflicting/tenant_mismatch conflicting -=conflicting/tenant_mismatch !decision_conflicting:firing
			9 a r2 conflicting/tenant_mismatch conflicting -=preserved/match -=conflicting/tenant_mismatch
			state conflicting
		`,
	},
	{
		name: "an envelope from before the refusal does not count", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0", atkEnv()),
			atkRefuses(10, "a"),
			atkLook(12, "a", "scope=S0", atkEnv(), atkTimed(8), atkSeen(8)),
		},
		want: `
			10 a r1 conflicting/continuity_validation_failed conflicting -=conflicting/continuity_validation_failed !decision_conflicting:firing
			13 a r2 conflicting/continuity_validation_failed conflicting scope=preserved/match -=conflicting/continuity_validation_failed
			state conflicting
		`,
	},
	{
		name: "a refusal outlives a clean look at the same boundary", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "target=T0"),
			atkRefuses(1, "a"),
			atkLook(7, "a", "target=T0"),
		},
		want: `
			1 a r1 conflicting/continuity_validation_failed conflicting -=conflicting/continuity_validation_failed !decision_conflicting:firing
			8 a r2 conflicting/continuity_validation_failed conflicting target=preserved/match -=conflicting/continuity_validation_failed
			state conflicting
		`,
	},
	{
		name: "a refusal of one agent is not cleared by another", until: 300, state: "a",
		steps: []atkStep{
			atkRefuses(1, "a"),
			atkSnap(3, "a/x", "target=T0"),
			atkLook(7, "a/x", "target=T0"),
		},
		want: `
			1 a r1 conflicting/continuity_validation_failed conflicting -=conflicting/continuity_validation_failed !decision_conflicting:firing
			7 a/x r1 preserved/match preserved target=preserved/match
			state conflicting
		`,
	},
	{
		name: "a summary's digest that came late is wanted", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0", atkEnv()),
			atkLook(12, "a", "scope=S0", atkEnv()),
			atkDone(15, "a", boundary.Completed, atkTimed(5), atkEnv("summary_sha256=sha256:"+strings.Repeat("ab", 32))),
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
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0 mine=M0"),
			atkSnap(1, "a", "scope=S0 mine=M1"),
			atkSnap(2, "a", "scope=S0 mine=M2"),
			atkLook(20, "a", "scope=S0 mine=M2"),
			atkSnap(30, "a", "scope=S0 mine=M2"),
			atkLook(32, "a", "scope=S0 mine=M2"),
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
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkSnap(1, "b", "scope=S0"),
			atkLook(2, "b", "scope=S0"),
			atkLook(5, "a", "scope=S0"),
		},
		want: `
			5 a r1 preserved/match preserved scope=preserved/match
			state preserved
		`,
	},
	{
		name: "a required decision without baseline is said", until: 300, state: "a",
		cfg: func(c *boundary.Config) { c.RequiredInvariants = []string{"scope"} },
		steps: []atkStep{
			atkSnap(0, "a", "target=T0"),
			atkLook(5, "a", "target=T0 scope=S0"),
		},
		want: `
			5 a r1 unverified/no_baseline unverified scope=unverified/no_baseline target=preserved/match
			state unverified
		`,
	},
	{
		name: "what expires is closed, never resolved", until: 4000, state: "a",
		cfg: func(c *boundary.Config) { c.Retention, c.SessionTTL = 10*time.Minute, time.Hour },
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(5, "a", "scope=S1"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			3605 a r2 conflicting/session_expired conflicting scope=conflicting/changed_without_approval !decision_conflicting:closed
			state
		`,
	},
	{
		name: "a truncated baseline is no healthy one", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0", atkCut),
			atkLook(5, "a", "scope=S0"),
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
