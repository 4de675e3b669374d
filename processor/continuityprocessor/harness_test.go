package continuityprocessor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
	"github.com/agentcontinuity/otelcol-continuity/processor/continuityprocessor/internal/metadata"
)

// morning is when tests with a clock of their own begin.
var morning = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)

// pipelines are a traces and a logs pipeline that name the same processor.
type pipelines struct {
	t         *testing.T
	traces    processor.Traces
	logs      processor.Logs
	tracesOut *consumertest.TracesSink
	logsOut   *consumertest.LogsSink
}

// inBubble runs a test on a clock of its own that stands at morning.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(morning))
		test(t)
	})
}

func defaultConfig(change ...func(*Config)) *Config {
	cfg := createDefaultConfig().(*Config)
	for _, c := range change {
		c(cfg)
	}
	return cfg
}

// start creates and starts both pipelines; they are shut down when the test ends.
func start(t *testing.T, change ...func(*Config)) *pipelines {
	t.Helper()
	p := &pipelines{t: t, tracesOut: new(consumertest.TracesSink), logsOut: new(consumertest.LogsSink)}
	f, cfg, set := NewFactory(), defaultConfig(change...), processortest.NewNopSettings(metadata.Type)
	require.NoError(t, cfg.Validate())
	var err error
	p.traces, err = f.CreateTraces(t.Context(), set, cfg, p.tracesOut)
	require.NoError(t, err)
	p.logs, err = f.CreateLogs(t.Context(), set, cfg, p.logsOut)
	require.NoError(t, err)
	require.NoError(t, p.traces.Start(t.Context(), componenttest.NewNopHost()))
	require.NoError(t, p.logs.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(p.stop)
	return p
}

func (p *pipelines) stop() {
	require.NoError(p.t, p.traces.Shutdown(context.Background()))
	require.NoError(p.t, p.logs.Shutdown(context.Background()))
}

// receipts are the receipts that came out as spans, as plain attributes.
func (p *pipelines) receipts() []map[string]any {
	var out []map[string]any
	for _, td := range p.tracesOut.AllTraces() {
		for _, span := range spansOf(td) {
			if span.Name() == semconv.EventBoundary {
				out = append(out, span.Attributes().AsRaw())
			}
		}
	}
	return out
}

// records are the records of a name that came out as logs, as plain attributes.
func (p *pipelines) records(name string) []map[string]any {
	var out []map[string]any
	for _, ld := range p.logsOut.AllLogs() {
		for _, record := range recordsOf(ld) {
			if record.EventName() == name {
				out = append(out, record.Attributes().AsRaw())
			}
		}
	}
	return out
}

func spansOf(td ptrace.Traces) []ptrace.Span {
	var out []ptrace.Span
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				out = append(out, span)
			}
		}
	}
	return out
}

func recordsOf(ld plog.Logs) []plog.LogRecord {
	var out []plog.LogRecord
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, record := range sl.LogRecords().All() {
				out = append(out, record)
			}
		}
	}
	return out
}

// event is one event, on a span or record of its own.
type event struct {
	name, session string
	at            time.Time
	attrs         map[string]any
	outer         map[string]any // of the span or record
}

// decisions are the values of invariants by name.
type decisions map[string]string

// original are the decisions that most tests begin with.
func original() decisions {
	return decisions{"scope": "repo:main", "approval_boundary": "push needs a yes", "acceptance_test": "make test"}
}

func (d decisions) with(name, value string) decisions {
	d = maps.Clone(d)
	d[name] = value
	return d
}

func (d decisions) without(name string) decisions {
	d = maps.Clone(d)
	delete(d, name)
	return d
}

