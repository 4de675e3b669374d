package boundary_test

import (
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// A history is what one or more sessions went through, as text: one event a
// line, with literal times, and the receipts that must come out of it.
//
//	config window=2s grace=500ms
//	0    s1      snapshot base target=TA
//	0.3  s1/sub  observation base target=-  partial
//	until 5
//	> s1 unverified/observation_incomplete @target=unverified
//
// A line is: seconds since the start, session (session/agent, tenant|session),
// kind, tokens. Statements are name=LABEL with modifiers: @source, ~seconds of
// observed_at relative to the event (~no none, ~far in a hundred years, ~old
// long ago, ~same as the last snapshot's, ~w-5 in whole seconds), !fault,
// %text, %optional. LABEL is digested; "none" is explicit, "-" takes a default
// away, "h:X" is keyed. `base` states the five defaults. Events of the same
// second are in the same request.
//
// A line that starts with > is a receipt: session, state/reason of the
// boundary, then any of rev=, state=, late, coverage=, superseded=, outcome=,
// alerts=kind:status,…, actions=, since=, validation=status/reason,
// findings=, id=, runtime=, @name=state/reason. Alerts are always compared.
type history struct {
	cfg   boundary.Config
	steps []step
	until time.Duration
	want  []want
	text  string
}

type step struct {
	at   time.Duration
	ev   *boundary.Event // nil: shutdown
	line string
}

type want struct {
	line, session string
	fields        map[string]string
}

// epoch is no whole second.
var epoch = time.Date(2026, 6, 1, 12, 0, 0, 123, time.UTC)

var baseLabels = []struct{ name, label string }{
	{"scope", "S0"}, {"approval_boundary", "A0"}, {"target", "T0"}, {"acceptance_test", "Q0"}, {"constraint.c0", "C0"},
}

func seconds(text string) time.Duration {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("history: seconds %q: %v", text, err))
	}
	return time.Duration(f*1000+0.5*sign(f)) * time.Millisecond
}

func sign(f float64) float64 {
	if f < 0 {
		return -1
	}
	return 1
}

func label(text string) digest.Digest {
	switch {
	case text == "none":
		return digest.None
	case strings.HasPrefix(text, "h:"):
		return digest.Digest{Alg: digest.HMACSHA256, Sum: sha256.Sum256([]byte(text))}
	default:
		return digest.Digest{Alg: digest.SHA256, Sum: sha256.Sum256([]byte(text))}
	}
}

// parseHistory reads a history.
func parseHistory(text string) history {
	h := history{cfg: boundary.DefaultConfig(), text: text}
	h.cfg.Window, h.cfg.ReorderGrace = 2*time.Second, 500*time.Millisecond
	var same classify.Instant
	explicit := false
	for n, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == "config":
			h.configure(f[1:])
		case f[0] == "until":
			h.until, explicit = seconds(f[1]), true
		case f[0] == ">":
			h.want = append(h.want, parseWant(f))
		default:
			at := seconds(f[0])
			h.steps = append(h.steps, step{at: at, ev: parseEvent(f[1:], at, n, &same), line: strings.Join(f, " ")})
			if !explicit {
				h.until = max(h.until, at+h.cfg.Window+1500*time.Millisecond)
			}
		}
	}
	return h
}

func (h *history) configure(tokens []string) {
	for _, tok := range tokens {
		k, v, _ := strings.Cut(tok, "=")
		switch k {
		case "window":
			h.cfg.Window = duration(v)
		case "grace":
			h.cfg.ReorderGrace = duration(v)
		case "retention":
			h.cfg.Retention = duration(v)
		case "ttl":
			h.cfg.SessionTTL = duration(v)
		case "required":
			h.cfg.RequiredInvariants = strings.Split(v, ",")
		case "slow": // a runtime with a window of its own
			h.cfg.Runtimes["slow"] = boundary.Profile{Window: duration(v)}
		case "lazy": // a runtime whose window starts with activity
			h.cfg.Runtimes["lazy"] = boundary.Profile{StartsWithActivity: true}
		default:
			panic("history: config " + tok)
		}
	}
}

func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}

func hash(parts ...string) uint64 {
	f := fnv.New64a()
	for _, p := range parts {
		fmt.Fprintf(f, "%d:%s", len(p), p)
	}
	return f.Sum64()
}

