package signal

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

func TestConditions(t *testing.T) {
	for name, c := range map[string]struct {
		condition Condition
		attrs     []kv
		want      bool
	}{
		"equal":                  {is("a", "x"), []kv{{"a", "x"}}, true},
		"equal, other case":      {is("a", "x"), []kv{{"a", " X "}}, true},
		"equal, of two":          {is("a", "x", "y"), []kv{{"a", "y"}}, true},
		"equal, boolean":         {is("a", "true"), []kv{{"a", true}}, true},
		"equal, number":          {is("a", "7"), []kv{{"a", 7}}, true},
		"equal, list":            {is("a", "x"), []kv{{"a", []any{"x"}}}, false},
		"equal, not there":       {is("a", "x"), []kv{{"b", "x"}}, false},
		"equal, twice":           {is("a", "x", "y"), []kv{{"a", "x"}, {"a", "y"}}, true},
		"equal, twice, once":     {is("a", "x"), []kv{{"a", "x"}, {"a", "z"}}, false},
		"equal, empty":           {is("a", ""), []kv{{"a", ""}}, false},
		"prefix":                 {startsWith("a", "skip"), []kv{{"a", "skipped"}}, true},
		"prefix, of two":         {startsWith("a", "no", "skip"), []kv{{"a", "skipped"}}, true},
		"prefix, other case":     {startsWith("a", "skip"), []kv{{"a", "Skipped"}}, false},
		"prefix, inside":         {startsWith("a", "skip"), []kv{{"a", "was skipped"}}, false},
		"at least, more":         {Condition{"a", AtLeast, []string{"b"}}, []kv{{"a", 3}, {"b", 2}}, true},
		"at least, equal":        {Condition{"a", AtLeast, []string{"b"}}, []kv{{"a", "2"}, {"b", 2}}, true},
		"at least, less":         {Condition{"a", AtLeast, []string{"b"}}, []kv{{"a", 1}, {"b", 2}}, false},
		"at least, one only":     {Condition{"a", AtLeast, []string{"b"}}, []kv{{"a", 1}}, false},
		"at least, no number":    {Condition{"a", AtLeast, []string{"b"}}, []kv{{"a", "many"}, {"b", 2}}, false},
		"at least, of no number": {Condition{"a", AtLeast, []string{"b"}}, []kv{{"a", 1}, {"b", "few"}}, false},
		"present":                {Condition{"a", Present, nil}, []kv{{"a", 0}}, true},
		"present, list":          {Condition{"a", Present, nil}, []kv{{"a", []any{}}}, true},
		"present, blank":         {Condition{"a", Present, nil}, []kv{{"a", " "}}, false},
		"present, not there":     {Condition{"a", Present, nil}, nil, false},
		"absent":                 {Condition{"a", Absent, nil}, []kv{{"b", 1}}, true},
		"absent, blank":          {Condition{"a", Absent, nil}, []kv{{"a", ""}}, true},
		"absent, there":          {Condition{"a", Absent, nil}, []kv{{"a", false}}, false},
		"failed, of no span":     {Condition{Test: Failed}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			x := telemetry{attrs: c.attrs}
			m := x.as(t, LogRecord).logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Attributes()
			assert.Equal(t, c.want, c.condition.holds(&subject{attrs: m}))
		})
	}
	assert.True(t, (&Condition{Test: Failed}).holds(&subject{failed: true}))
	for test := range Failed + 1 {
		assert.NotEmpty(t, test.String())
	}
}

