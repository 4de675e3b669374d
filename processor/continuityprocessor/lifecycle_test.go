package continuityprocessor

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/agentcontinuity/otelcol-continuity/internal/receipt"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
	"github.com/agentcontinuity/otelcol-continuity/processor/continuityprocessor/internal/metadata"
)

// createdInOrder makes both pipelines, in an order, with a factory that can be
// looked into.
func createdInOrder(t *testing.T, cfg *Config, tracesFirst bool) (*factory, *pipelines) {
	t.Helper()
	f := &factory{states: map[*Config]*shared{}}
	p := &pipelines{t: t, tracesOut: new(consumertest.TracesSink), logsOut: new(consumertest.LogsSink)}
	set := processortest.NewNopSettings(metadata.Type)
	createTraces := func() {
		var err error
		p.traces, err = f.createTraces(t.Context(), set, cfg, p.tracesOut)
		require.NoError(t, err)
	}
	createLogs := func() {
		var err error
		p.logs, err = f.createLogs(t.Context(), set, cfg, p.logsOut)
		require.NoError(t, err)
	}
	if tracesFirst {
		createTraces()
		createLogs()
	} else {
		createLogs()
		createTraces()
	}
	require.Len(t, f.states, 1, "one configuration, one state")
	return f, p
}

func ordered(p *pipelines, tracesFirst bool) []component.Component {
	if tracesFirst {
		return []component.Component{p.traces, p.logs}
	}
	return []component.Component{p.logs, p.traces}
}

// Whatever the order in which two pipelines are created, started and shut down:
// they share one state, receipts reach both, nothing is lost and nothing stays.
func TestEveryOrder(t *testing.T) {
	for n := range 8 {
		create, start, stop := n&1 == 0, n&2 == 0, n&4 == 0
		t.Run(fmt.Sprintf("traces first: create %t, start %t, stop %t", create, start, stop), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				f, p := createdInOrder(t, defaultConfig(), create)
				for _, c := range ordered(p, start) {
					require.NoError(t, c.Start(t.Context(), componenttest.NewNopHost()))
				}
				require.NoError(t, p.traces.ConsumeTraces(t.Context(), spans(snapshot("s-1", morning, original()))))
				require.NoError(t, p.traces.ConsumeTraces(t.Context(), spans(snapshot("s-2", morning, original()))))
				time.Sleep(time.Minute)
				require.NoError(t, p.logs.ConsumeLogs(t.Context(), records(observation("s-1", time.Now(), original()))))
				synctest.Wait()
				require.Len(t, p.receipts(), 1, "a snapshot in one signal and an observation in the other meet")
				require.Len(t, p.records(semconv.EventBoundary), 1)

				for _, c := range ordered(p, stop) {
					require.NoError(t, c.Shutdown(t.Context()))
					require.NoError(t, c.Shutdown(t.Context()), "twice is once")
				}
				for _, receipts := range [][]map[string]any{p.receipts(), p.records(semconv.EventBoundary)} {
					require.Len(t, receipts, 2)
					require.Equal(t, "preserved", receipts[0][semconv.BoundaryState])
					require.Equal(t, "unverified", receipts[1][semconv.BoundaryState])
					require.Equal(t, "collector_shutdown", receipts[1][semconv.Reason])
				}
				require.Empty(t, p.records(semconv.EventAlert), "a stop raises no alert")
				require.Empty(t, f.states)
			})
		})
	}
}

// Between the shutdown of two pipelines the second may still receive.
func TestEventsBetweenShutdowns(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		_, p := createdInOrder(t, defaultConfig(), true)
		for _, c := range ordered(p, true) {
			require.NoError(t, c.Start(t.Context(), componenttest.NewNopHost()))
		}
		require.NoError(t, p.traces.Shutdown(t.Context()))
		require.NoError(t, p.logs.ConsumeLogs(t.Context(), records(snapshot("s-1", time.Now(), original()))))
		require.NoError(t, p.logs.Shutdown(t.Context()))
		require.Len(t, p.records(semconv.EventBoundary), 1)
		require.Empty(t, p.receipts(), "that pipeline is gone")
	})
}

func TestShutdownWithoutStart(t *testing.T) {
	for _, tracesFirst := range []bool{true, false} {
		f, p := createdInOrder(t, defaultConfig(), tracesFirst)
		for _, c := range ordered(p, tracesFirst) {
			require.NoError(t, c.Shutdown(context.Background()))
		}
		require.Empty(t, f.states)
	}
}

// One of two fails to start: the service shuts down both, in any order.
func TestOneOfTwoStarted(t *testing.T) {
	for n := range 4 {
		started, stop := n&1 == 0, n&2 == 0
		inBubble(t, func(t *testing.T) {
			f, p := createdInOrder(t, defaultConfig(), true)
			require.NoError(t, ordered(p, started)[0].Start(t.Context(), componenttest.NewNopHost()))
			for _, c := range ordered(p, stop) {
				require.NoError(t, c.Shutdown(t.Context()))
			}
			require.Empty(t, f.states)
		})
	}
}