func parseEvent(f []string, at time.Duration, line int, same *classify.Instant) *boundary.Event {
	if f[0] == "shutdown" {
		return nil
	}
	now := classify.At(epoch.Add(at))
	ev := &boundary.Event{Time: now, Fingerprint: hash("line", strconv.Itoa(line)), Form: digest.Form{Normalizer: "v1"}}
	session := f[0]
	if scope, rest, ok := strings.Cut(session, "|"); ok {
		ev.Key.Scope, session = boundary.JoinScope([]string{scope}, nil), rest
	}
	ev.Key.Session, ev.Key.Agent, _ = strings.Cut(session, "/")
	ev.Identity = []boundary.Attr{{Key: "session.id", Value: ev.Key.Session}}
	for _, k := range boundary.Kinds {
		if k.String() == f[1] {
			ev.Kind = k
		}
	}
	if i := slices.Index([]string{"start", "end", "invalid"}, f[1]); i >= 0 {
		ev.Kind = []boundary.Kind{boundary.SessionStart, boundary.SessionEnd, boundary.ValidationFailure}[i]
	}
	if ev.Kind == boundary.NoKind {
		panic("history: kind " + f[1])
	}
	if ev.Kind == boundary.Completion {
		ev.Outcome = boundary.Completed
	}
	if ev.Kind == boundary.Approval {
		ev.Approval = &approval.Approval{
			Session: ev.Key.Session, Agent: ev.Key.Agent, Ref: "apr-" + strconv.Itoa(line), Approver: "reviewer-1",
			ApprovedAt: now.Time().UTC().Format(time.RFC3339), Independent: true, Received: now.Time(),
		}
	}
	p := eventParser{ev: ev, now: now, same: *same, source: classify.Agent}
	if ev.Kind == boundary.Snapshot {
		p.seen, *same = now.Add(-time.Minute), now.Add(-time.Minute)
	} else {
		p.seen = now
	}
	for _, tok := range f[2:] {
		p.token(tok)
	}
	slices.SortFunc(ev.Statements, func(a, b boundary.Statement) int { return classify.CompareNames(a.Name, b.Name) })
	return ev
}

type eventParser struct {
	ev        *boundary.Event
	now, same classify.Instant
	seen      classify.Instant // default observed_at of statements
	source    classify.Source
}

func (p *eventParser) token(tok string) {
	ev := p.ev
	k, v, _ := strings.Cut(tok, "=")
	switch {
	case ev.Kind == boundary.Approval && p.approvalToken(k, v, tok):
	case tok == "base":
		for _, b := range baseLabels {
			p.state(b.name, b.label)
		}
	case tok == "partial":
		ev.Partial = true
	case tok == "dropped":
		ev.Dropped = true
	case tok == "badname":
		ev.BadName = true
	case tok == "toomany":
		ev.TooMany = true
	case tok == "failed" && ev.Kind == boundary.Snapshot:
		ev.SnapshotFailed = true
	case k == "src":
		p.source = classify.ParseSource(v)
		for i := range ev.Statements {
			ev.Statements[i].Source = p.source
		}
	case k == "obs":
		p.seen = p.instant(v)
		for i := range ev.Statements {
			ev.Statements[i].ObservedAt = p.seen
		}
	case k == "evobs":
		ev.ObservedAt = p.instant(v)
	case k == "event" && v == "zero":
		ev.Time = 0
	case k == "event" && v == "ms":
		ev.Time = 1790000000000
	case k == "event":
		ev.Time = p.now.Add(seconds(v))
	case k == "id":
		ev.BoundaryID = v
	case k == "dup":
		ev.Fingerprint = hash("dup", ev.Kind.String(), v)
	case k == "form":
		ev.Form.Normalizer = v
	case k == "key":
		ev.Form.KeyID = v
	case k == "runtime":
		ev.Runtime = v
	case k == "trigger":
		ev.Trigger = v
	case k == "prev":
		ev.Previous = v
	case k == "status":
		ev.Verdict.Status = classify.ValidationStatus(v)
	case k == "reason":
		ev.Verdict.Reason = classify.Reason(v)
	case tok == "env":
		ev.Envelope = baseEnvelope()
	case tok == "env0":
		ev.Envelope = smallEnvelope()
	case strings.HasPrefix(k, "env."):
		setEnvelope(ev, strings.TrimPrefix(k, "env."), v)
	case ev.Kind == boundary.Completion && outcome(tok) != boundary.NoOutcome:
		ev.Outcome = outcome(tok)
	case strings.Contains(tok, "=") && (ev.Kind == boundary.Snapshot || ev.Kind == boundary.Observation):
		p.state(k, v)
	default:
		panic("history: token " + tok)
	}
}

func outcome(text string) boundary.Outcome {
	for _, o := range boundary.Outcomes {
		if o.String() == text {
			return o
		}
	}
	return boundary.NoOutcome
}

