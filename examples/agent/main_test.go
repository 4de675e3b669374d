package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/agentcontinuity/otelcol-continuity/processor/continuityprocessor"
)

// collect starts the processor behind an OTLP endpoint, and returns the endpoint
// and what passes.
func collect(t *testing.T) (string, *consumertest.TracesSink) {
	sink := &consumertest.TracesSink{}
	factory := continuityprocessor.NewFactory()
	var traces processor.Traces
	traces, err := factory.CreateTraces(t.Context(), processortest.NewNopSettings(factory.Type()), factory.CreateDefaultConfig(), sink)
	require.NoError(t, err)
	require.NoError(t, traces.Start(t.Context(), componenttest.NewNopHost()))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		request := ptraceotlp.NewExportRequest()
		if err != nil || request.UnmarshalProto(body) != nil || traces.ConsumeTraces(r.Context(), request.Traces()) != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	t.Cleanup(func() {
		server.Close()
		require.NoError(t, traces.Shutdown(context.Background()))
	})
	return server.URL, sink
}

// annotations are the attributes of the observation after it passed.
func annotations(t *testing.T, sink *consumertest.TracesSink) pcommon.Map {
	for _, td := range sink.AllTraces() {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					for _, event := range span.Events().All() {
						if event.Name() == "continuity.observation" {
							return event.Attributes()
						}
					}
				}
			}
		}
	}
	require.Fail(t, "no observation passed")
	return pcommon.Map{}
}

func TestForgottenRuleIsCaught(t *testing.T) {
	endpoint, sink := collect(t)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, endpoint, "s1", false))
	got := annotations(t, sink).AsRaw()
	assert.Equal(t, "dropped", got["continuity.state"])
	assert.Equal(t, "missing_after", got["continuity.reason"])
	assert.Equal(t, "pause_and_restore", got["continuity.action"])
	assert.Equal(t, []any{"constraint.push"}, got["continuity.invariants.dropped"])
	assert.Equal(t, "preserved", got["continuity.invariant.state.scope"])
	assert.NotContains(t, got, "continuity.invariants.unverified")
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	assert.Contains(t, string(readme), out.String()[len("session   s1\n"):], "the README shows what it prints")
}

func TestNothingForgotten(t *testing.T) {
	endpoint, sink := collect(t)
	require.NoError(t, run(t.Context(), io.Discard, endpoint, "s1", true))
	got := annotations(t, sink).AsRaw()
	assert.Equal(t, "preserved", got["continuity.state"])
	assert.Equal(t, "continue", got["continuity.action"])
	// As `continuity decide constraint.push forbidden` and `approval_boundary deploy`
	// digest them, so that agent and command can speak of one session.
	assert.Equal(t, "sha256:43ed5c457b799abe72e15e5ce574960937404f72402c5c15837044c1fc1a3a4a", got["continuity.invariant.digest.constraint.push"])
	assert.Equal(t, "sha256:a662bc6a43859d46cf033a3336963972d1ba28df4ee3655f32a6ef8021825822", got["continuity.invariant.digest.approval_boundary"])
}

func TestNoCollector(t *testing.T) {
	require.NoError(t, run(t.Context(), io.Discard, "http://127.0.0.1:1", "s1", false), "an agent works without one")
}

// TestDistribution runs the agent against the real collector.
func TestDistribution(t *testing.T) {
	binary := os.Getenv("CONTINUITY_BINARY")
	if binary == "" {
		t.Skip("CONTINUITY_BINARY names no distribution")
	}
	address := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = l.Close() }()
		return l.Addr().String()
	}
	otlp, health, metrics := address(), address(), address()
	_, metricsPort, err := net.SplitHostPort(metrics)
	require.NoError(t, err)
	receipts := filepath.Join(t.TempDir(), "receipts.jsonl")
	collector := exec.CommandContext(t.Context(), binary, "--config", "../../distribution/config.yaml")
	collector.Env = append(os.Environ(), "CONTINUITY_OTLP_GRPC_ENDPOINT="+address(), "CONTINUITY_OTLP_HTTP_ENDPOINT="+otlp,
		"CONTINUITY_HEALTH_ENDPOINT="+health, "CONTINUITY_METRICS_PORT="+metricsPort, "CONTINUITY_RECEIPTS_FILE="+receipts)
	collector.Cancel = func() error { return collector.Process.Signal(os.Interrupt) }
	require.NoError(t, collector.Start())
	t.Cleanup(func() { _ = collector.Wait() })
	until := func(what string, done func() bool) {
		for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(50 * time.Millisecond) {
			require.True(t, time.Now().Before(deadline), what)
		}
	}
	until("the collector is not ready", func() bool {
		response, err := http.Get("http://" + health + "/")
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	require.NoError(t, run(t.Context(), io.Discard, "http://"+otlp, "s1", false))
	until("no receipt says that the rule is gone", func() bool {
		text, err := os.ReadFile(receipts)
		return err == nil && bytes.Contains(text, []byte("a decision was dropped (missing_after: constraint.push)"))
	})
}
