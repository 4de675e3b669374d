package continuityprocessor

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// loading is what reading the storage comes to.
type loading struct {
	*writer
	notBefore time.Time
	receipts  []owed
	// aside and left count what could not be read and what found no room.
	aside, left int
}

// load reads everything that is stored. What cannot be read is put aside under
// another key, logged once and counted: it is evidence of something, and the
// rest must not wait for it. What finds no room stays where it is.
func (w *writer) load(ctx context.Context, notBefore time.Time) error {
	l := &loading{writer: w, notBefore: notBefore}
	var err error
	if walker, ok := w.client.(storage.Walker); ok {
		err = walker.Walk(ctx, func(key string, value []byte) ([]*storage.Operation, error) { return l.visit(key, value), nil })
	} else {
		err = l.byIndex(ctx)
	}
	if err != nil {
		return err
	}
	slices.SortFunc(l.receipts, func(a, b owed) int { return cmp.Compare(a.number, b.number) })
	if orphans := w.outbox.restore(l.receipts); orphans > 0 {
		w.logger.Warn("Stored receipts stay in the storage: no pipeline of their signal is left", zap.Int("receipts", orphans))
	}
	if l.aside > 1 {
		w.logger.Error("Stored entries could not be read", zap.Int("entries", l.aside))
	}
	if l.left > 0 {
		w.logger.Error("Stored sessions stay in the storage: there is no room for them (limits::sessions)", zap.Int("sessions", l.left))
	}
	return nil
}

// visit takes one entry. The value is valid during the call only.
func (l *loading) visit(key string, value []byte) []*storage.Operation {
	err := l.take(key, value)
	if err == nil {
		return nil
	}
	if strings.HasPrefix(key, sessionPrefix) && l.state.readable(value) && errorOfKey(key, value) == nil {
		l.left++
		l.tel.recordStorageError(storageLoad)
		return nil
	}
	aside := asideEntry(key, value)
	if l.aside++; l.aside == 1 {
		l.logger.Error("A stored entry cannot be read: it is kept aside", zap.String("entry", key), zap.String("kept_as", aside), zap.Error(err))
	}
	l.tel.recordStorageError(storageDecode)
	return []*storage.Operation{storage.SetOperation(aside, bytes.Clone(value)), storage.DeleteOperation(key)}
}

func (l *loading) take(key string, value []byte) error {
	switch {
	case strings.HasPrefix(key, sessionPrefix):
		if err := errorOfKey(key, value); err != nil {
			return err
		}
		return l.state.load(value, l.notBefore)
	case strings.HasPrefix(key, owedPrefix):
		one, err := parseOwed(key)
		if err != nil {
			return err
		}
		if one.receipt, err = boundary.DecodeReceipt(value); err != nil {
			return err
		}
		l.receipts = append(l.receipts, one)
	case strings.HasPrefix(key, habitPrefix):
		habit, err := decodeHabit(value)
		if err != nil || habitEntry(habit) != key {
			return errEntry
		}
		l.state.fleet.restore(habit)
	}
	return nil
}

// errorOfKey refuses a session under a key that is not its own: it would never
// be written or deleted again.
func errorOfKey(key string, value []byte) error {
	session, err := boundary.StoredKey(value)
	if err != nil {
		return err
	}
	if sessionEntry(session) != key {
		return errEntry
	}
	return nil
}

// byIndex visits the keys that the index lists, for clients that cannot walk.
func (l *loading) byIndex(ctx context.Context) error {
	for _, name := range buckets() {
		keys, err := l.client.Get(ctx, name)
		if err != nil {
			return err
		}
		for _, key := range strings.Split(string(keys), "\n") {
			if key == "" {
				continue
			}
			value, err := l.client.Get(ctx, key)
			if err != nil {
				return err
			}
			if value == nil {
				continue
			}
			l.index.note(key, true)
			for _, op := range l.visit(key, value) {
				if op.Type == storage.Set {
					l.set(op.Key, op.Value)
				} else {
					l.remove(op.Key)
				}
			}
		}
	}
	return nil
}
