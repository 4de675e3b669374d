package signal

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// Row is one recogniser: one signal of one runtime, and what it tells.
type Row struct {
	// Runtime is the value of continuity.runtime that the row stands for.
	Runtime string
	// Form is what carries the signal, Name its name: of the span event or span,
	// or what names the record. A name that ends in " *" is a first word that
	// anything may follow. "" is every name; such a row needs conditions, and costs
	// every span or record a look at them.
	Form Form
	Name string
	// Scope must equal the name of the instrumentation scope where it is not empty,
	// and Resource must hold for the resource. Names that do not carry their
	// product's name need one of them.
	Scope    string
	Resource []Condition
	// When must all hold besides; none is always true.
	When []Condition
	// Kind is what the signal tells.
	Kind boundary.Kind
	// Outcomes (completions): the first whose conditions all hold; none that does
	// is boundary.UnknownOutcome.
	Outcomes []OutcomeRule
	// Trigger is the attribute that says why; values other than auto and manual are
	// passed on as other. TokensBefore and TokensAfter say how large the context was.
	Trigger                   string
	TokensBefore, TokensAfter string
	// Sessions and Agents are the attributes that hold the ids, best first. The
	// configured ones come after them.
	Sessions, Agents []string
	// Writes (activity): the signal is one that changes something where all of them
	// hold, as an edit, a shell command or a push; none is never.
	Writes []Condition
	// Off: the row counts only where its runtime is switched on by name.
	Off bool
}

// OutcomeRule is how a compaction ended where all conditions hold.
type OutcomeRule struct {
	Outcome boundary.Outcome
	When    []Condition
}

// anything ends the name of a row that stands for all names of that first word.
const anything = " *"

// Runtimes lists the runtimes whose own telemetry is recognised.
func Runtimes() []string {
	var out []string
	for i := range recognizers {
		if !slices.Contains(out, recognizers[i].Runtime) {
			out = append(out, recognizers[i].Runtime)
		}
	}
	return out
}

// OffByDefault reports whether a runtime's own telemetry must be switched on.
func OffByDefault(runtime string) bool {
	return slices.ContainsFunc(recognizers, func(r Row) bool { return r.Runtime == runtime && r.Off })
}

// subject is what conditions look at.
type subject struct {
	attrs pcommon.Map
	// failed is set for a span whose status is an error.
	failed bool
}

func (row *Row) matches(s *subject, at *around) bool {
	if row.Scope != "" && row.Scope != at.scope.Name() {
		return false
	}
	return allHold(row.Resource, &subject{attrs: at.resource}) && allHold(row.When, s)
}

func (row *Row) outcome(s *subject) boundary.Outcome {
	for i := range row.Outcomes {
		if allHold(row.Outcomes[i].When, s) {
			return row.Outcomes[i].Outcome
		}
	}
	return boundary.UnknownOutcome
}

func (row *Row) writes(s *subject) bool { return len(row.Writes) > 0 && allHold(row.Writes, s) }

// prefer returns the row with the configured attributes after its own.
func (row *Row) prefer(sessions, agents []string) *Row {
	r := *row
	r.Sessions = merged(row.Sessions, sessions)
	r.Agents = merged(row.Agents, agents)
	return &r
}

func merged(own, configured []string) []string {
	all := slices.Clone(own)
	for _, key := range configured {
		if !slices.Contains(all, key) {
			all = append(all, key)
		}
	}
	return all
}
