package boundary_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const startupGrace = 300 * time.Millisecond

const chaosCollector = `
extensions:
  file_storage: {directory: %q, create_directory: true, fsync: true} # slow: what does not wait for it is seen
receivers:
  otlp: {protocols: {http: {endpoint: %q}}}
processors:
  continuity:
    storage: file_storage
    window: 9s
    reorder_grace: 3200ms
    startup_grace: %s
    events: {activity: [` + activityName + `]}
    runtimes: {slow: {window: 14s}, lazy: {starts: activity}}
exporters:
  otlp_http: # synchronous: what it took is at the backend
    endpoint: %q
    timeout: %s
    compression: none
    sending_queue: {enabled: false}
    retry_on_failure: {enabled: false}
service:
  extensions: [file_storage]
  telemetry: {metrics: {level: none}, logs: {level: error, disable_stacktrace: true}}
  pipelines:
    traces: {receivers: [otlp], processors: [continuity], exporters: [otlp_http]}
    logs: {receivers: [otlp], processors: [continuity], exporters: [otlp_http]}
`

// collector is the distribution, started again and again on one storage.
type collector struct {
	t            *testing.T
	binary, file string
	address      string
	log          *os.File

	mu      sync.Mutex
	running *exec.Cmd
	exited  chan struct{}
	wanted  bool // somebody ends it
	down    []span
	dies    time.Time // zero while it is up
	ends    map[string]int
	ambush  atomic.Pointer[ambush]
}

// How the collector is ended: at any time, or at a moment that matters.
const (
	stop = iota
	kill
	killBefore
	killAfter
	killAcknowledged
)

var ends = [...]string{
	"stopped", "killed", "killed before something was taken", "killed after something was taken", "killed when something was acknowledged",
}

// ambush waits for its moment.
type ambush struct {
	at   int
	kill func()
}

// spring is called at each such moment, and reports whether that ended the
// collector.
func (c *collector) spring(at int) bool {
	a := c.ambush.Load()
	if a == nil || a.at != at || !c.ambush.CompareAndSwap(a, nil) {
		return false
	}
	a.kill()
	return true
}

// span is a time.
type span struct{ from, to time.Time }

func newCollector(t *testing.T, binary, backend string) *collector {
	dir := t.TempDir()
	c := &collector{t: t, binary: binary, file: filepath.Join(dir, "config.yaml"), address: quietAddress(t), ends: map[string]int{}}
	text := fmt.Sprintf(chaosCollector, filepath.Join(dir, "storage"), c.address, startupGrace, backend, exporterTimeout)
	require.NoError(t, os.WriteFile(c.file, []byte(text), 0o600))
	var err error
	c.log, err = os.Create(filepath.Join(dir, "collector.log"))
	require.NoError(t, err)
	t.Cleanup(func() {
		c.end("cleanup", syscall.SIGKILL)
		_ = c.log.Close()
	})
	return c
}

// quietAddress is a free port below those that the system gives to clients: a
// client that tries again and again must not take it while the collector is down.
func quietAddress(t *testing.T) string {
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(10000)))
		if err == nil {
			defer func() { _ = l.Close() }()
			return l.Addr().String()
		}
	}
	t.Fatal("no free port")
	return ""
}

// start runs the collector. It is up once it listens, unless it was ended first.
func (c *collector) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	cmd, exited := exec.Command(c.binary, "--config", c.file), make(chan struct{})
	cmd.Stdout, cmd.Stderr = c.log, c.log
	if err := cmd.Start(); err != nil {
		c.t.Errorf("start the collector: %v", err)
		return
	}
	c.running, c.exited, c.wanted = cmd, exited, false
	go func() {
		err := cmd.Wait()
		c.mu.Lock()
		if !c.wanted {
			c.t.Errorf("the collector ended by itself: %v", err)
		}
		c.mu.Unlock()
		close(exited)
	}()
	go c.awaitUp(exited)
}

func (c *collector) awaitUp(exited <-chan struct{}) {
	for {
		conn, err := net.Dial("tcp", c.address)
		if err == nil {
			_ = conn.Close()
			c.mu.Lock()
			defer c.mu.Unlock()
			if !c.wanted && !c.dies.IsZero() {
				c.down = append(c.down, span{c.dies, time.Now()})
				c.dies = time.Time{}
			}
			return
		}
		select {
		case <-exited:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// end ends the collector that runs, if nobody else does, and returns when it is
// gone.
func (c *collector) end(how string, with os.Signal) {
	c.mu.Lock()
	cmd, exited := c.running, c.exited
	if cmd == nil || c.wanted {
		c.mu.Unlock()
		return
	}
	c.wanted = true
	if c.dies.IsZero() {
		c.dies = time.Now()
	} else {
		how += " while starting"
	}
	c.ends[how]++
	_ = cmd.Process.Signal(with) // it may just have ended
	c.mu.Unlock()
	select {
	case <-exited:
	case <-time.After(30 * time.Second):
		c.t.Errorf("the collector does not stop: %s", how)
		_ = cmd.Process.Kill()
		<-exited
	}
}

// outage is the longest time that the collector was down within a time.
func (c *collector) outage(within span) (longest time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.down {
		if d.to.After(within.from) && d.from.Before(within.to) {
			longest = max(longest, d.to.Sub(d.from))
		}
	}
	return longest
}

// ended counts how often the collector was killed or stopped.
func (c *collector) ended() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, times := range c.ends {
		n += times
	}
	return n
}

// letUp waits for a collector that is down too long for anything to be sure.
func (c *collector) letUp() (exited <-chan struct{}) {
	for {
		c.mu.Lock()
		down, exited := !c.dies.IsZero() && time.Since(c.dies) > time.Second, c.exited
		c.mu.Unlock()
		if !down {
			return exited
		}
		select {
		case <-exited:
			return exited
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// torment ends the collector and starts it again until it is told to leave off.
func (c *collector) torment(rng *rand.Rand, enough <-chan struct{}) {
	for {
		uptime := time.Duration(rng.IntN(2500)) * time.Millisecond
		if rng.IntN(5) == 0 {
			uptime = time.Duration(rng.IntN(120)) * time.Millisecond // while it starts
		}
		select {
		case <-enough:
			return
		case <-time.After(uptime):
		}
		exited := c.letUp()
		how := rng.IntN(len(ends))
		if how == stop {
			c.end(ends[how], syscall.SIGTERM)
		} else {
			c.ambush.Store(&ambush{how, func() { c.end(ends[how], syscall.SIGKILL) }})
			c.spring(kill)
			select {
			case <-exited:
			case <-time.After(3 * time.Second): // nothing happens
				c.ambush.Store(nil)
				c.end(ends[kill], syscall.SIGKILL)
			}
		}
		<-exited
		time.Sleep(time.Duration(rng.IntN(200)) * time.Millisecond)
		c.start()
	}
}