func (p *eventParser) instant(v string) classify.Instant {
	switch {
	case v == "no":
		return 0
	case v == "far":
		return classify.At(epoch.AddDate(100, 0, 0))
	case v == "old":
		return classify.At(epoch.AddDate(0, -5, 0).Truncate(time.Second))
	case v == "same":
		return p.same
	case strings.HasPrefix(v, "w"):
		return classify.At(p.now.Add(seconds(v[1:])).Time().Truncate(time.Second))
	default:
		return p.now.Add(seconds(v))
	}
}

func (p *eventParser) state(name, v string) {
	ev := p.ev
	ev.Statements = slices.DeleteFunc(ev.Statements, func(s boundary.Statement) bool { return s.Name == name })
	st := boundary.Statement{Name: name, ObservedAt: p.seen}
	if ev.Kind == boundary.Observation {
		st.Source = p.source
	}
	text := v
	if i := strings.IndexAny(v, "@~!%"); i >= 0 {
		text = v[:i]
		for rest := v[i:]; rest != ""; {
			mark := rest[0]
			rest = rest[1:]
			arg := rest
			if j := strings.IndexAny(rest, "@~!%"); j >= 0 {
				arg = rest[:j]
			}
			rest = rest[len(arg):]
			switch mark {
			case '@':
				st.Source = classify.ParseSource(arg)
			case '~':
				st.ObservedAt = p.instant(arg)
			case '!':
				st.Fault = classify.Reason(arg)
			case '%':
				st.Text, st.Optional = st.Text || arg == "text", st.Optional || arg == "optional"
			}
		}
	}
	if text == "-" {
		return
	}
	if st.Fault == "" {
		st.Digest = label(text)
	}
	ev.Statements = append(ev.Statements, st)
}

func (p *eventParser) approvalToken(k, v, tok string) bool {
	a := p.ev.Approval
	switch {
	case strings.Contains(tok, ">"):
		from, to, _ := strings.Cut(tok, ">")
		a.From, a.To = label(from), label(to)
	case k == "ref":
		a.Ref = v
	case tok == "revoked":
		a.Revoked = true
	case tok == "dependent": // from the agent or the summary
		a.Independent = false
	case k == "expires":
		a.ExpiresAt = p.when(v)
	case k == "approved":
		a.ApprovedAt = p.when(v)
	case v == "" && classify.ValidName(tok):
		a.Invariant = tok
	default:
		return false
	}
	return true
}

func (p *eventParser) when(v string) string {
	if v == "bad" {
		return "2126-01-01T00:00:00"
	}
	return p.now.Add(seconds(v)).Time().UTC().Format(time.RFC3339Nano)
}

func baseEnvelope() *classify.Envelope {
	e := &classify.Envelope{HasBudget: true, Budget: 7, HasReauthorization: true, Reauthorization: true}
	for name, v := range map[string]string{
		"schema_version": "continuity-envelope/v1", "id": "ce-1", "tenant_id": "tenant-acme", "principal_id": "user-42",
		"authorization_mode": "user_delegated", "delegated_principal_id": "user-42", "delegated_scope": "tickets:create",
		"policy_version": "policy-v4", "capability_name": "create_ticket", "capability_version": "create-ticket-v3",
		"approval_id": "apr-017", "approval_status": "approved", "approval_expires_at": "2126-07-21T18:00:00Z",
		"action_digest": "sha256:" + strings.Repeat("a", 64), "idempotency_key": "ticket-intent-017",
		"side_effect_status": "not_executed", "checkpoint_ref": "checkpoint:support-042-step-6",
		"summary_sha256": "sha256:" + strings.Repeat("b", 64), "source_event_first": "event-0001", "source_event_last": "event-0142",
	} {
		e.Fields[fieldOf(name)] = v
	}
	e.Lists[classify.ListPendingObligations] = []string{"reconcile_ticket_write"}
	e.Lists[classify.ListExactConstraintRefs] = []string{"event:user-constraint-017"}
	return e
}

func smallEnvelope() *classify.Envelope {
	e := &classify.Envelope{}
	for name, v := range map[string]string{
		"schema_version": "continuity-envelope/v1", "tenant_id": "t", "principal_id": "p", "policy_version": "v4",
	} {
		e.Fields[fieldOf(name)] = v
	}
	return e
}

func fieldOf(name string) int { return slices.Index(classify.FieldNames[:], name) }

func setEnvelope(ev *boundary.Event, name, v string) {
	if ev.Envelope == nil {
		ev.Envelope = &classify.Envelope{}
	}
	e := ev.Envelope
	if i := slices.Index(classify.ListFieldNames[:], name); i >= 0 {
		e.Lists[i] = strings.Split(v, ",")
		if v == "" {
			e.Lists[i] = []string{}
		}
		return
	}
	switch name {
	case "budget_remaining":
		n, err := strconv.ParseInt(v, 10, 64)
		e.Budget, e.HasBudget = n, err == nil
	case "requires_reauthorization":
		e.Reauthorization, e.HasReauthorization = v == "true", v != ""
	case "malformed":
		e.Malformed = true
	case "summary_sha256":
		if v != "" {
			v = "sha256:" + strings.Repeat(v, 64/len(v))
		}
		e.Fields[fieldOf(name)] = v
	default:
		e.Fields[fieldOf(name)] = v
	}
}

