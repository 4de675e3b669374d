package continuity

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/trace"

	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// ErrNotRecording says that there is no span in the context, or that it is not
// recorded, so that the event would be lost.
var ErrNotRecording = errors.New("continuity: the context has no recording span to put the event on")

// Record puts an event on the span of a context. It fails with [ErrNotRecording]
// where that would lose it (by sampling, say: use [Emit] or [Publish] then), or
// with what is wrong with the event. The event leaves the process when the span
// has ended and is exported: put a snapshot on a span that ends before the
// compaction, not on one that lasts as long as the session.
func Record(ctx context.Context, event Event) error {
	attributes, err := event.Attributes()
	if err != nil {
		return err
	}
	return record(ctx, event, attributes)
}

// Emit writes an event as a log record, in the span of the context where there is
// one. It fails with what is wrong with the event.
func Emit(ctx context.Context, logger log.Logger, event Event) error {
	attributes, err := event.Attributes()
	if err != nil {
		return err
	}
	emit(ctx, logger, event, attributes)
	return nil
}

// Publish does both: it writes an event as a log record, and puts it on the span
// of the context where that is recorded. Both copies have one event id and one
// time, so that a processor that sees both takes them for one event.
func Publish(ctx context.Context, logger log.Logger, event Event) error {
	attributes, err := event.Attributes()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(attributes, func(a attribute.KeyValue) bool { return a.Key == semconv.EventID }) {
		attributes = append(attributes, attribute.String(semconv.EventID, rand.Text()))
	}
	event = timed{event, when(event)}
	if err := record(ctx, event, attributes); err != nil && !errors.Is(err, ErrNotRecording) {
		return err
	}
	emit(ctx, logger, event, attributes)
	return nil
}

// timed is an event with a time.
type timed struct {
	Event
	at time.Time
}

func (t timed) When() time.Time { return t.at }

func when(event Event) time.Time {
	if at := event.When(); !at.IsZero() {
		return at
	}
	return time.Now()
}

func record(ctx context.Context, event Event, attributes []attribute.KeyValue) error {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return ErrNotRecording
	}
	span.AddEvent(event.Name(), trace.WithAttributes(attributes...), trace.WithTimestamp(when(event)))
	return nil
}

func emit(ctx context.Context, logger log.Logger, event Event, attributes []attribute.KeyValue) {
	var record log.Record
	record.SetEventName(event.Name())
	record.SetTimestamp(when(event))
	record.SetObservedTimestamp(time.Now())
	record.SetSeverity(log.SeverityInfo)
	record.AddAttributes(attributes...)
	logger.Emit(ctx, record)
}
