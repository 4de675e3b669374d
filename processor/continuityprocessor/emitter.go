package continuityprocessor

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/receipt"
)

const (
	// maxBatch bounds one call of the next consumer: small enough for any
	// exporter's message limit, and for requests that wait for a processor while
	// the batch is made.
	maxBatch = 128
	// maxBatchWeight bounds it in bytes, as they are held.
	maxBatchWeight = 2 << 20
	// firstRetry is the first pause after a refusal, maxRetry the longest.
	firstRetry = 100 * time.Millisecond
	maxRetry   = 5 * time.Second
	// drainTime bounds what shutdown waits for the next consumer where its
	// caller sets no deadline: what still waits then is given up, and counted.
	drainTime = 5 * time.Second
	// joinTime is what a call that ignores its context gets on top.
	joinTime = time.Second
)

// emitter hands the receipts of one lane to the next consumer: in order, each
// until it is taken or refused for good.
//
// It calls with a context of its own. A receipt belongs to no request: several
// may have led to it, or none, so there is no client metadata to pass on.
type emitter struct {
	lane *lane
	// deliver returns the first attempt to hand receipts on.
	deliver func([]*boundary.Receipt) delivery
	// held is told at the first refusal of receipts that are tried again, refused
	// at their last, relieved when a full lane has room again.
	held     func(n int, err error)
	refused  func(n int, err error)
	relieved func(dropped int)

	ctx    context.Context
	cancel context.CancelFunc
	// closing is closed when the lane is to be drained, done when the emitter
	// has ended.
	closing, done chan struct{}
	// hurried is set once closing cut a pause short. It is the goroutine's own.
	hurried bool
}

// delivery is one attempt to hand receipts on. It returns the next attempt where
// this one was refused for now: for what was refused only, where the consumer
// says what that is, so that nothing is delivered twice.
type delivery func(context.Context) (again delivery, err error)

func newEmitter(l *lane, deliver func([]*boundary.Receipt) delivery) *emitter {
	e := &emitter{
		lane: l, deliver: deliver, closing: make(chan struct{}), done: make(chan struct{}),
		held: func(int, error) {}, refused: func(int, error) {}, relieved: func(int) {},
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

// toTraces delivers receipts as spans.
func toTraces(w receipt.Writer, next consumer.Traces) func([]*boundary.Receipt) delivery {
	return func(receipts []*boundary.Receipt) delivery {
		return attempt(func() ptrace.Traces { return w.Traces(receipts) }, next.ConsumeTraces,
			func(err error) (func() ptrace.Traces, bool) {
				var part consumererror.Traces
				if !errors.As(err, &part) || part.Data().SpanCount() == 0 {
					return nil, false
				}
				left := cloneTraces(part.Data())
				return func() ptrace.Traces { return cloneTraces(left) }, true
			})
	}
}

// toLogs delivers receipts and alerts as log records.
func toLogs(w receipt.Writer, next consumer.Logs) func([]*boundary.Receipt) delivery {
	return func(receipts []*boundary.Receipt) delivery {
		return attempt(func() plog.Logs { return w.Logs(receipts) }, next.ConsumeLogs,
			func(err error) (func() plog.Logs, bool) {
				var part consumererror.Logs
				if !errors.As(err, &part) || part.Data().LogRecordCount() == 0 {
					return nil, false
				}
				left := cloneLogs(part.Data())
				return func() plog.Logs { return cloneLogs(left) }, true
			})
	}
}

// attempt makes the telemetry anew for each call: what was handed over once is
// no longer ours, whether it was taken or not. rest makes what an error says was
// not taken.
func attempt[T any](data func() T, consume func(context.Context, T) error, rest func(error) (func() T, bool)) delivery {
	return func(ctx context.Context) (delivery, error) {
		err := consume(ctx, data())
		if left, ok := rest(err); ok {
			data = left
		}
		return attempt(data, consume, rest), err
	}
}

func cloneTraces(td ptrace.Traces) ptrace.Traces {
	out := ptrace.NewTraces()
	td.CopyTo(out)
	return out
}

func cloneLogs(ld plog.Logs) plog.Logs {
	out := plog.NewLogs()
	ld.CopyTo(out)
	return out
}

// run delivers until the lane is drained and closed, or nobody waits any more.
func (e *emitter) run() {
	defer close(e.done)
	for {
		receipts := e.lane.head(maxBatch)
		if len(receipts) > 0 {
			if !e.handOver(receipts) {
				return
			}
			runtime.Gosched() // requests come before the rest of a long queue
			continue
		}
		select {
		case <-e.lane.wake:
		case <-e.closing:
			if e.lane.detachIfEmpty() {
				return
			}
			select { // what waits is held back until it is stored
			case <-e.lane.wake:
			case <-e.ctx.Done():
				return
			}
		case <-e.ctx.Done():
			return
		}
	}
}

// handOver delivers one batch; false says that there was no more time for it.
func (e *emitter) handOver(receipts []*boundary.Receipt) bool {
	again := e.deliver(receipts)
	for pause := time.Duration(0); ; {
		var err error
		again, err = again(e.ctx)
		if err == nil {
			break
		}
		if consumererror.IsPermanent(err) {
			e.refused(len(receipts), err)
			break
		}
		if e.ctx.Err() != nil {
			return false
		}
		if pause == 0 {
			pause = firstRetry
			e.held(len(receipts), err)
		}
		if pause = e.wait(pause); pause == 0 {
			return false
		}
	}
	if dropped, relieved := e.lane.taken(len(receipts)); relieved {
		e.relieved(dropped)
	}
	return true
}

// wait pauses between two attempts, with jitter so that pipelines that were
// refused together do not come back together. It returns the next pause, 0 where
// there is no time for one. Draining starts with an attempt at once.
func (e *emitter) wait(pause time.Duration) (next time.Duration) {
	timer := time.NewTimer(pause/2 + rand.N(pause/2))
	defer timer.Stop()
	closing := e.closing
	if e.hurried {
		closing = nil
	}
	select {
	case <-timer.C:
		return min(2*pause, maxRetry)
	case <-closing:
		e.hurried = true
		return firstRetry
	case <-e.ctx.Done():
		return 0
	}
}

// errStuck is returned where the next consumer ignores its context.
var errStuck = errors.New("the next consumer neither took the last receipts nor gave them back")

// drain hands over what waits, ends the emitter, and returns how many receipts
// it had to give up. It takes drainTime at most, less if ctx ends earlier. The
// emitter must be running.
func (e *emitter) drain(ctx context.Context) (left int, err error) {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	close(e.closing)
	select {
	case <-e.done:
	case <-ctx.Done():
		e.cancel()
		timer := time.NewTimer(joinTime)
		defer timer.Stop()
		select {
		case <-e.done:
		case <-timer.C:
			err = errStuck
		}
	}
	e.cancel()
	return e.lane.detach(), err
}
