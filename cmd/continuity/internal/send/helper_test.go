package send

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// The tests start their own binary again, to kill it: these variables say what it
// shall send then.
const (
	envSend  = "SEND_TEST_ENDPOINT"
	envState = "SEND_TEST_STATE"
)

func TestMain(m *testing.M) {
	endpoint := os.Getenv(envSend)
	if endpoint == "" {
		os.Exit(m.Run())
	}
	cfg := &config.Config{Endpoint: endpoint, State: os.Getenv(envState), Timeout: time.Minute}
	if _, err := New(cfg, clock).Send(context.Background(), snapshot("killed")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var at = time.Date(2026, 5, 4, 3, 2, 1, 123456789, time.UTC)

func clock() time.Time { return at }

func snapshot(session string) continuity.Snapshot {
	return continuity.Snapshot{
		Common:     continuity.Common{Session: continuity.Session{ID: session, Attribute: "session.id"}},
		ObservedAt: at,
		Decisions: []continuity.Decision{
			{Name: "scope", Digest: "sha256:0123456789012345678901234567890123456789012345678901234567890123"},
			{Name: "x", Digest: continuity.None, Optional: true},
		},
	}
}

// request is one request as a collector got it.
type request struct {
	path   string
	header http.Header
	body   []byte
}

// collector is an OTLP/HTTP receiver that answers as the test says.
type collector struct {
	*httptest.Server
	answer func(w http.ResponseWriter, r *http.Request)

	mu   sync.Mutex
	seen []request
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{answer: accept}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		c.mu.Lock()
		c.seen = append(c.seen, request{r.URL.Path, r.Header, body})
		answer := c.answer
		c.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(c.Close)
	return c
}

func accept(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", protobuf) }

// says answers with a status, a type of content and a body.
func says(status int, media string, body []byte) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		_, _ = w.Write(body) // the sender may have gone
	}
}

func (c *collector) answers(answer func(http.ResponseWriter, *http.Request)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = answer
}

// requests returns what came since the last call.
func (c *collector) requests() []request {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.seen
	c.seen = nil
	return seen
}

func newConfig(t *testing.T, endpoint string) *config.Config {
	t.Helper()
	return &config.Config{
		Endpoint: endpoint, State: t.TempDir(), Timeout: 30 * time.Second, Signal: config.Logs,
		Resource: map[string]string{"service.name": "agent"},
	}
}

// decoded is an event as it arrives.
type decoded struct {
	name, id, session string
	at                time.Time
	attributes        map[string]any
	trace, span       string
}

func decodeLogs(t *testing.T, r request) decoded {
	t.Helper()
	assert.Equal(t, "/v1/logs", r.path)
	logs, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(uncompressed(t, r))
	require.NoError(t, err)
	require.Equal(t, 1, logs.LogRecordCount())
	record := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
	return eventOf(decoded{
		name: record.EventName(), at: record.Timestamp().AsTime(), attributes: record.Attributes().AsRaw(),
		trace: record.TraceID().String(), span: record.SpanID().String(),
	})
}

func decodeTraces(t *testing.T, r request) decoded {
	t.Helper()
	assert.Equal(t, "/v1/traces", r.path)
	traces, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(uncompressed(t, r))
	require.NoError(t, err)
	require.Equal(t, 1, traces.SpanCount())
	span := traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	assert.Equal(t, span.StartTimestamp(), span.EndTimestamp(), "it has no length")
	event := span.Events().At(0)
	return eventOf(decoded{
		name: event.Name(), at: event.Timestamp().AsTime(), attributes: event.Attributes().AsRaw(),
		trace: span.TraceID().String(), span: span.SpanID().String() + "<" + span.ParentSpanID().String(),
	})
}

func eventOf(d decoded) decoded {
	d.id, _ = d.attributes[semconv.EventID].(string)
	d.session, _ = d.attributes[semconv.SessionID].(string)
	return d
}

func uncompressed(t *testing.T, r request) []byte {
	t.Helper()
	if r.header.Get("Content-Encoding") != "gzip" {
		return r.body
	}
	z, err := gzip.NewReader(bytes.NewReader(r.body))
	require.NoError(t, err)
	body, err := io.ReadAll(z)
	require.NoError(t, err)
	return body
}
