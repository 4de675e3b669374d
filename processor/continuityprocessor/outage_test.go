package continuityprocessor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// exporter is what comes after one pipeline. It can go out of order.
type exporter struct {
	mu    sync.Mutex
	fault func(context.Context) error
	// data, receipts and alerts are what it took, by what tells one from another.
	data, receipts, alerts map[string]int
	reasons                map[string]int
}

func newExporter() *exporter {
	return &exporter{data: map[string]int{}, receipts: map[string]int{}, alerts: map[string]int{}, reasons: map[string]int{}}
}

func (x *exporter) breaks(fault func(context.Context) error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.fault = fault
}

func (x *exporter) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: true}
}

func (x *exporter) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	return x.take(ctx, func() {
		for _, span := range spansOf(td) {
			if x.note(span.Name(), span.Attributes()); span.Name() != semconv.EventBoundary {
				continue
			}
			for _, e := range span.Events().All() {
				x.note(e.Name(), span.Attributes())
			}
		}
	})
}

func (x *exporter) ConsumeLogs(ctx context.Context, ld plog.Logs) error {
	return x.take(ctx, func() {
		for _, record := range recordsOf(ld) {
			x.note(record.EventName(), record.Attributes())
		}
	})
}

func (x *exporter) take(ctx context.Context, note func()) error {
	x.mu.Lock()
	fault := x.fault
	x.mu.Unlock()
	if fault != nil {
		if err := fault(ctx); err != nil {
			return err
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	note()
	return nil
}

func (x *exporter) note(name string, attrs pcommon.Map) {
	text := func(key string) string {
		v, _ := attrs.Get(key)
		return v.AsString()
	}
	switch name {
	case semconv.EventBoundary:
		x.receipts[text(semconv.SessionID)+" "+text(semconv.Revision)]++
		x.reasons[text(semconv.Reason)]++
	case semconv.EventAlert:
		x.alerts[text(semconv.SessionID)+" "+text(semconv.Revision)]++
	default:
		x.data[text(semconv.SessionID)]++
	}
}

// requireOnce asserts that receipts of these sessions came, each once, with an
// alert each, and no others.
func (x *exporter) requireOnce(t *testing.T, sessions ...string) {
	t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	want := map[string]int{}
	for _, id := range sessions {
		want[id+" 1"] = 1
	}
	require.Equal(t, want, x.receipts)
	require.Len(t, x.alerts, len(sessions))
	for id, n := range x.alerts {
		require.Equal(t, 1, n, id)
	}
}

func (x *exporter) requireNothing(t *testing.T) {
	t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	require.Empty(t, x.receipts)
	require.Empty(t, x.alerts)
}

// side is one signal of a pair of pipelines.
type side struct {
	out  *exporter
	send func(events ...event) error
	c    component.Component
}

// outage is a pair of pipelines, of which the exporter of one breaks.
type outage struct {
	broken, well *side
	tel          *measured
	durable      bool
	disk         *disk
}

// inOutages runs a test for each signal that breaks, in memory and with storage.
func inOutages(t *testing.T, test func(t *testing.T, o *outage), change ...func(*Config)) {
	for _, durable := range []bool{false, true} {
		for _, signal := range []string{"traces", "logs"} {
			t.Run(fmt.Sprintf("%s break, storage %t", signal, durable), func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					o := &outage{durable: durable, disk: newDisk()}
					traces, logs := o.start(t, change...)
					o.broken, o.well = traces, logs
					if signal == "logs" {
						o.broken, o.well = logs, traces
					}
					test(t, o)
				})
			})
		}
	}
}

func (o *outage) start(t *testing.T, change ...func(*Config)) (traces, logs *side) {
	t.Helper()
	f, set, cfg := NewFactory(), settings(), defaultConfig(change...)
	host := componenttest.NewNopHost()
	if o.durable {
		host, cfg = newStorageHost(o.disk), defaultConfig(append(change, withStorage)...)
	}
	tel := componenttest.NewTelemetry()
	set.TelemetrySettings = tel.NewTelemetrySettings()
	o.tel = &measured{tel: tel}
	traces, logs = &side{out: newExporter()}, &side{out: newExporter()}
	tp, err := f.CreateTraces(t.Context(), set, cfg, traces.out)
	require.NoError(t, err)
	lp, err := f.CreateLogs(t.Context(), set, cfg, logs.out)
	require.NoError(t, err)
	traces.c, traces.send = tp, func(events ...event) error { return tp.ConsumeTraces(context.Background(), spans(events...)) }
	logs.c, logs.send = lp, func(events ...event) error { return lp.ConsumeLogs(context.Background(), records(events...)) }
	for _, c := range []component.Component{tp, lp} {
		require.NoError(t, c.Start(t.Context(), host))
	}
	t.Cleanup(func() {
		require.NoError(t, tp.Shutdown(context.Background()))
		require.NoError(t, lp.Shutdown(context.Background()))
		require.NoError(t, tel.Shutdown(context.Background()))
	})
	return traces, logs
}

