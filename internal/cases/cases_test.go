package cases_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/agentcontinuity/otelcol-continuity/internal/cases"
	"github.com/agentcontinuity/otelcol-continuity/testdata"
)

var begin = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)

func all(t *testing.T) []*cases.Case {
	t.Helper()
	six, err := cases.LoadAll(testdata.Cases, testdata.Six)
	require.NoError(t, err)
	assert.Len(t, six, 6)
	recorded, err := cases.LoadAll(testdata.Cases, testdata.Recorded)
	require.NoError(t, err)
	return append(six, recorded...)
}

func TestCases(t *testing.T) {
	names := map[string]bool{}
	for _, c := range all(t) {
		assert.False(t, names[c.Name], "two cases are called %s", c.Name)
		names[c.Name] = true
		assert.NotEmpty(t, c.About, c.Name)
		assert.Equal(t, cases.RuleHealthy, c.Want.EventRule, "%s: the point of the cases is that the rule calls all of them so", c.Name)
		requests, err := c.Play(begin)
		require.NoError(t, err)
		again, err := c.Play(begin)
		require.NoError(t, err)
		assert.Len(t, requests, len(c.Steps), c.Name)
		for i := range requests {
			assert.NotEqual(t, requests[i].Traces.SpanCount() == 0, requests[i].Logs.LogRecordCount() == 0, "%s: a request is one of the two", c.Name)
			if requests[i].Traces.SpanCount() > 0 {
				one, other := requests[i].Traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0), again[i].Traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
				assert.Equal(t, one.SpanID(), other.SpanID(), "%s: the same beginning gives the same", c.Name)
			}
		}
	}
}

