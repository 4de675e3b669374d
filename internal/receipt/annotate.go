package receipt

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// Strip removes every attribute that only Continuity may write, however often
// it is there, so that no sender's text can pass as a verdict. It is called for
// each recognised event and for the span or record around it, once the event was
// read and before anything of the request is annotated: a span may hold several
// events, and what one of them was told must not be lost to the next.
func Strip(event, enclosing pcommon.Map) {
	strip(event)
	if enclosing != event {
		strip(enclosing)
	}
}

func strip(m pcommon.Map) {
	m.RemoveIf(func(key string, _ pcommon.Value) bool { return reserved(key) })
}

// reservedNames are the attributes of annotations, receipts and alerts that are
// no input at the same time (continuity.boundary.id is).
var reservedNames = map[string]struct{}{
	semconv.State: {}, semconv.BoundaryState: {}, semconv.Reason: {}, semconv.Action: {}, semconv.Actions: {},
	semconv.Revision: {}, semconv.RequiresReauthorization: {}, semconv.Late: {}, semconv.SupersededCount: {},
	semconv.Window: {}, semconv.Coverage: {}, semconv.ApprovalSigned: {},
}

var reservedPrefixes = []string{
	semconv.InvariantState, semconv.InvariantReason,
	"continuity.invariants.", "continuity.validation.", "continuity.alert.",
}

func reserved(key string) bool {
	if !strings.HasPrefix(key, "continuity.") {
		return false
	}
	if _, is := reservedNames[key]; is {
		return true
	}
	return slices.ContainsFunc(reservedPrefixes, func(p string) bool { return strings.HasPrefix(key, p) })
}

// Annotate writes what is known beside a recognised event that was stripped. For
// a log record both maps are the record's own. Where several events share a
// span, the span keeps the worst of what they were told.
func Annotate(event, enclosing pcommon.Map, a boundary.Annotation) {
	switch {
	case a.Verdict != nil:
		putVerdict(event, a.Verdict)
		if enclosing != event {
			putSummary(enclosing, summaryOf(a.Verdict))
		}
	case a.Reason != "":
		s := summary{
			state: classify.Unverified, boundary: classify.Unverified, action: classify.Reobserve, boundaryID: a.BoundaryID,
		}
		s.put(event)
		putText(event, semconv.Reason, string(a.Reason))
		putTexts(event, semconv.Actions, []string{classify.Reobserve.String()})
		if enclosing != event {
			putSummary(enclosing, s)
		}
	case a.BoundaryID != "":
		replace(event, semconv.BoundaryID, a.BoundaryID)
	}
}

// MarkSession writes the state of its session on a span or record, and removes
// what the sender wrote there in its place. Without a state it only removes.
func MarkSession(attributes pcommon.Map, state classify.State) {
	found, n := pcommon.Value{}, 0
	for key, value := range attributes.All() {
		if key == semconv.State {
			found, n = value, n+1
		}
	}
	switch {
	case n == 0 && state == classify.NoState:
	case n == 0:
		attributes.PutStr(semconv.State, state.String())
	case n == 1 && state != classify.NoState:
		found.SetStr(state.String())
	default:
		removeAll(attributes, semconv.State)
		putText(attributes, semconv.State, state.String())
	}
}

// summary is what the span or record around an event is told.
type summary struct {
	state, boundary classify.State
	action          classify.Action
	boundaryID      string
}

func summaryOf(v *boundary.Verdict) summary {
	return summary{state: v.State, boundary: v.Boundary, action: firstAction(v), boundaryID: v.BoundaryID}
}

func (s summary) put(m pcommon.Map) {
	putText(m, semconv.State, s.state.String())
	putText(m, semconv.BoundaryState, s.boundary.String())
	putText(m, semconv.Action, s.action.String())
	if s.boundaryID != "" {
		replace(m, semconv.BoundaryID, s.boundaryID)
	}
}

// putSummary leaves what an earlier event of the request was told where that is
// worse. The mark of a session alone has no state of a boundary and gives way.
func putSummary(m pcommon.Map, s summary) {
	if was := rank(m, semconv.BoundaryState); was != classify.NoState {
		state := rank(m, semconv.State)
		if state > s.state || state == s.state && was > s.boundary {
			return
		}
	}
	s.put(m)
}

func rank(m pcommon.Map, key string) classify.State {
	v, ok := m.Get(key)
	if !ok {
		return classify.NoState
	}
	for _, s := range classify.States {
		if s.String() == v.Str() {
			return s
		}
	}
	return classify.NoState
}

func firstAction(v *boundary.Verdict) classify.Action {
	if len(v.Actions) == 0 {
		return classify.NoAction
	}
	return v.Actions[0]
}

// replace sets a key that the sender may have set, once or several times.
func replace(m pcommon.Map, key, value string) {
	removeAll(m, key)
	putText(m, key, value)
}

func removeAll(m pcommon.Map, key string) {
	m.RemoveIf(func(k string, _ pcommon.Value) bool { return k == key })
}