// Nothing is emitted before all pipelines have started; nothing is lost by that.
func TestReceiptsWaitForAllStarts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		_, p := createdInOrder(t, defaultConfig(), true)
		require.NoError(t, p.traces.Start(t.Context(), componenttest.NewNopHost()))
		send(t, p, "s-1")
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Empty(t, p.receipts())
		require.NoError(t, p.logs.Start(t.Context(), componenttest.NewNopHost()))
		synctest.Wait()
		require.Len(t, p.receipts(), 1)
		require.Len(t, p.records(semconv.EventBoundary), 1)
		require.NoError(t, p.traces.Shutdown(t.Context()))
		require.NoError(t, p.logs.Shutdown(t.Context()))
	})
}

// Who waits for a pipeline that never starts runs once that one is gone.
func TestUnstartedMemberLeaves(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		_, p := createdInOrder(t, defaultConfig(), true)
		require.NoError(t, p.traces.Start(t.Context(), componenttest.NewNopHost()))
		require.NoError(t, p.traces.ConsumeTraces(t.Context(), spans(snapshot("s-1", time.Now(), original()))))
		require.NoError(t, p.logs.Shutdown(t.Context()))
		require.Empty(t, p.receipts(), "nothing was decided for it")
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, "post_observation_missing", p.receipts()[0][semconv.Reason])
		require.NoError(t, p.traces.Shutdown(t.Context()))
	})
}

// A configuration can be used again once its pipelines are gone.
func TestConfigurationIsUsedAgain(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		cfg := defaultConfig()
		for range 3 {
			f, p := createdInOrder(t, cfg, true)
			for _, c := range ordered(p, true) {
				require.NoError(t, c.Start(t.Context(), componenttest.NewNopHost()))
			}
			send(t, p, "s-1")
			synctest.Wait()
			require.Len(t, p.receipts(), 1, "with a state of its own")
			for _, c := range ordered(p, false) {
				require.NoError(t, c.Shutdown(t.Context()))
			}
			require.Empty(t, f.states)
		}
	})
}

func TestConfigurationsDoNotShare(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		one, two := start(t), start(t)
		require.NoError(t, one.traces.ConsumeTraces(t.Context(), spans(snapshot("s-1", time.Now(), original()))))
		require.NoError(t, two.traces.ConsumeTraces(t.Context(), spans(observation("s-1", time.Now(), original()))))
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, "post_observation_missing", one.receipts()[0][semconv.Reason])
		require.Equal(t, "no_baseline", two.receipts()[0][semconv.Reason])
	})
}

// Two pipelines of one signal: the receipt goes to the one that delivered the
// baseline.
func TestSeveralPipelinesOfASignal(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f, cfg, set := NewFactory(), defaultConfig(), processortest.NewNopSettings(metadata.Type)
		var all []processor.Traces
		var sinks []*consumertest.TracesSink
		for range 3 {
			sink := new(consumertest.TracesSink)
			p, err := f.CreateTraces(t.Context(), set, cfg, sink)
			require.NoError(t, err)
			all, sinks = append(all, p), append(sinks, sink)
		}
		for _, p := range all {
			require.NoError(t, p.Start(t.Context(), componenttest.NewNopHost()))
		}
		require.NoError(t, all[1].ConsumeTraces(t.Context(), spans(snapshot("s-1", time.Now(), original()))))
		time.Sleep(time.Second)
		require.NoError(t, all[2].ConsumeTraces(t.Context(), spans(observation("s-1", time.Now(), original()))))
		synctest.Wait()
		require.Zero(t, sinks[0].SpanCount())
		require.Equal(t, 2, sinks[1].SpanCount(), "what it passed on, and the receipt")
		require.Equal(t, 1, sinks[2].SpanCount())
		for _, p := range all {
			require.NoError(t, p.Shutdown(t.Context()))
		}
	})
}

// send decides one boundary with one batch.
func send(t *testing.T, p *pipelines, session string) {
	t.Helper()
	before, after := time.Now().Add(-time.Minute), time.Now()
	require.NoError(t, p.traces.ConsumeTraces(t.Context(), spans(
		snapshot(session, before, original()), observation(session, after, original()))))
}

func TestMissingStorageIsRefusedAtStart(t *testing.T) {
	id := component.MustNewID("file_storage")
	f, p := createdInOrder(t, defaultConfig(func(c *Config) { c.Storage = &id }), true)
	err := p.traces.Start(t.Context(), componenttest.NewNopHost())
	require.ErrorIs(t, err, errNoStorage)
	require.ErrorContains(t, err, `storage: found "file_storage"`)
	for _, c := range ordered(p, true) {
		require.NoError(t, c.Shutdown(t.Context()))
	}
	require.Empty(t, f.states)
}

