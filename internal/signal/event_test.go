package signal

import (
	"math"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

func TestDefaultNames(t *testing.T) {
	for name, kind := range map[string]boundary.Kind{
		"context_compaction": boundary.Snapshot, "continuity.snapshot": boundary.Snapshot,
		"context_rehydration": boundary.Observation, "continuity.observation": boundary.Observation,
		"continuity_validation_failed": boundary.ValidationFailure,
		"context_compaction_completed": boundary.Completion, "continuity.compaction": boundary.Completion,
		"continuity.approval": boundary.Approval, "session.end": boundary.SessionEnd, "session.start": boundary.SessionStart,
	} {
		inBothForms(t, func(t *testing.T, form Form) {
			item := readItem(t, form, telemetry{name: name})
			assert.Equal(t, kind, item.Kind)
			assert.Equal(t, kind, item.Event.Kind)
			assert.Equal(t, form, item.Form)
		})
	}
}

func TestConfiguredNames(t *testing.T) {
	cfg := DefaultConfig()
	cfg.Events = map[boundary.Kind][]string{
		boundary.Snapshot: {"pre.compact", ""}, boundary.Completion: {}, boundary.Observation: {"pre.compact", "post.compact"},
	}
	r := NewReader(cfg)
	for name, want := range map[string]boundary.Kind{
		"pre.compact": boundary.Snapshot, "post.compact": boundary.Observation, "session.end": boundary.SessionEnd,
		"context_compaction": boundary.NoKind, "continuity.compaction": boundary.NoKind, "": boundary.NoKind, "other": boundary.NoKind,
	} {
		inBothForms(t, func(t *testing.T, form Form) {
			x := telemetry{name: name, enclosing: []kv{session}}
			items := x.as(t, form).items(r)
			if want == boundary.NoKind {
				assert.Empty(t, items, name)
				return
			}
			require.Len(t, items, 1, name)
			assert.Equal(t, want, items[0].Kind)
		})
	}
}

// TestNameOfARecord: the first of EventName, event.name and body that equals a
// known name.
func TestNameOfARecord(t *testing.T) {
	for name, c := range map[string]struct {
		eventName, attr, body any
		want                  boundary.Kind
	}{
		"event name":             {snapshot, nil, nil, boundary.Snapshot},
		"attribute":              {"", snapshot, nil, boundary.Snapshot},
		"body":                   {"", nil, snapshot, boundary.Snapshot},
		"source line":            {"core/src/client.rs:42", snapshot, nil, boundary.Snapshot},
		"short attribute":        {"", "compaction", snapshot, boundary.Snapshot},
		"event name first":       {snapshot, look, "session.end", boundary.Snapshot},
		"attribute before body":  {"x", look, "session.end", boundary.Observation},
		"attribute is a number":  {"", 7, snapshot, boundary.Snapshot},
		"body is a map":          {"", nil, []kv{{"event.name", snapshot}}, boundary.NoKind},
		"body is prose":          {"", nil, "then " + snapshot, boundary.NoKind},
		"body is a long text":    {"", nil, strings.Repeat(snapshot, 1000), boundary.NoKind},
		"nothing":                {"", nil, nil, boundary.NoKind},
		"unknown on all of them": {"a", "b", "c", boundary.NoKind},
	} {
		t.Run(name, func(t *testing.T) {
			x := telemetry{eventName: c.eventName, enclosing: []kv{session}, body: c.body}
			if c.attr != nil {
				x.attrs = []kv{{"event.name", c.attr}}
			}
			items := x.as(t, LogRecord).items(NewReader(DefaultConfig()))
			if c.want == boundary.NoKind {
				assert.Empty(t, items)
				return
			}
			require.Len(t, items, 1)
			assert.Equal(t, c.want, items[0].Kind)
		})
	}
}

func TestWhenAndWhere(t *testing.T) {
	inBothForms(t, func(t *testing.T, form Form) {
		e := readOne(t, form, telemetry{name: look})
		assert.Equal(t, classify.Instant(occurred), e.Time)
		assert.Equal(t, boundary.SpanContext{TraceID: traceID, SpanID: spanID}, e.Context)
		assert.False(t, e.Dropped)
		assert.True(t, readOne(t, form, telemetry{name: look, dropped: 1}).Dropped)
		assert.Zero(t, readOne(t, form, telemetry{name: look, time: 0}).Time, "never the time when it was observed")
		assert.Zero(t, readOne(t, form, telemetry{name: look, time: uint64(math.MaxUint64)}).Time)
	})
}

func TestPassedOnText(t *testing.T) {
	inBothForms(t, func(t *testing.T, form Form) {
		e := readOne(t, form, telemetry{name: look, attrs: []kv{{"continuity.runtime", " my_agent "}, {"agent.activity.state", "working"}}})
		assert.Equal(t, "my_agent", e.Runtime)
		assert.Equal(t, "working", e.Activity)
		e = readOne(t, form, telemetry{name: look, enclosing: []kv{session, {"continuity.runtime", "near"}, {"agent.activity.state", "idle"}}, resource: []kv{{"continuity.runtime", "far"}}})
		assert.Equal(t, "near", e.Runtime)
		assert.Equal(t, "idle", e.Activity)
		e = readOne(t, form, telemetry{name: look, attrs: []kv{{"continuity.runtime", 7}}, resource: []kv{{"continuity.runtime", "far"}, {"agent.activity.state", "not the event's"}}})
		assert.Equal(t, "far", e.Runtime)
		assert.Empty(t, e.Activity)
		e = readOne(t, form, telemetry{name: look, attrs: []kv{{"continuity.runtime", strings.Repeat("é", 999)}, {"agent.activity.state", strings.Repeat("é", 999)}}})
		for _, text := range []string{e.Runtime, e.Activity} {
			assert.Len(t, text, 256)
			assert.True(t, utf8.ValidString(text))
		}
	})
}

func TestTrigger(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{"auto", "auto"},
		{"manual", "manual"},
		{"Auto", "other"},
		{"threshold", "other"},
		{"", "other"},
		{7, "other"},
		{nil, "other"},
	} {
		e := readOne(t, LogRecord, telemetry{name: snapshot, attrs: []kv{{"continuity.compaction.trigger", c.value}}})
		assert.Equal(t, c.want, e.Trigger, "%#v", c.value)
	}
	assert.Empty(t, readOne(t, LogRecord, telemetry{name: snapshot}).Trigger)
}

