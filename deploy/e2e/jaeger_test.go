package e2e_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/cases"
	"github.com/agentcontinuity/otelcol-continuity/testdata"
)

const (
	agent   = "demo-agent" // service.name of the cases
	receipt = "continuity.boundary"
)

// What one sees of receipts and alerts in Jaeger, by its query API.
func TestJaeger(t *testing.T) {
	collectorFile := program(t, "CONTINUITY_BINARY", "test-backends")
	jaegerFile := program(t, "CONTINUITY_JAEGER", "test-backends")

	p := ports(t, 5)
	api := "http://127.0.0.1:" + p[1]
	config := filepath.Join(t.TempDir(), "jaeger.yaml")
	require.NoError(t, os.WriteFile(config, []byte(strings.NewReplacer("$OTLP", p[0], "$QUERY", p[1], "$GRPC", p[2]).Replace(jaegerConfig)), 0o600))
	jaeger := start(t, "jaeger", []string{"OTEL_TRACES_SAMPLER=always_off"}, jaegerFile, "--config", config)
	jaeger.await(t, "Jaeger is ready", func() error { _, err := get(api + "/api/services"); return err })

	with, without := p[3], p[4]
	c := startCollector(t, collectorFile, strings.NewReplacer("$OTLP", p[0], "$WITHOUT", without, "$WITH", with).Replace(backendConfig))

	sent := map[string][]cases.Request{}
	receipts := 0
	for _, folder := range []string{testdata.Six, testdata.Recorded} {
		for name, one := range load(t, folder) {
			sent[name] = play(t, one)
			receipts += len(one.Want.Receipts)
		}
	}
	// The observation of one more session is in a trace of its own, as that of a hook is.
	apart := *load(t, testdata.Six)["kept_exactly"]
	apart.Name = "apart"
	sent["apart"] = play(t, &apart)
	receipts++
	look := spanOf(t, sent["apart"], "chat")
	elsewhere := pcommon.TraceID{0xee, 1}
	look.SetTraceID(elsewhere)
	for _, requests := range sent {
		c.send(t, requests)
	}
	// An agent that also fails: two errors among five calls.
	td := ptrace.NewTraces()
	for i := range 5 {
		span := newSpan(td, "failing", "execute_tool")
		span.SetSpanID(pcommon.SpanID{0xfa, byte(i + 1)})
		if i < 2 {
			span.Status().SetCode(ptrace.StatusCodeError)
		}
	}
	c.send(t, []cases.Request{{Traces: td, Logs: plog.NewLogs()}})

	var all []jaegerTrace
	jaeger.await(t, "all receipts are there", func() error {
		all = nil
		for _, service := range []string{agent, "claude-code"} {
			found, err := search(api, service, receipt, nil)
			if err != nil {
				return err
			}
			for _, one := range found { // a trace of two services is found twice
				if !slices.ContainsFunc(all, func(known jaegerTrace) bool { return known.TraceID == one.TraceID }) {
					all = append(all, one)
				}
			}
		}
		if n := len(spansNamed(all, receipt)); n != receipts {
			return fmt.Errorf("%d receipts, expected %d", n, receipts)
		}
		return nil
	})

	t.Run("the receipt is where the snapshot is", func(t *testing.T) {
		snapshot := spanOf(t, sent["apart"], "compact")
		found := spansNamed(traceOf(t, api, traceHex(snapshot.TraceID())), receipt)
		require.Len(t, found, 1)
		assert.Equal(t, []jaegerReference{
			{"CHILD_OF", traceHex(snapshot.TraceID()), spanHex(snapshot.SpanID())},
			{"FOLLOWS_FROM", traceHex(elsewhere), spanHex(look.SpanID())},
		}, found[0].References, "the parent is the snapshot's span, the link leads to the observation's")
	})
	t.Run("each receipt has the right parent and duration", func(t *testing.T) {
		for name, requests := range sent {
			if name == "claude_code" || name == "claude_code_with_snapshot" { // the agent's own record is the parent
				continue
			}
			snapshot := spanOf(t, requests, "compact")
			last := lastReceipt(t, api, snapshot)
			assert.Contains(t, last.References, jaegerReference{"CHILD_OF", traceHex(snapshot.TraceID()), spanHex(snapshot.SpanID())}, name)
			took := time.Duration(last.Duration) * time.Microsecond
			if name == "test_not_looked_at_again" { // nobody answers
				assert.Greater(t, took, window-100*time.Millisecond, name)
				assert.Less(t, took, window+5*time.Second, name)
			} else {
				assert.Less(t, took, window, name)
			}
			assert.Greater(t, time.Since(time.UnixMicro(last.StartTime)), took, name)
		}
	})
	t.Run("a search by state finds exactly the right traces", func(t *testing.T) {
		for state, want := range map[string][]string{
			"conflicting": {"scope_changed"}, "dropped": {"approval_boundary_lost"}, "approved_change": {"approved_change"},
			"preserved": {"kept_exactly", "kept_partly_probed", "apart"}, "unverified": {"test_not_looked_at_again"},
		} {
			var expected []string
			for _, name := range want {
				expected = append(expected, traceHex(spanOf(t, sent[name], "compact").TraceID()))
			}
			found, err := search(api, agent, receipt, map[string]string{"continuity.state": state})
			require.NoError(t, err)
			var ids []string
			for _, one := range found {
				ids = append(ids, one.TraceID)
			}
			if state == "preserved" { // the recorded session with a snapshot, in the trace of the agent's own record
				expected = append(expected, traceHex(completionOf(t, sent["claude_code_with_snapshot"])))
			}
			assert.ElementsMatch(t, expected, ids, state)
		}
	})
	t.Run("alerts show on receipts", func(t *testing.T) {
		for name, kind := range map[string]string{
			"scope_changed": "decision_conflicting", "approval_boundary_lost": "decision_dropped", "test_not_looked_at_again": "post_observation_missing", "kept_exactly": "",
		} {
			snapshot := spanOf(t, sent[name], "compact")
			last := lastReceipt(t, api, snapshot)
			if kind == "" {
				assert.Empty(t, last.Logs, name)
				continue
			}
			require.Len(t, last.Logs, 1, name)
			fields := tagsOf(last.Logs[0].Fields)
			assert.Equal(t, "continuity.alert", fields["event"], name)
			assert.Equal(t, kind, fields["continuity.alert.kind"], name)
			assert.Equal(t, "firing", fields["continuity.alert.status"], name)

			found, err := search(api, agent, receipt, map[string]string{"continuity.alert.kind": kind})
			require.NoError(t, err)
			require.Len(t, found, 1, "a search by what stands on span events")
			assert.Equal(t, traceHex(snapshot.TraceID()), found[0].TraceID)
		}
	})
	t.Run("a receipt is no error", func(t *testing.T) {
		found, err := search(api, agent, "", nil)
		require.NoError(t, err)
		failed := 0
		for _, one := range found {
			for _, span := range one.Spans {
				if span.tag("error") == "true" {
					assert.Equal(t, "execute_tool", span.OperationName)
					failed++
				}
			}
		}
		assert.Equal(t, 2, failed, "what the agent itself failed at")
	})
	t.Run("span metrics", func(t *testing.T) { checkSpanMetrics(t, jaeger, with, without, receipts) })
}

