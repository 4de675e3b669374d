package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// compacted plays one compaction of Claude Code, each hook wired twice.
func (w *hookWorld) compacted(t *testing.T, session string) {
	t.Helper()
	for _, payload := range []string{
		`{"hook_event_name":"PreCompact","session_id":"` + session + `","prompt_id":"p","trigger":"auto"}`,
		`{"hook_event_name":"SessionStart","session_id":"` + session + `","prompt_id":"p","source":"compact"}`,
		`{"hook_event_name":"PostCompact","session_id":"` + session + `","prompt_id":"p","trigger":"auto","compact_summary":"x"}`,
	} {
		for range 2 {
			w.at = w.at.Add(20 * time.Millisecond)
			w.hook(t, payload, "claude-code")
		}
	}
	w.silent(t)
}

// answered has the agent restate, some seconds later.
func (w *hookWorld) answered(t *testing.T, session string, pairs ...string) {
	t.Helper()
	w.at = w.at.Add(5 * time.Second)
	client := &mcpClient{connectMCP(t, w), w, nil}
	text, failed := client.call(t, "restate_decisions", map[string]any{"session_id": session, "answers": answers(pairs...)})
	require.False(t, failed, text)
}

// Claude Code's hooks, each wired twice, and an agent that answers: through the real
// collector.
func TestHookToReceipt(t *testing.T) {
	endpoint, receipts := realCollector(t)
	for name, c := range map[string]struct {
		answers       []string
		state, reason string
	}{
		"kept":          {[]string{"scope", "github.com/acme/payments", "constraint.push", "not allowed", "target", "not decided"}, "preserved", "match"},
		"changed":       {[]string{"scope", "github.com/acme/payments", "constraint.push", "allowed"}, "conflicting", "changed_without_approval"},
		"forgotten":     {[]string{"scope", "github.com/acme/payments", "constraint.push", "I don't know"}, "dropped", "missing_after"},
		"not answered":  {[]string{"scope", "github.com/acme/payments"}, "unverified", "observation_incomplete"},
		"never decided": {[]string{"scope", "github.com/acme/payments", "constraint.push", "forbidden", "constraint.deploy", "allowed"}, "unverified", "no_baseline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHookWorld(t, endpoint)
			w.do(t, "decide", "scope", "github.com/acme/payments")
			w.do(t, "decide", "constraint.push", "forbidden")
			session := "e2e-" + name
			w.at = time.Now().Add(-time.Minute)
			w.compacted(t, session)
			w.answered(t, session, c.answers...)
			waitFor(t, "no receipt", func() bool { return len(receipts(session)) > 0 })
			r := receipts(session)
			require.Len(t, r, 1, "one compaction, though every hook is wired twice")
			assert.Equal(t, c.state, attrText(r[0], "continuity.boundary.state"))
			assert.Equal(t, c.reason, attrText(r[0], "continuity.reason"))
			assert.Equal(t, "completed", attrText(r[0], "continuity.compaction.outcome"))
			assert.Equal(t, "claude_code", attrText(r[0], "continuity.runtime"))
			assert.Empty(t, attrText(r[0], "continuity.superseded_count"))
		})
	}
}

// nativeCompaction is what Claude Code itself logs of a compaction.
func nativeCompaction(t *testing.T, endpoint, session string, at time.Time) {
	t.Helper()
	logs := plog.NewLogs()
	r := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	r.SetTimestamp(pcommon.NewTimestampFromTime(at))
	r.Body().SetStr("claude_code.compaction")
	for key, value := range map[string]string{"session.id": session, "event.name": "compaction", "success": "true", "trigger": "auto"} {
		r.Attributes().PutStr(key, value)
	}
	body, err := (&plog.ProtoMarshaler{}).MarshalLogs(logs)
	require.NoError(t, err)
	response, err := http.Post(endpoint+"/v1/logs", "application/x-protobuf", bytes.NewReader(body))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
}

// The host's own telemetry tells of the same compaction, before or after the agent
// answered: it is one all the same.
func TestHookBesideTelemetry(t *testing.T) {
	endpoint, receipts := realCollector(t)
	for name, late := range map[string]bool{"at once": false, "after the answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHookWorld(t, endpoint)
			w.do(t, "decide", "scope", "github.com/acme/payments")
			session := "telemetry " + name
			w.at = time.Now().Add(-time.Minute)
			for n := range 2 {
				w.compacted(t, session)
				end := w.at.Add(-12 * time.Millisecond) // 8 ms after the first hook of the two
				if !late {
					nativeCompaction(t, endpoint, session, end)
				}
				w.answered(t, session, "scope", "github.com/acme/payments")
				if late {
					nativeCompaction(t, endpoint, session, end)
				}
				w.at = w.at.Add(5 * time.Second)
				waitFor(t, "no receipt", func() bool { return len(receipts(session)) > n })
			}
			all := receipts(session)
			require.Len(t, all, 2)
			for _, r := range all {
				assert.Equal(t, "preserved", attrText(r, "continuity.boundary.state"))
				assert.Equal(t, "1", attrText(r, "continuity.revision"))
			}
			assert.NotEqual(t, attrText(all[0], "continuity.boundary.id"), attrText(all[1], "continuity.boundary.id"))
		})
	}
}

// kill -9 after the collector took the snapshot and before the hook heard of it.
func TestHookKilledBeforeTheRealCollector(t *testing.T) {
	endpoint, receipts := realCollector(t)
	came, killed := make(chan struct{}), make(chan struct{})
	between := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		response, err := http.Post(endpoint+"/v1/logs", r.Header.Get("Content-Type"), bytes.NewReader(body))
		if assert.NoError(t, err) {
			assert.Equal(t, http.StatusOK, response.StatusCode)
			assert.NoError(t, response.Body.Close())
		}
		close(came)
		<-killed
	}))
	t.Cleanup(between.Close)
	w := newHookWorld(t, between.URL)
	w.do(t, "decide", "scope", "github.com/acme/payments")
	cmd := w.hookProcess(t, `{"hook_event_name":"PreCompact","session_id":"killed","prompt_id":"p","trigger":"auto"}`, "claude-code")
	require.NoError(t, cmd.Start())
	<-came
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	close(killed)

	w.endpoint, w.at = endpoint, time.Now().Add(time.Second)
	w.hook(t, `{"hook_event_name":"PostCompact","session_id":"killed","prompt_id":"p","trigger":"auto"}`, "claude-code")
	w.answered(t, "killed", "scope", "github.com/acme/payments")
	waitFor(t, "no receipt", func() bool { return len(receipts("killed")) > 0 })
	r := receipts("killed")
	require.Len(t, r, 1)
	assert.Equal(t, "preserved", attrText(r[0], "continuity.boundary.state"))
	assert.Empty(t, attrText(r[0], "continuity.superseded_count"), "the snapshot counts once")
}
