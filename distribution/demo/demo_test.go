package main

import (
	"bytes"
	"context"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// binary is the distribution: CONTINUITY_BINARY, or the one of make build if that
// is not older than what it is made of.
func binary(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a collector")
	}
	if named := os.Getenv("CONTINUITY_BINARY"); named != "" {
		return named
	}
	file := filepath.Join(root, "build", "otelcol-continuity")
	built, err := os.Stat(file)
	if err != nil {
		t.Skip("no distribution: make build")
	}
	for _, dir := range []string{"internal", "processor"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := d.Info()
			if err == nil && source.ModTime().After(built.ModTime()) {
				t.Skipf("the distribution is older than %s: make build", path)
			}
			return err
		})
		require.NoError(t, err)
	}
	return file
}

func TestDemo(t *testing.T) {
	file := binary(t)
	for _, taken := range []string{"4317", "4318", "8888", "13133"} {
		l, err := net.Listen("tcp", "127.0.0.1:"+taken)
		if err == nil { // if not, somebody else has it: as good
			defer func() { _ = l.Close() }()
		}
	}
	var stdout, stderr bytes.Buffer
	out := t.TempDir()
	code := run(t.Context(), []string{"--binary", file, "--root", root, "--out", out}, &stdout, &stderr)
	assert.Equal(t, exitOK, code, "%s%s", &stdout, &stderr)
	assert.Contains(t, stdout.String(), "All 8 verdicts are as expected.")
	assert.NotContains(t, stdout.String(), "\x1b[")
	sent, err := os.ReadFile(filepath.Join(out, sentName))
	require.NoError(t, err)
	assert.Contains(t, string(sent), `{"resourceSpans":[{`)
	assert.Contains(t, string(sent), "claude_code.compaction")
	stopped(t, out)
}

func TestDemoThatIsInterrupted(t *testing.T) {
	file := binary(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout bytes.Buffer
	stderr := &watcher{word: "waiting", then: cancel}
	out := t.TempDir()
	assert.Equal(t, exitInterrupted, run(ctx, []string{"--binary", file, "--root", root, "--out", out}, &stdout, stderr))
	assert.Empty(t, stdout.String())
	assert.Contains(t, stderr.text(), "interrupted; the collector is stopped")
	stopped(t, out)
}

// stopped asserts that the collector ended in order: run waits for its end.
func stopped(t *testing.T, out string) {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(out, logName))
	require.NoError(t, err)
	assert.Contains(t, string(log), "Shutdown complete")
}

func TestDemoWithoutCollector(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no binary":       {[]string{"--binary", "nowhere", "--root", root}, exitUsage, "no distribution at nowhere: run make build"},
		"no root":         {[]string{"--binary", "/dev/null", "--root", t.TempDir()}, exitUsage, "start the demo in the repository's root"},
		"an argument":     {[]string{"now"}, exitUsage, `unexpected argument "now"`},
		"unknown flag":    {[]string{"--fast"}, exitUsage, "not defined: -fast"},
		"help":            {[]string{"--help"}, exitOK, "-json"},
		"not executable":  {[]string{"--binary", "demo_test.go", "--root", root, "--out", t.TempDir()}, exitFailed, "permission denied"},
		"ends by itself":  {[]string{"--binary", endsAtOnce(t), "--root", root, "--out", t.TempDir()}, exitFailed, "the collector ended (exit status 3)"},
		"no place to log": {[]string{"--binary", "/dev/null", "--root", root, "--out", "/dev/null/x"}, exitFailed, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, c.code, run(t.Context(), c.args, &stdout, &stderr))
			assert.Contains(t, stderr.String(), c.says)
			assert.Empty(t, stdout.String())
		})
	}
}

func endsAtOnce(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "collector")
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\necho cannot start >&2\nexit 3\n"), 0o700))
	return file
}

// watcher keeps what is written and does something once a word is in it.
type watcher struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	word string
	then func()
}

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if bytes.Contains(p, []byte(w.word)) {
		w.then()
	}
	return w.buf.Write(p)
}

func (w *watcher) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}
