package continuityprocessor

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap/confmaptest"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/signal"
)

// TestRecognizerRow loads a row that uses every field.
func TestRecognizerRow(t *testing.T) {
	conf, err := confmaptest.LoadConf("testdata/recognizers.yaml")
	require.NoError(t, err)
	cfg := defaultConfig(func(*Config) {})
	require.NoError(t, conf.Unmarshal(cfg))
	require.NoError(t, cfg.Validate())
	require.Len(t, cfg.Recognizers, 2)
	assert.Equal(t, []signal.Row{
		{
			Runtime: "my_agent", Form: signal.Span, Name: "compact *", Scope: "my.scope", Kind: boundary.Completion,
			Resource: []signal.Condition{{Attribute: "service.name", Want: []string{"my-agent"}}},
			When:     []signal.Condition{{Attribute: "step", Test: signal.Present}},
			Outcomes: []signal.OutcomeRule{
				{Outcome: boundary.Failed, When: []signal.Condition{{Test: signal.Failed}}},
				{Outcome: boundary.NoOp, When: []signal.Condition{{Attribute: "after", Test: signal.AtLeast, Want: []string{"before"}}}},
				{Outcome: boundary.Cancelled, When: []signal.Condition{{Attribute: "result", Test: signal.Absent}}},
				{Outcome: boundary.Completed, When: []signal.Condition{}},
			},
			Trigger: "why", TokensBefore: "before", TokensAfter: "after",
			Sessions: []string{"thread"}, Agents: []string{"worker"}, Writes: []signal.Condition{},
		},
		{
			Runtime: "my_agent", Form: signal.LogRecord, Name: "my_agent.tool", Kind: boundary.Activity, When: []signal.Condition{},
			Writes: []signal.Condition{
				{Attribute: "tool", Test: signal.Equals, Want: []string{"edit", "shell"}},
				{Attribute: "target", Test: signal.HasPrefix, Want: []string{"/src"}},
			},
		},
	}, cfg.reader().Rows)
}

func TestRecognizersAreValidated(t *testing.T) {
	good := func() RecognizerConfig {
		return RecognizerConfig{Runtime: "my_agent", Signal: SignalSpan, Name: "compact", Kind: "completion"}
	}
	for name, c := range map[string]struct {
		change func(*RecognizerConfig)
		want   []string
	}{
		"good":           {func(*RecognizerConfig) {}, nil},
		"first word":     {func(r *RecognizerConfig) { r.Name = "compact *" }, nil},
		"no runtime":     {func(r *RecognizerConfig) { r.Runtime = " " }, []string{`recognizers[0]::runtime: found " "`}},
		"signal":         {func(r *RecognizerConfig) { r.Signal = "metric" }, []string{`recognizers[0]::signal: found "metric": use one of log_record, span, span_event`}},
		"kind":           {func(r *RecognizerConfig) { r.Kind = "snapshot" }, []string{`recognizers[0]::kind: found "snapshot": use one of completion, activity`}},
		"no name":        {func(r *RecognizerConfig) { r.Name = "" }, []string{`recognizers[0]::name: found ""`}},
		"star":           {func(r *RecognizerConfig) { r.Name = "comp*" }, []string{`recognizers[0]::name: found "comp*"`}},
		"star alone":     {func(r *RecognizerConfig) { r.Name = " *" }, []string{`recognizers[0]::name: found " *"`}},
		"session twice":  {func(r *RecognizerConfig) { r.Sessions = []string{"a", "a"} }, []string{`recognizers[0]::sessions: found "a"`}},
		"blank agent":    {func(r *RecognizerConfig) { r.Agents = []string{""} }, []string{`recognizers[0]::agents: found ""`}},
		"no test":        {func(r *RecognizerConfig) { r.When = []ConditionConfig{{Attribute: "x"}} }, []string{`recognizers[0]::when[0]: found "0": set one of`}},
		"two tests":      {func(r *RecognizerConfig) { r.When = []ConditionConfig{{Attribute: "x", Present: true, Absent: true}} }, []string{`recognizers[0]::when[0]: found "2"`}},
		"no attribute":   {func(r *RecognizerConfig) { r.When = []ConditionConfig{{Present: true}} }, []string{`recognizers[0]::when[0]::attribute: found ""`}},
		"failed of what": {func(r *RecognizerConfig) { r.When = []ConditionConfig{{Attribute: "x", Failed: true}} }, []string{`recognizers[0]::when[0]::attribute: found "x"`}},
		"outcome":        {func(r *RecognizerConfig) { r.Outcomes = []OutcomeConfig{{Outcome: "fine"}} }, []string{`recognizers[0]::outcomes[0]::outcome: found "fine"`}},
		"outcome's when": {func(r *RecognizerConfig) {
			r.Outcomes = []OutcomeConfig{{Outcome: "failed", When: []ConditionConfig{{}}}}
		}, []string{`outcomes[0]::when[0]: found "0"`, `outcomes[0]::when[0]::attribute: found ""`}},
		"outcome elsewhere": {func(r *RecognizerConfig) { r.Kind, r.Outcomes = "session_end", []OutcomeConfig{{Outcome: "failed"}} }, []string{`recognizers[0]::outcomes: found "session_end": only a row of kind completion has it`}},
		"writes elsewhere":  {func(r *RecognizerConfig) { r.Writes = []ConditionConfig{{Attribute: "x", Present: true}} }, []string{`recognizers[0]::writes: found "completion": only a row of kind activity has it`}},
	} {
		t.Run(name, func(t *testing.T) {
			row := good()
			c.change(&row)
			err := defaultConfig(func(cfg *Config) { cfg.Recognizers = []RecognizerConfig{row} }).Validate()
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			var faults interface{ Unwrap() []error }
			require.ErrorAs(t, err, &faults)
			require.Len(t, faults.Unwrap(), len(c.want), "%v", err)
			for i, part := range c.want {
				require.ErrorContains(t, faults.Unwrap()[i], part)
			}
		})
	}
}
