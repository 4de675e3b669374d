package continuityprocessor

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// stepped is the same moment after the wall clock was set: what time.Now returns
// then has the monotonic reading that it would have had. Only the operating system
// can do that to a time, so it is done to what it consists of: one bit, 33 bits of
// wall seconds and 30 of nanoseconds come first.
func stepped(t time.Time, by time.Duration) time.Time {
	wall := (*uint64)(unsafe.Pointer(&t))
	*wall += uint64(by/time.Second) << 30
	return t
}

func TestStepped(t *testing.T) {
	now := time.Now()
	for _, by := range []time.Duration{time.Hour, -time.Hour, 0} {
		after := stepped(now, by)
		require.Zero(t, after.Sub(now), "as measured")
		require.Equal(t, by, after.Round(0).Sub(now.Round(0)), "as told")
	}
}

// booted has a monotonic reading, which times in a bubble have not.
var booted = time.Now()

// machine has clocks that are set from outside. Its timers follow the monotonic
// one, but for what passes while the process is stopped.
type machine struct {
	began         time.Time
	wall, stopped atomic.Int64
}

func newMachine() *machine { return &machine{began: time.Now()} }

func (m *machine) now() time.Time {
	return stepped(booted.Add(time.Since(m.began)+time.Duration(m.stopped.Load())), time.Duration(m.wall.Load()))
}

// step sets the wall clock.
func (m *machine) step(by time.Duration) { m.wall.Add(int64(by)) }

// sleep is a suspension as on Linux: the monotonic clock stands still.
func (m *machine) sleep(d time.Duration) { m.wall.Add(int64(d)) }

// stop is SIGSTOP, a paused virtual machine, or a suspension where the monotonic
// clock goes on: it does, and no timer fires.
func (m *machine) stop(d time.Duration) { m.stopped.Add(int64(d)) }

// pipelines starts both on the machine, with storage where host has one.
func (m *machine) pipelines(t *testing.T, host component.Host, change ...func(*Config)) *pipelines {
	t.Helper()
	p, _ := m.logged(t, host, change...)
	return p
}

func (m *machine) logged(t *testing.T, host component.Host, change ...func(*Config)) (*pipelines, *observer.ObservedLogs) {
	t.Helper()
	f, set, cfg := &factory{states: map[*Config]*shared{}}, settings(), defaultConfig(change...)
	if _, durable := host.(*storageHost); durable {
		withStorage(cfg)
	}
	core, logs := observer.New(zap.WarnLevel)
	set.Logger = zap.New(core)
	p := &pipelines{t: t, tracesOut: new(consumertest.TracesSink), logsOut: new(consumertest.LogsSink)}
	var err error
	p.traces, err = f.createTraces(t.Context(), set, cfg, p.tracesOut)
	require.NoError(t, err)
	p.logs, err = f.createLogs(t.Context(), set, cfg, p.logsOut)
	require.NoError(t, err)
	f.states[cfg].state.now = m.now
	require.NoError(t, p.traces.Start(t.Context(), host))
	require.NoError(t, p.logs.Start(t.Context(), host))
	t.Cleanup(p.stop)
	return p, logs
}

func nowhere() component.Host { return componenttest.NewNopHost() }

func many(prefix string, n int, at time.Time) []event {
	var out []event
	for i := range n {
		out = append(out, snapshot(fmt.Sprint(prefix, "-", i), at, original()))
	}
	return out
}

// reasons counts receipts by what they say.
func reasons(p *pipelines) map[string]int {
	out := map[string]int{}
	for _, r := range p.receipts() {
		out[fmt.Sprint(r[semconv.Reason])]++
	}
	return out
}

const missing = "post_observation_missing"

// However the wall clock is set while the collector runs, a window stays as long
// as it is: one that was opened before, one that is opened after, and one that
// came out of the storage.
func TestWallClockSteps(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, 4 * time.Minute, -4 * time.Minute, -time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				m, host := newMachine(), newStorageHost(newDisk())
				p := m.pipelines(t, host)
				traced(many("stored", 100, m.now())...)(t, p)
				time.Sleep(5 * time.Minute)
				p.stop()
				p = m.pipelines(t, host)
				traced(many("before", 100, m.now())...)(t, p)
				m.step(by)
				traced(many("after", 100, m.now())...)(t, p)

				time.Sleep(10*time.Minute - time.Second)
				synctest.Wait()
				require.Zero(t, len(p.receipts()))
				time.Sleep(2 * time.Second)
				synctest.Wait()
				require.Equal(t, 100, len(p.receipts()))
				time.Sleep(5*time.Minute - 2*time.Second)
				synctest.Wait()
				require.Equal(t, 100, len(p.receipts()))
				time.Sleep(2 * time.Second)
				synctest.Wait()
				require.Equal(t, map[string]int{missing: 300}, reasons(p))
				require.Len(t, p.records(semconv.EventAlert), 300)
			})
		})
	}
}