func parseWant(f []string) want {
	w := want{line: strings.Join(f, " "), session: f[1], fields: map[string]string{"alerts": ""}}
	state, reason, _ := strings.Cut(f[2], "/")
	w.fields["boundary"] = state
	if reason != "" {
		w.fields["reason"] = reason
	}
	for _, tok := range f[3:] {
		k, v, ok := strings.Cut(tok, "=")
		if !ok {
			v = "true"
		}
		w.fields[k] = v
	}
	return w
}

// out is one receipt, flattened for comparison: boundary is an ordinal in the
// order in which boundaries of the history first reported.
type out struct {
	at         time.Duration
	key        boundary.Key
	boundary   int
	id         string
	rev        int
	state      classify.State
	verdict    classify.State
	reason     classify.Reason
	findings   map[string]string // by name: state/reason; without a name by "": reasons, joined
	alerts     []string
	actions    []string
	since      []string
	validation classify.Validation
	coverage   boundary.Coverage
	late       bool
	superseded int
	outcome    boundary.Outcome
	runtime    string
}

func (o out) get(k string) string {
	switch k {
	case "boundary":
		return o.verdict.String()
	case "reason":
		return string(o.reason)
	case "state":
		return o.state.String()
	case "alerts":
		return strings.Join(o.alerts, ",")
	case "actions":
		return strings.Join(o.actions, ",")
	case "since":
		return strings.Join(o.since, ",")
	case "rev":
		return strconv.Itoa(o.rev)
	case "coverage":
		return o.coverage.String()
	case "superseded":
		return strconv.Itoa(o.superseded)
	case "outcome":
		return o.outcome.String()
	case "runtime":
		return o.runtime
	case "late":
		return strconv.FormatBool(o.late)
	case "id":
		return o.id
	case "agent":
		return o.key.Agent
	case "action":
		first, _, _ := strings.Cut(o.get("actions"), ",")
		return first
	case "status":
		return string(o.validation.Status)
	case "vreason":
		return string(o.validation.Reason)
	case "validation":
		return string(o.validation.Status) + "/" + string(o.validation.Reason)
	case "findings":
		return joined(o.validation.Findings)
	}
	if name, ok := strings.CutPrefix(k, "@"); ok {
		return strings.TrimSuffix(o.findings[name], "?")
	}
	panic("history: field " + k)
}

func joined(rs []classify.Reason) string {
	var out []string
	for _, r := range rs {
		out = append(out, string(r))
	}
	return strings.Join(out, ",")
}

func (o out) String() string {
	var b strings.Builder
	agent := o.key.Session
	if o.key.Agent != "" {
		agent += "/" + o.key.Agent
	}
	fmt.Fprintf(&b, "%7.3f %s b%d rev=%d %s/%s state=%s", o.at.Seconds(), agent, o.boundary, o.rev, o.verdict, o.reason, o.state)
	names := make([]string, 0, len(o.findings))
	for n := range o.findings {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		fmt.Fprintf(&b, " @%s=%s", n, o.findings[n])
	}
	for _, k := range []string{"alerts", "actions", "since"} {
		if v := o.get(k); v != "" {
			fmt.Fprintf(&b, " %s=%s", k, v)
		}
	}
	fmt.Fprintf(&b, " coverage=%s superseded=%d outcome=%s", o.coverage, o.superseded, o.outcome)
	if o.late {
		b.WriteString(" late")
	}
	if o.validation.Status != "" {
		fmt.Fprintf(&b, " validation=%s findings=%s", o.get("validation"), o.get("findings"))
	}
	return b.String()
}

// machine is the core or the model of it.
type machine interface {
	observe(now time.Time, ev *boundary.Event) []out
	advance(now time.Time) []out // everything that is due at or before now
	shutdown(now time.Time) []out
}

// run plays a history on a machine.
func (h history) run(m machine) []out {
	var outs []out
	for _, s := range h.steps {
		now := epoch.Add(s.at)
		outs = append(outs, m.advance(now)...)
		if s.ev == nil {
			outs = append(outs, m.shutdown(now)...)
			continue
		}
		ev := *s.ev
		if ev.Approval != nil {
			a := *ev.Approval
			ev.Approval = &a
		}
		outs = append(outs, m.observe(now, &ev)...)
	}
	outs = append(outs, m.advance(epoch.Add(h.until))...)
	return ordinals(outs)
}