func TestOutcome(t *testing.T) {
	const key = "continuity.compaction.outcome"
	for name, c := range map[string]struct {
		attrs []kv
		want  boundary.Outcome
	}{
		"absent":              {nil, boundary.Completed},
		"completed":           {[]kv{{key, "completed"}}, boundary.Completed},
		"unknown":             {[]kv{{key, "unknown"}}, boundary.UnknownOutcome},
		"failed":              {[]kv{{key, "failed"}}, boundary.Failed},
		"cancelled":           {[]kv{{key, "cancelled"}}, boundary.Cancelled},
		"no_op":               {[]kv{{key, "no_op"}}, boundary.NoOp},
		"other":               {[]kv{{key, "canceled"}}, boundary.UnknownOutcome},
		"other case":          {[]kv{{key, "FAILED"}}, boundary.UnknownOutcome},
		"empty":               {[]kv{{key, ""}}, boundary.UnknownOutcome},
		"empty value":         {[]kv{{key, nil}}, boundary.UnknownOutcome},
		"number":              {[]kv{{key, 1}}, boundary.UnknownOutcome},
		"twice the same":      {[]kv{{key, "no_op"}, {key, "no_op"}}, boundary.NoOp},
		"twice":               {[]kv{{key, "no_op"}, {key, "completed"}}, boundary.UnknownOutcome},
		"of one boundary":     {[]kv{{key, "no_op"}, {"continuity.boundary.id", "b1"}}, boundary.NoOp},
		"of two boundaries":   {[]kv{{key, "no_op"}, {"continuity.boundary.id", "b1"}, {"continuity.boundary.id", "b2"}}, boundary.UnknownOutcome},
		"completed for two":   {[]kv{{key, "completed"}, {"continuity.boundary.id", "b1"}, {"continuity.boundary.id", "b2"}}, boundary.Completed},
		"success is no field": {[]kv{{"success", "false"}}, boundary.Completed},
	} {
		t.Run(name, func(t *testing.T) {
			inBothForms(t, func(t *testing.T, form Form) {
				assert.Equal(t, c.want, readOne(t, form, telemetry{name: "continuity.compaction", attrs: c.attrs}).Outcome)
			})
		})
	}
	assert.Equal(t, boundary.NoOutcome, readOne(t, LogRecord, telemetry{name: look, attrs: []kv{{key, "failed"}}}).Outcome)
}