// checkSpanMetrics compares the agent's rates with the processor in the pipeline and
// without it.
func checkSpanMetrics(t *testing.T, p *process, with, without string, receipts int) {
	var a, b map[string]float64
	p.await(t, "span metrics are there", func() error {
		var err error
		if a, err = calls(with); err != nil {
			return err
		}
		if b, err = calls(without); err != nil {
			return err
		}
		n := 0.0
		for key, count := range a {
			if strings.Contains(key, " "+receipt+" ") {
				n += count
			}
		}
		if int(n) != receipts || len(b) == 0 {
			return fmt.Errorf("%v receipts among %v and %v", n, a, b)
		}
		return nil
	})
	errors := func(all map[string]float64) (failed, total float64) {
		for key, n := range all {
			if !strings.Contains(key, " "+receipt+" ") {
				total += n
			}
			if strings.HasSuffix(key, "STATUS_CODE_ERROR") {
				failed += n
			}
		}
		return failed, total
	}
	failedWith, totalWith := errors(a)
	failedWithout, totalWithout := errors(b)
	assert.Equal(t, 2.0, failedWith)
	assert.Equal(t, failedWithout, failedWith, "errors of the service")
	assert.Equal(t, totalWithout, totalWith, "spans of the agent itself")
	for key, n := range b {
		assert.Equal(t, n, a[key], key)
	}
}

// calls are the calls of span metrics by service, span and status.
func calls(port string) (map[string]float64, error) {
	text, err := get("http://127.0.0.1:" + port + "/metrics")
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	label := regexp.MustCompile(`(service_name|span_name|status_code)="([^"]*)"`)
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "traces_span_metrics_calls") {
			continue
		}
		labels := map[string]string{}
		for _, m := range label.FindAllStringSubmatch(line, -1) {
			labels[m[1]] = m[2]
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndex(line, "}")+1:]), 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		out[labels["service_name"]+" "+labels["span_name"]+" "+labels["status_code"]] += n
	}
	return out, nil
}

// Jaeger's JSON, as far as it is needed.
type jaegerTrace struct {
	TraceID string       `json:"traceID"`
	Spans   []jaegerSpan `json:"spans"`
}

type jaegerSpan struct {
	OperationName string            `json:"operationName"`
	References    []jaegerReference `json:"references"`
	StartTime     int64             `json:"startTime"`
	Duration      int64             `json:"duration"`
	Tags          []jaegerTag       `json:"tags"`
	Logs          []struct {
		Fields []jaegerTag `json:"fields"`
	} `json:"logs"`
}

