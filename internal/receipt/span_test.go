package receipt

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

func spanOf(w Writer, r *boundary.Receipt) ptrace.Span {
	span := ptrace.NewSpan()
	w.Span(r, span)
	return span
}

func recordOf(r *boundary.Receipt) plog.LogRecord {
	record := plog.NewLogRecord()
	Record(r, record)
	return record
}

func TestReceiptStandsInTheAgentsTrace(t *testing.T) {
	span := spanOf(Writer{}, conflicting())
	require.Equal(t, pcommon.TraceID(completionSpan.TraceID), span.TraceID())
	require.Equal(t, pcommon.SpanID(completionSpan.SpanID), span.ParentSpanID())
	require.Equal(t, ptrace.SpanKindInternal, span.Kind())
	require.Equal(t, ptrace.StatusCodeUnset, span.Status().Code())
	require.Equal(t, opened, span.StartTimestamp().AsTime())
	require.Equal(t, decided, span.EndTimestamp().AsTime())
	require.Equal(t, 2, span.Links().Len(), "neither the parent nor nowhere")
	require.Equal(t, pcommon.SpanID(snapshotSpan.SpanID), span.Links().At(0).SpanID())
	require.Equal(t, pcommon.SpanID(observationSpan.SpanID), span.Links().At(1).SpanID())
}

func TestReceiptWithoutTraceGetsOne(t *testing.T) {
	first, second := preserved(), preserved()
	second.Verdict = &boundary.Verdict{BoundaryID: "b-2", Revision: 2}
	a, b := spanOf(Writer{}, first), spanOf(Writer{}, second)
	require.False(t, a.TraceID().IsEmpty())
	require.True(t, a.ParentSpanID().IsEmpty())
	require.Equal(t, a.TraceID(), b.TraceID(), "revisions of a boundary share a trace")
	require.NotEqual(t, a.SpanID(), b.SpanID())
}

func TestIdsAreStableAndDistinct(t *testing.T) {
	seen := map[pcommon.SpanID]string{}
	for name, change := range map[string]func(*boundary.Receipt){
		"as it is": func(*boundary.Receipt) {},
		"boundary": func(r *boundary.Receipt) { r.BoundaryID = "b-9" },
		"revision": func(r *boundary.Receipt) { r.Revision = 9 },
		"session":  func(r *boundary.Receipt) { r.Key.Session = "other" },
		"scope":    func(r *boundary.Receipt) { r.Key.Scope = "other" },
		"agent":    func(r *boundary.Receipt) { r.Key.Agent = "other" },
		"framing":  func(r *boundary.Receipt) { r.Key.Session, r.Key.Agent = "s-1s", "ub" },
	} {
		r := conflicting()
		change(r)
		id := spanOf(Writer{}, r).SpanID()
		require.Empty(t, seen[id], name)
		seen[id] = name
		require.Equal(t, id, spanOf(Writer{}, r).SpanID())
		require.Equal(t, id, recordOf(r).SpanID(), "the log record stands at the same place")
		require.Equal(t, spanOf(Writer{}, r).TraceID(), recordOf(r).TraceID())
	}
}

func TestNothingReceivedBeforeTheDecision(t *testing.T) {
	for _, start := range []time.Time{{}, decided.Add(time.Hour)} {
		r := preserved()
		r.Start = start
		span := spanOf(Writer{}, r)
		require.Equal(t, span.EndTimestamp(), span.StartTimestamp())
	}
}

func TestErrorStatusIsForFiringAlertsOnly(t *testing.T) {
	w := Writer{ErrorStatus: true}
	require.Equal(t, ptrace.StatusCodeError, spanOf(w, missing()).Status().Code())
	require.NotEmpty(t, spanOf(w, missing()).Status().Message())
	require.Equal(t, ptrace.StatusCodeUnset, spanOf(w, closed()).Status().Code())
	require.Equal(t, ptrace.StatusCodeUnset, spanOf(w, preserved()).Status().Code())
}

func TestWhatIsNotTrueIsNotThere(t *testing.T) {
	attrs := spanOf(Writer{}, preserved()).Attributes().AsRaw()
	for _, key := range []string{
		semconv.Late, semconv.SupersededCount, semconv.ApprovalSigned, semconv.CompactionOutcome, semconv.CompactionTrigger,
		semconv.Runtime, semconv.ActivityState, semconv.ValidationStatus, semconv.RequiresReauthorization,
		semconv.InvariantsConflicting, semconv.InvariantsUnverified, semconv.InvariantsChangedSince,
		semconv.InvariantChoices + "scope", semconv.InvariantRevision + "scope", semconv.InvariantApprovalRef + "scope",
	} {
		require.NotContains(t, attrs, key)
	}
	require.Equal(t, int64(900), attrs[semconv.Window], "whole seconds are an int")
	require.InEpsilon(t, 2.5, spanOf(Writer{}, conflicting()).Attributes().AsRaw()[semconv.Window], 1e-9)
}

func TestAlertSeverity(t *testing.T) {
	for _, kind := range boundary.AlertKinds {
		for _, status := range boundary.AlertStatuses {
			record := plog.NewLogRecord()
			AlertRecord(missing(), boundary.Alert{Kind: kind, Status: status}, record)
			want := plog.SeverityNumberInfo
			if status == boundary.Firing {
				want = plog.SeverityNumber(kind.Severity())
			}
			require.Equal(t, want, record.SeverityNumber(), "%s %s", kind, status)
			require.Equal(t, semconv.EventAlert, record.EventName())
			require.NotContains(t, record.Attributes().AsRaw(), semconv.AlertSince, "no time is not the year 1")
			require.Regexp(t, `^Session s-2: .+\.$`, record.Body().Str())
		}
	}
}

