package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const preCompact = `{"hook_event_name":"PreCompact","session_id":"s","prompt_id":"p","trigger":"auto"}`

// hookLimit is what a host waits for, all in all.
const hookLimit = 2 * time.Second

// timed runs a hook and fails where it takes too long, by the clock on the wall. A
// busy machine gets three attempts; timed returns how many it took.
func (w *hookWorld) timed(t *testing.T, in func() io.Reader, args ...string) int {
	t.Helper()
	var took time.Duration
	for attempt := range 3 {
		w.in = in()
		began := time.Now()
		assert.Zero(t, run(context.Background(), w.app(), append([]string{"hook"}, args...)))
		if took = time.Since(began); took < hookLimit {
			return attempt + 1
		}
	}
	assert.Less(t, took, hookLimit)
	return 3
}

func reading(payload string) func() io.Reader {
	return func() io.Reader { return strings.NewReader(payload) }
}

func TestHookBudget(t *testing.T) {
	assert.LessOrEqual(t, hookTime+hookTail+hookLast, hookLimit-150*time.Millisecond, "starting and ending a process takes time too")
	assert.Less(t, hookRead, hookTime)
}

// silentServer accepts connections and never answers.
func silentServer(t *testing.T) string {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, listener.Close()) })
	go func() {
		for {
			if _, err := listener.Accept(); err != nil {
				return
			}
		}
	}()
	return "http://" + listener.Addr().String()
}

func TestHookAndASilentEndpoint(t *testing.T) {
	t.Parallel()
	w := newHookWorld(t, silentServer(t))
	// The project's own timeout may be longer; a hook's is not.
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "continuity.yaml"), []byte("timeout: 30s\n"), 0o600))
	w.timed(t, reading(preCompact), "claude-code")
	w.silent(t)

	// The next run sends it, with its id and time.
	c := newHookCollector(t)
	w.endpoint = c.URL
	first := w.at
	w.at = w.at.Add(time.Hour)
	w.hook(t, `{"hook_event_name":"SessionEnd","session_id":"s"}`, "claude-code")
	records := c.records(t)
	require.Len(t, records, 2)
	assert.Equal(t, "continuity.snapshot", records[0].EventName())
	assert.Equal(t, first, records[0].Timestamp().AsTime())
	assert.Equal(t, "session.end", records[1].EventName())
}

// A question is asked also where nothing can be sent.
func TestHookAsksWithoutACollector(t *testing.T) {
	t.Parallel()
	w := newHookWorld(t, silentServer(t))
	w.timed(t, reading(`{"hook_event_name":"SessionStart","session_id":"s","source":"compact"}`), "claude-code", "--ask")
	assert.Contains(t, w.out.String(), "session_id: s")
}

func TestHookAndANameThatDoesNotResolve(t *testing.T) {
	t.Parallel()
	w := newHookWorld(t, "http://collector.invalid:4318")
	w.timed(t, reading(preCompact), "claude-code")
	w.silent(t)
}

// Standard input need not end. Where nothing comes at all, nothing is waited for.
func TestHookAndInputWithoutAnEnd(t *testing.T) {
	t.Parallel()
	c := newHookCollector(t)
	for payload, events := range map[string]int{preCompact: 1, "": 0, preCompact[:20]: 0} {
		w := newHookWorld(t, c.URL)
		before := len(c.requests())
		attempts := w.timed(t, func() io.Reader {
			reader, writer := io.Pipe()
			go func() { _, _ = writer.Write([]byte(payload)) }()
			t.Cleanup(func() { _ = writer.Close() })
			return reader
		}, "claude-code")
		w.silent(t)
		assert.Len(t, c.requests(), before+events*attempts, payload)
	}
}

// A host that does not read its pipe is not waited for.
func TestHookAndAFullPipe(t *testing.T) {
	t.Parallel()
	w := newHookWorld(t, "http://127.0.0.1:1")
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, reader.Close()) }) // the hook's own write fails then
	if err := writer.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Skip("pipes have no deadlines here")
	}
	_, err = io.Copy(writer, endless{})
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, writer.SetWriteDeadline(time.Time{}))
	a := w.app()
	a.out, a.in = writer, strings.NewReader(`{"hook_event_name":"SessionStart","session_id":"s","source":"compact"}`)
	began := time.Now()
	assert.Zero(t, run(context.Background(), a, []string{"hook", "claude-code", "--ask"}))
	assert.Less(t, time.Since(began), 2*hookLimit, "on a busy machine") // without end before
	waiting, err := os.ReadDir(filepath.Join(w.state, "spool"))
	require.NoError(t, err)
	assert.Len(t, waiting, 1, "the event is kept all the same")
}

// A payload without end is no payload.
func TestHookAndEndlessInput(t *testing.T) {
	t.Parallel()
	w := newHookWorld(t, "http://127.0.0.1:1")
	w.timed(t, func() io.Reader { return io.MultiReader(strings.NewReader(`{"a":"`), endless{}) }, "claude-code")
	w.silent(t)
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// hookProcess is a process of its own that runs this command. The test binary is
// the command where it is called by that name.
func (w *hookWorld) hookProcess(t *testing.T, payload string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(filepath.Join(commandDir(t), "continuity"), append([]string{"hook"}, args...)...)
	cmd.Dir = w.dir
	cmd.Env = []string{"CONTINUITY_STATE=" + w.state, "CONTINUITY_ENDPOINT=" + w.endpoint, "HOME=" + filepath.Dir(w.state)}
	cmd.Stdin = strings.NewReader(payload)
	cmd.Stdout, cmd.Stderr = &w.out, &w.err
	return cmd
}

// commandDir is a folder with the command in it.
func commandDir(t *testing.T) string {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(binary, filepath.Join(dir, "continuity")))
	return dir
}

func TestHookProcess(t *testing.T) {
	t.Parallel()
	c := newHookCollector(t)
	w := newHookWorld(t, c.URL)
	require.NoError(t, w.hookProcess(t, preCompact, "claude-code").Run())
	w.silent(t)
	assert.Len(t, c.requests(), 1)
}

// kill -9 in the middle of the sending, before or after the collector has the
// event: the next run sends it again, as the very same event.
func TestHookKilled(t *testing.T) {
	t.Parallel()
	c := newHookCollector(t)
	w := newHookWorld(t, c.URL)
	came, killed := make(chan struct{}), make(chan struct{})
	c.before = func(n int) {
		if n == 1 { // the collector has it, and does not get to say so
			close(came)
			<-killed
		}
	}
	cmd := w.hookProcess(t, preCompact, "claude-code")
	require.NoError(t, cmd.Start())
	<-came
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	close(killed)
	w.silent(t)

	w.hook(t, `{"hook_event_name":"SessionEnd","session_id":"s"}`, "claude-code")
	requests := c.requests()
	require.Len(t, requests, 3)
	again := 1
	if bytes.Equal(requests[2], requests[0]) {
		again = 2 // the session's end is earlier by this test's clock
	}
	assert.Equal(t, requests[0], requests[again], "the same id and time: the processor takes it once")

	w.hook(t, `{"hook_event_name":"SessionEnd","session_id":"s"}`, "claude-code")
	assert.Len(t, c.requests(), 4, "nothing is sent a third time")
}
