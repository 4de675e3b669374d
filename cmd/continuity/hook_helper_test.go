package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
)

// hookCollector takes OTLP over HTTP and keeps what came.
type hookCollector struct {
	*httptest.Server
	mu     sync.Mutex
	bodies [][]byte
	// before runs before the answer to each request; it may be nil.
	before func(n int)
}

func newHookCollector(t *testing.T) *hookCollector {
	c := &hookCollector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		c.mu.Lock()
		c.bodies = append(c.bodies, body)
		n, before := len(c.bodies), c.before
		c.mu.Unlock()
		if before != nil {
			before(n)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *hookCollector) requests() [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.bodies)
}

// records are what came, one line each: name, time and attributes in order.
func (c *hookCollector) records(t *testing.T) []plog.LogRecord {
	t.Helper()
	var all []plog.LogRecord
	for _, body := range c.requests() {
		logs, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(body)
		require.NoError(t, err)
		require.Equal(t, 1, logs.LogRecordCount())
		all = append(all, logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0))
	}
	return all
}

func attrText(r plog.LogRecord, key string) string {
	v, ok := r.Attributes().Get(key)
	if !ok {
		return ""
	}
	return v.AsString()
}

func recordLine(r plog.LogRecord) string {
	var parts []string
	for key, value := range r.Attributes().All() {
		parts = append(parts, key+"="+value.AsString())
	}
	slices.Sort(parts)
	return fmt.Sprintf("%s %s\n\t%s\n", r.Timestamp().AsTime().Format(time.RFC3339Nano), r.EventName(), strings.Join(parts, "\n\t"))
}

// hookWorld is a machine with a project on it.
type hookWorld struct {
	dir, state string
	endpoint   string
	env        map[string]string
	at         time.Time
	in         io.Reader
	out, err   bytes.Buffer
}

const hookProject = `
catalogue:
  push: []
  deploy: []
`

func newHookWorld(t *testing.T, endpoint string) *hookWorld {
	w := &hookWorld{
		dir: t.TempDir(), state: filepath.Join(t.TempDir(), "state"), endpoint: endpoint,
		env: map[string]string{}, at: time.Date(2026, 11, 30, 15, 0, 0, 0, time.UTC),
	}
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "continuity.yaml"), []byte(hookProject), 0o600))
	return w
}

func (w *hookWorld) getenv(name string) string {
	switch name {
	case "CONTINUITY_STATE":
		return w.state
	case "CONTINUITY_ENDPOINT":
		return w.endpoint
	case "HOME", "XDG_CONFIG_HOME":
		return filepath.Dir(w.state)
	}
	return w.env[name]
}

func (w *hookWorld) app() *app {
	return &app{in: w.in, out: &w.out, err: &w.err, now: func() time.Time { return w.at }, getenv: w.getenv, dir: w.dir}
}

// hook runs the command with a payload. It always exits with 0.
func (w *hookWorld) hook(t *testing.T, payload string, args ...string) {
	t.Helper()
	w.in = strings.NewReader(payload)
	assert.Zero(t, run(context.Background(), w.app(), append([]string{"hook"}, args...)))
}

// do runs another command, which must succeed.
func (w *hookWorld) do(t *testing.T, args ...string) {
	t.Helper()
	var out, problems bytes.Buffer
	a := w.app()
	a.out, a.err = &out, &problems
	require.Zero(t, run(context.Background(), a, args), problems.String())
}

// silent fails where anything was printed.
func (w *hookWorld) silent(t *testing.T) {
	t.Helper()
	assert.Empty(t, w.out.Bytes(), "standard output")
	assert.Empty(t, w.err.Bytes(), "standard error")
}
