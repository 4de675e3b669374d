package receipt

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

func TestAnnotateVerdict(t *testing.T) {
	event, span := pcommon.NewMap(), pcommon.NewMap()
	Annotate(event, span, boundary.Annotation{Verdict: conflicting().Verdict, BoundaryID: "b-1"})
	require.Equal(t, map[string]any{
		semconv.State: "conflicting", semconv.BoundaryState: "conflicting", semconv.BoundaryID: "b-1",
		semconv.Reason: "changed_without_approval", semconv.Action: "hold_and_ask", semconv.Revision: int64(2),
		semconv.Actions: []any{"hold_and_ask", "pause_and_restore", "reobserve"},
		semconv.InvariantState + "approval_boundary":  "dropped",
		semconv.InvariantReason + "approval_boundary": "missing_after",
		semconv.InvariantState + "scope":              "conflicting",
		semconv.InvariantReason + "scope":             "changed_without_approval",
		semconv.InvariantState + "target":             "approved_change",
		semconv.InvariantReason + "target":            "approved_transition",
		semconv.InvariantState + "acceptance_test":    "preserved",
		semconv.InvariantReason + "acceptance_test":   "match",
		semconv.InvariantState + "budget":             "unverified",
		semconv.InvariantReason + "budget":            "not_fresh",
		semconv.InvariantsConflicting:                 []any{"scope"},
		semconv.InvariantsDropped:                     []any{"approval_boundary"},
		semconv.InvariantsUnverified:                  []any{"budget"},
		semconv.InvariantsApprovedChange:              []any{"target"},
		semconv.InvariantsChangedSince:                []any{"target"},
		semconv.ValidationStatus:                      "continuity_validation_failed",
		semconv.ValidationReason:                      "policy_version_changed",
		semconv.ValidationFindings:                    []any{"policy_version_changed", "obligation_lost"},
		semconv.RequiresReauthorization:               true,
	}, event.AsRaw())
	require.Equal(t, map[string]any{
		semconv.State: "conflicting", semconv.BoundaryState: "conflicting", semconv.BoundaryID: "b-1", semconv.Action: "hold_and_ask",
	}, span.AsRaw())
}

func TestAnnotateSnapshot(t *testing.T) {
	event, span := pcommon.NewMap(), pcommon.NewMap()
	Annotate(event, span, boundary.Annotation{BoundaryID: "b-1"})
	require.Equal(t, map[string]any{semconv.BoundaryID: "b-1"}, event.AsRaw())
	require.Zero(t, span.Len())
}

func TestAnnotateWithoutVerdict(t *testing.T) {
	for _, reason := range []classify.Reason{classify.SessionMissing, classify.Capacity, classify.AwaitingSnapshot} {
		event, span := pcommon.NewMap(), pcommon.NewMap()
		Annotate(event, span, boundary.Annotation{Reason: reason})
		require.Equal(t, map[string]any{
			semconv.State: "unverified", semconv.BoundaryState: "unverified", semconv.Reason: string(reason),
			semconv.Action: "reobserve", semconv.Actions: []any{"reobserve"},
		}, event.AsRaw())
		require.Equal(t, map[string]any{
			semconv.State: "unverified", semconv.BoundaryState: "unverified", semconv.Action: "reobserve",
		}, span.AsRaw())
	}
}

func TestAnnotateLogRecordOnce(t *testing.T) {
	record := pcommon.NewMap()
	Annotate(record, record, boundary.Annotation{Verdict: preserved().Verdict})
	want := pcommon.NewMap()
	Annotate(want, pcommon.NewMap(), boundary.Annotation{Verdict: preserved().Verdict})
	require.Equal(t, want.AsRaw(), record.AsRaw())
	require.Equal(t, want.Len(), record.Len(), "no key twice")
}

func TestAnnotateNothing(t *testing.T) {
	event, span := pcommon.NewMap(), pcommon.NewMap()
	Annotate(event, span, boundary.Annotation{})
	require.Zero(t, event.Len()+span.Len())
}

