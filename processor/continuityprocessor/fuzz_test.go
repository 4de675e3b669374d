package continuityprocessor

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
	"github.com/agentcontinuity/otelcol-continuity/processor/continuityprocessor/internal/metadata"
)

// hostile are batches that no SDK would send.
var hostile = []string{
	`{}`,
	`{"resourceSpans":[{}],"resourceLogs":[{}]}`,
	`{"resourceSpans":[{"scopeSpans":[{"spans":[{"events":[{"name":"context_compaction"},{"name":"context_rehydration"}]}]}]}],
	  "resourceLogs":[{"scopeLogs":[{"logRecords":[{"eventName":"context_compaction"},{"body":{"stringValue":"context_rehydration"}}]}]}]}`,
	`{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"session.id","value":{"stringValue":"s"}},{"key":"session.id"},
	  {"key":"continuity.state","value":{"arrayValue":{"values":[{"boolValue":true}]}}}],"events":[
	  {"timeUnixNano":"18446744073709551615","name":"context_compaction","droppedAttributesCount":4294967295,"attributes":[
	  {"key":"continuity.invariant.digest.scope","value":{"kvlistValue":{"values":[{"key":"a"}]}}},
	  {"key":"continuity.invariant.digest.scope","value":{"bytesValue":"AAAA"}},
	  {"key":"continuity.invariant.observed_at.scope","value":{"doubleValue":"NaN"}},{"key":"","value":{}}]},
	  {"name":"continuity.approval","attributes":[{"key":"continuity.approval.ref","value":{"intValue":"7"}}]},
	  {"name":"continuity_validation_failed"},{"name":"session.end"},{"name":"session.start","attributes":[
	  {"key":"session.previous_id","value":{"stringValue":"s"}}]}]}]}]}]}`,
	`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"eventName":"claude_code.compaction","attributes":[
	  {"key":"session.id","value":{"stringValue":"s"}},{"key":"success","value":{"doubleValue":1e308}}]},
	  {"eventName":"context_rehydration","attributes":[{"key":"session.id","value":{"intValue":"0"}}],
	  "body":{"kvlistValue":{"values":[{"key":"prompt","value":{"stringValue":"x"}}]}}}]}]}]}`,
}

// FuzzConsumeTraces sends any batch of spans: no panic, no error, and all that
// went in comes out, in order.
func FuzzConsumeTraces(f *testing.F) {
	for _, events := range sixCases() {
		seed, err := (&ptrace.JSONMarshaler{}).MarshalTraces(spans(events...))
		require.NoError(f, err)
		f.Add(seed, false)
	}
	for _, seed := range hostile {
		f.Add([]byte(seed), true)
	}
	var out ptrace.Traces
	next, err := consumer.NewTraces(func(_ context.Context, td ptrace.Traces) error {
		out = td
		return nil
	})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, batch []byte, session bool) {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(batch)
		if err != nil {
			t.Skip()
		}
		before := cloneTraces(td)
		// With a state of its own, so that what is found can be found again.
		p, err := NewFactory().CreateTraces(t.Context(), processortest.NewNopSettings(metadata.Type), smallConfig(session), next)
		require.NoError(t, err)
		require.NoError(t, p.ConsumeTraces(t.Context(), td))
		require.NoError(t, p.Shutdown(t.Context()))
		in, got := spansOf(before), spansOf(out)
		require.Len(t, got, len(in))
		require.Equal(t, before.ResourceSpans().Len(), out.ResourceSpans().Len())
		for i := range in {
			require.Equal(t, in[i].Name(), got[i].Name())
			require.Equal(t, in[i].SpanID(), got[i].SpanID())
			require.Equal(t, in[i].Status().Code(), got[i].Status().Code())
			require.Equal(t, in[i].Events().Len(), got[i].Events().Len())
			requireKept(t, in[i].Attributes(), got[i].Attributes())
			for n := range in[i].Events().Len() {
				require.Equal(t, in[i].Events().At(n).Name(), got[i].Events().At(n).Name())
				requireKept(t, in[i].Events().At(n).Attributes(), got[i].Events().At(n).Attributes())
			}
		}
	})
}

// FuzzConsumeLogs does the same to log records.
func FuzzConsumeLogs(f *testing.F) {
	for _, events := range sixCases() {
		seed, err := (&plog.JSONMarshaler{}).MarshalLogs(records(events...))
		require.NoError(f, err)
		f.Add(seed, false)
	}
	for _, seed := range hostile {
		f.Add([]byte(seed), true)
	}
	var out plog.Logs
	next, err := consumer.NewLogs(func(_ context.Context, ld plog.Logs) error {
		out = ld
		return nil
	})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, batch []byte, session bool) {
		ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(batch)
		if err != nil {
			t.Skip()
		}
		before := cloneLogs(ld)
		// With a state of its own, so that what is found can be found again.
		p, err := NewFactory().CreateLogs(t.Context(), processortest.NewNopSettings(metadata.Type), smallConfig(session), next)
		require.NoError(t, err)
		require.NoError(t, p.ConsumeLogs(t.Context(), ld))
		require.NoError(t, p.Shutdown(t.Context()))
		in, got := recordsOf(before), recordsOf(out)
		require.Len(t, got, len(in))
		for i := range in {
			require.Equal(t, in[i].EventName(), got[i].EventName())
			require.Equal(t, in[i].Timestamp(), got[i].Timestamp())
			require.Equal(t, in[i].Body().Type(), got[i].Body().Type())
			requireKept(t, in[i].Attributes(), got[i].Attributes())
		}
	})
}

// requireKept requires every attribute that is neither ours nor raw to be as it
// was.
func requireKept(t *testing.T, in, got pcommon.Map) {
	t.Helper()
	for key := range in.All() {
		switch key {
		case semconv.CompactSummary, semconv.CustomInstructions, semconv.TranscriptPath, semconv.Prompt:
			continue
		}
		if strings.HasPrefix(key, "continuity.") {
			continue
		}
		want, _ := in.Get(key)
		have, ok := got.Get(key)
		require.True(t, ok, key)
		require.True(t, want.Equal(have) || strings.Contains(want.AsString(), "NaN"), key)
	}
}

func smallConfig(session bool) *Config {
	return defaultConfig(func(c *Config) {
		c.Limits.Sessions = 50
		if session {
			c.Annotate = AnnotateSession
		}
	})
}
