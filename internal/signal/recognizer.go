package signal

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// recognizer is one row: one signal of one runtime.
type recognizer struct {
	// runtime is the value of continuity.runtime that the row stands for.
	runtime string
	// form is what carries the signal, name its name: of the span event or span,
	// or what names the record.
	form Form
	name string
	// scope and service must equal the name of the instrumentation scope and
	// service.name where they are not empty. Names that do not carry their
	// product's name need one of them.
	scope, service string
	// when must all hold besides; none is always true.
	when []condition
	// kind is what the signal tells.
	kind boundary.Kind
	// outcomes (completions): the first whose conditions all hold; none that
	// does is boundary.UnknownOutcome.
	outcomes []outcomeRule
	// trigger is the attribute that says why; values other than auto and manual
	// are passed on as other.
	trigger string
	// sessions are the attributes that hold the session id, best first. The
	// configured ones come after them.
	sessions []string
}

// Runtimes lists the runtimes whose own telemetry is recognised.
func Runtimes() []string {
	var out []string
	for _, row := range recognizers {
		if !slices.Contains(out, row.runtime) {
			out = append(out, row.runtime)
		}
	}
	return out
}

type outcomeRule struct {
	outcome boundary.Outcome
	when    []condition
}

// condition is a test of one attribute. One that is absent fails all of them,
// and so does one that is there twice unless both pass.
type condition struct {
	attribute string
	test      func(text, want string) bool
	want      string
}

// is holds for this text in any case of letters, a boolean or an integer of the
// same text.
func is(attribute, want string) condition { return condition{attribute, strings.EqualFold, want} }

// startsWith holds for text that begins so.
func startsWith(attribute, want string) condition {
	return condition{attribute, strings.HasPrefix, want}
}

func (c *condition) holds(attrs pcommon.Map) bool {
	present, failed := false, false
	for key, value := range attrs.All() {
		if key != c.attribute {
			continue
		}
		present = true
		text, ok := asScalar(value)
		failed = failed || !ok || !c.test(strings.TrimSpace(text), c.want)
	}
	return present && !failed
}

func allHold(conditions []condition, attrs pcommon.Map) bool {
	for i := range conditions {
		if !conditions[i].holds(attrs) {
			return false
		}
	}
	return true
}

func (row *recognizer) matches(attrs pcommon.Map, at *around) bool {
	if row.scope != "" && row.scope != at.scope.Name() {
		return false
	}
	if row.service != "" {
		name, ok := at.resource.Get("service.name")
		if !ok || name.Type() != pcommon.ValueTypeStr || name.Str() != row.service {
			return false
		}
	}
	return allHold(row.when, attrs)
}

func (row *recognizer) outcome(attrs pcommon.Map) boundary.Outcome {
	for _, rule := range row.outcomes {
		if allHold(rule.when, attrs) {
			return rule.outcome
		}
	}
	return boundary.UnknownOutcome
}

// prefer returns the row with the configured session attributes after its own.
func (row *recognizer) prefer(configured []string) *recognizer {
	r := *row
	r.sessions = slices.Clone(row.sessions)
	for _, key := range configured {
		if !slices.Contains(r.sessions, key) {
			r.sessions = append(r.sessions, key)
		}
	}
	return &r
}