func ids(prefix string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint(prefix, "-", i))
	}
	return out
}

// at moves on to a moment of the morning.
func at(d time.Duration) {
	time.Sleep(time.Until(morning.Add(d)))
	synctest.Wait()
}

// lost is an observation in which a decision is gone: it decides at once.
func lost(session string) event {
	return observation(session, time.Now(), original().without("scope"))
}

// An exporter that blocks for a minute: deadlines are kept, the other signal
// notices nothing, and what was decided meanwhile arrives when it comes back.
func TestExporterBlocks(t *testing.T) {
	inOutages(t, func(t *testing.T, o *outage) {
		require.NoError(t, o.well.send(many("due", 300, time.Now())...))
		at(14 * time.Minute)
		require.NoError(t, o.well.send(many("lost", 5, time.Now())...))

		at(14*time.Minute + 30*time.Second)
		release := make(chan struct{})
		o.broken.out.breaks(func(context.Context) error { <-release; return nil })
		// A receipt that is stuck, then requests in both signals.
		require.NoError(t, o.well.send(lost("lost-0")))
		synctest.Wait()
		o.well.out.requireOnce(t, "lost-0")
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = o.broken.send(lost("lost-1"))
		}()
		synctest.Wait()
		o.well.out.requireOnce(t, "lost-0", "lost-1")
		began := time.Now()
		for n := range 3 {
			require.NoError(t, o.well.send(lost(fmt.Sprint("lost-", n+2))))
		}
		require.Equal(t, began, time.Now(), "requests of the other signal wait for nobody")
		synctest.Wait()
		o.well.out.requireOnce(t, ids("lost", 5)...)

		at(15*time.Minute + 2*time.Millisecond)
		all := append(ids("lost", 5), ids("due", 300)...)
		o.well.out.requireOnce(t, all...)
		require.Equal(t, 300, o.well.out.reasons[missing])
		o.broken.out.requireNothing(t)
		require.Zero(t, o.broken.out.data["lost-1"])

		at(15*time.Minute + 30*time.Second)
		close(release)
		synctest.Wait()
		<-done
		o.broken.out.requireOnce(t, all...)
		require.Equal(t, 1, o.broken.out.data["lost-1"], "its own request was only delayed")
		o.tel.require(t, 305, "alerts", "status", "firing")
		o.tel.require(t, 0, "outbox_dropped")
		o.tel.require(t, 0, "outbox_refused")
		o.tel.require(t, 0, "outbox_length")
	})
}

// The same for one that refuses: its own requests fail as they would without us,
// and receipts are tried again until it takes them.
func TestExporterFails(t *testing.T) {
	inOutages(t, func(t *testing.T, o *outage) {
		require.NoError(t, o.well.send(many("due", 300, time.Now())...))
		require.NoError(t, o.well.send(many("lost", 2, time.Now())...))
		at(14*time.Minute + 30*time.Second)
		o.broken.out.breaks(func(context.Context) error { return errBusy })
		require.ErrorIs(t, o.broken.send(lost("lost-0")), errBusy)
		require.NoError(t, o.well.send(lost("lost-1")))
		synctest.Wait()
		o.well.out.requireOnce(t, ids("lost", 2)...)
		require.ErrorIs(t, o.broken.send(lost("lost-0")), errBusy, "the sender tries again")
		at(15*time.Minute + 2*time.Millisecond)
		all := append(ids("lost", 2), ids("due", 300)...)
		o.well.out.requireOnce(t, all...)
		o.broken.out.requireNothing(t)
		at(15*time.Minute + 30*time.Second)
		o.broken.out.breaks(nil)
		require.NoError(t, o.broken.send(lost("lost-0")))
		at(15*time.Minute + 30*time.Second + maxRetry)
		o.broken.out.requireOnce(t, all...)
		o.tel.require(t, 302, "alerts", "status", "firing")
		o.tel.require(t, 0, "outbox_dropped")
		o.tel.require(t, 0, "outbox_refused")
		o.tel.require(t, 0, "outbox_length")
	})
}