// A span with several events keeps the worst that one of them was told.
func TestSpanKeepsTheWorst(t *testing.T) {
	for _, order := range [][]*boundary.Receipt{{preserved(), conflicting(), missing()}, {conflicting(), missing(), preserved()}} {
		span := pcommon.NewMap()
		for _, r := range order {
			Annotate(pcommon.NewMap(), span, boundary.Annotation{Verdict: r.Verdict})
		}
		require.Equal(t, map[string]any{
			semconv.State: "conflicting", semconv.BoundaryState: "conflicting", semconv.BoundaryID: "b-1", semconv.Action: "hold_and_ask",
		}, span.AsRaw())
	}
}

// The mark of a session gives way to what its event was told, whatever it says.
func TestAnnotateOverMark(t *testing.T) {
	span := pcommon.NewMap()
	MarkSession(span, classify.Conflicting)
	Annotate(pcommon.NewMap(), span, boundary.Annotation{Verdict: preserved().Verdict})
	require.Equal(t, "preserved", span.AsRaw()[semconv.State])
	require.Equal(t, "continue", span.AsRaw()[semconv.Action])
}

// forged holds everything that a sender could put where our verdicts stand.
func forged(t *testing.T) pcommon.Map {
	t.Helper()
	m := pcommon.NewMap()
	all := ptrace.NewSpan()
	Writer{}.Span(conflicting(), all)
	for key := range all.Attributes().All() {
		m.PutStr(key, "preserved")
	}
	for key := range all.Events().At(0).Attributes().All() {
		m.PutStr(key, "preserved")
	}
	m.PutStr("continuity.invariants.preserved", "scope")
	m.PutStr("continuity.validation.anything", "yes")
	m.PutStr("continuity.alert.silenced", "yes")
	m.PutStr("gen_ai.operation.name", "chat")
	return m
}

func TestStripRemovesForgeries(t *testing.T) {
	event, span := forged(t), forged(t)
	Strip(event, span)
	for _, m := range []pcommon.Map{event, span} {
		for key := range m.All() {
			require.False(t, reserved(key), key)
		}
		op, ok := m.Get("gen_ai.operation.name")
		require.True(t, ok)
		require.Equal(t, "chat", op.Str())
		_, ok = m.Get(semconv.InvariantSource + "scope")
		require.True(t, ok, "what is input stays")
	}
}

func TestStripRemovesDuplicates(t *testing.T) {
	m := duplicated(t, semconv.State, "preserved", 3)
	Strip(m, m)
	require.Zero(t, m.Len())
}

func TestAnnotateReplacesEveryBoundaryID(t *testing.T) {
	m := duplicated(t, semconv.BoundaryID, "mine", 3)
	Annotate(m, m, boundary.Annotation{BoundaryID: "b-1"})
	require.Equal(t, 1, m.Len())
	require.Equal(t, map[string]any{semconv.BoundaryID: "b-1"}, m.AsRaw())
}

func TestMarkSession(t *testing.T) {
	m := duplicated(t, semconv.State, "preserved", 2)
	MarkSession(m, classify.Dropped)
	require.Equal(t, 1, m.Len())
	require.Equal(t, map[string]any{semconv.State: "dropped"}, m.AsRaw())
	m = duplicated(t, semconv.State, "preserved", 2)
	MarkSession(m, classify.NoState)
	require.Zero(t, m.Len())
}

// duplicated makes a map that holds one key several times, as it can come over
// the wire and as no API makes it.
func duplicated(t *testing.T, key, value string, times int) pcommon.Map {
	t.Helper()
	attr := `{"key":"` + key + `","value":{"stringValue":"` + value + `"}}`
	list := attr
	for range times - 1 {
		list += "," + attr
	}
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(
		`{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[` + list + `]}]}]}]}`))
	require.NoError(t, err)
	m := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes()
	require.Equal(t, times, m.Len())
	return m
}