func TestCoverageAndStatus(t *testing.T) {
	const coverage, status = "continuity.observation.coverage", "continuity.snapshot.status"
	for name, c := range map[string]struct {
		attrs           []kv
		partial, failed bool
	}{
		"absent":     {nil, false, false},
		"stated":     {[]kv{{coverage, "partial"}, {status, "failed"}}, true, true},
		"tolerant":   {[]kv{{coverage, " Partial"}, {status, "FAILED "}}, true, true},
		"complete":   {[]kv{{coverage, "complete"}, {status, "ok"}}, false, false},
		"other":      {[]kv{{coverage, "most"}, {status, 7}}, false, false},
		"twice":      {[]kv{{coverage, "complete"}, {coverage, "partial"}, {status, "ok"}, {status, "failed"}}, true, true},
		"twice, odd": {[]kv{{coverage, 7}, {coverage, "partial"}, {status, nil}, {status, "failed"}}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBothForms(t, func(t *testing.T, form Form) {
				after := readOne(t, form, telemetry{name: look, attrs: c.attrs})
				assert.Equal(t, c.partial, after.Partial)
				assert.False(t, after.SnapshotFailed)
				before := readOne(t, form, telemetry{name: snapshot, attrs: c.attrs})
				assert.Equal(t, c.failed, before.SnapshotFailed)
				assert.False(t, before.Partial)
			})
		})
	}
}

func TestDigestForm(t *testing.T) {
	const normalizer, key = "continuity.digest.normalizer", "continuity.digest.key_id"
	e := readOne(t, LogRecord, telemetry{name: look, attrs: []kv{{normalizer, " v2 "}, {key, "k1"}}})
	assert.Equal(t, digest.Form{Normalizer: "v2", KeyID: "k1"}, e.Form)
	e = readOne(t, LogRecord, telemetry{name: look, attrs: []kv{{normalizer, 2}, {key, nil}}})
	assert.Equal(t, digest.Form{}, e.Form)
	long := strings.Repeat("k", 300)
	a := readOne(t, LogRecord, telemetry{name: look, attrs: []kv{{key, long + "a"}}})
	b := readOne(t, LogRecord, telemetry{name: look, attrs: []kv{{key, long + "b"}}})
	assert.NotEqual(t, a.Form, b.Form)
}

func TestBoundaryID(t *testing.T) {
	const key = "continuity.boundary.id"
	for value, want := range map[any]string{"b1": "b1", " b1 ": "b1", "null": "", "": "", 7: ""} {
		for _, name := range []string{snapshot, look, "continuity.compaction", "continuity_validation_failed"} {
			assert.Equal(t, want, readOne(t, SpanEvent, telemetry{name: name, attrs: []kv{{key, value}}}).BoundaryID)
		}
	}
	assert.Empty(t, readOne(t, LogRecord, telemetry{name: "continuity.approval", attrs: []kv{{key, "b1"}}}).BoundaryID)
	assert.Empty(t, readOne(t, SpanEvent, telemetry{name: look, enclosing: []kv{session, {key, "b1"}}}).BoundaryID,
		"on the span it can be an annotation of another event")
	long := strings.Repeat("b", 300)
	a := readOne(t, LogRecord, telemetry{name: look, attrs: []kv{{key, long + "a"}}}).BoundaryID
	assert.Len(t, a, 256)
	assert.NotEqual(t, a, readOne(t, LogRecord, telemetry{name: look, attrs: []kv{{key, long + "b"}}}).BoundaryID)
}

