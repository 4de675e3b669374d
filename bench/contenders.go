package main

import (
	"context"
	"fmt"

	"github.com/open-telemetry/opentelemetry-collector-contrib/connector/spanmetricsconnector"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/attributesprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/groupbytraceprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/tailsamplingprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/transformprocessor"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/connectortest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/batchprocessor"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/agentcontinuity/otelcol-continuity/processor/continuityprocessor"
)

// neighbour is a component that is measured, as the collector would make it.
type neighbour struct {
	name string
	// settings are its part of a collector's configuration.
	settings map[string]any
	// processor or connector makes it.
	processor processor.Factory
	connector connector.Factory
	// stateful ones hold telemetry back: they see each batch once, and are done
	// when all of it came out. silent ones hand none on.
	stateful, silent bool
	// keeps is set where it leaves a batch as it is.
	keeps bool
	// known is set where the sessions had a boundary before.
	known bool
	// tracesOnly is set where there is nothing to compare for log records.
	tracesOnly bool
}

func set(context, target string) map[string]any {
	return map[string]any{context + "_statements": []any{
		`set(` + target + `.attributes["bench"], "x") where ` + named(target) + ` == "context_compaction"`,
	}}
}

func named(target string) string {
	if target == "log" {
		return `log.event_name`
	}
	return target + ".name"
}

func neighbours() []neighbour {
	one := map[string]any{"actions": []any{map[string]any{"key": "bench", "value": "x", "action": "upsert"}}}
	return []neighbour{
		{name: "continuity", processor: continuityprocessor.NewFactory(), keeps: true},
		{name: "continuity annotate=session", processor: continuityprocessor.NewFactory(), settings: map[string]any{"annotate": "session"}},
		{
			name: "continuity annotate=session, marked", processor: continuityprocessor.NewFactory(),
			settings: map[string]any{"annotate": "session"}, known: true, tracesOnly: true,
		},
		{name: "attributes upsert", processor: attributesprocessor.NewFactory(), settings: one},
		{name: "transform set", processor: transformprocessor.NewFactory(), keeps: true},
		{name: "groupbytrace", processor: groupbytraceprocessor.NewFactory(), stateful: true, tracesOnly: true, settings: map[string]any{
			"wait_duration": "200ms", "num_traces": 100_000,
		}},
		{name: "tail_sampling", processor: tailsamplingprocessor.NewFactory(), stateful: true, tracesOnly: true, settings: map[string]any{
			"decision_wait": "1s", "num_traces": 100_000,
			"policies": []any{map[string]any{"name": "all", "type": "always_sample"}},
		}},
		{name: "spanmetrics", connector: spanmetricsconnector.NewFactory(), silent: true, keeps: true, tracesOnly: true},
		{name: "batch", processor: batchprocessor.NewFactory(), stateful: true},
	}
}

// running is a component that was started.
type running struct {
	component.Component
	traces consumer.Traces
	logs   consumer.Logs
}

// configure reads settings into a component's default configuration.
func configure(cfg component.Config, settings map[string]any) (component.Config, error) {
	if settings != nil {
		if err := confmap.NewFromStringMap(settings).Unmarshal(cfg); err != nil {
			return nil, err
		}
	}
	if v, ok := cfg.(interface{ Validate() error }); ok {
		return cfg, v.Validate()
	}
	return cfg, nil
}

// start makes a component of a signal and starts it.
func (n *neighbour) start(logs bool, host component.Host, nextTraces consumer.Traces, nextLogs consumer.Logs) (r running, err error) {
	ctx := context.Background()
	settings := n.settings
	if n.name == "transform set" {
		if settings = set("trace", "span"); logs {
			settings = set("log", "log")
		}
	}
	var cfg component.Config
	switch {
	case n.connector != nil:
		if cfg, err = configure(n.connector.CreateDefaultConfig(), settings); err != nil {
			break
		}
		var c connector.Traces
		c, err = n.connector.CreateTracesToMetrics(ctx, connectortest.NewNopSettings(n.connector.Type()), cfg, consumertest.NewNop())
		r = running{Component: c, traces: c}
	default:
		if cfg, err = configure(n.processor.CreateDefaultConfig(), settings); err != nil {
			break
		}
		params := processortest.NewNopSettings(n.processor.Type())
		if logs {
			var p processor.Logs
			p, err = n.processor.CreateLogs(ctx, params, cfg, nextLogs)
			r = running{Component: p, logs: p}
		} else {
			var p processor.Traces
			p, err = n.processor.CreateTraces(ctx, params, cfg, nextTraces)
			r = running{Component: p, traces: p}
		}
	}
	if err != nil {
		return running{}, fmt.Errorf("%s: %w", n.name, err)
	}
	if host == nil {
		host = componenttest.NewNopHost()
	}
	if err := r.Start(ctx, host); err != nil {
		return running{}, fmt.Errorf("%s: start: %w", n.name, err)
	}
	return r, nil
}
