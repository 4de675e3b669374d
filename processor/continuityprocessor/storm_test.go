package continuityprocessor

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/processor/continuityprocessor/internal/metadata"
)

// filled is a state with many windows that are due a window after morning.
func filled(t *testing.T, windows int, change ...func(*Config)) *state {
	t.Helper()
	cfg := defaultConfig(append([]func(*Config){func(c *Config) { c.Limits.Sessions = windows }}, change...)...)
	s := newState(mustCore(t, cfg), windows, newOutbox(windows), mustTelemetry(t, cfg))
	for n := range windows {
		s.observe(morning, &boundary.Event{Kind: boundary.Snapshot, Key: boundary.Key{SessionKey: boundary.SessionKey{Session: fmt.Sprint(n)}}})
	}
	return s
}

// However much is due, a shard is locked for a few sessions at a time, and each
// pass gives every shard one turn.
func TestTurnsAreShort(t *testing.T) {
	const windows, most = 20_000, 16
	s := filled(t, windows)
	due := morning.Add(15 * time.Minute)
	decided, turns := 0, 0
	for i := range s.shards {
		for more := true; more; turns++ {
			s.turn(&s.shards[i], false, func(core *boundary.Core) (res boundary.Result) {
				res, more = core.Expire(due)
				require.LessOrEqual(t, len(res.Receipts), most)
				decided += len(res.Receipts)
				return res
			})
		}
	}
	require.Equal(t, windows, decided)
	require.LessOrEqual(t, turns, windows/most+shardCount)
}

// The goroutine of deadlines pauses after a spell of work, for longer than it
// worked; a stop ends the pause.
func TestDeadlinesPause(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		stop := make(chan struct{})
		p := pace{stop: stop, timer: time.NewTimer(time.Hour)}
		for _, step := range []struct{ took, pause time.Duration }{
			{0, 0},
			{spell - 1, 0},
			{1, breather * spell},
			{spell / 2, 0},
			{spell / 2, breather * spell},
			{4 * spell, 4 * breather * spell},
			{time.Second, maxBreather},
		} {
			began := time.Now()
			p.breathe(step.took)
			require.Equal(t, step.pause, time.Since(began))
		}
		close(stop)
		began := time.Now()
		p.breathe(time.Second)
		require.Equal(t, began, time.Now())
	})
}

// What changes while a shard is collected in turns is collected as it is at the
// end, together with all that was decided by then.
func TestCollectInTurns(t *testing.T) {
	s := filled(t, 20_000, withStorage)
	sh := &s.shards[0]
	some, more := sh.core.SomeChanges(collectTurn)
	require.Len(t, some, collectTurn)
	require.True(t, more)
	due := morning.Add(15 * time.Minute)
	s.turn(sh, false, func(core *boundary.Core) boundary.Result {
		res, _ := core.Expire(due)
		return res
	})
	c := collection{sessions: some}
	decided := c.from(sh)
	require.Len(t, decided, 16)
	last := map[string][]byte{}
	for _, ch := range c.sessions {
		last[ch.Key.Session] = ch.Value
	}
	require.Len(t, last, sh.core.Stats().Sessions)
	for _, d := range decided {
		fresh := boundary.New(s.cfg, newFleet(10, false))
		require.NoError(t, fresh.Load(last[d.receipt.Key.Session], time.Time{}))
		require.Zero(t, fresh.Stats().Open, "stored as it was decided")
	}
	require.Empty(t, (&collection{}).from(sh))
}

// A disk that hangs or fails holds up no deadline for longer than one transaction
// may take, however many there are.
func TestStormOnBadDisk(t *testing.T) {
	for name, fault := range map[string]func(*disk, chan struct{}){
		"hangs": func(d *disk, hang chan struct{}) { d.set(nil, hang) },
		"fails": func(d *disk, _ chan struct{}) { d.set(errDisk, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				d := newDisk()
				p := durable(t, newStorageHost(d))
				traced(many("s", 5000, time.Now())...)(t, p)
				hang := make(chan struct{})
				fault(d, hang)
				time.Sleep(15*time.Minute + patience + 10*time.Millisecond)
				synctest.Wait()
				require.Equal(t, map[string]int{missing: 5000}, reasons(p))
				d.set(nil, nil)
				close(hang)
				time.Sleep(retryPause)
				synctest.Wait()
				require.Empty(t, d.keys(owedPrefix))
				require.Len(t, d.keys(sessionPrefix), 5000)
			})
		})
	}
}

