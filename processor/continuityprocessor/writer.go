package continuityprocessor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

const (
	// patience is how long requests and receipts wait for one transaction; one
	// that takes longer counts as failed until it ends.
	patience = 5 * time.Second
	// batchTime bounds one transaction, where the client honours its context: far
	// more than any that makes progress.
	batchTime = time.Minute
	// retryPause is how long the writer waits after a failed transaction before it
	// tries again by itself; a request makes it try at once.
	retryPause = time.Second
	// holdTurn is how many receipts are put into the outbox while it is locked.
	holdTurn = 64
	// lazyPause is how long the deletion of a receipt that was taken may wait for
	// company.
	lazyPause = 100 * time.Millisecond
)

// errSlow is what requests are told while a transaction takes too long.
var errSlow = errors.New("the storage does not answer")

// writer is the one goroutine of a store that writes. Everything in it is its
// own.
type writer struct {
	*store
	client storage.Client
	// pending holds what was collected and not written yet, by key: a later value
	// takes the place of an earlier one.
	pending map[string]*storage.Operation
	// index lists the keys where the client cannot walk through them.
	index keyIndex
	// flight is the transaction that is under way, nil for none.
	flight *flight
	// failing is set while writing fails.
	failing bool
}

// flight is a transaction under way.
type flight struct {
	ops    []*storage.Operation
	landed chan error
	// keys are those of ops, once somebody asked: most transactions end before.
	keys map[string]struct{}
}

// carries reports whether a key may be in the storage by this transaction.
func (f *flight) carries(key string) bool {
	if f == nil {
		return false
	}
	if f.keys == nil {
		f.keys = make(map[string]struct{}, len(f.ops))
		for _, op := range f.ops {
			f.keys[op.Key] = struct{}{}
		}
	}
	_, ok := f.keys[key]
	return ok
}

func newWriter(s *store, client storage.Client) *writer {
	w := &writer{store: s, client: client, pending: map[string]*storage.Operation{}}
	if _, walks := client.(storage.Walker); !walks {
		w.index = keyIndex{}
	}
	return w
}

// run writes generations until stop is closed, and one more then.
func (w *writer) run(stop <-chan struct{}) {
	defer close(w.done)
	var soon <-chan time.Time
	for {
		if len(w.pending) > 0 && soon == nil {
			soon = time.After(retryPause)
		}
		select {
		case <-w.kick:
		case <-w.later:
			if soon == nil {
				soon = time.After(lazyPause)
			}
			continue
		case <-soon:
		case err := <-w.landing():
			if w.land(err) != nil {
				continue // the pause goes on
			}
		case <-stop:
			w.finish()
			return
		}
		soon = nil
		w.generation()
	}
}

// finish writes what is left and closes the client, however long that takes.
func (w *writer) finish() {
	w.generation()
	if w.flight != nil {
		w.settle(w.land(<-w.flight.landed))
		w.settle(w.write())
	}
	if len(w.pending) > 0 {
		w.logger.Error("The storage did not take the last changes: they are lost", zap.Int("entries", len(w.pending)))
	}
	ctx, cancel := context.WithTimeout(context.Background(), batchTime)
	defer cancel()
	if err := w.client.Close(ctx); err != nil {
		w.tel.recordStorageError(storageClose)
		w.closing = fmt.Errorf("storage: close %q: %w", w.storageID, err)
	}
}

// generation collects and writes what changed.
func (w *writer) generation() {
	mine := w.begin()
	refused := w.collect()
	mine.err = w.write()
	// Whether it was stored or not, it is handed on: a disk that fails must not
	// silence alerts.
	w.outbox.release()
	w.settle(mine.err)
	close(mine.done)
	if refused {
		w.refused()
	}
}

// collect turns what changed into operations, and reports whether receipts found
// no room.
func (w *writer) collect() (refused bool) {
	c := w.state.collect()
	for _, ch := range c.sessions {
		if key := sessionEntry(ch.Key); ch.Value != nil {
			w.set(key, ch.Value)
		} else {
			w.remove(key)
		}
	}
	for _, key := range c.habits {
		w.set(habitEntry(key), encodeHabit(key))
	}
	for some := range slices.Chunk(c.receipts, holdTurn) {
		toStore, left := w.outbox.hold(some)
		for _, one := range toStore {
			w.set(owedEntry(one), boundary.EncodeReceipt(one.receipt))
		}
		for signal, n := range left {
			w.tel.recordDropped(signal, n)
			refused = true
		}
	}
	paid := w.outbox.paid()
	for one := range paid.first(paid.len()) {
		w.forget(owedEntry(one))
	}
	return refused
}

func (w *writer) set(key string, value []byte) {
	w.pending[key] = storage.SetOperation(key, value)
	w.list(key, true)
}

func (w *writer) remove(key string) {
	w.pending[key] = storage.DeleteOperation(key)
	w.list(key, false)
}

// forget is remove for a key that is written once: where that did not happen yet
// there is nothing to delete, however long the storage fails or hangs.
func (w *writer) forget(key string) {
	if w.pending[key] == nil || w.flight.carries(key) {
		w.remove(key)
		return
	}
	delete(w.pending, key)
	w.list(key, false)
}

func (w *writer) list(key string, there bool) {
	if w.index == nil {
		return
	}
	if name, changed := w.index.note(key, there); changed {
		w.pending[name] = storage.SetOperation(name, w.index.encode(name))
	}
}

// write stores what is pending in one transaction. What was not stored stays
// pending. It waits for as long as anybody should, not longer: the transaction
// may end later.
func (w *writer) write() error {
	if w.flight == nil {
		if len(w.pending) == 0 {
			return nil
		}
		w.launch()
	} else {
		select {
		case err := <-w.flight.landed:
			if err := w.land(err); err != nil {
				return err
			}
			return w.write()
		default:
			return errSlow
		}
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-w.flight.landed:
		return w.land(err)
	case <-timer.C:
		return errSlow
	}
}

func (w *writer) launch() {
	f := &flight{ops: make([]*storage.Operation, 0, len(w.pending)), landed: make(chan error, 1)}
	for _, op := range w.pending {
		f.ops = append(f.ops, op)
	}
	w.flight = f
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), batchTime)
		defer cancel()
		f.landed <- w.client.Batch(ctx, f.ops...)
	}()
}

// landing is where a transaction that takes too long will end.
func (w *writer) landing() <-chan error {
	if w.flight == nil {
		return nil
	}
	return w.flight.landed
}

// land takes note of how a transaction ended: what changed meanwhile stays
// pending.
func (w *writer) land(err error) error {
	f := w.flight
	w.flight = nil
	if err != nil {
		return fmt.Errorf("storage: write %d entries to %q: %w", len(f.ops), w.storageID, err)
	}
	for _, op := range f.ops {
		if w.pending[op.Key] == op {
			delete(w.pending, op.Key)
		}
	}
	return nil
}

// settle counts and reports what a transaction came to.
func (w *writer) settle(err error) {
	switch {
	case err != nil:
		w.tel.recordStorageError(storageWrite)
		if !w.failing {
			w.failing = true
			w.logger.Warn("State cannot be stored: it is kept in memory and written when the storage works again", zap.Error(err))
			w.report(err)
		}
	case w.failing:
		w.failing = false
		w.logger.Info("State is stored again")
		w.report(nil)
	}
}
