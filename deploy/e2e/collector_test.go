package e2e_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/cases"
)

// window is what the sessions of these tests have to answer.
const window = 4 * time.Second

const settings = `
processors: {continuity: {window: 4s, reorder_grace: 1s}}
service: {telemetry: {metrics: {level: detailed}}}
`

// collector is the distribution with its own configuration and ports that were free.
type collector struct {
	*process
	otlp, metrics string // addresses
	receipts      string
}

// startCollector starts the distribution; more is configuration that is laid over
// its own.
func startCollector(t *testing.T, binary, more string) *collector {
	t.Helper()
	p := ports(t, 4)
	dir := t.TempDir()
	overlay := filepath.Join(dir, "overlay.yaml")
	require.NoError(t, os.WriteFile(overlay, []byte(more), 0o600))
	c := &collector{
		otlp: "127.0.0.1:" + p[1], metrics: "127.0.0.1:" + p[3], receipts: filepath.Join(dir, "receipts.jsonl"),
	}
	args := []string{"--config", filepath.Join(root, "distribution", "config.yaml"), "--config", "yaml:" + settings}
	if more != "" {
		args = append(args, "--config", overlay)
	}
	c.process = start(t, "collector", []string{
		"CONTINUITY_OTLP_GRPC_ENDPOINT=127.0.0.1:" + p[0],
		"CONTINUITY_OTLP_HTTP_ENDPOINT=127.0.0.1:" + p[1],
		"CONTINUITY_HEALTH_ENDPOINT=127.0.0.1:" + p[2],
		"CONTINUITY_METRICS_PORT=" + p[3],
		"CONTINUITY_RECEIPTS_FILE=" + c.receipts,
	}, binary, args...)
	c.await(t, "the collector is ready", func() error {
		_, err := get("http://127.0.0.1:" + p[2] + "/")
		return err
	})
	return c
}

// send hands requests over, one after another.
func (c *collector) send(t *testing.T, requests []cases.Request) {
	t.Helper()
	for _, r := range requests {
		if r.Traces.SpanCount() > 0 {
			body, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(r.Traces)
			require.NoError(t, err)
			require.NoError(t, post("http://"+c.otlp+"/v1/traces", body))
		}
		if r.Logs.LogRecordCount() > 0 {
			body, err := (&plog.ProtoMarshaler{}).MarshalLogs(r.Logs)
			require.NoError(t, err)
			require.NoError(t, post("http://"+c.otlp+"/v1/logs", body))
		}
	}
}

// play are the requests of a case that ended just now.
func play(t *testing.T, c *cases.Case) []cases.Request {
	t.Helper()
	requests, err := c.Play(time.Now().Add(-c.Length() - time.Second))
	require.NoError(t, err)
	return requests
}

// load reads the cases of a folder of testdata, by name.
func load(t *testing.T, folder string) map[string]*cases.Case {
	t.Helper()
	all, err := cases.LoadAll(os.DirFS(filepath.Join(root, "testdata")), folder)
	require.NoError(t, err)
	found := map[string]*cases.Case{}
	for _, c := range all {
		found[c.Name] = c
	}
	return found
}
