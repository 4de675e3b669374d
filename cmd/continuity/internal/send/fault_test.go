package send

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/ledger"
)

func TestNobodyListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	endpoint := "http://" + listener.Addr().String()
	require.NoError(t, listener.Close())
	cfg := newConfig(t, endpoint)
	result, err := New(cfg, clock).Send(t.Context(), snapshot("a"), snapshot("b"))
	require.NoError(t, err)
	assert.Equal(t, Spooled, result.Status())
	assert.Equal(t, 2, result.Waiting)
	require.ErrorContains(t, result.Why, "cannot be reached")
	require.Error(t, New(cfg, clock).Ping(t.Context()))
}

// An endpoint that takes the connection and never answers, and one that answers
// without end, cost the timeout and no more.
func TestHanging(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	endless := newCollector(t)
	endless.answers(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", protobuf)
		w.WriteHeader(http.StatusOK)
		if flusher, ok := w.(http.Flusher); ok {
			flusher.Flush()
		}
		<-r.Context().Done()
	})
	for name, endpoint := range map[string]string{"silent": "http://" + listener.Addr().String(), "endless": endless.URL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := newConfig(t, endpoint)
			cfg.Timeout = config.DefaultTimeout
			started := time.Now()
			result, err := New(cfg, clock).Send(t.Context(), snapshot("a"), snapshot("b"))
			require.NoError(t, err)
			assert.Less(t, time.Since(started), 2*time.Second)
			assert.Equal(t, Spooled, result.Status())
			assert.Equal(t, 2, result.Waiting)
			require.ErrorContains(t, result.Why, "in time")
		})
	}
}

// A process that is killed while it sends leaves its event behind. The next run
// sends the very same again: the same id, which the processor knows.
func TestKill(t *testing.T) {
	c := newCollector(t)
	arrived := make(chan struct{})
	c.answers(func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	})
	cfg := newConfig(t, c.URL)
	cfg.Resource = nil
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envSend+"="+c.URL, envState+"="+cfg.State)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	<-arrived
	busy, err := New(cfg, clock).Flush(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, busy.Waiting, "another process is sending it")
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())

	c.answers(accept)
	result, err := New(cfg, clock).Flush(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, result.Earlier)
	assert.Zero(t, result.Waiting)
	requests := c.requests()
	require.Len(t, requests, 2)
	assert.Equal(t, requests[0].body, requests[1].body)
	assert.NotEmpty(t, decodeLogs(t, requests[1]).id)
	result, err = New(cfg, clock).Flush(t.Context())
	require.NoError(t, err)
	assert.Empty(t, c.requests(), "and then never again")
	assert.Equal(t, Accepted, result.Status())
}

func TestWithoutADisk(t *testing.T) {
	c := newCollector(t)
	cfg := newConfig(t, c.URL)
	cfg.State = filepath.Join(cfg.State, "file")
	require.NoError(t, os.WriteFile(cfg.State, nil, 0o600))
	result, err := New(cfg, clock).Send(t.Context(), snapshot("s"))
	require.NoError(t, err)
	assert.Equal(t, Accepted, result.Status(), "it can be sent all the same")

	c.answers(says(503, "", nil))
	result, err = New(cfg, clock).Send(t.Context(), snapshot("s"))
	require.ErrorContains(t, err, "the event is lost")
	assert.Equal(t, Refused, result.Status())
}

func TestWhatIsNoEvent(t *testing.T) {
	c := newCollector(t)
	cfg := newConfig(t, c.URL)
	_, err := New(cfg, clock).Send(t.Context(), snapshot("s"), continuity.Snapshot{})
	require.ErrorContains(t, err, "no session id")
	assert.Empty(t, c.requests(), "all or none")

	require.NoError(t, cfg.Spool().Put(at, "x", []byte("garbage")))
	result, err := New(cfg, clock).Send(t.Context(), snapshot("s"))
	require.NoError(t, err)
	assert.Equal(t, Accepted, result.Status())
	assert.Equal(t, 1, result.Refused, "a file that is no event is put aside")
	assert.Zero(t, result.Waiting)
}

// What is in a full spool stays: nobody can take the first snapshot again. The new
// event is refused and counted, unless there is room after all.
func TestFullSpool(t *testing.T) {
	c := newCollector(t)
	cfg := newConfig(t, c.URL)
	it, err := newItem(cfg, clock, snapshot("old"))
	require.NoError(t, err)
	encoded, err := it.encode()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(cfg.Spool().Dir(), 0o700))
	for i := range ledger.MaxSpooled {
		require.NoError(t, os.WriteFile(filepath.Join(cfg.Spool().Dir(), fmt.Sprintf("%04d.event", i)), encoded, 0o600))
	}
	c.answers(says(503, "", nil))
	result, err := New(cfg, clock).Send(t.Context(), snapshot("new"))
	require.ErrorIs(t, err, ledger.ErrFull)
	assert.Equal(t, Refused, result.Status())
	assert.Equal(t, ledger.MaxSpooled, result.Waiting)
	assert.Len(t, c.requests(), 1, "a collector that is away is not asked again")
	notes, err := cfg.Spool().Notes()
	require.NoError(t, err)
	require.Len(t, notes, 1)
	assert.Contains(t, notes[0].Reason, "full")

	left := 1
	c.answers(func(w http.ResponseWriter, r *http.Request) {
		if left--; left < 0 {
			says(503, "", nil)(w, r)
			return
		}
		accept(w, r)
	})
	result, err = New(cfg, clock).Send(t.Context(), snapshot("new"))
	require.NoError(t, err)
	assert.Equal(t, Spooled, result.Status(), "one went, so there is room for one")
}

func TestInterrupted(t *testing.T) {
	c := newCollector(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cfg := newConfig(t, c.URL)
	result, err := New(cfg, clock).Send(ctx, snapshot("s"))
	require.NoError(t, err)
	assert.Equal(t, Spooled, result.Status(), "it is kept all the same")
}
