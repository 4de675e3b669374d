package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/replay"
)

// verdict is what the processor's core makes of all that came: boundary by boundary,
// of one session.
func (c *hookCollector) verdict(t *testing.T, o replay.Options) []replay.BoundaryReport {
	t.Helper()
	r := replay.New(o)
	for _, body := range c.requests() {
		logs, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(body)
		require.NoError(t, err)
		r.AddLogs(logs)
	}
	report := replay.NewReport(o)
	report.Add(r.Run(), nil, false)
	require.Len(t, report.Sessions, 1)
	return report.Sessions[0].Boundaries
}

// later runs a command a second after the last one.
func (w *hookWorld) later(t *testing.T, args ...string) {
	t.Helper()
	w.at = w.at.Add(time.Second)
	w.do(t, args...)
}

// What is not known any more is seen to be gone, if all else was answered. It never
// states anything: not even of what was decided to be none.
func TestObserveUnknown(t *testing.T) {
	const scope, push = "scope=github.com/acme/payments", "constraint.push=forbidden"
	for name, c := range map[string]struct {
		look          []string
		state, reason string
		lost          string
	}{
		"lost":                     {[]string{scope, "--none", "target", "--unknown", "constraint.push"}, "dropped", "missing_after", "constraint.push"},
		"another was not answered": {[]string{scope, "--unknown", "constraint.push"}, "unverified", "observation_incomplete", ""},
		"said to be partial":       {[]string{scope, "--none", "target", "--unknown", "constraint.push", "--partial"}, "unverified", "observation_incomplete", ""},
		"of what is none":          {[]string{scope, push, "--unknown", "target"}, "unverified", "observation_incomplete", ""},
		"of what nobody decided":   {[]string{scope, push, "--none", "target", "--unknown", "acceptance_test"}, "preserved", "match", ""},
		"nothing where none is":    {[]string{scope, push, "--none", "target", "--none", "acceptance_test"}, "preserved", "match", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			collector := newHookCollector(t)
			w := newHookWorld(t, collector.URL)
			w.env["CONTINUITY_SESSION"] = "s"
			w.do(t, "decide", "scope", "github.com/acme/payments")
			w.do(t, "decide", "constraint.push", "forbidden")
			w.do(t, "decide", "target", "--none")
			w.later(t, "snapshot")
			w.later(t, "complete")
			w.later(t, append([]string{"observe", "--source", "agent"}, c.look...)...)
			got := collector.verdict(t, replay.Options{})
			require.Len(t, got, 1)
			assert.Equal(t, c.state, got[0].State)
			assert.Equal(t, c.reason, got[0].Reason)
			for name, finding := range got[0].Invariants {
				assert.Equal(t, name == c.lost, finding.State == "dropped", name)
			}
		})
	}
}

// A conflict that was resolved stays to be seen.
func TestReplayShowsWhatWasResolved(t *testing.T) {
	collector := newHookCollector(t)
	w := newHookWorld(t, collector.URL)
	w.env["CONTINUITY_SESSION"] = "s"
	w.do(t, "decide", "scope", "github.com/acme/payments")
	w.later(t, "snapshot")
	w.later(t, "complete")
	w.later(t, "observe", "--source", "agent", "scope=github.com/acme/billing")
	assert.Equal(t, []string{"decision_conflicting"}, collector.verdict(t, replay.Options{})[0].Alerts)
	w.at = w.at.Add(time.Minute)
	w.later(t, "observe", "--source", "agent", "scope=github.com/acme/payments")
	got := collector.verdict(t, replay.Options{})
	require.Len(t, got, 1)
	assert.Equal(t, "preserved", got[0].State)
	assert.Empty(t, got[0].Alerts)
	assert.Equal(t, []string{"decision_conflicting (resolved)"}, got[0].AlertsOver)
	report := replay.Report{Sessions: []replay.SessionReport{{Session: "s", Boundaries: got}}}
	row := report.Rows()[0]
	assert.Equal(t, "decision_conflicting (resolved)", row[len(row)-1].Text)
}

