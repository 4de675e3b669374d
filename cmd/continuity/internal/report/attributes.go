package report

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// What a file says is shown as it stands, also where no processor would write it:
// to check it is the work of `continuity verify`.

func shown(attrs pcommon.Map, key string) string { return Show(text(attrs, key)) }

// label is a text or a number.
func label(attrs pcommon.Map, key string) string {
	v, ok := attrs.Get(key)
	if !ok {
		return ""
	}
	return Show(v.AsString())
}

func number(attrs pcommon.Map, key string) int64 {
	v, ok := attrs.Get(key)
	if !ok || v.Type() != pcommon.ValueTypeInt {
		return 0
	}
	return v.Int()
}

func seconds(attrs pcommon.Map, key string) float64 {
	v, ok := attrs.Get(key)
	switch {
	case ok && v.Type() == pcommon.ValueTypeInt:
		return max(0, float64(v.Int()))
	case ok && v.Type() == pcommon.ValueTypeDouble && v.Double() > 0 && v.Double() < 1e12:
		return v.Double()
	}
	return 0
}

func truth(attrs pcommon.Map, key string) (value, stated bool) {
	v, ok := attrs.Get(key)
	if !ok || v.Type() != pcommon.ValueTypeBool {
		return false, false
	}
	return v.Bool(), true
}

func list(attrs pcommon.Map, key string) []string {
	v, ok := attrs.Get(key)
	if !ok || v.Type() != pcommon.ValueTypeSlice {
		return nil
	}
	var out []string
	for _, item := range v.Slice().All() {
		out = append(out, Show(item.AsString()))
	}
	return out
}

// stateOf is the place of a state in [classify.States]; -1 is none that is known.
func stateOf(s string) int {
	return slices.IndexFunc(classify.States, func(known classify.State) bool { return known.String() == s })
}

// findingsOf are those of a receipt, by authority.
func findingsOf(attrs pcommon.Map) []Finding {
	var out []Finding
	for key, v := range attrs.All() {
		name, is := strings.CutPrefix(key, semconv.InvariantState)
		if !is || v.Type() != pcommon.ValueTypeStr {
			continue
		}
		out = append(out, Finding{
			Name: Show(name), State: stateOf(v.Str()), Reason: shown(attrs, semconv.InvariantReason+name),
			Source: shown(attrs, semconv.InvariantSource+name), Ref: label(attrs, semconv.InvariantApprovalRef+name),
			Revision: label(attrs, semconv.InvariantRevision+name), Choices: number(attrs, semconv.InvariantChoices+name),
		})
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return classify.CompareNames(a.Name, b.Name) })
	return out
}

func validationOf(attrs pcommon.Map) *Validation {
	status := shown(attrs, semconv.ValidationStatus)
	if status == "" {
		return nil
	}
	return &Validation{status, shown(attrs, semconv.ValidationReason), list(attrs, semconv.ValidationFindings)}
}

func alertOf(attrs pcommon.Map) Alert {
	return Alert{
		Kind: shown(attrs, semconv.AlertKind), Status: shown(attrs, semconv.AlertStatus), Invariants: list(attrs, semconv.AlertInvariants),
		Since: shown(attrs, semconv.AlertSince), Fingerprint: shown(attrs, semconv.AlertFingerprint),
	}
}

func alertsOf(span ptrace.Span) (out []Alert) {
	for _, e := range span.Events().All() {
		if e.Name() == semconv.EventAlert {
			out = append(out, alertOf(e.Attributes()))
		}
	}
	return out
}

// revisionOf is a receipt as the page shows it, with its times as they are.
func (g *given) revisionOf(intern func(Finding) int) *Revision {
	m := g.attrs
	r := &Revision{
		Number: number(m, semconv.Revision), At: g.at, Opened: g.opened,
		State: stateOf(text(m, semconv.State)), Boundary: stateOf(text(m, semconv.BoundaryState)),
		Reason: shown(m, semconv.Reason), Actions: slices.Concat([]string{}, list(m, semconv.Actions)), Window: seconds(m, semconv.Window),
		Coverage: shown(m, semconv.Coverage), Trigger: shown(m, semconv.CompactionTrigger), Outcome: shown(m, semconv.CompactionOutcome),
		Before: number(m, semconv.TokensBefore), After: number(m, semconv.TokensAfter), Writes: number(m, semconv.WritesBefore),
		Superseded: number(m, semconv.SupersededCount), Activity: shown(m, semconv.ActivityState), Changed: list(m, semconv.InvariantsChangedSince),
		Validation: validationOf(m), Alerts: g.alerts, Form: g.form, Foreign: g.foreign,
	}
	for _, f := range findingsOf(m) {
		r.Findings = append(r.Findings, intern(f))
	}
	if action := shown(m, semconv.Action); len(r.Actions) == 0 && action != "" {
		r.Actions = []string{action}
	}
	r.Late, _ = truth(m, semconv.Late)
	if signed, stated := truth(m, semconv.ApprovalSigned); stated {
		r.Signed = &signed
	}
	if !g.trace.IsEmpty() {
		r.Trace = g.trace.String()
	}
	if !g.span.IsEmpty() {
		r.Span = g.span.String()
	}
	return r
}
