package continuity_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

// records keeps log records.
type records struct{ all []sdklog.Record }

func (r *records) Enabled(context.Context, sdklog.EnabledParameters) bool { return true }
func (r *records) OnEmit(_ context.Context, record *sdklog.Record) error {
	r.all = append(r.all, record.Clone())
	return nil
}
func (r *records) Shutdown(context.Context) error   { return nil }
func (r *records) ForceFlush(context.Context) error { return nil }

func attributesOfRecord(record *sdklog.Record) map[string]string {
	out := map[string]string{}
	record.WalkAttributes(func(a attribute.KeyValue) bool {
		out[string(a.Key)] = a.Value.String()
		return true
	})
	return out
}

func attributesOfEvent(event sdktrace.Event) map[string]string {
	out := map[string]string{}
	for _, a := range event.Attributes {
		out[string(a.Key)] = a.Value.String()
	}
	return out
}

// telemetry runs a function in a span, with a logger, and returns what it sent.
func telemetry(t *testing.T, sampler sdktrace.Sampler, run func(ctx context.Context, logger log.Logger)) ([]sdktrace.Event, []sdklog.Record) {
	spans, kept := tracetest.NewInMemoryExporter(), &records{}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans), sdktrace.WithSampler(sampler))
	logs := sdklog.NewLoggerProvider(sdklog.WithProcessor(kept))
	ctx, span := provider.Tracer("test").Start(t.Context(), "compaction")
	run(ctx, logs.Logger("test"))
	span.End()
	var events []sdktrace.Event
	for _, s := range spans.GetSpans() {
		events = append(events, s.Events...)
	}
	return events, kept.all
}

var marker = continuity.Snapshot{Common: common, Decisions: []continuity.Decision{{Name: "scope", Digest: digestA}}}

func TestRecord(t *testing.T) {
	events, logs := telemetry(t, sdktrace.AlwaysSample(), func(ctx context.Context, _ log.Logger) {
		require.NoError(t, continuity.Record(ctx, marker))
		require.Error(t, continuity.Record(ctx, continuity.Snapshot{}))
		require.NoError(t, continuity.Record(ctx, continuity.SessionEnd{Common: continuity.Common{Session: common.Session}}))
	})
	assert.Empty(t, logs)
	require.Len(t, events, 2, "what is wrong is not sent")
	assert.Equal(t, "continuity.snapshot", events[0].Name)
	assert.True(t, noon.Equal(events[0].Time))
	assert.Equal(t, string(digestA), attributesOfEvent(events[0])["continuity.invariant.digest.scope"])
	assert.WithinDuration(t, time.Now(), events[1].Time, time.Minute, "no time is now")
}

func TestRecordLosesNothingSilently(t *testing.T) {
	require.ErrorIs(t, continuity.Record(t.Context(), marker), continuity.ErrNotRecording)
	_, _ = telemetry(t, sdktrace.NeverSample(), func(ctx context.Context, _ log.Logger) {
		require.ErrorIs(t, continuity.Record(ctx, marker), continuity.ErrNotRecording)
	})
}

func TestEmit(t *testing.T) {
	events, logs := telemetry(t, sdktrace.NeverSample(), func(ctx context.Context, logger log.Logger) {
		require.NoError(t, continuity.Emit(ctx, logger, marker))
		require.Error(t, continuity.Emit(ctx, logger, continuity.Snapshot{}))
	})
	assert.Empty(t, events)
	require.Len(t, logs, 1)
	assert.Equal(t, "continuity.snapshot", logs[0].EventName())
	assert.True(t, noon.Equal(logs[0].Timestamp()))
	assert.Equal(t, log.SeverityInfo, logs[0].Severity())
	assert.True(t, logs[0].TraceID().IsValid(), "the record is in the trace")
	assert.Equal(t, string(digestA), attributesOfRecord(&logs[0])["continuity.invariant.digest.scope"])
}

// TestPublish: both copies say the same, and count once.
func TestPublish(t *testing.T) {
	events, logs := telemetry(t, sdktrace.AlwaysSample(), func(ctx context.Context, logger log.Logger) {
		require.NoError(t, continuity.Publish(ctx, logger, continuity.Snapshot{Common: continuity.Common{Session: common.Session}}))
		require.NoError(t, continuity.Publish(ctx, logger, continuity.Snapshot{Common: continuity.Common{Session: common.Session}}))
		require.NoError(t, continuity.Publish(ctx, logger, continuity.SessionEnd{Common: continuity.Common{Session: common.Session, EventID: "mine"}}))
		require.Error(t, continuity.Publish(ctx, logger, continuity.Snapshot{}))
	})
	require.Len(t, events, 3)
	require.Len(t, logs, 3)
	ids := make([]string, len(events))
	for i := range events {
		assert.Equal(t, events[i].Name, logs[i].EventName())
		assert.True(t, events[i].Time.Equal(logs[i].Timestamp()))
		assert.Equal(t, attributesOfEvent(events[i]), attributesOfRecord(&logs[i]))
		ids[i] = attributesOfEvent(events[i])["continuity.event.id"]
	}
	assert.NotEmpty(t, ids[0])
	assert.NotEqual(t, ids[0], ids[1], "two events are two")
	assert.Equal(t, "mine", ids[2])

	events, logs = telemetry(t, sdktrace.NeverSample(), func(ctx context.Context, logger log.Logger) {
		require.NoError(t, continuity.Publish(ctx, logger, marker), "the record is enough")
	})
	assert.Empty(t, events)
	assert.Len(t, logs, 1)
}

// TestCopiesHaveOneFingerprint: the processor takes span event and record for one.
func TestCopiesHaveOneFingerprint(t *testing.T) {
	events, _ := telemetry(t, sdktrace.AlwaysSample(), func(ctx context.Context, logger log.Logger) {
		require.NoError(t, continuity.Publish(ctx, logger, marker))
	})
	copied := sent{marker, events[0].Attributes}
	one, other := readAs(t, copied, false), readAs(t, copied, true)
	assert.Equal(t, one.Event.Fingerprint, other.Event.Fingerprint)
	first := read(t, marker)
	assert.NotEqual(t, first.Fingerprint, one.Event.Fingerprint, "by id, not by content")
}

// sent is an event with the attributes that were sent.
type sent struct {
	continuity.Event
	attributes []attribute.KeyValue
}

func (s sent) Attributes() ([]attribute.KeyValue, error) { return slices.Clone(s.attributes), nil }
