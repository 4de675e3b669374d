package signal

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

const samples = "../../testdata/agents"

// recognized is one line of a sample's .want.json.
type recognized struct {
	Kind    string `json:"kind"`
	Runtime string `json:"runtime,omitempty"`
	Session string `json:"session,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	Trigger string `json:"trigger,omitempty"`
	Before  int64  `json:"tokens_before,omitempty"`
	After   int64  `json:"tokens_after,omitempty"`
	Writes  bool   `json:"writes,omitempty"`
	// Reason is why nothing more is known.
	Reason string `json:"reason,omitempty"`
}

func recognizedOf(item Item) recognized {
	e := item.Event
	if e == nil {
		return recognized{Kind: item.Kind.String(), Reason: string(item.Reason)}
	}
	return recognized{
		e.Kind.String(), e.Runtime, e.Key.Session, e.Key.Agent, e.Outcome.String(), e.Trigger, e.TokensBefore, e.TokensAfter, e.Writes, "",
	}
}

// switchedOn has the rows that are off by default on.
func switchedOn() Config {
	cfg := DefaultConfig()
	cfg.Runtimes = map[string]bool{}
	for _, runtime := range Runtimes() {
		cfg.Runtimes[runtime] = true
	}
	return cfg
}

func loadSample(t testing.TB, path string) batch {
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	if strings.HasSuffix(path, ".logs.json") {
		logs, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(raw)
		require.NoError(t, err)
		return batch{logs: logs, isLogs: true}
	}
	traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(raw)
	require.NoError(t, err)
	return batch{traces: traces}
}

func sampleFiles(t testing.TB) []string {
	var files []string
	for _, form := range []string{"logs", "traces"} {
		found, err := filepath.Glob(filepath.Join(samples, "*", "*."+form+".json"))
		require.NoError(t, err)
		files = append(files, found...)
	}
	require.NotEmpty(t, files)
	return files
}

// TestSamples reads what real agents wrote, and what documentation says that
// others write. CONTINUITY_UPDATE_GOLDEN=1 writes the expectations anew.
func TestSamples(t *testing.T) {
	for _, file := range sampleFiles(t) {
		name := strings.TrimSuffix(strings.TrimSuffix(file, ".traces.json"), ".logs.json")
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(name), func(t *testing.T) {
			var got []recognized
			for _, item := range loadSample(t, file).items(NewReader(switchedOn())) {
				got = append(got, recognizedOf(item))
			}
			if os.Getenv("CONTINUITY_UPDATE_GOLDEN") != "" {
				lines := make([]string, len(got))
				for i := range got {
					line, err := json.Marshal(got[i])
					require.NoError(t, err)
					lines[i] = "  " + string(line)
				}
				require.NoError(t, os.WriteFile(name+".want.json", []byte("[\n"+strings.Join(lines, ",\n")+"\n]\n"), 0o600))
			}
			raw, err := os.ReadFile(name + ".want.json")
			require.NoError(t, err)
			var want []recognized
			require.NoError(t, json.Unmarshal(raw, &want))
			assert.Equal(t, want, got)
		})
	}
}

// A row that no sample shows is a guess.
func TestEveryRowHasASample(t *testing.T) {
	for i := range recognizers {
		row := recognizers[i]
		row.Off = false
		cfg := DefaultConfig()
		reader := newReader(&cfg, []Row{row})
		assert.True(t, slices.ContainsFunc(sampleFiles(t), func(file string) bool {
			return len(loadSample(t, file).items(reader)) > 0
		}), "no sample shows %s %q as %s", row.Runtime, row.Name, row.Kind)
	}
}

func TestRuntimesCanBeSwitchedOff(t *testing.T) {
	for runtimes, want := range map[bool]int{true: 1, false: 0} {
		cfg := DefaultConfig()
		cfg.Runtimes = map[string]bool{"claude_code": runtimes, "other": false}
		b := loadSample(t, filepath.Join(samples, "claude-code", "failed.logs.json"))
		assert.Len(t, b.items(NewReader(cfg)), want)
	}
}

// TestClaudeCode has the outcomes that no sample shows.
func TestClaudeCode(t *testing.T) {
	for name, c := range map[string]struct {
		attrs   []kv
		outcome boundary.Outcome
	}{
		"success as boolean": {[]kv{{"success", true}}, boundary.Completed},
		"failure as boolean": {[]kv{{"success", false}, {"error", "x"}}, boundary.Failed},
		"no error":           {[]kv{{"success", "false"}}, boundary.Failed},
		"error is no text":   {[]kv{{"success", "false"}, {"error", []any{"too_few_groups"}}}, boundary.Failed},
		"other skip":         {[]kv{{"success", "false"}, {"error", "skipped: for once"}}, boundary.Cancelled},
		"skipped inside":     {[]kv{{"success", "false"}, {"error", "was skipped: no"}}, boundary.Failed},
		"nothing said":       {nil, boundary.UnknownOutcome},
		"not readable":       {[]kv{{"success", "maybe"}, {"error", "skipped: x"}}, boundary.UnknownOutcome},
		"said twice":         {[]kv{{"success", "true"}, {"success", "false"}}, boundary.UnknownOutcome},
		"error said twice":   {[]kv{{"success", "false"}, {"error", "too_few_groups"}, {"error", "API error"}}, boundary.Failed},
		"stated natively":    {[]kv{{"success", "true"}, {"continuity.compaction.outcome", "failed"}}, boundary.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			e := readOne(t, LogRecord, telemetry{eventName: "", body: "claude_code.compaction", attrs: append(c.attrs, kv{"event.name", "compaction"})})
			assert.Equal(t, boundary.Completion, e.Kind)
			assert.Equal(t, c.outcome, e.Outcome)
			assert.Equal(t, "claude_code", e.Runtime)
			assert.Empty(t, e.Trigger)
		})
	}
	// It is a log record of theirs, not a span event.
	x := telemetry{name: "claude_code.compaction", enclosing: []kv{session}}
	assert.Empty(t, x.as(t, SpanEvent).items(NewReader(DefaultConfig())))
	assert.Len(t, x.as(t, LogRecord).items(NewReader(DefaultConfig())), 1, "EventName would do")

	e := readOne(t, LogRecord, telemetry{name: "claude_code.compaction", attrs: []kv{{"continuity.runtime", "my_fork"}, {"trigger", "idle"}}})
	assert.Equal(t, "my_fork", e.Runtime)
	assert.Equal(t, "other", e.Trigger)
	e = readOne(t, LogRecord, telemetry{name: "claude_code.compaction", attrs: []kv{{"trigger", "auto"}, {"continuity.compaction.trigger", "manual"}}})
	assert.Equal(t, "manual", e.Trigger)
}

// TestRowFields has rows for what the table can say and no agent needs yet.
func TestRowFields(t *testing.T) {
	rows := []Row{
		{Runtime: "scoped", Form: Span, Name: "compact", Scope: "their.scope", Kind: boundary.Completion, Sessions: []string{"thread"}},
		{Runtime: "served", Form: Span, Name: "compact", Resource: service("their-service"), Kind: boundary.Completion, Outcomes: []OutcomeRule{{boundary.Completed, nil}}},
		{Runtime: "conditional", Form: SpanEvent, Name: "step", When: []Condition{is("compacted", "true")}, Kind: boundary.Activity},
		{Runtime: "shadowed", Form: LogRecord, Name: snapshot, Kind: boundary.Activity},
	}
	cfg := DefaultConfig()
	r := newReader(&cfg, rows)
	read := func(form Form, x telemetry) []Item { return x.as(t, form).items(r) }
	ids := []kv{session, {"thread", "t1"}}

	items := read(Span, telemetry{name: "compact", scopeName: "their.scope", enclosing: ids, dropped: 1})
	require.Len(t, items, 1)
	e := items[0].Event
	assert.Equal(t, "scoped", e.Runtime)
	assert.Equal(t, "t1", e.Key.Session, "the row's attribute comes first")
	assert.Equal(t, []boundary.Attr{{Key: "thread", Value: "t1"}, {Key: sessionID, Value: "s1"}}, e.Identity)
	assert.Equal(t, boundary.UnknownOutcome, e.Outcome)
	assert.Equal(t, occurred, int64(e.Time), "the end of the span")
	assert.Equal(t, boundary.SpanContext{TraceID: traceID, SpanID: spanID}, e.Context)
	assert.True(t, e.Dropped)
	assert.Equal(t, Span, items[0].Form)
	assert.Equal(t, keysOf(items[0].Attributes), keysOf(items[0].Enclosing))

	items = read(Span, telemetry{name: "compact", enclosing: ids, resource: []kv{{"service.name", "their-service"}}, time: 0})
	require.Len(t, items, 1)
	assert.Equal(t, "s1", items[0].Event.Key.Session)
	assert.Equal(t, boundary.Completed, items[0].Event.Outcome)
	assert.EqualValues(t, 1, items[0].Event.Time, "the start where the end is not known")

	assert.Empty(t, read(Span, telemetry{name: "compact", enclosing: ids}))
	assert.Empty(t, read(Span, telemetry{name: "compact", enclosing: ids, resource: []kv{{"service.name", 7}}}))
	assert.Empty(t, read(SpanEvent, telemetry{name: "step", enclosing: ids}))
	assert.Empty(t, read(SpanEvent, telemetry{name: "step", enclosing: ids, attrs: []kv{{"compacted", false}}}))
	items = read(SpanEvent, telemetry{name: "step", enclosing: ids, attrs: []kv{{"compacted", true}}})
	require.Len(t, items, 1)
	assert.Equal(t, boundary.Activity, items[0].Kind)
	assert.Equal(t, boundary.NoOutcome, items[0].Event.Outcome)

	items = read(LogRecord, telemetry{name: snapshot, enclosing: ids})
	require.Len(t, items, 1)
	assert.Equal(t, boundary.Snapshot, items[0].Kind, "native names win")
	assert.Empty(t, items[0].Event.Runtime)
}