type jaegerReference struct {
	RefType string `json:"refType"`
	TraceID string `json:"traceID"`
	SpanID  string `json:"spanID"`
}

type jaegerTag struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

func (s jaegerSpan) tag(key string) string { return tagsOf(s.Tags)[key] }

func tagsOf(all []jaegerTag) map[string]string {
	out := map[string]string{}
	for _, tag := range all {
		out[tag.Key] = fmt.Sprint(tag.Value)
	}
	return out
}

// search asks as Jaeger's search form does.
func search(api, service, operation string, tags map[string]string) ([]jaegerTrace, error) {
	q := url.Values{"service": {service}, "limit": {"200"}, "lookback": {"1h"}}
	if operation != "" {
		q.Set("operation", operation)
	}
	if tags != nil {
		text, err := json.Marshal(tags)
		if err != nil {
			return nil, err
		}
		q.Set("tags", string(text))
	}
	var found struct {
		Data []jaegerTrace `json:"data"`
	}
	err := getJSON(api+"/api/traces?"+q.Encode(), &found)
	return found.Data, err
}

func traceOf(t *testing.T, api, id string) []jaegerTrace {
	t.Helper()
	var found struct {
		Data []jaegerTrace `json:"data"`
	}
	require.NoError(t, getJSON(api+"/api/traces/"+id, &found))
	return found.Data
}

func spansNamed(traces []jaegerTrace, name string) []jaegerSpan {
	var out []jaegerSpan
	for _, one := range traces {
		for _, span := range one.Spans {
			if span.OperationName == name {
				out = append(out, span)
			}
		}
	}
	return out
}

// lastReceipt is the latest revision in the trace of a snapshot.
func lastReceipt(t *testing.T, api string, snapshot ptrace.Span) jaegerSpan {
	t.Helper()
	found := spansNamed(traceOf(t, api, traceHex(snapshot.TraceID())), receipt)
	require.NotEmpty(t, found)
	return slices.MaxFunc(found, func(a, b jaegerSpan) int {
		return strings.Compare(a.tag("continuity.revision"), b.tag("continuity.revision"))
	})
}

// spanOf is the span of a name that was sent.
func spanOf(t *testing.T, requests []cases.Request, name string) ptrace.Span {
	t.Helper()
	for _, r := range requests {
		for _, rs := range r.Traces.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					if span.Name() == name {
						return span
					}
				}
			}
		}
	}
	t.Fatalf("no span %s was sent", name)
	return ptrace.Span{}
}

// completionOf is the trace of the record with which the recorded agent tells of its
// compaction.
func completionOf(t *testing.T, requests []cases.Request) pcommon.TraceID {
	t.Helper()
	for _, r := range requests {
		for _, rl := range r.Logs.ResourceLogs().All() {
			for _, sl := range rl.ScopeLogs().All() {
				for _, record := range sl.LogRecords().All() {
					if record.Body().Str() == "claude_code.compaction" {
						return record.TraceID()
					}
				}
			}
		}
	}
	t.Fatal("the agent told of no compaction")
	return pcommon.TraceID{}
}

func traceHex(id pcommon.TraceID) string { return hex.EncodeToString(id[:]) }
func spanHex(id pcommon.SpanID) string   { return hex.EncodeToString(id[:]) }

const jaegerConfig = `
service:
  extensions: [jaeger_storage, jaeger_query]
  pipelines:
    traces: {receivers: [otlp], exporters: [jaeger_storage_exporter]}
  telemetry:
    metrics: {level: none}
extensions:
  jaeger_storage:
    backends:
      memory: {memory: {max_traces: 10000}}
  jaeger_query:
    storage: {traces: memory}
    http: {endpoint: "127.0.0.1:$QUERY"}
    grpc: {endpoint: "127.0.0.1:$GRPC"}
receivers:
  otlp:
    protocols:
      grpc: {endpoint: "127.0.0.1:$OTLP"}
exporters:
  jaeger_storage_exporter: {trace_storage: memory}
`

// The distribution with Jaeger behind it, and span metrics of the same spans with
// and without the processor.
const backendConfig = `
connectors:
  spanmetrics/with: &spanmetrics
    metrics_flush_interval: 1s
    exclude_dimensions: [collector.instance.id]
  spanmetrics/without: *spanmetrics
exporters:
  otlp_grpc/backend:
    endpoint: 127.0.0.1:$OTLP
    tls: {insecure: true}
  prometheus/with: {endpoint: "127.0.0.1:$WITH"}
  prometheus/without: {endpoint: "127.0.0.1:$WITHOUT"}
service:
  pipelines:
    traces: {receivers: [otlp], processors: [memory_limiter, continuity], exporters: [otlp_grpc/backend, spanmetrics/with]}
    traces/without: {receivers: [otlp], exporters: [spanmetrics/without]}
    metrics/with: {receivers: [spanmetrics/with], exporters: [prometheus/with]}
    metrics/without: {receivers: [spanmetrics/without], exporters: [prometheus/without]}
`