// A stop in the middle of a storm on a disk that hangs does not wait for the rest.
func TestStopDuringStorm(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := newDisk()
		p := durable(t, newStorageHost(d))
		traced(many("s", 5000, time.Now())...)(t, p)
		hang := make(chan struct{})
		d.set(nil, hang)
		time.Sleep(15*time.Minute + time.Second)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		require.NoError(t, p.traces.Shutdown(ctx))
		require.LessOrEqual(t, time.Since(began), time.Second+joinTime)
		d.set(nil, nil)
		close(hang)
		p.stop()
		got := told{}.and(p)
		require.Less(t, len(got.records), 5000)
		p = durable(t, newStorageHost(d), noGrace)
		time.Sleep(time.Second)
		synctest.Wait()
		got = got.and(p)
		require.Equal(t, 5000, len(bySession(got.receipts)))
		require.Equal(t, 5000, len(bySession(got.records)))
	})
}

// storm is a pair of pipelines with many windows that are due at one moment.
type storm struct {
	state  *state
	traces processor.Traces
	logs   processor.Logs
	ahead  atomic.Int64 // of the real time, in ns
	asked  int
}

func newStorm(b *testing.B, windows int, storage bool) *storm {
	b.Helper()
	s := &storm{}
	f := &factory{states: map[*Config]*shared{}}
	cfg, host := defaultConfig(noGrace, func(c *Config) { c.Limits.Sessions = 2 * windows }), componenttest.NewNopHost()
	if storage {
		withStorage(cfg)
		host = newStorageHost(newDisk())
	}
	set := processortest.NewNopSettings(metadata.Type)
	var err error
	s.traces, err = f.createTraces(b.Context(), set, cfg, consumertest.NewNop())
	require.NoError(b, err)
	s.logs, err = f.createLogs(b.Context(), set, cfg, consumertest.NewNop())
	require.NoError(b, err)
	s.state = f.states[cfg].state
	s.state.now = func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }
	for _, c := range []component.Component{s.traces, s.logs} {
		require.NoError(b, c.Start(b.Context(), host))
	}
	b.Cleanup(func() {
		for _, c := range []component.Component{s.traces, s.logs} {
			require.NoError(b, c.Shutdown(context.Background()))
		}
	})
	const batch = 500
	for n := 0; n < windows; n += batch {
		events := make([]event, 0, batch)
		for i := range batch {
			events = append(events, snapshot(fmt.Sprint("storm-", n+i), s.state.now(), original()))
		}
		require.NoError(b, s.traces.ConsumeTraces(b.Context(), spans(events...)))
	}
	return s
}

// ask sends a request each millisecond while more says so, and returns how long
// each took, sorted.
func (s *storm) ask(b *testing.B, more func(n int) bool) []time.Duration {
	var took []time.Duration
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := 0; more(n); n++ {
		s.asked++
		id := fmt.Sprint("asked-", s.asked)
		td := spans(snapshot(id, s.state.now().Add(-time.Minute), original()), observation(id, s.state.now(), original()))
		<-tick.C
		began := time.Now()
		if err := s.traces.ConsumeTraces(b.Context(), td); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took
}

// over is true once every window was decided and handed on, but for what the last
// requests decided.
func (s *storm) over() bool {
	due, ok := s.state.alarm.next()
	if ok && !due.After(s.state.now()) {
		return false
	}
	for _, n := range s.state.waiting() {
		if n > 10 {
			return false
		}
	}
	return true
}

func report(b *testing.B, name string, took []time.Duration) {
	at := func(q float64) float64 { return float64(took[int(q*float64(len(took)-1))].Microseconds()) }
	b.ReportMetric(at(0.50), name+"-p50-µs")
	b.ReportMetric(at(0.99), name+"-p99-µs")
	b.ReportMetric(at(1), name+"-max-µs")
	b.ReportMetric(float64(len(took)), name+"-requests")
}

// BenchmarkExpiryStorm measures what requests notice of windows that are all due
// at one moment, beside what they take in the same process before. With storage,
// which is in memory here, they wait for a transaction in both cases.
func BenchmarkExpiryStorm(b *testing.B) {
	for _, c := range []struct {
		windows int
		storage bool
	}{{100_000, false}, {1_000_000, false}, {100_000, true}} {
		b.Run(fmt.Sprintf("windows=%d,storage=%t", c.windows, c.storage), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				s := newStorm(b, c.windows, c.storage)
				quiet := s.ask(b, func(n int) bool { return n < 3000 })
				b.StartTimer()
				s.ahead.Store(int64(15*time.Minute + time.Second))
				signalTo(s.state.alarm.wake)
				began := time.Now()
				during := s.ask(b, func(n int) bool { return n < 100 || !s.over() })
				b.ReportMetric(time.Since(began).Seconds(), "storm-s")
				report(b, "quiet", quiet)
				report(b, "storm", during)
			}
		})
	}
}