func TestVerdict(t *testing.T) {
	const status, reason = "continuity.validation.status", "continuity.validation.reason"
	for name, c := range map[string]struct {
		attrs []kv
		want  classify.RuntimeVerdict
	}{
		"nothing":     {nil, classify.RuntimeVerdict{}},
		"blocked":     {[]kv{{status, "blocked_on_reconciliation"}, {reason, "unknown_side_effect"}}, classify.RuntimeVerdict{Status: classify.StatusBlocked, Reason: classify.UnknownSideEffect}},
		"failed":      {[]kv{{status, "continuity_validation_failed"}, {reason, "tenant_mismatch"}}, classify.RuntimeVerdict{Status: classify.StatusValidationFailed, Reason: classify.TenantMismatch}},
		"prose":       {[]kv{{status, "bad"}, {reason, "because I say so"}}, classify.RuntimeVerdict{}},
		"grants":      {[]kv{{status, "authorized"}, {reason, "continuity_validated"}}, classify.RuntimeVerdict{}},
		"no refusal":  {[]kv{{status, "reauthorization_required"}}, classify.RuntimeVerdict{}},
		"types":       {[]kv{{status, 7}, {reason, []any{"tenant_mismatch"}}}, classify.RuntimeVerdict{}},
		"the severer": {[]kv{{status, "continuity_validation_failed"}, {status, "blocked_on_reconciliation"}, {reason, "tenant_mismatch"}, {reason, "partial_side_effect"}}, classify.RuntimeVerdict{Status: classify.StatusBlocked, Reason: classify.PartialSideEffect}},
	} {
		t.Run(name, func(t *testing.T) {
			inBothForms(t, func(t *testing.T, form Form) {
				assert.Equal(t, c.want, readOne(t, form, telemetry{name: "continuity_validation_failed", attrs: c.attrs}).Verdict)
				assert.Zero(t, readOne(t, form, telemetry{name: look, attrs: c.attrs}).Verdict)
			})
		})
	}
}

// TestEventsOfOneSpanInOrder: they share what is around them.
func TestEventsOfOneSpanInOrder(t *testing.T) {
	x := telemetry{name: snapshot, attrs: []kv{{dig + "scope", sum("a")}}, enclosing: []kv{session, {"prompt", "secret"}}}
	b := x.as(t, SpanEvent)
	events := b.traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Events()
	events.AppendEmpty().SetName("unrelated")
	events.At(1).Attributes().PutStr("prompt", "not ours")
	events.At(0).CopyTo(events.AppendEmpty())
	events.At(2).SetName(look)
	cfg := DefaultConfig()
	cfg.RedactAttributes = []string{sessionID}
	r := NewReader(cfg)
	var kinds []boundary.Kind
	r.Traces(b.traces, nil, received, func(i Item) {
		kinds = append(kinds, i.Kind)
		assert.Equal(t, "s1", i.Event.Key.Session, "read before anything was removed")
		assert.Empty(t, keysOf(i.Enclosing), "clean before it is visited")
		i.Attributes.PutStr("mark", i.Kind.String())
		i.Enclosing.PutStr("mark", i.Kind.String())
		i.Enclosing.Remove("mark")
	})
	assert.Equal(t, []boundary.Kind{boundary.Snapshot, boundary.Observation}, kinds)
	mark, ok := events.At(2).Attributes().Get("mark")
	require.True(t, ok, "annotations are written in place")
	assert.Equal(t, "observation", mark.Str())
	_, ok = events.At(1).Attributes().Get("prompt")
	assert.True(t, ok, "unrecognised telemetry is never touched")
}

// TestReaderIsShared: all pipelines of a processor read with one reader.
func TestReaderIsShared(t *testing.T) {
	r := NewReader(DefaultConfig())
	var all sync.WaitGroup
	for range 4 {
		b := batch{traces: withBoundaries(plainTraces(), 50)}
		all.Go(func() { assert.Len(t, b.items(r, "tenant"), batchSize/50) })
	}
	all.Wait()
}
