package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
)

const root = "../.."

func TestCases(t *testing.T) {
	six, err := loadCases(filepath.Join(root, "testdata", "six"))
	require.NoError(t, err)
	assert.Len(t, six, 6)
	recorded, err := loadCases(filepath.Join(root, "testdata", "recorded"))
	require.NoError(t, err)
	names := map[string]bool{}
	for _, c := range append(six, recorded...) {
		assert.False(t, names[c.Name], "two cases are called %s", c.Name)
		names[c.Name] = true
		requests, err := newPlayer(c, time.Now()).requests()
		require.NoError(t, err)
		var seen []activity
		for _, r := range requests {
			seen = append(seen, r.seen...)
		}
		assert.Equal(t, ruleHealthy, eventRule(seen), "%s: the point of the demo is that the rule calls all of them so", c.Name)
		assert.Equal(t, ruleHealthy, c.Want.EventRule, c.Name)
		assert.NotEmpty(t, c.About, c.Name)
	}
}

// A recording must not carry what people or machines are called, nor what
// anybody wrote.
func TestRecordingsAreReduced(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "testdata", "recorded", "*.logs.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	allowed := []string{
		"session.id", "event.name", "event.sequence", "prompt_length", "model", "input_tokens", "output_tokens", "duration_ms",
		"trigger", "success", "pre_tokens", "post_tokens", "hook_event", "hook_name",
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		logs, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(text)
		require.NoError(t, err)
		for _, r := range recordsOf(logs) {
			for key := range r.Attributes().All() {
				assert.Contains(t, allowed, key, file)
			}
			assert.True(t, strings.HasPrefix(r.Body().Str(), "claude_code."), "a body that is no event name: %s", r.Body().Str())
		}
	}
}

func TestCaseIsRefused(t *testing.T) {
	const good = `"sha256:78f44bc03942b04c397815f5c02792e62b0d9c28a1dd08aa9d49bf0ce3b94798"`
	for name, c := range map[string]struct{ steps, want, problem string }{
		"raw value":       {`{"kind":"snapshot","at":"0s","invariants":{"scope":{"value":"main"}}}`, "preserved", "unknown field"},
		"no digest":       {`{"kind":"snapshot","at":"0s","invariants":{"scope":{"digest":"main"}}}`, "preserved", "no digest"},
		"bad name":        {`{"kind":"snapshot","at":"0s","invariants":{"Scope":{"digest":` + good + `}}}`, "preserved", "no name"},
		"bad time":        {`{"kind":"activity","at":"soon"}`, "preserved", "invalid duration"},
		"unknown kind":    {`{"kind":"dream","at":"0s"}`, "preserved", "unknown kind"},
		"empty approval":  {`{"kind":"approval","at":"0s"}`, "preserved", "no approval"},
		"empty recording": {`{"kind":"recording","at":"0s"}`, "preserved", "no recording"},
		"unknown state":   {`{"kind":"activity","at":"0s"}`, "fine", "unknown state"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			text := `{"name":"x","title":"x","about":"x","steps":[` + c.steps + `],"want":{"event_rule":"healthy","receipts":[{"state":"` + c.want + `"}]}}`
			require.NoError(t, os.WriteFile(filepath.Join(dir, "x.json"), []byte(text), 0o600))
			_, err := loadCases(dir)
			require.ErrorContains(t, err, c.problem)
		})
	}
	_, err := loadCases(t.TempDir())
	require.ErrorContains(t, err, "no cases in")
}

func TestEventRule(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 1, 1, 0, 0, s, 0, time.UTC) }
	for name, c := range map[string]struct {
		seen []activity
		want string
	}{
		"nothing":                   {nil, ruleNoReason},
		"activity alone":            {[]activity{{at: at(1)}}, ruleNoReason},
		"compaction, then silence":  {[]activity{{at: at(1)}, {at: at(2), compaction: true}}, ruleSilent},
		"compaction, then activity": {[]activity{{at: at(2), compaction: true}, {at: at(3)}}, ruleHealthy},
		"in any order":              {[]activity{{at: at(3)}, {at: at(2), compaction: true}}, ruleHealthy},
		"compaction, then failure":  {[]activity{{at: at(2), compaction: true}, {at: at(3)}, {at: at(4), failed: true}}, ruleFailed},
	} {
		assert.Equal(t, c.want, eventRule(c.seen), name)
	}
}