// TestNames has the ways in which a row can name its signal.
func TestNames(t *testing.T) {
	rows := []Row{
		{Runtime: "exact", Form: Span, Name: "compact", Kind: boundary.Completion},
		{Runtime: "word", Form: Span, Name: "compact *", Kind: boundary.Completion},
		{Runtime: "any", Form: Span, When: []Condition{is("compacted", "true")}, Kind: boundary.Completion},
		{Runtime: "record", Form: LogRecord, When: []Condition{is("compacted", "true")}, Kind: boundary.Completion},
	}
	cfg := DefaultConfig()
	r := newReader(&cfg, rows)
	for name, c := range map[string]struct {
		form    Form
		x       telemetry
		runtime string // "" for none
	}{
		"exact":                {Span, telemetry{name: "compact"}, "exact"},
		"first word":           {Span, telemetry{name: "compact now and here"}, "word"},
		"part of a word":       {Span, telemetry{name: "compaction now"}, ""},
		"other word":           {Span, telemetry{name: "chat now"}, ""},
		"no name":              {Span, telemetry{name: ""}, ""},
		"any":                  {Span, telemetry{name: "chat", enclosing: []kv{{"compacted", true}}}, "any"},
		"any, not so":          {Span, telemetry{name: "chat", enclosing: []kv{{"compacted", false}}}, ""},
		"first word, as event": {SpanEvent, telemetry{name: "compact now"}, ""},
		"record":               {LogRecord, telemetry{name: "whatever", attrs: []kv{{"compacted", "true"}}}, "record"},
		"record without name":  {LogRecord, telemetry{attrs: []kv{{"compacted", "true"}}}, "record"},
	} {
		t.Run(name, func(t *testing.T) {
			c.x.enclosing = append(c.x.enclosing, session)
			items := c.x.as(t, c.form).items(r)
			if c.runtime == "" {
				assert.Empty(t, items)
				return
			}
			require.Len(t, items, 1)
			assert.Equal(t, c.runtime, items[0].Event.Runtime)
		})
	}
}

// TestOwnRowsComeFirst: who gives a row of his own for a known signal means it.
func TestOwnRowsComeFirst(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Rows = []Row{{Runtime: "mine", Form: Span, Name: "codex.compaction", Kind: boundary.Activity, Agents: []string{"worker"}}}
	x := telemetry{name: "codex.compaction", enclosing: []kv{session, {"worker", "w1"}}}
	items := x.as(t, Span).items(NewReader(cfg))
	require.Len(t, items, 1)
	assert.Equal(t, "mine", items[0].Event.Runtime)
	assert.Equal(t, boundary.Activity, items[0].Event.Kind)
	assert.Equal(t, "w1", items[0].Event.Key.Agent)
}

// TestWorkIsLeftAlone: what an agent shows of its own work is no event of a
// boundary. Nothing is removed from it, and nobody complains that it has no
// session.
func TestWorkIsLeftAlone(t *testing.T) {
	x := telemetry{body: "claude_code.user_prompt", attrs: []kv{{"prompt", "text"}, {"event.name", "user_prompt"}}}
	b := x.as(t, LogRecord)
	assert.Empty(t, b.items(NewReader(DefaultConfig())), "without a session")
	x.attrs = append(x.attrs, session)
	items := x.as(t, LogRecord).items(NewReader(DefaultConfig()))
	require.Len(t, items, 1)
	assert.Contains(t, keysOf(items[0].Attributes), "prompt")
	assert.False(t, items[0].Event.Writes)

	x.attrs = append(x.attrs, kv{"command_name", "compact"})
	assert.Empty(t, x.as(t, LogRecord).items(NewReader(DefaultConfig())), "/compact is no work")
}

// TestTokens: stated natively, by the row, in several ways, or not at all.
func TestTokens(t *testing.T) {
	for name, c := range map[string]struct {
		attrs         []kv
		before, after int64
	}{
		"text":        {[]kv{{"pre_tokens", "2737"}, {"post_tokens", " 2615 "}}, 2737, 2615},
		"numbers":     {[]kv{{"pre_tokens", 2737}, {"post_tokens", 2615}}, 2737, 2615},
		"one":         {[]kv{{"pre_tokens", 2737}}, 2737, 0},
		"negative":    {[]kv{{"pre_tokens", -1}}, 0, 0},
		"no number":   {[]kv{{"pre_tokens", "many"}}, 0, 0},
		"native wins": {[]kv{{"pre_tokens", 1}, {"continuity.compaction.tokens_before", 5}}, 5, 0},
		"contradiction": {[]kv{
			{"continuity.compaction.tokens_before", 5},
			{"continuity.compaction.tokens_before", 6},
			{"continuity.compaction.tokens_after", 5},
			{"continuity.compaction.tokens_after", "5"},
		}, 0, 5},
	} {
		t.Run(name, func(t *testing.T) {
			e := readOne(t, LogRecord, telemetry{body: "claude_code.compaction", attrs: c.attrs})
			assert.Equal(t, [2]int64{c.before, c.after}, [2]int64{e.TokensBefore, e.TokensAfter})
		})
	}
	e := readOne(t, SpanEvent, telemetry{name: "continuity.compaction", attrs: []kv{{"continuity.compaction.tokens_after", 9}}})
	assert.EqualValues(t, 9, e.TokensAfter)
}
