package continuityprocessor

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/otel/metric"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// gauged is what gauges read when somebody asks for them.
type gauged interface {
	stats() boundary.Stats
	openNow() boundary.Open
	windowOf(runtime string) time.Duration
	waiting() map[pipeline.Signal]int
	sessionsUsed() int
	memoryUsed() int64
}

// observe registers the gauges. They ask g at each collection until shutdown.
func (t *telemetry) observe(g gauged, limit int, memory int64) error {
	b := t.builder
	constant := func(_ context.Context, o metric.Int64Observer) error {
		o.Observe(int64(limit))
		return nil
	}
	return errors.Join(
		b.RegisterProcessorContinuityBoundariesOpenCallback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(int64(g.stats().Open))
			return nil
		}),
		b.RegisterProcessorContinuityBoundariesOpenAgeCallback(func(_ context.Context, o metric.Int64Observer) error {
			open := g.openNow()
			for label, option := range t.ages {
				o.Observe(int64(open.Counts[label.window][label.age]), option)
			}
			return nil
		}),
		b.RegisterProcessorContinuityBoundariesOpenOldestCallback(func(_ context.Context, o metric.Float64Observer) error {
			open := g.openNow()
			for status, option := range t.windows {
				o.Observe(open.Oldest[status].Seconds(), option)
			}
			return nil
		}),
		b.RegisterProcessorContinuityWindowCallback(func(_ context.Context, o metric.Float64Observer) error {
			for runtime, option := range t.looks {
				o.Observe(g.windowOf(runtime).Seconds(), option)
			}
			return nil
		}),
		b.RegisterProcessorContinuitySessionsCallback(func(_ context.Context, o metric.Int64Observer) error {
			held := g.stats().States
			for _, state := range classify.States {
				o.Observe(int64(held[state]), t.durations[state])
			}
			return nil
		}),
		b.RegisterProcessorContinuityAlertsActiveCallback(func(_ context.Context, o metric.Int64Observer) error {
			active := g.stats().Alerts
			for _, kind := range boundary.AlertKinds {
				o.Observe(int64(active[kind]), t.kinds[kind])
			}
			return nil
		}),
		b.RegisterProcessorContinuitySessionsUsedCallback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(int64(g.sessionsUsed()))
			return nil
		}),
		b.RegisterProcessorContinuityMemoryUsedCallback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(g.memoryUsed())
			return nil
		}),
		b.RegisterProcessorContinuityMemoryLimitCallback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(memory)
			return nil
		}),
		b.RegisterProcessorContinuityOutboxLengthCallback(func(_ context.Context, o metric.Int64Observer) error {
			for s, n := range g.waiting() {
				o.Observe(int64(n), t.signals[s])
			}
			return nil
		}),
		b.RegisterProcessorContinuitySessionsLimitCallback(constant),
		b.RegisterProcessorContinuityOutboxLimitCallback(constant),
	)
}
