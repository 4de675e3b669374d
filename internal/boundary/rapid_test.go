package boundary_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// The default run is the same every time: a fixed seed, and as many histories as
// are played with -race in well under a minute. To look further:
//
//	go test ./internal/boundary -run TestModel -rapid.checks=3000 -rapid.seed=0   # 0: another seed each time
//
// Flags on the command line are parsed later, and win.
func init() {
	for name, value := range map[string]string{"nofailfile": "true", "seed": "1", "checks": "300"} {
		if os.Getenv("RAPID_"+strings.ToUpper(name)) != "" {
			continue
		}
		if err := flag.Set("rapid."+name, value); err != nil {
			panic(err)
		}
	}
}

// features says what a generated history may contain.
type features struct {
	batches, completions, outcomes, approvals, chains, sessions, agents, ids, lifecycle, refusals, envelopes, weak, odd, late, text, optional, required, confirm, nones, forms, shutdown, profiles, checks bool
}

// TestModel compares the core with the model, receipt by receipt, on generated
// histories. What fails is printed as a history that parseHistory reads.
func TestModel(t *testing.T) {
	rows := []struct {
		name string
		f    features
	}{
		{"plain", features{}},
		{"batches", features{batches: true}},
		{"weak", features{weak: true}},
		{"nones", features{nones: true}},
		{"completions", features{completions: true}},
		{"outcomes", features{completions: true, outcomes: true}},
		{"late", features{late: true}},
		{"approvals", features{approvals: true}},
		{"chains", features{approvals: true, chains: true}},
		{"text", features{text: true, optional: true, required: true, weak: true}},
		{"forms", features{forms: true}},
		{"odd", features{odd: true, nones: true}},
		{"lifecycle", features{lifecycle: true, completions: true, shutdown: true}},
		{"confirm", features{confirm: true, completions: true}},
		{"agents", features{agents: true, completions: true, approvals: true}},
		{"ids", features{ids: true, completions: true}},
		{"envelopes", features{envelopes: true}},
		{"refusals", features{refusals: true, envelopes: true}},
		{"profiles", features{profiles: true, completions: true, outcomes: true, lifecycle: true}},
		{"handover", features{ids: true, agents: true, completions: true, outcomes: true, late: true, nones: true}},
		{"checks", features{envelopes: true, checks: true, completions: true, late: true, refusals: true, ids: true, odd: true}},
		{"all", features{
			batches: true, completions: true, outcomes: true, approvals: true, chains: true, sessions: true, agents: true, lifecycle: true, weak: true,
			odd: true, late: true, text: true, optional: true, required: true, confirm: true, nones: true, forms: true,
		}},
		{"everything", features{
			batches: true, completions: true, outcomes: true, approvals: true, chains: true, sessions: true, agents: true, ids: true, lifecycle: true,
			refusals: true, envelopes: true, weak: true, odd: true, late: true, text: true, optional: true, required: true, confirm: true, nones: true,
			forms: true, shutdown: true, profiles: true, checks: true,
		}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				text := genHistory(t, row.f)
				if d := difference(text); d != "" {
					t.Fatalf("core and model differ\n%s\n%s", text, d)
				}
			})
		})
	}
}