// ordinals replaces boundary ids by the order of their first receipt.
func ordinals(outs []out) []out {
	seen := map[string]int{}
	for i := range outs {
		id := outs[i].key.Scope + "|" + outs[i].id
		if _, ok := seen[id]; !ok {
			seen[id] = len(seen) + 1
		}
		outs[i].boundary = seen[id]
	}
	return outs
}

// check compares receipts with what a history wants.
func (h history) check(t *testing.T, outs []out) {
	t.Helper()
	bySession := map[string][]out{}
	for _, o := range outs {
		bySession[o.key.Session] = append(bySession[o.key.Session], o)
	}
	next := map[string]int{}
	for _, w := range h.want {
		n := next[w.session]
		next[w.session]++
		if n >= len(bySession[w.session]) {
			t.Errorf("missing receipt %s", w.line)
			continue
		}
		got := bySession[w.session][n]
		for k, v := range w.fields {
			have := got.get(k)
			if k[0] == '@' && !strings.Contains(v, "/") {
				have, _, _ = strings.Cut(have, "/")
			}
			if k == "alerts" {
				have, v = sorted(have), sorted(v)
			}
			if k == "reason" && v == "*" {
				continue
			}
			if have != v && v != "*" {
				t.Errorf("%s is %q, want %q\n  %s\n  got %s", k, have, v, w.line, got)
			}
		}
	}
	for s, got := range bySession {
		for _, o := range got[min(next[s], len(got)):] {
			t.Errorf("unexpected receipt %s", o)
		}
	}
}

