package continuityprocessor

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pipeline"

	"github.com/agentcontinuity/otelcol-continuity/internal/receipt"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

var errBusy = errors.New("try again")

// moody is a next consumer whose answers are set from outside.
type moody struct {
	mu     sync.Mutex
	answer func(ctx context.Context, revisions []int64) error
	calls  int
	took   []int64
}

func (m *moody) Capabilities() consumer.Capabilities { return consumer.Capabilities{MutatesData: true} }

func (m *moody) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	var got []int64
	for _, span := range spansOf(td) {
		v, _ := span.Attributes().Get(semconv.Revision)
		got = append(got, v.Int())
		span.Attributes().Clear() // what it was handed is its own
	}
	return m.consume(ctx, got)
}

func (m *moody) ConsumeLogs(ctx context.Context, ld plog.Logs) error {
	var got []int64
	for _, record := range recordsOf(ld) {
		v, _ := record.Attributes().Get(semconv.Revision)
		got = append(got, v.Int())
		record.Attributes().Clear()
	}
	return m.consume(ctx, got)
}

func (m *moody) consume(ctx context.Context, got []int64) error {
	m.mu.Lock()
	m.calls++
	answer := m.answer
	m.mu.Unlock()
	if answer != nil {
		if err := answer(ctx, got); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.took = append(m.took, got...)
	return nil
}

func (m *moody) set(answer func(ctx context.Context, revisions []int64) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answer = answer
}

// seen are the revisions that were taken, in order.
func (m *moody) seen() []int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]int64(nil), m.took...)
}

func (m *moody) called() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

func upTo(n int64) []int64 {
	var out []int64
	for i := int64(1); i <= n; i++ {
		out = append(out, i)
	}
	return out
}

// emitting is one running emitter of a signal.
type emitting struct {
	*emitter
	outbox  *outbox
	next    *moody
	refusal []int
	holds   int
}

func emit(which pipeline.Signal, limit int) *emitting {
	e := &emitting{outbox: newOutbox(limit), next: &moody{}}
	deliver := toTraces(receipt.Writer{}, e.next)
	if which == pipeline.SignalLogs {
		deliver = toLogs(receipt.Writer{}, e.next)
	}
	e.emitter = newEmitter(e.outbox.attach(which), deliver)
	e.refused = func(n int, _ error) { e.refusal = append(e.refusal, n) }
	e.held = func(int, error) { e.holds++ }
	go e.run()
	return e
}

// inBothSignals runs a test for an emitter of each signal.
func inBothSignals(t *testing.T, test func(t *testing.T, e *emitting)) {
	for _, which := range []pipeline.Signal{pipeline.SignalTraces, pipeline.SignalLogs} {
		t.Run(which.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T) { test(t, emit(which, 10_000)) })
		})
	}
}

func (e *emitting) add(first, last int) { e.outbox.add(numbered(0, first, last), false) }

func (e *emitting) drained(t *testing.T) {
	t.Helper()
	left, err := e.drain(t.Context())
	require.NoError(t, err)
	require.Zero(t, left)
}

func TestEmitAtOnce(t *testing.T) {
	inBothSignals(t, func(t *testing.T, e *emitting) {
		began := time.Now()
		e.add(1, 3)
		synctest.Wait()
		require.Equal(t, upTo(3), e.next.seen())
		require.Equal(t, began, time.Now())
		e.drained(t)
	})
}

func TestEmitInBatches(t *testing.T) {
	inBothSignals(t, func(t *testing.T, e *emitting) {
		e.add(1, 2*maxBatch+1)
		synctest.Wait()
		require.Equal(t, upTo(2*maxBatch+1), e.next.seen())
		require.Equal(t, 3, e.next.called())
		e.drained(t)
	})
}

// Whatever the next consumer refuses for now arrives later, once and in order.
func TestEmitRetries(t *testing.T) {
	inBothSignals(t, func(t *testing.T, e *emitting) {
		e.next.set(func(context.Context, []int64) error { return errBusy })
		e.add(1, 2)
		time.Sleep(time.Minute)
		e.add(3, 4)
		require.Empty(t, e.next.seen())
		// 0.1 s doubles to 5 s, each at least half: far from a busy loop.
		require.Greater(t, e.next.called(), 10)
		require.Less(t, e.next.called(), 40)
		e.next.set(nil)
		time.Sleep(maxRetry)
		synctest.Wait()
		require.Equal(t, upTo(4), e.next.seen())
		e.drained(t)
		require.Equal(t, 1, e.holds, "told once, not at each attempt")
	})
}

func TestEmitGivesUpWhatIsRefusedForGood(t *testing.T) {
	inBothSignals(t, func(t *testing.T, e *emitting) {
		e.next.set(func(context.Context, []int64) error { return consumererror.NewPermanent(errBusy) })
		e.add(1, 2)
		synctest.Wait()
		e.next.set(nil)
		e.add(3, 3)
		synctest.Wait()
		require.Equal(t, []int64{3}, e.next.seen())
		require.Equal(t, []int{2}, e.refusal)
		e.drained(t)
	})
}