func digestOf(value string) string {
	sum := sha256.Sum256([]byte(value))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// snapshot states decisions before a compaction, observation those after.
func snapshot(session string, at time.Time, d decisions) event {
	return event{name: semconv.EventSnapshot, session: session, at: at, attrs: stated(d, at, "")}
}

func observation(session string, at time.Time, d decisions) event {
	return event{name: semconv.EventObservation, session: session, at: at, attrs: stated(d, at, "agent")}
}

func stated(d decisions, at time.Time, source string) map[string]any {
	attrs := map[string]any{}
	for name, value := range d {
		attrs[semconv.InvariantDigest+name] = digestOf(value)
		attrs[semconv.InvariantObservedAt+name] = at.UnixNano()
		if source != "" {
			attrs[semconv.InvariantSource+name] = source
		}
	}
	return attrs
}

// spans puts each event on a span of its own in one batch.
func spans(events ...event) ptrace.Traces {
	td := ptrace.NewTraces()
	for _, e := range events {
		rs := td.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr("service.name", "agent")
		span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		span.SetName("agent.step")
		span.SetTraceID(traceOf(e.session))
		span.SetSpanID(spanOf(e))
		span.SetStartTimestamp(pcommon.NewTimestampFromTime(e.at))
		span.SetEndTimestamp(pcommon.NewTimestampFromTime(e.at))
		span.Attributes().PutStr(semconv.SessionID, e.session)
		put(span.Attributes(), e.outer)
		se := span.Events().AppendEmpty()
		se.SetName(e.name)
		se.SetTimestamp(pcommon.NewTimestampFromTime(e.at))
		put(se.Attributes(), e.attrs)
	}
	return td
}

// records puts each event into a log record of its own in one batch.
func records(events ...event) plog.Logs {
	ld := plog.NewLogs()
	for _, e := range events {
		rl := ld.ResourceLogs().AppendEmpty()
		rl.Resource().Attributes().PutStr("service.name", "agent")
		record := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		record.SetEventName(e.name)
		record.SetTraceID(traceOf(e.session))
		record.SetSpanID(spanOf(e))
		record.SetTimestamp(pcommon.NewTimestampFromTime(e.at))
		record.Attributes().PutStr(semconv.SessionID, e.session)
		put(record.Attributes(), e.outer)
		put(record.Attributes(), e.attrs)
	}
	return ld
}

func put(m pcommon.Map, attrs map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(attrs)) {
		if err := m.PutEmpty(key).FromRaw(attrs[key]); err != nil {
			panic(err)
		}
	}
}

func traceOf(session string) (id pcommon.TraceID) {
	sum := sha256.Sum256([]byte("trace " + session))
	copy(id[:], sum[:])
	return id
}

func spanOf(e event) (id pcommon.SpanID) {
	sum := sha256.Sum256([]byte(strings.Join([]string{e.name, e.session, e.at.String()}, " ")))
	copy(id[:], sum[:])
	return id
}

// form sends an event in one of the two signals and returns what is annotated
// beside it, as the next consumer sees it.
type form struct {
	name string
	send func(p *pipelines, events ...event) []map[string]any
}

var forms = []form{
	{"traces", func(p *pipelines, events ...event) []map[string]any {
		require.NoError(p.t, p.traces.ConsumeTraces(context.Background(), spans(events...)))
		var out []map[string]any
		for _, span := range spansOf(p.lastTraces()) {
			out = append(out, span.Events().At(0).Attributes().AsRaw())
		}
		return out
	}},
	{"logs", func(p *pipelines, events ...event) []map[string]any {
		require.NoError(p.t, p.logs.ConsumeLogs(context.Background(), records(events...)))
		var out []map[string]any
		for _, record := range recordsOf(p.lastLogs()) {
			out = append(out, record.Attributes().AsRaw())
		}
		return out
	}},
}

// lastTraces is the last batch that was passed on: receipts come in others.
func (p *pipelines) lastTraces() ptrace.Traces {
	for _, td := range slices.Backward(p.tracesOut.AllTraces()) {
		if !isReceipts(td) {
			return td
		}
	}
	panic("nothing was passed on")
}

func (p *pipelines) lastLogs() plog.Logs {
	for _, ld := range slices.Backward(p.logsOut.AllLogs()) {
		if !isLogReceipts(ld) {
			return ld
		}
	}
	panic("nothing was passed on")
}

func isReceipts(td ptrace.Traces) bool { return spansOf(td)[0].Name() == semconv.EventBoundary }

func isLogReceipts(ld plog.Logs) bool { return recordsOf(ld)[0].EventName() == semconv.EventBoundary }
