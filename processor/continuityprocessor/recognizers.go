package continuityprocessor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/signal"
)

// RecognizerConfig is one row of the table of recognisers: one signal of one
// runtime that emits no events of Continuity's own.
type RecognizerConfig struct {
	// Runtime is what the row's events are attributed to, as in continuity.runtime.
	Runtime string `mapstructure:"runtime"`
	// Signal is SignalLogRecord, SignalSpan or SignalSpanEvent.
	Signal string `mapstructure:"signal"`
	// Name is the name of the span or span event, or what names the record. One that
	// ends in " *" is a first word that anything may follow. Without a name every
	// span or record is looked at, which costs; such a row needs `when`.
	Name string `mapstructure:"name"`
	// Scope is the name of the instrumentation scope, Resource what the resource must
	// say. Both are optional.
	Scope    string            `mapstructure:"scope"`
	Resource map[string]string `mapstructure:"resource"`
	// When must all hold besides.
	When []ConditionConfig `mapstructure:"when"`
	// Kind is completion, activity, session_start or session_end.
	Kind string `mapstructure:"kind"`
	// Outcomes (completion): the first whose conditions hold; `unknown` where none
	// does.
	Outcomes []OutcomeConfig `mapstructure:"outcomes"`
	// Trigger, TokensBefore and TokensAfter are attributes (completion).
	Trigger      string `mapstructure:"trigger"`
	TokensBefore string `mapstructure:"tokens_before"`
	TokensAfter  string `mapstructure:"tokens_after"`
	// Sessions and Agents are attributes with ids, best first; the configured ones
	// come after them.
	Sessions []string `mapstructure:"sessions"`
	Agents   []string `mapstructure:"agents"`
	// Writes (activity): it changes something where all of them hold.
	Writes []ConditionConfig `mapstructure:"writes"`

	_ struct{}
}

// OutcomeConfig is how a compaction ended where all conditions hold.
type OutcomeConfig struct {
	Outcome string            `mapstructure:"outcome"`
	When    []ConditionConfig `mapstructure:"when"`

	_ struct{}
}

// ConditionConfig is a test of one attribute: exactly one of its other fields is
// set.
type ConditionConfig struct {
	Attribute string   `mapstructure:"attribute"`
	Equals    []string `mapstructure:"equals"`
	Prefix    []string `mapstructure:"prefix"`
	// AtLeast is another attribute: the number must not be less than that one.
	AtLeast string `mapstructure:"at_least"`
	Present bool   `mapstructure:"present"`
	Absent  bool   `mapstructure:"absent"`
	// Failed is the one test that needs no attribute: the span's status is an error.
	Failed bool `mapstructure:"failed"`

	_ struct{}
}

// The values of RecognizerConfig.Signal.
const (
	SignalLogRecord = "log_record"
	SignalSpan      = "span"
	SignalSpanEvent = "span_event"
)

var signalForms = map[string]signal.Form{
	SignalLogRecord: signal.LogRecord, SignalSpan: signal.Span, SignalSpanEvent: signal.SpanEvent,
}

// rowKinds are what a row can tell. Decisions need digests, which no runtime
// emits by itself.
var rowKinds = []boundary.Kind{boundary.Completion, boundary.Activity, boundary.SessionStart, boundary.SessionEnd}

// row translates a valid recogniser.
func (r *RecognizerConfig) row() signal.Row {
	out := signal.Row{
		Runtime: r.Runtime, Form: signalForms[r.Signal], Name: r.Name, Scope: r.Scope,
		When: conditions(r.When), Trigger: r.Trigger, TokensBefore: r.TokensBefore, TokensAfter: r.TokensAfter,
		Sessions: r.Sessions, Agents: r.Agents, Writes: conditions(r.Writes),
	}
	for key, value := range r.Resource {
		out.Resource = append(out.Resource, signal.Condition{Attribute: key, Want: []string{value}})
	}
	for _, kind := range rowKinds {
		if kind.String() == r.Kind {
			out.Kind = kind
		}
	}
	for _, o := range r.Outcomes {
		for _, outcome := range boundary.Outcomes {
			if outcome.String() == o.Outcome {
				out.Outcomes = append(out.Outcomes, signal.OutcomeRule{Outcome: outcome, When: conditions(o.When)})
			}
		}
	}
	return out
}

