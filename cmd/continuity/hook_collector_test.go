package main

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
)

// realCollector runs the distribution and returns its OTLP endpoint, and the
// receipts of a session as they come.
func realCollector(t *testing.T) (endpoint string, receipts func(session string) []plog.LogRecord) {
	t.Helper()
	endpoint, file := realCollectorFile(t)
	return endpoint, func(session string) []plog.LogRecord { return written(file, "continuity.boundary", session) }
}

// realCollectorFile runs the distribution and returns its OTLP endpoint, and the
// file that it writes receipts and alerts to. Settings are laid over its
// configuration.
func realCollectorFile(t *testing.T, settings ...string) (endpoint, file string) {
	t.Helper()
	binary := os.Getenv("CONTINUITY_BINARY")
	if binary == "" {
		t.Skip("CONTINUITY_BINARY names no distribution")
	}
	address := func() string {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = l.Close() }()
		return l.Addr().String()
	}
	otlp, health := address(), address()
	_, metricsPort, err := net.SplitHostPort(address())
	require.NoError(t, err)
	file = filepath.Join(t.TempDir(), "receipts.jsonl")
	args := []string{"--config", "../../distribution/config.yaml", "--config", "yaml:processors: {continuity: {window: 20s, reorder_grace: 1s}}"}
	for _, one := range settings {
		args = append(args, "--config", "yaml:"+one)
	}
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = append(os.Environ(), "CONTINUITY_OTLP_GRPC_ENDPOINT="+address(), "CONTINUITY_OTLP_HTTP_ENDPOINT="+otlp,
		"CONTINUITY_HEALTH_ENDPOINT="+health, "CONTINUITY_METRICS_PORT="+metricsPort, "CONTINUITY_RECEIPTS_FILE="+file)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() })
	waitFor(t, "the collector is not ready", func() bool {
		response, err := http.Get("http://" + health + "/")
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return "http://" + otlp, file
}

// written are the receipts or alerts of a session, as far as they are written.
func written(file, event, session string) []plog.LogRecord {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var found []plog.LogRecord
	for line := range bytes.Lines(text) {
		logs, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(line)
		if err != nil {
			continue // half a line: it is being written
		}
		for _, r := range logs.ResourceLogs().All() {
			for _, s := range r.ScopeLogs().All() {
				for _, record := range s.LogRecords().All() {
					if record.EventName() == event && attrText(record, "session.id") == session {
						found = append(found, record)
					}
				}
			}
		}
	}
	return found
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(50 * time.Millisecond) {
		require.True(t, time.Now().Before(deadline), what)
	}
}
