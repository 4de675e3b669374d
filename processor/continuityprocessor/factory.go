package continuityprocessor

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processorhelper"

	"github.com/agentcontinuity/otelcol-continuity/internal/receipt"
	"github.com/agentcontinuity/otelcol-continuity/processor/continuityprocessor/internal/metadata"
)

// NewFactory returns the factory of the continuity processor.
func NewFactory() processor.Factory {
	f := &factory{states: map[*Config]*shared{}}
	return processor.NewFactory(
		metadata.Type,
		createDefaultConfig,
		processor.WithTraces(f.createTraces, metadata.TracesStability),
		processor.WithLogs(f.createLogs, metadata.LogsStability),
	)
}

// factory holds the states that are in use, by configuration: pipelines that
// name the same processor id are created with the same pointer.
type factory struct {
	mu     sync.Mutex
	states map[*Config]*shared
}

func (f *factory) createTraces(
	ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Traces,
) (processor.Traces, error) {
	m, err := f.join(set, cfg.(*Config), pipeline.SignalTraces, func(l *lane) *emitter {
		return newEmitter(l, toTraces(receiptWriter(set, cfg.(*Config)), next))
	})
	if err != nil {
		return nil, err
	}
	return processorhelper.NewTraces(ctx, set, cfg, next,
		func(ctx context.Context, td ptrace.Traces) (ptrace.Traces, error) {
			return td, m.traces(ctx, m.lane.origin, td)
		},
		m.options()...)
}

func (f *factory) createLogs(
	ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Logs,
) (processor.Logs, error) {
	m, err := f.join(set, cfg.(*Config), pipeline.SignalLogs, func(l *lane) *emitter {
		return newEmitter(l, toLogs(receiptWriter(set, cfg.(*Config)), next))
	})
	if err != nil {
		return nil, err
	}
	return processorhelper.NewLogs(ctx, set, cfg, next,
		func(ctx context.Context, ld plog.Logs) (plog.Logs, error) {
			return ld, m.logs(ctx, m.lane.origin, ld)
		},
		m.options()...)
}

func (m *member) options() []processorhelper.Option {
	return []processorhelper.Option{
		processorhelper.WithStart(m.Start),
		processorhelper.WithShutdown(m.Shutdown),
		processorhelper.WithCapabilities(consumer.Capabilities{MutatesData: true}),
	}
}

// join adds a pipeline to the state of its configuration.
func (f *factory) join(
	set processor.Settings, cfg *Config, which pipeline.Signal, build func(*lane) *emitter,
) (*member, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, ok := f.states[cfg]
	if !ok {
		var err error
		if s, err = newShared(set, cfg); err != nil {
			return nil, err
		}
		s.mu, s.forget = &f.mu, func() { delete(f.states, cfg) }
		f.states[cfg] = s
	}
	return s.join(which, build), nil
}

func receiptWriter(set processor.Settings, cfg *Config) receipt.Writer {
	return receipt.Writer{Scope: metadata.ScopeName, Version: set.BuildInfo.Version, ErrorStatus: cfg.Receipts.ErrorStatus}
}