// A machine that slept for an hour goes on where it was: nothing fires, and who
// slept with it can still answer. What it hears and tells has the time of the day.
func TestSleepOfTheMachine(t *testing.T) {
	for name, host := range map[string]func() component.Host{
		"in memory": nowhere, "with storage": func() component.Host { return newStorageHost(newDisk()) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				m := newMachine()
				p := m.pipelines(t, host())
				traced(many("s", 100, m.now())...)(t, p)
				time.Sleep(10 * time.Minute)
				m.sleep(time.Hour)
				time.Sleep(4 * time.Minute)
				synctest.Wait()
				require.Zero(t, len(p.receipts()))
				logged(observation("s-7", m.now(), original()))(t, p)
				synctest.Wait()
				require.Equal(t, map[string]int{"match": 1}, reasons(p))
				span := spansOf(p.tracesOut.AllTraces()[len(p.tracesOut.AllTraces())-1])[0]
				require.Equal(t, m.now().UnixNano(), int64(span.EndTimestamp()))
				time.Sleep(time.Minute + time.Second)
				synctest.Wait()
				require.Equal(t, map[string]int{"match": 1, missing: 99}, reasons(p))
			})
		})
	}
}

// An approval of after a sleep counts, and one that expired during it does not.
func TestApprovalAfterSleep(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := newMachine()
		p := m.pipelines(t, nowhere())
		approval := sixCases()["3_approved_acceptance_test"][1]
		given := func(session string, at time.Time, expires time.Time) event {
			return with(plain(approval.name, session, at, approval.attrs), map[string]any{
				semconv.ApprovalApprovedAt: at.UTC().Format(time.RFC3339), semconv.ApprovalExpiresAt: expires.UTC().Format(time.RFC3339),
			})
		}
		traced(snapshot("old", m.now(), original()), snapshot("new", m.now(), original()))(t, p)
		logged(given("old", m.now(), m.now().Add(time.Minute)))(t, p)
		m.sleep(time.Hour)
		time.Sleep(time.Second)
		logged(given("new", m.now(), m.now().Add(time.Minute)))(t, p)
		time.Sleep(time.Second)
		changed := original().with("acceptance_test", "make test lint")
		logged(observation("old", m.now(), changed), observation("new", m.now(), changed))(t, p)
		synctest.Wait()
		require.Equal(t, map[string]int{"approved_transition": 1, "approval_expired": 1}, reasons(p))
	})
}

// Over a restart the wall clock decides, as a deadline was reckoned when its
// window began: it is never kept before the grace has passed, nor for longer than
// a full window.
func TestStepAndRestart(t *testing.T) {
	for by, closes := range map[time.Duration]time.Duration{
		0:               10 * time.Minute,
		4 * time.Minute: 6 * time.Minute,
		// Overdue: after the grace.
		time.Hour:           10 * time.Second,
		30 * 24 * time.Hour: 10 * time.Second,
		-2 * time.Minute:    12 * time.Minute,
		// Further ahead than a window is long.
		-time.Hour:           15*time.Minute + 10*time.Second,
		-30 * 24 * time.Hour: 15*time.Minute + 10*time.Second,
	} {
		t.Run(by.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				m, host := newMachine(), newStorageHost(newDisk())
				p := m.pipelines(t, host)
				traced(many("s", 10, m.now())...)(t, p)
				time.Sleep(time.Minute)
				m.step(by)
				time.Sleep(4 * time.Minute)
				synctest.Wait()
				require.Zero(t, len(p.receipts()))
				p.stop()
				p = m.pipelines(t, host)
				time.Sleep(closes - time.Second)
				synctest.Wait()
				require.Zero(t, len(p.receipts()))
				time.Sleep(2 * time.Second)
				synctest.Wait()
				require.Equal(t, 10, reasons(p)[missing])
				require.GreaterOrEqual(t, len(p.records(semconv.EventAlert)), 10)
				time.Sleep(24 * time.Hour)
				synctest.Wait()
				require.Equal(t, 10, reasons(p)[missing], "once")
			})
		})
	}
}

// A collector that was down for longer than sessions are kept still says what
// became overdue, before it forgets it.
func TestDownForLongerThanSessionsAreKept(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		host := newStorageHost(newDisk())
		p := durable(t, host)
		traced(snapshot("s", time.Now(), original()))(t, p)
		p.stop()
		time.Sleep(30 * 24 * time.Hour)
		p = durable(t, host)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, map[string]int{missing: 1, "session_expired": 1}, reasons(p))
	})
}

