package continuityprocessor

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
	"github.com/agentcontinuity/otelcol-continuity/processor/continuityprocessor/internal/metadata"
)

func TestDeadlineIsKept(t *testing.T) {
	inForms(t, func(t *testing.T, f form) {
		p := start(t)
		f.send(p, snapshot("s-1", time.Now(), original()))
		time.Sleep(15*time.Minute - time.Millisecond)
		synctest.Wait()
		require.Empty(t, p.receipts())
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, "post_observation_missing", p.receipts()[0][semconv.Reason])
		require.Len(t, p.records(semconv.EventAlert), 1)
	})
}

// An earlier deadline than the one that is waited for wakes the waiting.
func TestEarlierDeadlineWakes(t *testing.T) {
	inForms(t, func(t *testing.T, f form) {
		p := start(t, func(c *Config) {
			short := defaultRuntime()
			short.Window = time.Minute
			c.Runtimes["hasty"] = short
		})
		f.send(p, snapshot("slow", time.Now(), original()))
		hasty := snapshot("hasty", time.Now(), original())
		hasty.attrs[semconv.Runtime] = "hasty"
		f.send(p, hasty)
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		require.Len(t, p.receipts(), 1)
		require.Equal(t, "hasty", p.receipts()[0][semconv.SessionID])
		time.Sleep(14 * time.Minute)
		synctest.Wait()
		require.Len(t, p.receipts(), 2)
	})
}

// Many windows in all shards, more than one turn of each: all of them on time.
func TestManyDeadlines(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := start(t)
		const sessions, each = 200, 100
		for n := range sessions {
			var batch []event
			for i := range each {
				batch = append(batch, snapshot(fmt.Sprint("s-", n, "-", i), time.Now(), decisions{"scope": "a"}))
			}
			require.NoError(t, p.traces.ConsumeTraces(t.Context(), spans(batch...)))
		}
		time.Sleep(15*time.Minute + 10*time.Millisecond)
		synctest.Wait()
		require.Len(t, p.receipts(), sessions*each)
		require.Len(t, p.records(semconv.EventAlert), sessions*each)
	})
}

// When nothing is due, nobody wakes up: a day passes without a round.
func TestIdleIsIdle(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newState(mustCore(t, defaultConfig()), 10, newOutbox(10), mustTelemetry(t, defaultConfig()))
		rounds, stop, done := 0, make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			s.expire(stop, func(bool) { rounds++ })
		}()
		time.Sleep(24 * time.Hour)
		close(stop)
		<-done
		require.Equal(t, 1, rounds, "the first look")
	})
}

func TestAlarm(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a := newAlarm()
		woken := func() bool {
			select {
			case <-a.wake:
				return true
			default:
				return false
			}
		}
		a.set(time.Time{}, false)
		require.False(t, woken(), "nothing is due")
		a.set(morning.Add(time.Hour), true)
		require.True(t, woken())
		a.set(morning.Add(2*time.Hour), true)
		require.False(t, woken(), "later than what is waited for")
		a.set(morning.Add(time.Minute), true)
		require.True(t, woken())

		a.begin()
		a.set(morning.Add(3*time.Hour), true)
		a.set(morning.Add(2*time.Hour), true)
		require.False(t, woken(), "a round does not wake itself")
		a.end()
		at, ok := a.next()
		require.True(t, ok)
		require.Equal(t, morning.Add(2*time.Hour), at)
		a.begin()
		a.end()
		_, ok = a.next()
		require.False(t, ok)
	})
}

// A consumer that blocks stops neither deadlines nor the other signal.
func TestBlockedConsumerStopsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		blocked, logsOut := &moody{}, new(consumertest.LogsSink)
		f, cfg, set := NewFactory(), defaultConfig(), processortest.NewNopSettings(metadata.Type)
		traces, err := f.CreateTraces(t.Context(), set, cfg, blocked)
		require.NoError(t, err)
		logs, err := f.CreateLogs(t.Context(), set, cfg, logsOut)
		require.NoError(t, err)
		require.NoError(t, traces.Start(t.Context(), componenttest.NewNopHost()))
		require.NoError(t, logs.Start(t.Context(), componenttest.NewNopHost()))
		release := make(chan struct{})
		blocked.set(func(context.Context, []int64) error { <-release; return nil })
		for n := range 100 {
			require.NoError(t, logs.ConsumeLogs(t.Context(), records(snapshot(fmt.Sprint("s-", n), time.Now(), original()))))
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, 100+200, logsOut.LogRecordCount(), "passed on, receipts and alerts")
		require.Empty(t, blocked.seen())
		close(release)
		synctest.Wait()
		require.Len(t, blocked.seen(), 100, "each once")
		require.NoError(t, logs.Shutdown(t.Context()))
		require.NoError(t, traces.Shutdown(t.Context()))
	})
}