func conditions(configs []ConditionConfig) []signal.Condition {
	out := make([]signal.Condition, len(configs))
	for i := range configs {
		out[i], _ = configs[i].condition()
	}
	return out
}

// condition translates a condition, and counts the tests that are set.
func (c *ConditionConfig) condition() (out signal.Condition, tests int) {
	out.Attribute = c.Attribute
	for _, test := range []struct {
		set  bool
		test signal.Test
		want []string
	}{
		{len(c.Equals) > 0, signal.Equals, c.Equals},
		{len(c.Prefix) > 0, signal.HasPrefix, c.Prefix},
		{c.AtLeast != "", signal.AtLeast, []string{c.AtLeast}},
		{c.Present, signal.Present, nil},
		{c.Absent, signal.Absent, nil},
		{c.Failed, signal.Failed, nil},
	} {
		if test.set {
			out.Test, out.Want = test.test, test.want
			tests++
		}
	}
	return out, tests
}

func (cfg *Config) validateRecognizers(f *faults) {
	for i := range cfg.Recognizers {
		r, key := &cfg.Recognizers[i], fmt.Sprintf("recognizers[%d]", i)
		if strings.TrimSpace(r.Runtime) == "" {
			f.add(key+"::runtime", r.Runtime, "name the agent's runtime, as it is to stand in continuity.runtime")
		}
		f.oneOf(key+"::signal", r.Signal, SignalLogRecord, SignalSpan, SignalSpanEvent)
		var kinds []string
		for _, kind := range rowKinds {
			kinds = append(kinds, kind.String())
		}
		f.oneOf(key+"::kind", r.Kind, kinds...)
		if r.Name == "" && len(r.When) == 0 {
			f.add(key+"::name", r.Name, "name the signal, or say by `when` which of all signals is meant")
		}
		if strings.Contains(strings.TrimSuffix(r.Name, " *"), "*") || r.Name == " *" {
			f.add(key+"::name", r.Name, `a * can only follow a whole first word, as in "compact *"`)
		}
		f.texts(key+"::sessions", r.Sessions)
		f.texts(key+"::agents", r.Agents)
		f.conditions(key+"::when", r.When)
		f.conditions(key+"::writes", r.Writes)
		f.onlyFor(key+"::outcomes", r.Kind, boundary.Completion, len(r.Outcomes) > 0)
		f.onlyFor(key+"::writes", r.Kind, boundary.Activity, len(r.Writes) > 0)
		for n := range r.Outcomes {
			at := fmt.Sprintf("%s::outcomes[%d]", key, n)
			var outcomes []string
			for _, outcome := range boundary.Outcomes {
				outcomes = append(outcomes, outcome.String())
			}
			f.oneOf(at+"::outcome", r.Outcomes[n].Outcome, outcomes...)
			f.conditions(at+"::when", r.Outcomes[n].When)
		}
	}
}

func (f *faults) onlyFor(key, kind string, of boundary.Kind, set bool) {
	if set && kind != of.String() && slices.ContainsFunc(rowKinds, func(k boundary.Kind) bool { return k.String() == kind }) {
		f.add(key, kind, "only a row of kind "+of.String()+" has it")
	}
}

func (f *faults) conditions(key string, all []ConditionConfig) {
	for i := range all {
		at := fmt.Sprintf("%s[%d]", key, i)
		if _, tests := all[i].condition(); tests != 1 {
			f.add(at, tests, "set one of equals, prefix, at_least, present, absent, failed")
		}
		if (all[i].Attribute == "") != all[i].Failed {
			f.add(at+"::attribute", all[i].Attribute, "name the attribute that is tested; only failed needs none")
		}
	}
}