func TestBrokenKeyIsRefusedAtCreate(t *testing.T) {
	f := &factory{states: map[*Config]*shared{}}
	cfg := defaultConfig(func(c *Config) { c.Approvals.PublicKeys = map[string]string{"k": "?"} })
	set := processortest.NewNopSettings(metadata.Type)
	_, err := f.createTraces(t.Context(), set, cfg, consumertest.NewNop())
	require.Error(t, err)
	_, err = f.createLogs(t.Context(), set, cfg, consumertest.NewNop())
	require.Error(t, err)
	require.Empty(t, f.states)
}

func TestWarnsOnce(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	set := processortest.NewNopSettings(metadata.Type)
	set.Logger = zap.New(core)
	f, cfg := NewFactory(), defaultConfig(func(c *Config) { c.Window = time.Minute })
	for range 2 {
		p, err := f.CreateTraces(t.Context(), set, cfg, consumertest.NewNop())
		require.NoError(t, err)
		require.NoError(t, p.Start(t.Context(), componenttest.NewNopHost()))
		defer func() { require.NoError(t, p.Shutdown(context.Background())) }()
	}
	require.Equal(t, 1, logs.Len())
}

// statusHost keeps the status that a component reports.
type statusHost struct {
	component.Host
	events []*componentstatus.Event
}

func (h *statusHost) Report(e *componentstatus.Event) { h.events = append(h.events, e) }

// A stuck traces consumer overflows its own lane, which is told; logs go on.
func TestOverflowIsReported(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		core, entries := observer.New(zap.WarnLevel)
		set := processortest.NewNopSettings(metadata.Type)
		set.Logger = zap.New(core)
		f := &factory{states: map[*Config]*shared{}}
		next, logsOut := &moody{}, new(consumertest.LogsSink)
		cfg := defaultConfig(func(c *Config) { c.Limits.Sessions = 10 })
		m, err := f.join(set, cfg, pipeline.SignalTraces, func(l *lane) *emitter {
			return newEmitter(l, toTraces(receipt.Writer{}, next))
		})
		require.NoError(t, err)
		logs, err := f.createLogs(t.Context(), set, cfg, logsOut)
		require.NoError(t, err)
		host := &statusHost{Host: componenttest.NewNopHost()}
		require.NoError(t, m.Start(t.Context(), host))
		require.NoError(t, logs.Start(t.Context(), componenttest.NewNopHost()))

		next.set(func(ctx context.Context, _ []int64) error { <-ctx.Done(); return ctx.Err() })
		const rounds = 12
		for n := range rounds { // of one session: its boundaries are decided one by one
			batch := ptrace.NewTraces()
			spans(snapshot("s-1", time.Now(), original()), observation("s-1", time.Now().Add(time.Second), original())).CopyTo(batch)
			require.NoError(t, m.shared.traces(t.Context(), m.lane.origin, batch))
			time.Sleep(time.Minute)
			require.Equal(t, n+1, logsOut.LogRecordCount(), "the other signal waits for nobody")
		}
		synctest.Wait()
		require.Len(t, host.events, 1, "%v", host.events)
		require.Equal(t, componentstatus.StatusRecoverableError, host.events[0].Status())
		require.ErrorContains(t, host.events[0].Err(), "outbox of traces is full")
		require.Equal(t, 1, entries.FilterMessageSnippet("The outbox is full").Len())

		require.NoError(t, logs.Shutdown(t.Context()))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, m.Shutdown(ctx))
		require.Equal(t, 1, entries.FilterMessageSnippet("given up at shutdown").Len())
	})
}

func TestReliefIsReported(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := &factory{states: map[*Config]*shared{}}
		next := &moody{}
		m, err := f.join(processortest.NewNopSettings(metadata.Type), defaultConfig(func(c *Config) { c.Limits.Sessions = 3 }),
			pipeline.SignalTraces, func(l *lane) *emitter { return newEmitter(l, toTraces(receipt.Writer{}, next)) })
		require.NoError(t, err)
		host := &statusHost{Host: componenttest.NewNopHost()}
		require.NoError(t, m.Start(t.Context(), host))
		next.set(func(context.Context, []int64) error { return errBusy })
		m.outbox.add(numbered(0, 1, 4), false)
		m.reportOverflow()
		next.set(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Len(t, host.events, 2)
		require.Equal(t, componentstatus.StatusOK, host.events[1].Status())
		require.Equal(t, upTo(3), next.seen())
		require.NoError(t, m.Shutdown(t.Context()))
	})
}

func TestShutdownErrorOfStuckConsumer(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := &factory{states: map[*Config]*shared{}}
		next, release := &moody{}, make(chan struct{})
		m, err := f.join(processortest.NewNopSettings(metadata.Type), defaultConfig(), pipeline.SignalTraces,
			func(l *lane) *emitter { return newEmitter(l, toTraces(receipt.Writer{}, next)) })
		require.NoError(t, err)
		require.NoError(t, m.Start(t.Context(), componenttest.NewNopHost()))
		next.set(func(context.Context, []int64) error { <-release; return errors.New("too late") })
		m.outbox.add(numbered(0, 1, 1), false)
		require.ErrorIs(t, m.Shutdown(t.Context()), errStuck)
		require.Empty(t, f.states)
		close(release)
	})
}