// The key changed, and not all was decided again. What has another key's digest is
// never healthy: it is stated, as something that nothing can be compared with.
func TestSnapshotWithAnotherKey(t *testing.T) {
	const scope, push = "scope=github.com/acme/payments", "constraint.push=forbidden"
	for name, c := range map[string]struct {
		before, between, now string // keys when scope, when the rule was decided, and now
		look                 []string
		state, reason        string
		scope, push          string
	}{
		"kept":                {"old", "new", "new", []string{scope, push}, "unverified", "digest_incomparable", "unverified", "preserved"},
		"changed":             {"old", "new", "new", []string{"scope=github.com/acme/billing", push}, "unverified", "digest_incomparable", "unverified", "preserved"},
		"forgotten":           {"old", "new", "new", []string{push}, "dropped", "missing_after", "dropped", "preserved"},
		"not seen":            {"old", "new", "new", []string{"--partial", push}, "unverified", "observation_incomplete", "unverified", "preserved"},
		"the key was removed": {"old", "", "", []string{scope, push}, "unverified", "digest_incomparable", "unverified", "preserved"},
		"two were removed":    {"old", "new", "", []string{scope, push}, "unverified", "digest_incomparable", "unverified", "unverified"},
		"it had none before":  {"", "new", "new", []string{scope, push}, "unverified", "digest_incomparable", "unverified", "preserved"},
		"one for all":         {"old", "old", "old", []string{scope, push}, "preserved", "match", "preserved", "preserved"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			collector := newHookCollector(t)
			w := newHookWorld(t, collector.URL)
			w.env["CONTINUITY_SESSION"] = "s"
			w.key(t, c.before)
			w.do(t, "decide", "scope", "github.com/acme/payments")
			w.key(t, c.between)
			w.do(t, "decide", "constraint.push", "forbidden")
			w.key(t, c.now)
			w.hook(t, `{"hook_event_name":"PreCompact","session_id":"s","prompt_id":"p","trigger":"auto"}`, "claude-code")
			w.silent(t)
			w.later(t, "complete", "--session-attribute", "session.id")
			w.later(t, append([]string{"observe", "--session-attribute", "session.id", "--source", "agent"}, c.look...)...)
			got := collector.verdict(t, replay.Options{})
			require.Len(t, got, 1)
			assert.Equal(t, c.state, got[0].State)
			assert.Equal(t, c.reason, got[0].Reason)
			assert.Equal(t, c.scope, got[0].Invariants["scope"].State)
			assert.Equal(t, c.push, got[0].Invariants["constraint.push"].State)
		})
	}
}

// key gives the project another key, or none.
func (w *hookWorld) key(t *testing.T, id string) {
	t.Helper()
	if id == "" {
		require.NoError(t, os.WriteFile(filepath.Join(w.dir, "continuity.yaml"), nil, 0o600))
		return
	}
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "continuity.yaml"), []byte("key: {id: "+id+"}\n"), 0o600))
	keys := filepath.Join(filepath.Dir(w.state), "continuity", "keys")
	require.NoError(t, os.MkdirAll(keys, 0o700))
	secret := sha256.Sum256([]byte(id))
	require.NoError(t, os.WriteFile(filepath.Join(keys, id+".key"), []byte(hex.EncodeToString(secret[:])+"\n"), 0o600))
}

// An approval is for one change. Where the ledger goes on to state the old value,
// the next compaction shows the same change again, and nothing approves it.
func TestApproveAndRecord(t *testing.T) {
	for name, c := range map[string]struct {
		record        []string
		state, reason string
	}{
		"recorded":     {[]string{"--record"}, "preserved", "match"},
		"not recorded": {nil, "conflicting", "approval_reused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			collector := newHookCollector(t)
			w := newHookWorld(t, collector.URL)
			w.env["CONTINUITY_SESSION"] = "s"
			w.do(t, "decide", "scope", "github.com/acme/payments")
			for n := range 2 {
				w.later(t, "snapshot")
				w.later(t, "complete")
				if n == 0 {
					w.later(t, append([]string{"approve", "scope", "--to", "github.com/acme/billing", "--ref", "CHG-1", "--unsigned"}, c.record...)...)
				}
				w.later(t, "observe", "--source", "agent", "scope=github.com/acme/billing")
				w.at = w.at.Add(time.Minute)
			}
			got := collector.verdict(t, replay.Options{})
			require.Len(t, got, 2)
			assert.Equal(t, "approved_change", got[0].State)
			assert.Equal(t, c.state, got[1].State)
			assert.Equal(t, c.reason, got[1].Reason)
		})
	}
}