func sorted(list string) string {
	parts := strings.Split(list, ",")
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// core drives the real thing.
type core struct{ c *boundary.Core }

func newCore(cfg *boundary.Config) *core { return &core{boundary.New(cfg, newFleet())} }

func (m *core) observe(now time.Time, ev *boundary.Event) []out {
	var outs []out
	if ev.Previous != "" {
		outs = flatten(now, m.c.Adopt(now, m.c, ev))
	}
	_, res := m.c.Observe(now, ev)
	return append(outs, flatten(now, res)...)
}

func (m *core) advance(now time.Time) []out {
	var outs []out
	for range 10_000 {
		next, ok := m.c.Next()
		if !ok || next.After(now) {
			return outs
		}
		res, _ := m.c.Expire(next)
		outs = append(outs, flatten(next, res)...)
	}
	panic("the core is never done")
}

func (m *core) shutdown(now time.Time) []out { return flatten(now, m.c.Shutdown(now)) }

func flatten(now time.Time, res boundary.Result) []out {
	var outs []out
	for _, r := range res.Receipts {
		o := out{
			at: now.Sub(epoch), key: r.Key, id: r.BoundaryID, rev: r.Revision, state: r.State, verdict: r.Boundary, reason: r.Reason,
			findings: map[string]string{}, since: r.ChangedSince, validation: r.Validation, coverage: r.Coverage, late: r.Late,
			superseded: r.Superseded, outcome: r.Outcome, runtime: r.Runtime,
		}
		for _, f := range r.Findings {
			addFinding(o.findings, f)
		}
		for _, a := range r.Alerts {
			o.alerts = append(o.alerts, a.Kind.String()+":"+a.Status.String())
		}
		slices.Sort(o.alerts)
		for _, a := range r.Actions {
			o.actions = append(o.actions, a.String())
		}
		outs = append(outs, o)
	}
	return outs
}

func addFinding(m map[string]string, f classify.Finding) {
	text := f.State.String() + "/" + string(f.Reason)
	if f.Optional {
		text += "?"
	}
	if old := m[f.Name]; old != "" {
		parts := append(strings.Split(old, ","), text)
		slices.Sort(parts)
		text = strings.Join(parts, ",")
	}
	m[f.Name] = text
}

// fleet is what one processor's cores share.
type fleet struct{ seen map[string]bool }

func newFleet() *fleet { return &fleet{map[string]bool{}} }

func (f *fleet) TakeSession() bool  { return true }
func (f *fleet) GiveSession()       {}
func (f *fleet) Weigh(int)          {}
func (f *fleet) Room(int, int) bool { return true }
func (f *fleet) Saw(tenant, runtime string, h boundary.Habit) {
	f.seen[fmt.Sprint(tenant, "/", runtime, "/", h)] = true
}

func (f *fleet) Seen(tenant, runtime string, h boundary.Habit) bool {
	return f.seen[fmt.Sprint(tenant, "/", runtime, "/", h)]
}

// TestReadings are sentences of the contract that are easy to get wrong, each
// with the shortest history that shows it: on the core and on the model.
func TestReadings(t *testing.T) {
	for _, row := range readings {
		t.Run(row.name, func(t *testing.T) {
			h := parseHistory(row.text)
			t.Run("model", func(t *testing.T) { h.check(t, h.run(newModel(&h.cfg))) })
			t.Run("core", func(t *testing.T) { h.check(t, h.run(newCore(&h.cfg))) })
		})
	}
}

var readings = []struct{ name, sentence, text string }{
	{"early_look_later_snapshot", "a boundary of its own without baseline; deadline: window after receipt of the first snapshot", `
		0.3 s1 observation scope=A
		0.4 s1 snapshot scope=A
		0.6 s1 observation scope=A
		> s1 preserved/match state=preserved
	`},
	{"no_alert_before_the_deadline", "window after receipt of the first snapshot", `
		0   s1 observation scope=A
		0.4 s1 snapshot scope=A
		2.2 s1 observation scope=A
		> s1 unverified/*
		> s1 preserved/match state=preserved
	`},
	{"conflict_with_an_earlier_snapshot", "decision_conflicting: a required invariant in conflict", `
		0.3 s1 snapshot scope=A
		0.6 s1 observation scope=A
		0.9 s1 snapshot scope=B event=-0.5
		> s1 preserved/match
		> s1 conflicting/changed_without_approval state=conflicting alerts=decision_conflicting:firing
	`},
	{"conflict_of_an_older_look", "decision_conflicting: a required invariant in conflict", `
		0.3 s1 observation scope=A
		0.6 s1 snapshot scope=A
		0.7 s1 observation scope=A event=-1
		0.8 s1 snapshot scope=B event=-1
		> s1 preserved/match
		> s1 conflicting/changed_without_approval state=conflicting alerts=decision_conflicting:firing
	`},
	{"marker_has_no_completion", "a marker is a baseline only if no other is owed: the completion concerns the producer's snapshot", `
		0.3 s1 snapshot scope=A
		0.6 s1 snapshot
		0.9 s1 completion completed
		3.2 s1 completion failed
		until 8
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
	`},
	{"two_looks_of_one_time", "the session's state is the worst of what is outstanding and of the last boundary's findings: a conflict that is not outstanding is forgotten by the next boundary", `
		0.3 s1 snapshot scope=A
		0.6 s1 observation scope=B
		0.6 s1 observation scope=A
		0.9 s1 observation scope=A
		> s1 conflicting/changed_without_approval state=conflicting alerts=decision_conflicting:firing
		> s1 preserved/match state=preserved alerts=decision_conflicting:resolved
	`},
	{"another_source_is_no_news", "a receipt is emitted whenever findings, session state or alerts change; a finding is the state and reason of one invariant", `
		0.3 s1 snapshot scope=A
		0.6 s1 observation scope=A
		0.9 s1 observation scope=A@human
		> s1 preserved/match
	`},
	{"silence_does_not_undo_a_conflict", "an insufficient one never replaces it", `
		0.3 s1 snapshot scope=A target=B
		0.6 s1 observation scope=A target=A
		2.9 s1 observation scope=A target=A
		3.2 s1 observation scope=A partial
		> s1 conflicting/changed_without_approval alerts=decision_conflicting:firing
		> s1 conflicting/changed_without_approval
	`},
	{"deadline_from_the_later_of_both", "window after receipt of the first snapshot, or of the first completion if later", `
		0.3 s1 completion
		1.0 s1 snapshot scope=A
		2.6 s1 observation scope=A
		> s1 preserved/match
	`},
	{"coverage_of_an_old_baseline", "observed: both", `
		0.3 s1 snapshot scope=A
		2.6 s1 snapshot
		6.7 s1 observation scope=A
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
		> s1 unverified/post_observation_missing
		> s1 preserved/match coverage=observed alerts=post_observation_missing:resolved
	`},
	{"silence_that_is_too_early", "a look before the end of the compaction is insufficient (observed_too_early)", `
		0.3 s1 snapshot scope=A target=A
		0.6 s1 observation scope=A
		1.8 s1 completion
		> s1 dropped/missing_after alerts=decision_dropped:firing
		> s1 unverified/observed_too_early @target=unverified/observed_too_early
		> s1 unverified/observed_too_early alerts=post_observation_missing:firing
	`},
	{"second_completion_of_equal_baselines", "equal baselines are one; it concerns the newest baseline that has none", `
		0.3 s1 snapshot scope=A
		0.6 s1 observation scope=A
		0.9 s1 snapshot scope=A
		1.2 s1 completion
		3.5 s1 completion
		until 9
		> s1 preserved/match
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
	`},
	{"approved_before_a_worse_boundary", "the session's: the worst of what is outstanding and of the last boundary's findings", `
		0.3 s1 snapshot scope=A target=A
		0.6 s1 observation scope=B target=A
		0.9 s1 snapshot target=A
		1.2 s1 snapshot target=B
		1.5 s1 observation target=B partial
		1.8 s1 approval scope A>B
		> s1 conflicting/changed_without_approval alerts=decision_conflicting:firing
		> s1 unverified/ambiguous state=conflicting
		> s1 conflicting/approved_after state=unverified alerts=decision_conflicting:resolved
	`},
	{"cancelled_is_not_missing", "one snapshot of it is no longer owed; a baseline past its deadline and not answered", `
		0.3 s1 snapshot scope=A
		0.6 s1 completion event=-3
		0.9 s1 completion no_op
		> s1 unverified/*
	`},
	{"truncated_to_nothing", "snapshot_truncated: finding of the boundary", `
		0.3 s1 snapshot scope=A
		0.6 s1 snapshot dropped
		0.9 s1 observation scope=A
		> s1 unverified/snapshot_truncated
	`},
	{"bad_names_alone", "what was not compared must not read as preserved", `
		0.3 s1 snapshot scope=A
		0.6 s1 snapshot badname
		0.9 s1 observation scope=A
		> s1 unverified/name_invalid
	`},
	{"failed_after_a_weak_look", "when nothing is left the boundary ends: failed with a receipt unverified/compaction_failed", `
		0.3 s1 snapshot scope=A target=A
		0.6 s1 observation scope=A partial
		0.9 s1 completion failed
		> s1 unverified/observation_incomplete
		> s1 unverified/compaction_failed
	`},
	{"approved_after_a_newer_snapshot", "it never rewrites the boundary that showed the defect", `
		0.3 s1 snapshot scope=A target=A
		0.6 s1 observation scope=A
		0.9 s1 snapshot scope=A target=A
		1.2 s1 approval target A>none
		> s1 dropped/missing_after alerts=decision_dropped:firing
		> s1 dropped/approved_after state=approved_change alerts=decision_dropped:resolved
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
	`},
	{"approval_of_another_boundary", "it never rewrites the boundary", `
		0.3 s1 snapshot scope=B
		0.6 s1 snapshot scope=A
		0.9 s1 observation scope=A
		1.2 s1 snapshot scope=A
		1.5 s1 approval scope B>A
		> s1 unverified/ambiguous
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
	`},
	{"approval_after_a_cancelled_snapshot", "findings of an observed boundary stay; approved_after records the clearing", `
		0.3 s1 snapshot scope=A
		0.6 s1 observation scope=B
		0.9 s1 completion failed
		1.2 s1 approval scope A>B
		> s1 conflicting/changed_without_approval alerts=decision_conflicting:firing
		> s1 conflicting/approved_after state=approved_change alerts=decision_conflicting:resolved
	`},
	{"approval_of_what_was_ambiguous", "an alert that it raised stays until an approval covers the difference", `
		0.3 s1 snapshot scope=B target=A
		0.6 s1 snapshot scope=A target=A
		2.9 s1 observation scope=A target=A
		3.6 s1 approval scope B>A
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
		> s1 unverified/ambiguous
		> s1 unverified/ambiguous alerts=post_observation_missing:resolved
	`},
	{"cleared_stays_cleared", "the original value stays its baseline; only a later sufficient look replaces the one that restored it", `
		0.3 s1 snapshot scope=A target=A
		0.6 s1 observation scope=B target=A
		0.9 s1 snapshot scope=B target=A
		1.2 s1 observation scope=A target=A
		1.5 s1 observation target=A partial
		> s1 conflicting/changed_without_approval alerts=decision_conflicting:firing
		> s1 preserved/match state=preserved alerts=decision_conflicting:resolved
	`},
	{"completion_after_a_cancelled_one", "findings of an observed boundary stay", `
		0.3 s1 snapshot scope=A
		0.6 s1 observation scope=A
		0.9 s1 completion failed
		1.2 s1 completion completed
		> s1 preserved/match
		> s1 unverified/no_observation
	`},
	{"snapshot_beside_an_outstanding_defect", "while an invariant is outstanding its original value stays its baseline", `
		0.3 s1 snapshot scope=B target=A
		0.6 s1 observation scope=A target=A
		1.8 s1 completion
		2.1 s1 snapshot scope=A target=A
		2.4 s1 observation scope=A target=A
		> s1 conflicting/changed_without_approval alerts=decision_conflicting:firing
		> s1 unverified/observed_too_early state=conflicting
		> s1 unverified/not_fresh state=conflicting
		> s1 conflicting/changed_without_approval state=conflicting
	`},
	{"completion_with_another_id", "events with different boundary ids never meet", `
		0.3 s1 snapshot scope=A id=b1
		0.6 s1 completion id=b2
		> s1 unverified/post_observation_missing id=b1 coverage=baseline alerts=post_observation_missing:firing
		> s1 unverified/no_observation id=b2
	`},
	{"failed_beside_a_marker", "a marker is a baseline only if no other is owed", `
		0.3 s1 snapshot scope=A
		0.6 s1 snapshot
		0.9 s1 completion failed
		> s1 unverified/compaction_failed
	`},
	{"completion_after_a_late_answer", "a baseline past its deadline and not answered", `
		0   s2 completion runtime=claude_code
		0.3 s1 snapshot scope=A runtime=claude_code
		2.6 s1 observation scope=A
		3.3 s1 completion runtime=claude_code
		until 8
		> s2 unverified/no_observation
		> s1 unverified/compaction_unconfirmed
		> s1 preserved/match late
	`},
	{"envelope_after_a_refusal", "an envelope without a baseline's no_baseline; only positive evidence resolves", `
		0.3 s1 snapshot scope=A
		0.6 s1 invalid status=continuity_validation_failed reason=tenant_mismatch
		0.9 s1 observation scope=A env0
		> s1 conflicting/tenant_mismatch alerts=decision_conflicting:firing
		> s1 unverified/no_baseline state=conflicting
	`},
	{"activity_of_another_agent", "session start, snapshot, observation or activity of the key", `
		0.3 s1/sub snapshot scope=A
		0.6 s1 end
		0.9 s1 activity
		until 6
		> s1 unverified/session_ended agent=sub
	`},
	{"refused_is_settled", "the runtime's own verdict settles at once", `
		0.3 s1 snapshot scope=A target=A
		0.6 s1 observation scope=A partial
		0.9 s1 invalid status=blocked_on_reconciliation reason=unknown_side_effect
		> s1 unverified/observation_incomplete
		> s1 unverified/* alerts=reconciliation_required:firing
	`},
	{"leftovers_into_a_parked_boundary", "flushed leftovers do not", `
		0.3 s1 snapshot scope=A target=A
		0.6 s1 observation scope=A partial
		0.7 s1 end
		1.0 s1 completion
		> s1 unverified/observation_incomplete
		> s1 unverified/session_ended
	`},
	{"unusable_is_not_sufficient", "a completion after a deadline at which nothing sufficient was observed makes that boundary live again", `
		0.3 s1 snapshot scope=A note=A!digest_malformed
		2.6 s1 observation scope=A~-120
		3.3 s1 completion
		3.6 s1 observation scope=A
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
		> s1 unverified/not_fresh late
		> s1 unverified/digest_malformed rev=3
	`},
	{"none_everywhere_is_no_baseline", "none everywhere is no baseline; the look that follows answers the silence", `
		0.3 s1 snapshot scope=none
		2.6 s1 snapshot scope=A target=A
		2.9 s1 observation scope=A target=A
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
		> s1 preserved/match alerts=post_observation_missing:resolved
	`},
	{"an_older_look_of_another_boundary", "to clear a defect, later than the look that showed it", `
		0.3 s1 snapshot scope=A id=b1
		0.4 s1 observation scope=B id=b1
		0.5 s1 snapshot scope=A id=b2
		0.6 s1 snapshot scope=A id=b3
		1.0 s1 observation scope=C id=b2
		1.3 s1 observation scope=B~-0.8 id=b1
		1.9 s1 observation scope=A~-1.0 id=b3
		> s1 conflicting/changed_without_approval id=b1 alerts=decision_conflicting:firing
		> s1 conflicting/changed_without_approval id=b2
		> s1 preserved/match id=b3 state=conflicting
	`},
	{"bad_names_on_both_sides", "name_invalid of the after side wants evidence", `
		0.3 s1 snapshot scope=A badname
		0.6 s1 observation scope=A badname
		> s1 unverified/name_invalid
		> s1 unverified/name_invalid alerts=post_observation_missing:firing
	`},
	{"expired_after_what_it_covers", "not expired at receipt of what it covers", `
		0.3 s1 snapshot scope=B
		0.6 s1 snapshot scope=A
		2.9 s1 observation scope=A
		4.2 s1 approval scope B>A expires=-0.5
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
		> s1 unverified/ambiguous late
		> s1 unverified/ambiguous alerts=post_observation_missing:resolved
	`},
	{"resolved_by_positive_evidence_only", "only positive evidence resolves", `
		0.3 s1 observation scope=A
		0.6 s1 snapshot scope=A
		1.3 s1 completion failed
		2.5 s1 completion
		until 8
		> s1 unverified/*
		> s1 unverified/compaction_failed
		> s1 unverified/no_observation
	`},
}
