package continuity_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"pgregory.net/rapid"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
	"github.com/agentcontinuity/otelcol-continuity/internal/signal"
)

// What this package writes is what the processor reads: package signal reads every
// event here, as span event and as log record.

var noon = time.Date(2026, 11, 30, 12, 0, 0, 123, time.UTC)

func put(to pcommon.Map, from []attribute.KeyValue) {
	for _, a := range from {
		key := string(a.Key)
		switch a.Value.Type() {
		case attribute.STRING:
			to.PutStr(key, a.Value.AsString())
		case attribute.INT64:
			to.PutInt(key, a.Value.AsInt64())
		case attribute.BOOL:
			to.PutBool(key, a.Value.AsBool())
		case attribute.STRINGSLICE:
			list := to.PutEmptySlice(key)
			for _, text := range a.Value.AsStringSlice() {
				list.AppendEmpty().SetStr(text)
			}
		default:
			panic("no event has an attribute of type " + a.Value.Type().String())
		}
	}
}

// readAs reads an event the way the processor does, from either form.
func readAs(t require.TestingT, event continuity.Event, asRecord bool) signal.Item {
	attributes, err := event.Attributes()
	require.NoError(t, err)
	var items []signal.Item
	keep := func(i signal.Item) { items = append(items, i) }
	reader := signal.NewReader(signal.DefaultConfig())
	stamp := pcommon.NewTimestampFromTime(event.When())
	if asRecord {
		logs := plog.NewLogs()
		record := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		record.SetEventName(event.Name())
		record.SetTimestamp(stamp)
		put(record.Attributes(), attributes)
		reader.Logs(logs, nil, noon, keep)
	} else {
		traces := ptrace.NewTraces()
		span := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		e := span.Events().AppendEmpty()
		e.SetName(event.Name())
		e.SetTimestamp(stamp)
		put(e.Attributes(), attributes)
		reader.Traces(traces, nil, noon, keep)
	}
	require.Len(t, items, 1, "%s is recognised", event.Name())
	return items[0]
}

// read reads an event from both forms, which say the same.
func read(t require.TestingT, event continuity.Event) *boundary.Event {
	one, other := readAs(t, event, false), readAs(t, event, true)
	require.Empty(t, one.Reason)
	require.NotNil(t, one.Event)
	other.Event.Context = one.Event.Context
	require.Equal(t, one.Event, other.Event)
	return one.Event
}

func wantCommon(t require.TestingT, kind boundary.Kind, c continuity.Common, e *boundary.Event) {
	require.Equal(t, kind, e.Kind)
	require.Equal(t, boundary.Key{SessionKey: boundary.SessionKey{Scope: e.Key.Scope, Session: c.Session.ID}, Agent: c.Session.Agent}, e.Key)
	require.Equal(t, instant(c.Time), e.Time)
	require.Equal(t, c.Session.Runtime, e.Runtime)
	require.Equal(t, c.Activity, e.Activity)
	require.Equal(t, c.Trigger, e.Trigger)
	require.False(t, e.BadName || e.TooMany || e.Dropped)
}

func wantEnvelope(t require.TestingT, fields map[string]any, e *classify.Envelope) {
	if fields == nil {
		require.Nil(t, e)
		return
	}
	require.False(t, e.Malformed)
	require.Equal(t, fields["tenant_id"], e.Fields[slices.Index(classify.FieldNames[:], "tenant_id")])
	require.Equal(t, fields["budget_remaining"], e.Budget)
	require.True(t, e.HasBudget && e.HasReauthorization)
	require.Equal(t, fields["requires_reauthorization"], e.Reauthorization)
	require.Equal(t, fields["pending_obligations"], e.Lists[slices.Index(classify.ListFieldNames[:], "pending_obligations")])
}

// wantStatements compares what was read with the decisions. Those of a snapshot
// have no source, those of an observation no comparison.
func wantStatements(t require.TestingT, decisions []continuity.Decision, source continuity.Source, seen time.Time, e *boundary.Event) {
	require.Len(t, e.Statements, len(decisions))
	byName := map[string]boundary.Statement{}
	for _, s := range e.Statements {
		byName[s.Name] = s
	}
	keyed := false
	for _, d := range decisions {
		parsed, fault := digest.Parse(string(d.Digest))
		require.Equal(t, digest.OK, fault)
		keyed = keyed || parsed.Alg == digest.HMACSHA256
		want := boundary.Statement{Name: d.Name, Digest: parsed, ObservedAt: instant(d.ObservedAt), Revision: d.Revision, ApprovalRef: d.ApprovalRef}
		if d.ObservedAt.IsZero() {
			want.ObservedAt = instant(seen)
		}
		if e.Kind == boundary.Snapshot {
			want.Text, want.Optional = d.Prose, d.Optional
		} else {
			if d.Source != "" {
				source = d.Source
			}
			want.Source, want.Choices = classify.ParseSource(string(source)), int64(d.Choices)
		}
		require.Equal(t, want, byName[d.Name])
	}
	require.Equal(t, instant(seen), e.ObservedAt)
	if len(decisions) > 0 {
		require.Equal(t, continuity.Normalizer, e.Form.Normalizer)
	}
	if keyed {
		require.Equal(t, "k1", e.Form.KeyID)
	} else {
		require.Empty(t, e.Form.KeyID)
	}
}

func TestSnapshotIsReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := continuity.Snapshot{
			Common: anyCommon().Draw(t, "common"), Decisions: anyDecisions(rapid.Bool().Draw(t, "keyed")).Draw(t, "decisions"),
			Failed: rapid.Bool().Draw(t, "failed"), ObservedAt: anyTime().Draw(t, "observed"), Envelope: anyEnvelope().Draw(t, "envelope"),
		}
		e := read(t, s)
		wantCommon(t, boundary.Snapshot, s.Common, e)
		require.Equal(t, s.BoundaryID, e.BoundaryID)
		require.Equal(t, s.Failed, e.SnapshotFailed)
		wantStatements(t, s.Decisions, "", s.ObservedAt, e)
		wantEnvelope(t, s.Envelope, e.Envelope)
	})
}

func TestObservationIsReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := continuity.Observation{
			Common: anyCommon().Draw(t, "common"), Decisions: anyDecisions(rapid.Bool().Draw(t, "keyed")).Draw(t, "decisions"),
			Source: continuity.Agent, Partial: rapid.Bool().Draw(t, "partial"), ObservedAt: anyTime().Draw(t, "observed"), Envelope: anyEnvelope().Draw(t, "envelope"),
		}
		for i := range o.Decisions { // one source for all is what the model of wantStatements knows
			o.Decisions[i].Source = rapid.SampledFrom([]continuity.Source{continuity.Environment, continuity.Human, continuity.FromRecord}).Draw(t, "source")
		}
		e := read(t, o)
		wantCommon(t, boundary.Observation, o.Common, e)
		require.Equal(t, o.BoundaryID, e.BoundaryID)
		require.Equal(t, o.Partial, e.Partial)
		seen := o.ObservedAt
		if seen.IsZero() {
			seen = o.Time
		}
		wantStatements(t, o.Decisions, o.Source, seen, e)
		wantEnvelope(t, o.Envelope, e.Envelope)
	})
}

func TestCompletionIsReadAsWritten(t *testing.T) {
	sum := string(must(continuity.Digester{}.Text("a summary")))
	for outcome, want := range map[continuity.Outcome]boundary.Outcome{
		"": boundary.Completed, continuity.Completed: boundary.Completed, continuity.Unknown: boundary.UnknownOutcome,
		continuity.Failed: boundary.Failed, continuity.Cancelled: boundary.Cancelled, continuity.NoOp: boundary.NoOp,
	} {
		c := continuity.Completion{Common: continuity.Common{Session: continuity.Session{ID: "s1"}, Time: noon, BoundaryID: "b1"}, Outcome: outcome, SummarySHA256: sum, TokensBefore: 9, TokensAfter: 3}
		e := read(t, c)
		wantCommon(t, boundary.Completion, c.Common, e)
		require.Equal(t, want, e.Outcome)
		require.Equal(t, "b1", e.BoundaryID)
		require.Equal(t, sum, e.Envelope.Fields[classify.FieldSummarySHA256])
		require.Equal(t, []int64{9, 3}, []int64{e.TokensBefore, e.TokensAfter})
	}
}

func TestSessionStartAndEndAreReadAsWritten(t *testing.T) {
	common := continuity.Common{Session: continuity.Session{ID: "s2", Agent: "a1"}, Time: noon}
	start := read(t, continuity.SessionStart{Common: common, PreviousID: "s1"})
	wantCommon(t, boundary.SessionStart, common, start)
	require.Equal(t, "s1", start.Previous)
	wantCommon(t, boundary.SessionEnd, common, read(t, continuity.SessionEnd{Common: common}))
}

// TestInheritedSession: the id is where the processor looks next.
func TestInheritedSession(t *testing.T) {
	s := continuity.Snapshot{Common: continuity.Common{Session: continuity.Session{Inherit: true}}}
	require.Equal(t, classify.SessionMissing, readAs(t, s, false).Reason, "nothing around it has one")
}

// TestIDsThatNameNobodyAreRefused, exactly where the processor would see none.
func TestIDsThatNameNobodyAreRefused(t *testing.T) {
	samples := []string{"unknown", " NULL ", "undefined", "None", "n/a", "00000000-0000-0000-0000-000000000000", "00000000000000000000000000000000", " ", "\t", "s", "none!", "0", "00000000-0000-0000-0000-000000000001"}
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(rapid.SampledFrom(samples), rapid.StringN(1, 10, -1)).Draw(t, "id")
		event := continuity.SessionEnd{Common: continuity.Common{Session: continuity.Session{ID: id}}}
		_, err := event.Attributes()
		traces := ptrace.NewTraces()
		e := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().Events().AppendEmpty()
		e.SetName(event.Name())
		e.Attributes().PutStr("session.id", id)
		signal.NewReader(signal.DefaultConfig()).Traces(traces, nil, noon, func(i signal.Item) {
			require.Equal(t, i.Event == nil, err != nil, "%q", id)
		})
	})
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
