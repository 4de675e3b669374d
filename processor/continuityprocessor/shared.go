package continuityprocessor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/processor"
	"go.uber.org/zap"

	"github.com/agentcontinuity/otelcol-continuity/internal/signal"
)

// shared is what pipelines that name the same processor have in common: one
// state, one outbox, one goroutine for deadlines. Its pipelines are its members.
//
//	create   the first member makes it, each further one joins
//	start    the last of those created lets deadlines and emitters run; what
//	         comes in before waits in the outbox
//	shutdown the first of those started ends the deadlines and decides what is
//	         open, so that every member can still hand over its signal's
//	         receipts; each drains and leaves; the last forgets the state
//
// With storage the first start opens and loads it, no shutdown decides anything,
// and the last one writes what is left and closes it.
//
// The order is anybody's. A collector stops a pipeline's receivers before its
// processors, but not all pipelines at once: what still arrives after the first
// shutdown is decided by a later one, for the pipelines that are left.
type shared struct {
	cfg    *Config
	reader *signal.Reader
	state  *state
	outbox *outbox
	// store is nil without storage.
	store  *store
	tel    *telemetry
	logger *zap.Logger

	// mu is the registry's lock, so that no pipeline joins a state that its last
	// member is just leaving.
	mu *sync.Mutex
	// forget takes the state out of the registry. It is called under the lock.
	forget  func()
	members map[*member]struct{}
	// warned is set once the configuration was spoken of.
	warned bool
	// stop ends the goroutine of deadlines, done is closed when it has ended.
	// Both are nil before it runs; ending is set at the first shutdown.
	stop, done chan struct{}
	ending     bool
}

func newShared(set processor.Settings, cfg *Config) (*shared, error) {
	core, err := cfg.core()
	if err != nil {
		return nil, err
	}
	tel, err := newTelemetry(set.TelemetrySettings, cfg)
	if err != nil {
		return nil, err
	}
	s := &shared{
		cfg: cfg, reader: signal.NewReader(cfg.reader()), outbox: newOutbox(cfg.Limits.Sessions),
		tel: tel, logger: set.Logger, members: map[*member]struct{}{},
	}
	s.state = newState(core, cfg.Limits.Sessions, s.outbox, tel)
	s.state.fleet.memory = cfg.Limits.memory()
	s.outbox.memory = int(s.state.fleet.memory / 2)
	s.state.watch.grace, s.state.paused = cfg.startupGrace(), s.logPause
	if cfg.Storage != nil {
		s.store = newStore(set.ID, s)
		s.outbox.stored, s.outbox.lazily = true, func() { signalTo(s.store.later) }
	}
	if err := tel.observe(s.state, cfg.Limits.Sessions, cfg.Limits.memory()); err != nil {
		tel.shutdown()
		return nil, fmt.Errorf("register gauges: %w", err)
	}
	return s, nil
}

// member is one pipeline of a shared state.
type member struct {
	*shared
	lane    *lane
	emitter *emitter
	// host is set at start, left at shutdown, emitting once the emitter runs;
	// troubles are what its status is made of. All belong to the lock of shared.
	host           component.Host
	left, emitting bool
	troubles       troubles
}

// join adds a pipeline. It needs the lock.
func (s *shared) join(which pipeline.Signal, build func(*lane) *emitter) *member {
	l := s.outbox.attach(which)
	m := &member{shared: s, lane: l, emitter: build(l)}
	m.emitter.held = m.logHeld
	m.emitter.refused = m.recordRefused
	m.emitter.relieved = m.reportRelief
	s.members[m] = struct{}{}
	return m
}