// A recording must not carry what people or machines are called, nor what
// anybody wrote.
func TestRecordingsAreReduced(t *testing.T) {
	files, err := fs.Glob(testdata.Cases, "recorded/*.logs.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	expected := []string{
		"session.id", "event.name", "event.sequence", "prompt_length", "model", "input_tokens", "output_tokens", "duration_ms",
		"trigger", "success", "pre_tokens", "post_tokens", "hook_event", "hook_name",
	}
	for _, file := range files {
		text, err := fs.ReadFile(testdata.Cases, file)
		require.NoError(t, err)
		logs, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(text)
		require.NoError(t, err)
		for _, rl := range logs.ResourceLogs().All() {
			for _, sl := range rl.ScopeLogs().All() {
				for _, r := range sl.LogRecords().All() {
					for key := range r.Attributes().All() {
						assert.Contains(t, expected, key, file)
					}
					assert.True(t, strings.HasPrefix(r.Body().Str(), "claude_code."), "a body that is no event name: %s", r.Body().Str())
				}
			}
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
		"far away":        {`{"kind":"activity","at":"1000000h"}`, "preserved", "more than ten years"},
		"unknown kind":    {`{"kind":"dream","at":"0s"}`, "preserved", "unknown kind"},
		"empty approval":  {`{"kind":"approval","at":"0s"}`, "preserved", "no approval"},
		"empty recording": {`{"kind":"recording","at":"0s"}`, "preserved", "no recording"},
		"unknown state":   {`{"kind":"activity","at":"0s"}`, "fine", "unknown state"},
	} {
		t.Run(name, func(t *testing.T) {
			text := `{"name":"x","title":"x","about":"x","steps":[` + c.steps + `],"want":{"event_rule":"healthy","receipts":[{"state":"` + c.want + `"}]}}`
			_, err := cases.LoadAll(fstest.MapFS{"a/x.json": {Data: []byte(text)}}, "a")
			require.ErrorContains(t, err, c.problem)
			assert.ErrorContains(t, err, "a/x.json")
		})
	}
	_, err := cases.LoadAll(fstest.MapFS{"a/x.logs.json": {}}, "a")
	require.ErrorContains(t, err, "no cases in a")
}

func TestRecordingIsMissing(t *testing.T) {
	text := `{"name":"x","title":"x","about":"x","steps":[{"kind":"recording","at":"0s","recording":"r.logs.json"}],"want":{"event_rule":"healthy","receipts":[{"state":"preserved"}]}}`
	for file, want := range map[string]string{"": "not exist", "x": "r.logs.json: ", "{}": "no log records"} {
		files := fstest.MapFS{}
		if file != "" {
			files["r.logs.json"] = &fstest.MapFile{Data: []byte(file)}
		}
		c, err := cases.Parse([]byte(text), files)
		require.NoError(t, err)
		_, err = c.Play(begin)
		assert.ErrorContains(t, err, want)
	}
}

func TestEventRule(t *testing.T) {
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	for name, c := range map[string]struct {
		seen []cases.Activity
		want string
	}{
		"nothing":                   {nil, cases.RuleNoReason},
		"activity alone":            {[]cases.Activity{{At: at(1)}}, cases.RuleNoReason},
		"compaction, then silence":  {[]cases.Activity{{At: at(1)}, {At: at(2), Compaction: true}}, cases.RuleSilent},
		"compaction, then activity": {[]cases.Activity{{At: at(2), Compaction: true}, {At: at(3)}}, cases.RuleHealthy},
		"in any order":              {[]cases.Activity{{At: at(3)}, {At: at(2), Compaction: true}}, cases.RuleHealthy},
		"compaction, then failure":  {[]cases.Activity{{At: at(2), Compaction: true}, {At: at(3)}, {At: at(4), Failed: true}}, cases.RuleFailed},
	} {
		assert.Equal(t, c.want, cases.EventRule(c.seen), name)
	}
}

func TestDifferences(t *testing.T) {
	wanted := cases.Want{EventRule: cases.RuleHealthy, Receipts: []cases.WantReceipt{{
		State: "dropped", Reason: "missing_after", Action: "pause_and_restore", Alerts: []string{"decision_dropped:firing"},
		Invariants: map[string]string{"scope": "dropped/missing_after"},
	}}}
	got := func(change func(*cases.Receipt)) []*cases.Receipt {
		r := &cases.Receipt{
			State: "dropped", Reason: "missing_after", Action: "pause_and_restore", Alerts: []string{"decision_dropped:firing"},
			Invariants: map[string]string{"scope": "dropped/missing_after", "target": "preserved/match"},
		}
		change(r)
		return []*cases.Receipt{r}
	}
	for name, c := range map[string]struct {
		rule     string
		receipts []*cases.Receipt
		differs  []string
	}{
		"as expected":    {cases.RuleHealthy, got(func(*cases.Receipt) {}), nil},
		"no receipt":     {cases.RuleHealthy, nil, []string{"0 receipts, expected 1"}},
		"rule":           {cases.RuleSilent, got(func(*cases.Receipt) {}), []string{`the event-only rule says "silent", expected "healthy"`}},
		"state":          {cases.RuleHealthy, got(func(r *cases.Receipt) { r.State = "preserved" }), []string{`receipt 1: state is "preserved", expected "dropped"`}},
		"missing alert":  {cases.RuleHealthy, got(func(r *cases.Receipt) { r.Alerts = nil }), []string{`receipt 1: alerts is "", expected "decision_dropped:firing"`}},
		"invariant":      {cases.RuleHealthy, got(func(r *cases.Receipt) { r.Invariants["scope"] = "preserved/match" }), []string{`receipt 1: scope is "preserved/match", expected "dropped/missing_after"`}},
		"two for one":    {cases.RuleHealthy, append(got(func(*cases.Receipt) {}), got(func(*cases.Receipt) {})...), []string{"2 receipts, expected 1"}},
		"reason, action": {cases.RuleHealthy, got(func(r *cases.Receipt) { r.Reason, r.Action = "a", "b" }), []string{`receipt 1: reason is "a", expected "missing_after"`, `receipt 1: action is "b", expected "pause_and_restore"`}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.differs, (&cases.Case{Want: wanted}).Differences(c.rule, c.receipts))
		})
	}
}

func TestFiring(t *testing.T) {
	assert.Equal(t, []string{"decision_conflicting"}, cases.Firing([]*cases.Receipt{
		{Alerts: []string{"decision_dropped:firing", "decision_conflicting:firing"}},
		{Alerts: []string{"decision_dropped:resolved", "decision_conflicting:firing"}},
	}))
}