// TestHistoryFile plays one history from a file on both machines: for looking
// at a difference (CONTINUITY_HISTORY=file go test -run HistoryFile).
func TestHistoryFile(t *testing.T) {
	file := os.Getenv("CONTINUITY_HISTORY")
	if file == "" {
		t.Skip("CONTINUITY_HISTORY is not set")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h := parseHistory(string(text))
	for _, o := range h.run(newCore(&h.cfg)) {
		t.Log("core ", o)
	}
	for _, o := range h.run(newModel(&h.cfg)) {
		t.Log("model", o)
	}
}

// difference plays a history on both machines; "" if they agree.
func difference(text string) string {
	h := parseHistory(text)
	twin := newModel(&h.cfg)
	m := split(h.run(twin))
	for d := range twin.doubts {
		if !strings.Contains(os.Getenv("CONTINUITY_DOUBTS"), d) {
			return ""
		}
	}
	c := split(h.run(newCore(&h.cfg)))
	var keys []string
	for k := range c {
		keys = append(keys, k)
	}
	for k := range m {
		if c[k] == nil {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		x, y := lines(c[k]), lines(m[k])
		if !slices.Equal(x, y) {
			return "core:\n  " + strings.Join(x, "\n  ") + "\nmodel:\n  " + strings.Join(y, "\n  ")
		}
	}
	return ""
}

func split(outs []out) map[string][]out {
	by := map[string][]out{}
	for _, o := range outs {
		k := fmt.Sprint(o.key)
		by[k] = append(by[k], o)
	}
	for _, l := range by {
		ordinals(l)
	}
	return by
}

var unobserved = map[classify.Reason]bool{
	classify.PostObservationMissing: true, classify.NoObservation: true, classify.CompactionUnconfirmed: true,
	classify.SessionEnded: true, classify.CollectorShutdown: true, classify.CompactionFailed: true,
}

func lines(outs []out) []string {
	var ls []string
	for _, o := range outs {
		if unobserved[o.reason] || o.coverage == boundary.CoverageBoundary && o.reason == classify.NoBaseline { // whether that is said of each name is free
			o.findings = nil
		}
		if o.outcome != boundary.Completed && o.outcome != boundary.UnknownOutcome {
			o.outcome = boundary.NoOutcome // of a compaction that did not happen: free
		}
		ls = append(ls, o.String())
	}
	return ls
}

// genHistory draws the text of a history.
func genHistory(t *rapid.T, f features) string {
	var b strings.Builder
	config := "config window=2030ms grace=570ms"
	if f.required && rapid.Bool().Draw(t, "required") {
		config += " required=scope,budget"
	}
	if f.profiles {
		config += " slow=3510ms lazy=1"
	}
	b.WriteString(config + "\n")
	at := 0
	var lines []string
	for _, s := range rapid.SliceOfN(rapid.Custom(func(t *rapid.T) genStep { return drawStep(t, f) }), 1, 9).Draw(t, "steps") {
		at += s.gap
		if n := len(lines); s.again && n > 0 && !strings.Contains(lines[n-1], " dup=") {
			lines[n-1] += fmt.Sprintf(" dup=d%d", n) // delivered twice
			_, s.line, _ = strings.Cut(lines[n-1], " ")
			if s.other { // the same of another agent is not the same
				s.line = strings.Replace(strings.Replace(s.line, "s1/sub ", "s1|| ", 1), "s1 ", "s1/sub ", 1)
				s.line = strings.Replace(s.line, "s1|| ", "s1 ", 1)
			}
		}
		lines = append(lines, fmt.Sprintf("%d.%d %s", at/10, at%10, s.line))
	}
	if f.shutdown && rapid.IntRange(0, 3).Draw(t, "shutdown") == 3 {
		lines = append(lines, fmt.Sprintf("%d.%d shutdown", at/10, at%10))
	}
	b.WriteString(strings.Join(lines, "\n") + "\n")
	fmt.Fprintf(&b, "until %d\n", at/10+12)
	return b.String()
}

type genStep struct {
	gap   int // tenths of a second
	line  string
	again bool
	other bool
}

func drawStep(t *rapid.T, f features) genStep {
	gaps := []int{3, 1, 7, 12, 23, 41}
	if f.batches {
		gaps = append(gaps, 0)
	}
	gap := rapid.SampledFrom(gaps).Draw(t, "gap")
	session := "s1"
	if f.sessions && rapid.IntRange(0, 5).Draw(t, "session") == 5 {
		session = "s2"
	}
	agent := ""
	if f.agents && rapid.IntRange(0, 2).Draw(t, "agent") == 2 {
		agent = "/sub"
	}
	kinds := []string{"snapshot", "observation", "observation", "snapshot", "observation"}
	if f.completions {
		kinds = append(kinds, "completion", "completion")
	}
	if f.approvals {
		kinds = append(kinds, "approval", "approval")
	}
	if f.lifecycle {
		kinds = append(kinds, "end", "start", "activity")
	}
	if f.refusals {
		kinds = append(kinds, "invalid")
	}
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	if kind != "approval" {
		session += agent
	}
	toks := []string{session, kind}
	add := func(format string, args ...any) { toks = append(toks, fmt.Sprintf(format, args...)) }
	maybe := func(name string, n int, tok string) {
		if rapid.IntRange(0, n).Draw(t, name) == n {
			add("%s", tok)
		}
	}
	switch kind {
	case "snapshot", "observation":
		look := kind == "observation"
		for _, name := range drawNames(f) {
			if v := drawStatement(t, f, name, look); v != "-" {
				add("%s=%s", name, v)
			}
		}
		if look {
			maybe("partial", 5, "partial")
		}
		if f.weak {
			maybe("dropped", 9, "dropped")
			if look {
				maybe("src", 7, "src=environment")
				maybe("src", 12, "src=record")
				maybe("obs", 9, "obs=-5")
				maybe("obs", 12, "obs=far")
				maybe("evobs", 9, "evobs=0")
			}
		}
		if f.odd {
			maybe("badname", 12, "badname")
			maybe("toomany", 15, "toomany")
			if !look && len(toks) == 2 {
				maybe("failed", 1, "failed")
			}
		}
		if f.forms {
			maybe("form", 5, "form=v2")
		}
		if f.late {
			add("event=%s", rapid.SampledFrom([]string{"0", "-0.4", "-1", "-3", "0.2"}).Draw(t, "event"))
		}
		if f.confirm {
			maybe("runtime", 2, "runtime=claude_code")
		}
		if f.envelopes {
			if rapid.IntRange(0, 1).Draw(t, "env") == 1 {
				add("env0")
				maybe("policy", 3, "env.policy_version=v5")
				maybe("effect", 3, "env.side_effect_status=side_effect_unknown")
				if f.checks {
					maybe("applied", 3, "env.side_effect_status=applied")
					maybe("tenant", 5, "env.tenant_id=x")
					maybe("key", 4, "env.idempotency_key=k1")
					maybe("action", 6, "env.action_digest=a1")
					maybe("summary", 3, "env.summary_sha256=a")
					maybe("obligation", 4, "env.pending_obligations=o1")
					maybe("resolved", 6, "env.resolved_obligations=o1")
					maybe("status", 7, "env.approval_status=revoked")
					maybe("malformed", 11, "env.malformed=true")
				}
			}
			if f.checks {
				maybe("evobs", 4, "evobs=0")
				maybe("evobs", 8, "evobs=-2")
			}
		}
	case "completion":
		if f.outcomes {
			add("%s", rapid.SampledFrom([]string{"completed", "unknown", "failed", "cancelled", "no_op"}).Draw(t, "outcome"))
		}
		if f.late || f.completions {
			add("event=%s", rapid.SampledFrom([]string{"0", "-1.5", "-3"}).Draw(t, "event"))
		}
		if f.confirm && !f.profiles {
			add("runtime=claude_code")
		}
		if f.checks {
			maybe("summary", 2, "env.summary_sha256=a")
			maybe("summary", 4, "env.summary_sha256=b")
		}
	case "approval":
		name := rapid.SampledFrom(drawNames(f)).Draw(t, "invariant")
		values := []string{"A", "B", "C", "none"}
		if !f.chains {
			values = []string{"A", "B", "none"}
		}
		from, to := rapid.SampledFrom(values).Draw(t, "from"), rapid.SampledFrom(values).Draw(t, "to")
		add("%s", name)
		add("%s>%s", from, to)
		if f.chains {
			add("ref=%s", rapid.SampledFrom([]string{"r1", "r2"}).Draw(t, "ref"))
			maybe("expired", 9, "expires=-1")
			maybe("revoked", 9, "revoked")
			maybe("dependent", 9, "dependent")
		}
	case "invalid":
		if rapid.Bool().Draw(t, "effect") {
			add("status=blocked_on_reconciliation")
			add("reason=unknown_side_effect")
		} else {
			add("status=continuity_validation_failed")
			add("reason=tenant_mismatch")
		}
	}
	if f.profiles {
		switch kind {
		case "snapshot", "observation", "completion", "activity":
			maybe("runtime", 3, "runtime=slow")
			maybe("runtime", 2, "runtime=lazy")
		}
	}
	if f.ids && (kind == "snapshot" || kind == "observation" || kind == "completion") {
		if id := rapid.SampledFrom([]string{"", "b1", "b2"}).Draw(t, "id"); id != "" {
			add("id=%s", id)
		}
	}
	again := rapid.IntRange(0, 19).Draw(t, "again") == 19
	other := again && f.agents && kind != "approval" && rapid.Bool().Draw(t, "other")
	return genStep{gap, strings.Join(toks, " "), again, other}
}

func drawNames(f features) []string {
	names := []string{"scope", "constraint.c"}
	if f.optional {
		names = append(names, "note")
	}
	return names
}

func drawStatement(t *rapid.T, f features, name string, look bool) string {
	values := []string{"A", "A", "A", "B", "-"}
	if f.nones {
		values = append(values, "none")
	}
	if f.chains {
		values = append(values, "C")
	}
	v := rapid.SampledFrom(values).Draw(t, name)
	if v == "-" {
		return v
	}
	pick := func(label string, n int) bool { return rapid.IntRange(0, n).Draw(t, label) == n }
	if f.weak && look {
		switch {
		case pick("environment", 7):
			v += "@environment"
		case pick("nobody", 15):
			v += "@"
		}
		switch {
		case pick("stale", 9):
			v += "~-120"
		case pick("untimed", 15):
			v += "~no"
		}
	}
	if f.odd && pick("fault", 12) {
		v += "!digest_malformed"
	}
	if !look && f.text && name == "scope" && pick("text", 3) {
		v += "%text"
	}
	if !look && name == "note" && pick("optional", 2) {
		v += "%optional"
	}
	return v
}