// A process that was stopped for an hour, on a clock that went on, is given the
// time of a start: what queued up counts, and only then is anything decided.
func TestProcessWasStopped(t *testing.T) {
	for _, at := range []time.Duration{2 * time.Second, 10 * time.Minute, 14*time.Minute + 58*time.Second} {
		t.Run(at.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				m := newMachine()
				p, logs := m.logged(t, nowhere(), func(c *Config) { c.StartupGrace = new(time.Duration); *c.StartupGrace = time.Minute })
				traced(many("s", 100, m.now())...)(t, p)
				asked := m.now().Add(time.Minute)
				time.Sleep(at)
				m.stop(time.Hour)
				for logs.FilterMessageSnippet("did not run for a while").Len() == 0 {
					require.Zero(t, len(p.receipts()))
					time.Sleep(time.Second)
					synctest.Wait()
				}
				logged(observation("s-7", asked, original()))(t, p)
				synctest.Wait()
				time.Sleep(time.Minute + time.Second)
				synctest.Wait()
				require.Equal(t, map[string]int{"match": 1, missing: 99}, reasons(p))
				require.Equal(t, 1, logs.FilterMessageSnippet("did not run for a while").Len())
			})
		})
	}
}

// The deadline that comes first after a pause is not decided by the pause: from
// the moment at which the process runs again, the grace passes first.
func TestNothingIsDecidedAtOnceAfterAPause(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := newMachine()
		p := m.pipelines(t, nowhere())
		traced(many("s", 10, m.now())...)(t, p)
		time.Sleep(15*time.Minute - time.Millisecond)
		m.stop(time.Minute)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		require.Zero(t, len(p.receipts()))
		time.Sleep(10*time.Second - time.Millisecond)
		synctest.Wait()
		require.Zero(t, len(p.receipts()))
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, 10, len(p.receipts()))
	})
}

// With a grace of nothing, a pause is nothing.
func TestPauseWithoutGrace(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := newMachine()
		p := m.pipelines(t, nowhere(), noGrace)
		traced(many("s", 10, m.now())...)(t, p)
		m.stop(time.Hour)
		time.Sleep(8 * time.Minute)
		synctest.Wait()
		require.Equal(t, 10, len(p.receipts()))
	})
}

// A process that is stopped while it works off deadlines leaves the rest for after
// the grace.
func TestStoppedInTheMiddle(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := newMachine()
		f, cfg := &factory{states: map[*Config]*shared{}}, defaultConfig()
		out := new(consumertest.TracesSink)
		traces, err := f.createTraces(t.Context(), settings(), cfg, out)
		require.NoError(t, err)
		var looks, stopAt atomic.Int64
		f.states[cfg].state.now = func() time.Time {
			if looks.Add(1) == stopAt.Load() {
				m.stop(time.Hour)
			}
			return m.now()
		}
		require.NoError(t, traces.Start(t.Context(), nowhere()))
		require.NoError(t, traces.ConsumeTraces(t.Context(), spans(many("s", 1000, m.now())...)))
		time.Sleep(15*time.Minute - time.Second)
		synctest.Wait()
		stopAt.Store(looks.Load() + 32)
		time.Sleep(time.Second)
		synctest.Wait()
		p := &pipelines{tracesOut: out}
		decided := len(p.receipts())
		require.Positive(t, decided)
		require.Less(t, decided, 1000)
		time.Sleep(10*time.Second - time.Millisecond)
		synctest.Wait()
		require.Equal(t, decided, len(p.receipts()))
		time.Sleep(maxBreather + 2*time.Millisecond)
		synctest.Wait()
		require.Equal(t, 1000, len(p.receipts()))
		require.NoError(t, traces.Shutdown(t.Context()))
	})
}

// Whoever is always late decides all the same, one pass after each grace.
func TestAlwaysLateDecides(t *testing.T) {
	now := morning
	w := watch{grace: 10 * time.Second}
	passes := 0
	for range 100 {
		w.plan(now, now.Add(time.Second))
		now = now.Add(time.Minute)
		if w.look(now); !w.waits(now) {
			passes++
			w.decided()
		}
	}
	require.Equal(t, 50, passes)
}

// Waiting for a deadline that is far away takes few looks, and the last of them is
// close by.
func TestPlan(t *testing.T) {
	w, now, due := watch{}, morning, morning.Add(7*24*time.Hour)
	looks := 0
	for now.Before(due) {
		pause := w.plan(now, due)
		if left := due.Sub(now); left > closeBy {
			require.LessOrEqual(t, pause, max(left/2, closeBy))
		} else {
			require.Equal(t, left, pause)
		}
		now = now.Add(pause)
		looks++
		require.Zero(t, w.look(now))
	}
	require.Less(t, looks, 30)
	require.Equal(t, minPause, w.plan(due, due.Add(-time.Hour)), "what is overdue")
}

// A stop decides as overdue what is, although its turn has not come yet; not where
// the process has just come out of a pause.
func TestStopDecidesWhatIsOverdue(t *testing.T) {
	for reason, change := range map[string]func(*Config){missing: noGrace, "collector_shutdown": func(*Config) {}} {
		inBubble(t, func(t *testing.T) {
			m := newMachine()
			p := m.pipelines(t, nowhere(), change)
			traced(many("s", 1000, m.now())...)(t, p)
			m.stop(time.Hour)
			p.stop()
			require.Equal(t, map[string]int{reason: 1000}, reasons(p))
		})
	}
}