func TestJudge(t *testing.T) {
	wanted := want{EventRule: ruleHealthy, Receipts: []wantReceipt{{
		State: "dropped", Reason: "missing_after", Action: "pause_and_restore", Alerts: []string{"decision_dropped:firing"},
		Invariants: map[string]string{"scope": "dropped/missing_after"},
	}}}
	got := func(change func(*receipt)) []*receipt {
		r := &receipt{
			State: "dropped", Reason: "missing_after", Action: "pause_and_restore", Alerts: []string{"decision_dropped:firing"},
			Invariants: map[string]string{"scope": "dropped/missing_after", "target": "preserved/match"},
		}
		change(r)
		return []*receipt{r}
	}
	for name, c := range map[string]struct {
		rule     string
		receipts []*receipt
		differs  []string
	}{
		"as expected":    {ruleHealthy, got(func(*receipt) {}), nil},
		"no receipt":     {ruleHealthy, nil, []string{"0 receipts, expected 1"}},
		"rule":           {ruleSilent, got(func(*receipt) {}), []string{`the event-only rule says "silent", expected "healthy"`}},
		"state":          {ruleHealthy, got(func(r *receipt) { r.State = "preserved" }), []string{`receipt 1: state is "preserved", expected "dropped"`}},
		"missing alert":  {ruleHealthy, got(func(r *receipt) { r.Alerts = nil }), []string{`receipt 1: alerts is "", expected "decision_dropped:firing"`}},
		"invariant":      {ruleHealthy, got(func(r *receipt) { r.Invariants["scope"] = "preserved/match" }), []string{`receipt 1: scope is "preserved/match", expected "dropped/missing_after"`}},
		"two for one":    {ruleHealthy, append(got(func(*receipt) {}), got(func(*receipt) {})...), []string{"2 receipts, expected 1"}},
		"reason, action": {ruleHealthy, got(func(r *receipt) { r.Reason, r.Action = "a", "b" }), []string{`receipt 1: reason is "a", expected "missing_after"`, `receipt 1: action is "b", expected "pause_and_restore"`}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &result{demoCase: &demoCase{Want: wanted}, eventRule: c.rule, receipts: c.receipts}
			r.judge()
			assert.Equal(t, c.differs, r.differs)
		})
	}
}

func TestStrays(t *testing.T) {
	o := &outcome{bySession: map[string][]*receipt{"a": nil, "b": nil}}
	assert.Equal(t, []string{`a receipt for session "b", which was not sent`}, strays(o, []*result{{session: "a"}}))
}

func TestReadReceipts(t *testing.T) {
	const line = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[` +
		`{"eventName":"continuity.boundary","spanId":"0102030405060708","body":{"stringValue":"It is so."},"attributes":[` +
		`{"key":"session.id","value":{"stringValue":"s"}},{"key":"continuity.boundary.state","value":{"stringValue":"dropped"}},` +
		`{"key":"continuity.invariant.state.scope","value":{"stringValue":"dropped"}},{"key":"continuity.invariant.reason.scope","value":{"stringValue":"missing_after"}}]},` +
		`{"eventName":"continuity.alert","spanId":"0102030405060708","attributes":[` +
		`{"key":"continuity.alert.kind","value":{"stringValue":"decision_dropped"}},{"key":"continuity.alert.status","value":{"stringValue":"firing"}}]}` +
		`]}]}]}`
	file := filepath.Join(t.TempDir(), receiptsName)

	_, err := readReceipts(file, false)
	require.ErrorIs(t, err, os.ErrNotExist)
	o, err := readReceipts(file, true)
	require.NoError(t, err, "the collector has not written yet")
	assert.False(t, o.complete(map[string]int{"s": 1}))

	require.NoError(t, os.WriteFile(file, []byte(line+"\n"+line[:40]), 0o600))
	o, err = readReceipts(file, true)
	require.NoError(t, err, "half a line is being written")
	assert.True(t, o.complete(map[string]int{"s": 1}))
	assert.Equal(t, &receipt{
		State: "dropped", Sentence: "It is so.", Alerts: []string{"decision_dropped:firing"},
		Invariants: map[string]string{"scope": "dropped/missing_after"},
	}, o.bySession["s"][0])
	_, err = readReceipts(file, false)
	require.Error(t, err, "nobody writes any more")
}

func TestBackendHint(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "distribution", "config.yaml"))
	require.NoError(t, err)
	hint := backendHint("config.yaml", string(text))
	assert.Regexp(t, `^in config\.yaml uncomment lines \d+ to \d+ and set the address \(.*\); on lines \d+ and \d+ put`, hint,
		"the lines that name the backend are not found any more")
	assert.Equal(t, "name your backend in config.yaml", backendHint("config.yaml", "service:\n"))
}
