package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

// topics are the decisions that must survive a compaction: their names, and what
// kind of value each has. The values are in the agent's context alone.
var topics = []struct {
	name string
	kind continuity.Kind
}{
	{"scope", continuity.ID},
	{"target", continuity.ID},
	{"acceptance_test", continuity.Command},
	{"approval_boundary", continuity.Set},
	{"constraint.push", continuity.Choice},
}

// agent is an agent with a mock for a model: it "knows" what stands in its context.
type agent struct {
	session   continuity.Session
	digester  continuity.Digester
	tracer    trace.Tracer
	out       io.Writer
	limit     int // of lines in the context
	summarise func(context []string) []string

	context []string
}

// work does one step. A context that has grown too long is compacted first.
func (a *agent) work(ctx context.Context, step string) error {
	if len(a.context) >= a.limit {
		if err := a.compact(ctx); err != nil {
			return err
		}
	}
	_, span := a.start(ctx, "execute_tool")
	a.context = append(a.context, step)
	fmt.Fprintf(a.out, "works     %s\n", step)
	span.End()
	return nil
}

// compact states the decisions before, replaces the context by its summary, and
// states what the agent knows afterwards.
func (a *agent) compact(ctx context.Context) error {
	err := a.inSpan(ctx, "snapshot", func(ctx context.Context) error {
		known, err := a.restate()
		if err != nil {
			return err
		}
		fmt.Fprintf(a.out, "snapshot  %s\n", names(known))
		return continuity.Record(ctx, continuity.Snapshot{Common: a.common(), Decisions: known})
	})
	if err != nil {
		return err
	}

	err = a.inSpan(ctx, "compaction", func(ctx context.Context) error {
		before := len(a.context)
		a.context = a.summarise(a.context)
		fmt.Fprintf(a.out, "compacts  %d lines to %d\n", before, len(a.context))
		return continuity.Record(ctx, continuity.Completion{Common: a.common(), Outcome: continuity.Completed})
	})
	if err != nil {
		return err
	}

	return a.inSpan(ctx, "restatement", func(ctx context.Context) error {
		known, err := a.restate()
		if err != nil {
			return err
		}
		fmt.Fprintf(a.out, "restates  %s\n", names(known))
		return continuity.Record(ctx, continuity.Observation{Common: a.common(), Source: continuity.Agent, Decisions: known})
	})
}

// restate asks the model for each decision: by its name, never showing the value.
// What it no longer knows is not stated.
func (a *agent) restate() ([]continuity.Decision, error) {
	var known []continuity.Value
	for _, topic := range topics {
		if value, ok := a.ask(topic.name); ok {
			known = append(known, continuity.Value{Name: topic.name, Kind: topic.kind, Value: value})
		}
	}
	return a.digester.Decisions(known...)
}

// ask is the mock of a model that answers from its context.
func (a *agent) ask(name string) (string, bool) {
	for _, line := range a.context {
		if value, ok := strings.CutPrefix(line, name+": "); ok {
			return value, true
		}
	}
	return "", false
}

// forgetful is a summariser that keeps what the work has touched of late. Nobody
// pushed anything, so the rule about it looks like something that can go.
func forgetful(context []string) []string {
	return keep(context, func(line string) bool { return !strings.HasPrefix(line, "constraint.") })
}

// careful is one that keeps all decisions.
func careful(context []string) []string {
	return keep(context, func(string) bool { return true })
}

func keep(context []string, worthIt func(string) bool) []string {
	summary := []string{"summary: so far all went well"}
	for _, line := range context {
		for _, topic := range topics {
			if strings.HasPrefix(line, topic.name+": ") && worthIt(line) {
				summary = append(summary, line)
			}
		}
	}
	return summary
}

func (a *agent) common() continuity.Common { return continuity.Common{Session: a.session} }

// start begins a span that looks like any agent's.
func (a *agent) start(ctx context.Context, name string) (context.Context, trace.Span) {
	return a.tracer.Start(ctx, name, trace.WithAttributes(attribute.String("gen_ai.conversation.id", a.session.ID)))
}

func (a *agent) inSpan(ctx context.Context, name string, do func(context.Context) error) error {
	ctx, span := a.start(ctx, name)
	defer span.End()
	return do(ctx)
}

func names(decisions []continuity.Decision) string {
	all := make([]string, len(decisions))
	for i := range decisions {
		all[i] = decisions[i].Name
	}
	return strings.Join(all, ", ")
}
