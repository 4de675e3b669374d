package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// terminal is a person at work in a project of their own.
type terminal struct {
	app
	out, err bytes.Buffer
}

func newTerminal(t *testing.T, endpoint, session string) *terminal {
	t.Helper()
	home, env := t.TempDir(), map[string]string{"CONTINUITY_ENDPOINT": endpoint, "CONTINUITY_SESSION": session}
	env["HOME"] = home
	w := &terminal{}
	w.app = app{
		in: bytes.NewReader(nil), out: &w.out, err: &w.err,
		now: time.Now, getenv: func(name string) string { return env[name] }, dir: t.TempDir(),
	}
	w.do(t, "init")
	return w
}

// do runs one command line, which must succeed.
func (w *terminal) do(t *testing.T, args ...string) string {
	t.Helper()
	w.out.Reset()
	w.err.Reset()
	require.Zero(t, run(t.Context(), &w.app, args), "%v: %s", args, w.err.String())
	return w.out.String()
}

// Decide, snapshot, compaction, restate, through the real collector.
func TestCommandsToReceipt(t *testing.T) {
	endpoint, file := realCollectorFile(t)
	const scope, test, push = "scope=https://github.com/acme/payments", "acceptance_test=go  test ./...", "constraint.push=Forbidden"
	for name, c := range map[string]struct {
		look          []string
		state, reason string
		alert         string
	}{
		"kept":          {[]string{"--source", "agent", scope, test, push}, "preserved", "match", ""},
		"lost":          {[]string{"--source", "agent", scope, test}, "dropped", "missing_after", "decision_dropped"},
		"changed":       {[]string{"--source", "agent", "scope=github.com/acme/billing", test, push}, "conflicting", "changed_without_approval", "decision_conflicting"},
		"from a file":   {[]string{"--source", "record", scope, test, push}, "unverified", "source_not_accepted", ""},
		"half a look":   {[]string{"--source", "agent", "--partial", scope}, "unverified", "observation_incomplete", ""},
		"a person":      {[]string{"--source", "human", scope, test, push}, "preserved", "match", ""},
		"only a probe":  {[]string{"--source", "environment", scope, test, push}, "unverified", "source_not_accepted", ""},
		"not known":     {[]string{"--source", "agent", scope, test, "--unknown", "constraint.push"}, "dropped", "missing_after", "decision_dropped"},
		"none any more": {[]string{"--source", "agent", scope, test, "--none", "constraint.push"}, "dropped", "missing_after", "decision_dropped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTerminal(t, endpoint, name)
			w.do(t, "decide", "scope", "git@github.com:acme/payments.git")
			w.do(t, "decide", "acceptance_test", "go test ./...")
			w.do(t, "decide", "constraint.push", "forbidden")
			assert.Contains(t, w.do(t, "snapshot"), "accepted")
			w.do(t, "complete", "--outcome", "completed")
			assert.Contains(t, w.do(t, append([]string{"observe"}, c.look...)...), "accepted")
			waitFor(t, "no receipt", func() bool { return len(written(file, "continuity.boundary", name)) > 0 })
			r := written(file, "continuity.boundary", name)
			require.Len(t, r, 1)
			assert.Equal(t, c.state, attrText(r[0], "continuity.boundary.state"))
			assert.Equal(t, c.reason, attrText(r[0], "continuity.reason"))
			if c.alert == "" {
				assert.Empty(t, written(file, "continuity.alert", name))
				return
			}
			waitFor(t, "no alert", func() bool { return len(written(file, "continuity.alert", name)) > 0 })
			assert.Equal(t, c.alert, attrText(written(file, "continuity.alert", name)[0], "continuity.alert.kind"))
		})
	}
}

// A snapshot that was sent, and whose process was killed before it knew, is sent
// again by the next run and is no second one to the processor.
func TestSentTwiceIsOnce(t *testing.T) {
	endpoint, file := realCollectorFile(t)
	w := newTerminal(t, endpoint, "twice")
	w.do(t, "decide", "scope", "github.com/acme/payments")
	cfg, err := w.config()
	require.NoError(t, err)
	away := newTerminal(t, "http://127.0.0.1:1", "twice")
	away.dir, away.getenv = w.dir, func(name string) string {
		if name == "CONTINUITY_ENDPOINT" {
			return "http://127.0.0.1:1"
		}
		return w.getenv(name)
	}
	away.do(t, "snapshot")
	names, err := cfg.Spool().Pending()
	require.NoError(t, err)
	require.Len(t, names, 1)
	path := filepath.Join(cfg.Spool().Dir(), names[0])
	event, err := os.ReadFile(path)
	require.NoError(t, err)
	w.do(t, "flush")
	require.NoError(t, os.WriteFile(path, event, 0o600), "as if it had not been removed")
	assert.Contains(t, w.do(t, "flush"), "1 event accepted")
	w.do(t, "observe", "--source", "agent", "scope=github.com/acme/payments")
	waitFor(t, "no receipt", func() bool { return len(written(file, "continuity.boundary", "twice")) > 0 })
	r := written(file, "continuity.boundary", "twice")
	require.Len(t, r, 1)
	assert.Equal(t, "preserved", attrText(r[0], "continuity.boundary.state"))
	assert.Empty(t, attrText(r[0], "continuity.superseded_count"))
}