func TestEverySentence(t *testing.T) {
	for _, state := range append([]classify.State{classify.NoState}, classify.States...) {
		r := conflicting()
		r.Boundary = state
		require.Regexp(t, `^Compaction of session s-1: [^.]+\.$`, sentence(r))
	}
	require.Equal(t, "Compaction of session s-1: a decision conflicts with the one before (changed_without_approval: scope); hold and ask.",
		sentence(conflicting()))
	laundered := preserved()
	laundered.Verdict.State, laundered.Verdict.Actions = classify.Dropped, []classify.Action{classify.PauseAndRestore}
	require.Equal(t, "Compaction of session s-2: every decision was shown again unchanged (match), and the session is still dropped; pause and restore.",
		sentence(laundered))
	require.Equal(t, "Compaction of session s-2: every decision was shown again unchanged (match); continue.", sentence(preserved()))
}

func TestHostileText(t *testing.T) {
	long := strings.Repeat("ä", 4000)
	for _, text := range []string{long, "x" + long, "\xff\xfe", strings.Repeat("\xff", 4000), "s\nWARN forged line\r\x00\u2028"} {
		require.True(t, utf8.ValidString(clean(text)))
		require.LessOrEqual(t, len(clean(text)), maxText)

		r := conflicting()
		r.Key.Session, r.Runtime, r.Trigger, r.Activity, r.BoundaryID = text, text, text, text, text
		r.Identity = []boundary.Attr{{Key: "session.id", Value: text}}
		r.Resource = []boundary.Attr{{Key: "service.name", Value: text}}
		r.Findings[0].ApprovalRef, r.Findings[0].Revision = text, text
		r.ChangedSince = []string{text}
		r.Alerts[0].Invariants = []string{text}

		td, ld := Writer{}.Traces([]*boundary.Receipt{r}), Writer{}.Logs([]*boundary.Receipt{r})
		span := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
		requireClean(t, td.ResourceSpans().At(0).Resource().Attributes())
		requireClean(t, span.Attributes())
		requireClean(t, span.Events().At(0).Attributes())
		for _, record := range ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().All() {
			requireClean(t, record.Attributes())
			require.True(t, utf8.ValidString(record.Body().Str()))
			require.LessOrEqual(t, len(record.Body().Str()), maxText)
			require.NotContains(t, record.Body().Str(), "\n")
		}
	}
}

func requireClean(t *testing.T, m pcommon.Map) {
	t.Helper()
	text := func(v pcommon.Value) {
		require.True(t, utf8.ValidString(v.Str()))
		require.LessOrEqual(t, len(v.Str()), maxText)
	}
	for _, v := range m.All() {
		switch v.Type() {
		case pcommon.ValueTypeStr:
			text(v)
		case pcommon.ValueTypeSlice:
			for _, item := range v.Slice().All() {
				text(item)
			}
		default:
		}
	}
}

// No text of ours may read as a permission.
func TestNothingIsGranted(t *testing.T) {
	var all strings.Builder
	for _, r := range []*boundary.Receipt{conflicting(), preserved(), missing(), closed()} {
		traces, err := (&ptrace.JSONMarshaler{}).MarshalTraces(Writer{}.Traces([]*boundary.Receipt{r}))
		require.NoError(t, err)
		logs, err := (&plog.JSONMarshaler{}).MarshalLogs(Writer{}.Logs([]*boundary.Receipt{r}))
		require.NoError(t, err)
		all.Write(traces)
		all.Write(logs)
	}
	text := strings.ToLower(strings.ReplaceAll(all.String(), semconv.RequiresReauthorization, ""))
	for _, word := range []string{"authoriz", "authoris", "allowed", "granted", "permit"} {
		require.NotContains(t, text, word)
	}
}

func TestGroupKeepsTheOrderOfASession(t *testing.T) {
	at := func(session, service string, revision int) *boundary.Receipt {
		return &boundary.Receipt{
			Verdict:  &boundary.Verdict{BoundaryID: session, Revision: revision},
			Key:      boundary.Key{SessionKey: boundary.SessionKey{Session: session}},
			Resource: []boundary.Attr{{Key: "service.name", Value: service}},
		}
	}
	groups := group([]*boundary.Receipt{
		at("s1", "a", 1), at("s2", "b", 1), at("s3", "a", 1), at("s1", "b", 2), at("s1", "a", 3), at("s2", "a", 2),
	})
	var got [][]string
	for _, g := range groups {
		var names []string
		for _, r := range g {
			names = append(names, r.BoundaryID+string(rune('0'+r.Revision)))
		}
		got = append(got, names)
	}
	require.Equal(t, [][]string{{"s11", "s31"}, {"s21", "s12"}, {"s13", "s22"}}, got)
}

func TestResourcesOfEqualTextAreNotEqual(t *testing.T) {
	require.NotEqual(t, appendResource(nil, []boundary.Attr{{Key: "a", Value: "1"}}), appendResource(nil, []boundary.Attr{{Key: "a", Value: int64(1)}}))
	require.NotEqual(t, appendResource(nil, []boundary.Attr{{Key: "a", Value: "b"}, {Key: "c", Value: ""}}), appendResource(nil, []boundary.Attr{{Key: "a", Value: "b1:c"}}))
}