// What an exporter refuses for good is counted and left; what comes after is not
// held up by it, and the other signal has all.
func TestExporterRefusesForGood(t *testing.T) {
	inOutages(t, func(t *testing.T, o *outage) {
		require.NoError(t, o.well.send(many("due", 300, time.Now())...))
		at(time.Minute)
		require.NoError(t, o.well.send(many("later", 20, time.Now())...))
		at(14*time.Minute + 30*time.Second)
		o.broken.out.breaks(func(context.Context) error { return consumererror.NewPermanent(errBusy) })
		at(15*time.Minute + 30*time.Second)
		o.broken.out.breaks(nil)
		at(17 * time.Minute)
		o.broken.out.requireOnce(t, ids("later", 20)...)
		o.well.out.requireOnce(t, append(ids("due", 300), ids("later", 20)...)...)
		o.tel.require(t, 300, "outbox_refused")
		o.tel.require(t, 0, "outbox_dropped")
		o.tel.require(t, 0, "outbox_length")
	})
}

// In an outage that is longer than the outbox, what is held is kept and arrives;
// what is new is counted, and lost in this signal only.
func TestOutageOutlastsOutbox(t *testing.T) {
	inOutages(t, func(t *testing.T, o *outage) {
		const room = 60
		require.NoError(t, o.well.send(many("a", room, time.Now())...))
		release := make(chan struct{})
		o.broken.out.breaks(func(context.Context) error { <-release; return nil })
		at(15*time.Minute + 2*time.Millisecond)
		for _, id := range ids("a", room) { // a second receipt for each
			require.NoError(t, o.well.send(observation(id, time.Now(), original())))
		}
		at(15*time.Minute + 30*time.Second) // late ones wait for their snapshot first
		require.Len(t, o.well.out.receipts, 2*room)
		o.tel.require(t, room, "outbox_dropped")
		o.tel.require(t, room, "outbox_length")
		close(release)
		synctest.Wait()
		o.broken.out.requireOnce(t, ids("a", room)...)
		o.tel.require(t, 0, "outbox_length")
	}, func(c *Config) { c.Limits.Sessions = 60 })
}

// A stop in the middle of an outage takes as long as its caller allows, whether
// the exporter honours its context or not. With storage, nothing is lost by it.
func TestShutdownDuringOutage(t *testing.T) {
	for name, deaf := range map[string]bool{"honours its context": false, "ignores its context": true} {
		t.Run(name, func(t *testing.T) {
			inOutages(t, func(t *testing.T, o *outage) {
				require.NoError(t, o.well.send(many("due", 300, time.Now())...))
				require.NoError(t, o.well.send(many("open", 10, time.Now().Add(time.Second))...))
				release := make(chan struct{})
				o.broken.out.breaks(func(ctx context.Context) error {
					if deaf {
						<-release
						return errors.New("too late")
					}
					<-ctx.Done()
					return ctx.Err()
				})
				at(15*time.Minute + 2*time.Millisecond)
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				began := time.Now()
				err := o.broken.c.Shutdown(ctx)
				require.LessOrEqual(t, time.Since(began), 2*time.Second+joinTime)
				require.Equal(t, deaf, errors.Is(err, errStuck))
				began = time.Now()
				require.NoError(t, o.well.c.Shutdown(t.Context()))
				require.Equal(t, began, time.Now(), "the other signal drains at once")
				require.Len(t, o.well.out.receipts, 310)
				close(release)
				synctest.Wait()
				o.broken.out.requireNothing(t)
				if !o.durable {
					o.tel.require(t, 310, "outbox_dropped")
					return
				}
				o.tel.require(t, 0, "outbox_dropped")
				traces, logs := o.start(t)
				synctest.Wait()
				require.ElementsMatch(t, []int{310, 0}, []int{len(traces.out.receipts), len(logs.out.receipts)}, "what was owed, where it was")
				for _, out := range []*exporter{traces.out, logs.out} {
					for id, n := range out.receipts {
						require.Equal(t, 1, n, id)
					}
				}
			})
		})
	}
}