// A consumer that took a part says so: only the rest is sent again.
func TestEmitRestOnly(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		e := emit(pipeline.SignalTraces, 100)
		rest := receipt.Writer{}.Traces(nil)
		e.next.set(func(_ context.Context, got []int64) error {
			if len(got) == 3 {
				two := numbered(0, 2, 3)
				rest = receipt.Writer{}.Traces(pointers(two))
				e.next.took = append(e.next.took, 1)
				return consumererror.NewTraces(errBusy, rest)
			}
			if e.next.calls < 4 {
				return errBusy // of what is left, nothing says what was taken
			}
			return nil
		})
		e.add(1, 3)
		synctest.Wait()
		rest.ResourceSpans().RemoveIf(func(ptrace.ResourceSpans) bool { return true }) // the consumer's own again
		time.Sleep(time.Minute)
		require.Equal(t, upTo(3), e.next.seen())
		require.Equal(t, 4, e.next.called())
		e.drained(t)
	})
	inBubble(t, func(t *testing.T) {
		e := emit(pipeline.SignalLogs, 100)
		e.next.set(func(_ context.Context, got []int64) error {
			if len(got) == 3 {
				e.next.took = append(e.next.took, 1)
				return consumererror.NewLogs(errBusy, receipt.Writer{}.Logs(pointers(numbered(0, 2, 3))))
			}
			return nil
		})
		e.add(1, 3)
		time.Sleep(time.Minute)
		require.Equal(t, upTo(3), e.next.seen())
		e.drained(t)
	})
}

// An error with nothing in it says nothing of what was taken: all is sent again.
func TestEmitAllAfterEmptyRest(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		e := emit(pipeline.SignalTraces, 100)
		e.next.set(func(context.Context, []int64) error {
			if e.next.calls == 1 {
				return consumererror.NewTraces(errBusy, ptrace.NewTraces())
			}
			return nil
		})
		e.add(1, 3)
		time.Sleep(time.Minute)
		require.Equal(t, upTo(3), e.next.seen())
		e.drained(t)
	})
}

func TestDrainHandsOverWhatWaits(t *testing.T) {
	inBothSignals(t, func(t *testing.T, e *emitting) {
		e.next.set(func(context.Context, []int64) error { return errBusy })
		e.add(1, 4)
		time.Sleep(time.Minute) // in the middle of a long pause
		e.next.set(nil)
		began := time.Now()
		e.drained(t)
		require.Equal(t, upTo(4), e.next.seen())
		require.Equal(t, began, time.Now(), "draining does not wait for the pause to end")
		require.Empty(t, e.outbox.waiting())
	})
}

func TestDrainGivesUpInTime(t *testing.T) {
	inBothSignals(t, func(t *testing.T, e *emitting) {
		e.next.set(func(context.Context, []int64) error { return errBusy })
		e.add(1, 4)
		began := time.Now()
		left, err := e.drain(context.Background())
		require.NoError(t, err)
		require.Equal(t, 4, left)
		require.Equal(t, drainTime, time.Since(began))
	})
}

func TestDrainHonoursItsContext(t *testing.T) {
	inBothSignals(t, func(t *testing.T, e *emitting) {
		e.next.set(func(ctx context.Context, _ []int64) error { // blocks as a full queue does
			<-ctx.Done()
			return ctx.Err()
		})
		e.add(1, 4)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		began := time.Now()
		left, err := e.drain(ctx)
		require.NoError(t, err)
		require.Equal(t, 4, left)
		require.Equal(t, time.Second, time.Since(began))
	})
}

func TestDrainOfStuckConsumer(t *testing.T) {
	inBothSignals(t, func(t *testing.T, e *emitting) {
		release := make(chan struct{})
		e.next.set(func(context.Context, []int64) error { <-release; return nil })
		e.add(1, 4)
		synctest.Wait()
		began := time.Now()
		_, err := e.drain(context.Background())
		require.ErrorIs(t, err, errStuck)
		require.Equal(t, drainTime+joinTime, time.Since(began))
		close(release)
		<-e.done
	})
}

// What is held back when draining begins is waited for, in peace.
func TestDrainWaitsForWhatIsHeld(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		e := emit(pipeline.SignalTraces, 100)
		e.outbox.stored = true
		e.outbox.hold(pointers(numbered(0, 1, 3)))
		drained := make(chan struct{})
		go func() {
			defer close(drained)
			e.drained(t)
		}()
		synctest.Wait() // returns once nobody runs
		require.Empty(t, e.next.seen())
		e.outbox.release()
		<-drained
		require.Equal(t, upTo(3), e.next.seen())
	})
}
