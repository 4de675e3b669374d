package continuityprocessor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

// store keeps the state of all shards and the outbox in a storage extension, by
// group commit: one writer collects what changed since its last turn and writes
// it as one transaction.
//
//	request   observes its events, then waits for a generation that began after
//	writer    a generation: for each shard under its lock, the sessions that
//	          changed and the receipts that they decided; then one Batch
//	emitter   sees a receipt once its generation was written, or could not be
//
// So a request goes on only when what it brought about is stored, a receipt is
// never handed on before the state that it reports, and two requests of one
// session cannot be stored in the wrong order: a later generation reads the
// shard later.
//
// A disk that fails or hangs silences no alert: what could not be written stays
// pending, and everything else goes on.
type store struct {
	storageID, id component.ID
	// startupGrace is how long after the start what is overdue still waits.
	startupGrace time.Duration
	state        *state
	outbox       *outbox
	tel          *telemetry
	logger       *zap.Logger
	// report is told when writing begins to fail, and with nil when it works
	// again; refused when receipts found no room.
	report  func(error)
	refused func()

	// kick asks for a generation now, later for one soon.
	kick, later chan struct{}

	mu    sync.Mutex
	phase phase
	// failed is why the storage could not be opened.
	failed error
	// next is the generation that begins next.
	next *generation
	// stop ends the writer, done is closed when it has ended.
	stop, done chan struct{}
	// closing is what closing the client came to, once done is closed.
	closing error
}

func newStore(id component.ID, s *shared) *store {
	return &store{
		storageID: *s.cfg.Storage, id: id, startupGrace: s.cfg.startupGrace(),
		state: s.state, outbox: s.outbox, tel: s.tel, logger: s.logger,
		report:  func(err error) { s.report(storageFailing, err, nil) },
		refused: s.reportOverflow,
		kick:    make(chan struct{}, 1), later: make(chan struct{}, 1),
	}
}

type phase uint8

const (
	unopened phase = iota
	opened
	closed
)

// generation is one turn of the writer. Its error is set before done is closed.
type generation struct {
	done chan struct{}
	err  error
}

func newGeneration() *generation { return &generation{done: make(chan struct{})} }

var (
	errNoStorage     = errors.New("no storage extension of this name is running: add it to extensions and to service.extensions")
	errStorageClosed = errors.New("the storage is closed")
	errStorageStuck  = errors.New("the storage did not finish in time: what was not written yet is written when it answers, or lost")
)

// open gets the client and loads what is stored. Only the first call does
// something: a state that is half loaded is not loaded again.
func (s *store) open(ctx context.Context, host component.Host) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != unopened || s.failed != nil {
		return s.failed
	}
	w, err := s.load(ctx, host)
	if err != nil {
		s.failed = err
		return err
	}
	s.phase, s.next = opened, newGeneration()
	s.stop, s.done = make(chan struct{}), make(chan struct{})
	go w.run(s.stop)
	return nil
}

// load returns the writer of a storage that was read.
func (s *store) load(ctx context.Context, host component.Host) (*writer, error) {
	client, err := openClient(ctx, host, s.storageID, s.id)
	if err != nil {
		s.tel.recordStorageError(storageLoad)
		return nil, err
	}
	w := newWriter(s, client)
	if err := w.load(ctx, s.state.now().Add(s.startupGrace)); err != nil {
		s.tel.recordStorageError(storageLoad)
		return nil, errors.Join(fmt.Errorf("storage: read %q: %w", s.storageID, err), client.Close(ctx))
	}
	return w, nil
}

func openClient(ctx context.Context, host component.Host, storageID, id component.ID) (storage.Client, error) {
	ext, ok := host.GetExtensions()[storageID].(storage.Extension)
	if !ok {
		return nil, fmt.Errorf("storage: found %q: %w", storageID, errNoStorage)
	}
	client, err := ext.GetClient(ctx, component.KindProcessor, id, "")
	if err != nil {
		return nil, fmt.Errorf("storage: open %q: %w", storageID, err)
	}
	return client, nil
}

// wait returns once everything that was decided before the call is stored, or
// could not be: then with the error. Before the storage is open there is nothing
// to wait for; the first generation takes what came before.
func (s *store) wait(ctx context.Context) error {
	mine, err := s.ask()
	if mine == nil {
		return err
	}
	select {
	case <-mine.done:
		return mine.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// keepUp waits like wait, but not after stop is closed. Deadlines wait so between
// two turns: requests share the transactions with them, and one that has to take
// everything that is due at one moment would take too long.
func (s *store) keepUp(stop <-chan struct{}) {
	mine, _ := s.ask()
	if mine == nil {
		return
	}
	select {
	case <-mine.done:
	case <-stop:
	}
}

// ask asks for a generation and returns the next that begins; none before the
// storage is open and, with an error, after it is closed.
func (s *store) ask() (*generation, error) {
	s.mu.Lock()
	phase, mine := s.phase, s.next // the one that is being collected may have passed our shard
	s.mu.Unlock()
	switch phase {
	case unopened:
		return nil, nil
	case closed:
		return nil, errStorageClosed
	case opened:
	}
	signalTo(s.kick)
	return mine, nil
}

// begin returns the generation whose turn it is.
func (s *store) begin() *generation {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.next
	s.next = newGeneration()
	return mine
}

// close writes what is left and closes the client. It takes drainTime at most,
// and joinTime if ctx has ended already.
func (s *store) close(ctx context.Context) error {
	s.mu.Lock()
	if s.phase != opened {
		s.phase = closed
		s.mu.Unlock()
		return nil
	}
	s.phase = closed
	close(s.stop)
	s.mu.Unlock()

	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	select {
	case <-s.done:
		return s.closing
	case <-ctx.Done():
	}
	timer := time.NewTimer(joinTime)
	defer timer.Stop()
	select {
	case <-s.done:
		return s.closing
	case <-timer.C:
		return errStorageStuck
	}
}