// Start lets deadlines and emitters run once all members have started.
func (m *member) Start(ctx context.Context, host component.Host) error {
	if m.store != nil {
		if err := m.store.open(ctx, host); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.host = host
	if !m.warned {
		m.warned = true
		m.cfg.warn(m.logger)
	}
	m.runIfComplete()
	return nil
}

// runIfComplete needs the lock.
func (s *shared) runIfComplete() {
	for m := range s.members {
		if m.host == nil {
			return
		}
	}
	if s.stop == nil && !s.ending {
		s.stop, s.done = make(chan struct{}), make(chan struct{})
		go func(stop <-chan struct{}, done chan<- struct{}) {
			defer close(done)
			s.state.expire(stop, func(more bool) { s.afterExpiry(stop, more) })
		}(s.stop, s.done)
	}
	for m := range s.members {
		m.emit()
	}
}

// emit needs the lock.
func (m *member) emit() {
	if !m.emitting {
		m.emitting = true
		go m.emitter.run()
	}
}

// afterExpiry follows each pass of the deadlines; more is due where more is set.
func (s *shared) afterExpiry(stop <-chan struct{}, more bool) {
	s.reportOverflow()
	switch {
	case s.store == nil:
	case more:
		s.store.keepUp(stop)
	case s.state.news.Load():
		signalTo(s.store.kick)
	default: // sessions may have been forgotten
		signalTo(s.store.later)
	}
}

// stored waits until what a request brought about is stored. It fails only where
// the configuration refuses what is not.
func (s *shared) stored(ctx context.Context) error {
	if s.store == nil {
		return nil
	}
	err := s.store.wait(ctx)
	if err != nil && s.cfg.OnStorageError == StorageErrorRefuse {
		return fmt.Errorf("continuity: refused, since it cannot be stored (on_storage_error): %w", err)
	}
	return nil
}

// Shutdown decides what is open, or with storage keeps it, hands over what waits
// for this pipeline, and leaves. It takes drainTime at most for each of handing
// over and storing, less if ctx ends earlier; what the next consumer has not
// taken by then is given up and counted, or with storage kept for the next start.
func (m *member) Shutdown(ctx context.Context) error {
	m.mu.Lock()
	if m.left {
		m.mu.Unlock()
		return nil
	}
	m.left = true
	delete(m.members, m)
	last, started := len(m.members) == 0, m.host != nil
	if started {
		m.emit() // one that waited for others still hands over its receipts
		if m.stop != nil && !m.ending {
			close(m.stop)
		}
		m.ending = true
	}
	if last {
		m.forget()
	} else {
		m.runIfComplete() // the others need not wait for this one any more
	}
	done := m.done
	m.mu.Unlock()

	if started && done != nil {
		<-done
	}
	var err error
	if started {
		m.conclude(ctx)
		err = m.drain(ctx)
	} else {
		m.emitter.cancel()
		m.lane.detach()
	}
	if last {
		if m.store != nil {
			err = errors.Join(err, m.store.close(ctx))
		}
		m.tel.shutdown()
	}
	return err
}

// conclude brings everything that was decided into the lanes. Without storage it
// decides what is open first: a collector that forgets must say so.
func (m *member) conclude(ctx context.Context) {
	if m.store == nil {
		m.state.settle(m.state.now())
		return
	}
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	_ = m.store.wait(ctx) // the writer reports what it cannot write
}

func (m *member) drain(ctx context.Context) error {
	left, err := m.emitter.drain(ctx)
	if left > 0 && m.store != nil {
		m.logger.Warn("Receipts stay in the storage until the next start: the next consumer did not take them in time",
			zap.Stringer("signal", m.lane.signal), zap.Int("receipts", left))
	} else if left > 0 {
		m.tel.recordDropped(m.lane.signal, left)
		m.logger.Error("Receipts were given up at shutdown: the next consumer did not take them in time",
			zap.Stringer("signal", m.lane.signal), zap.Int("receipts", left))
	}
	return err
}

// reportOverflow makes known which lanes have begun to refuse. It is called
// outside of all locks.
func (s *shared) reportOverflow() {
	for _, l := range s.outbox.overflowed() {
		s.logger.Error("The outbox is full: new receipts and alerts of this signal are lost until the next consumer takes what waits",
			zap.Stringer("signal", l.signal), zap.Int("limit", s.outbox.limit))
		s.report(outboxFull, fmt.Errorf("outbox of %s is full: receipts are lost", l.signal), l)
	}
}

func (m *member) reportRelief(dropped int) {
	m.logger.Warn("The outbox has room again", zap.Stringer("signal", m.lane.signal), zap.Int("lost_receipts", dropped))
	m.report(outboxFull, nil, m.lane)
}

func (s *shared) logPause(away time.Duration) {
	s.logger.Warn("The collector did not run for a while: what became overdue waits until what queued up had time to arrive (startup_grace)",
		zap.Duration("away", away), zap.Duration("startup_grace", s.cfg.startupGrace()))
}

func (m *member) logHeld(n int, err error) {
	m.logger.Warn("The next consumer does not take receipts: they wait and are tried again",
		zap.Stringer("signal", m.lane.signal), zap.Int("receipts", n), zap.Error(err))
}

func (m *member) recordRefused(n int, err error) {
	m.tel.recordRefused(m.lane.signal, n)
	m.logger.Error("The next consumer refused receipts for good",
		zap.Stringer("signal", m.lane.signal), zap.Int("receipts", n), zap.Error(err))
}
