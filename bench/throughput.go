package main

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// sink counts what comes out at the end.
type sink struct{ items atomic.Int64 }

func (s *sink) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (s *sink) ConsumeTraces(_ context.Context, td ptrace.Traces) error {
	s.items.Add(int64(td.SpanCount()))
	return nil
}

func (s *sink) ConsumeLogs(_ context.Context, ld plog.Logs) error {
	s.items.Add(int64(ld.LogRecordCount()))
	return nil
}

// cost is what one item costs.
type cost struct {
	ns     float64 // of processor time
	allocs float64
}

// line is a contender's row of the table.
type line struct {
	name  string
	costs []cost // by round
}

func (l *line) ns() float64 { return l.median(func(c cost) float64 { return c.ns }) }

func (l *line) allocs() float64 { return l.median(func(c cost) float64 { return c.allocs }) }

func (l *line) median(of func(cost) float64) float64 {
	values := make([]float64, len(l.costs))
	for i, c := range l.costs {
		values[i] = of(c)
	}
	return median(values)
}

// batches are what all contenders of one signal see, in memory and encoded.
type batches struct {
	logs   bool
	traces []ptrace.Traces
	loads  []plog.Logs
	wire   [][]byte
}

func newBatches(n int, logs bool) (*batches, error) {
	b := &batches{logs: logs}
	now := time.Now()
	for i := range n {
		var wire []byte
		var err error
		if logs {
			b.loads = append(b.loads, agentLogs(i, now))
			wire, err = (&plog.ProtoMarshaler{}).MarshalLogs(b.loads[i])
		} else {
			b.traces = append(b.traces, agentTraces(i, now))
			wire, err = (&ptrace.ProtoMarshaler{}).MarshalTraces(b.traces[i])
		}
		if err != nil {
			return nil, err
		}
		b.wire = append(b.wire, wire)
	}
	return b, nil
}

func (b *batches) items() int { return len(b.wire) * batchSize }

func (b *batches) clone() *batches {
	c := &batches{logs: b.logs, wire: b.wire}
	for _, td := range b.traces {
		to := ptrace.NewTraces()
		td.CopyTo(to)
		c.traces = append(c.traces, to)
	}
	for _, ld := range b.loads {
		to := plog.NewLogs()
		ld.CopyTo(to)
		c.loads = append(c.loads, to)
	}
	return c
}

// feed gives all batches to a component.
func (b *batches) feed(r *running) error {
	ctx := context.Background()
	for _, td := range b.traces {
		if err := r.traces.ConsumeTraces(ctx, td); err != nil {
			return err
		}
	}
	for _, ld := range b.loads {
		if err := r.logs.ConsumeLogs(ctx, ld); err != nil {
			return err
		}
	}
	return nil
}

// decode reads all batches from their encoded form.
func (b *batches) decode() error {
	for _, wire := range b.wire {
		var err error
		if b.logs {
			_, err = (&plog.ProtoUnmarshaler{}).UnmarshalLogs(wire)
		} else {
			_, err = (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(wire)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// measured runs work until it took long enough to be measured, on a quiet heap.
func measured(items int, work func() error) (cost, error) {
	runtime.GC()
	allocs, begun, n := mallocs(), cpuTime(), 0
	for ; n == 0 || cpuTime()-begun < leastWork && n < 10_000; n++ {
		if err := work(); err != nil {
			return cost{}, err
		}
	}
	total := float64(n * items)
	took := cpuTime() - begun
	return cost{float64(took) / total, float64(mallocs()-allocs) / total}, nil
}

// leastWork is how much processor time a contender gets in a round, unless it
// holds its input back.
const leastWork = 60 * time.Millisecond

const (
	// warm is how many batches go round where each is seen again and again: few
	// enough to be as near to the processor as a batch that was decoded just now.
	warm = 2
	// many is how many a component sees that holds its input back.
	many = 20
)

// throughput measures all contenders of a signal, one after another in each round,
// so that what else the machine does concerns all of them.
func throughput(rounds int, logs bool) ([]line, error) {
	few, err := newBatches(warm, logs)
	if err != nil {
		return nil, err
	}
	lines := []line{{name: "no-op consumer"}, {name: "OTLP decode"}}
	all := neighbours()
	for i := range all {
		if !logs || !all[i].tracesOnly {
			lines = append(lines, line{name: all[i].name})
		}
	}
	add := func(name string, c cost) {
		for i := range lines {
			if lines[i].name == name {
				lines[i].costs = append(lines[i].costs, c)
			}
		}
	}
	for range rounds {
		out := &sink{}
		noop := running{traces: out, logs: out}
		for name, work := range map[string]func() error{
			"no-op consumer": func() error { return few.feed(&noop) },
			"OTLP decode":    few.decode,
		} {
			c, err := measured(few.items(), work)
			if err != nil {
				return nil, err
			}
			add(name, c)
		}
		for i := range all {
			if logs && all[i].tracesOnly {
				continue
			}
			c, err := all[i].measure(few)
			if err != nil {
				return nil, err
			}
			add(all[i].name, c)
		}
	}
	return lines, nil
}

// measure runs a component over batches of its own.
func (n *neighbour) measure(b *batches) (c cost, err error) {
	mine := b
	switch {
	case n.stateful:
		if mine, err = newBatches(many, b.logs); err != nil {
			return cost{}, err
		}
	case !n.keeps:
		mine = b.clone()
	}
	out := &sink{}
	r, err := n.start(b.logs, nil, out, out)
	if err != nil {
		return cost{}, err
	}
	if n.known {
		now := time.Now()
		if err := send(&r, requests(when{snapshot, now}, 0, sessions)); err != nil {
			return cost{}, err
		}
	}
	if !n.stateful {
		c, err = measured(mine.items(), func() error { return mine.feed(&r) })
	} else {
		c, err = n.throughOnce(mine, &r, out)
	}
	if stop := r.Shutdown(context.Background()); err == nil {
		err = stop
	}
	return c, err
}

// throughOnce measures until all came out that went in.
func (n *neighbour) throughOnce(b *batches, r *running, out *sink) (cost, error) {
	runtime.GC()
	allocs, begun := mallocs(), cpuTime()
	if err := b.feed(r); err != nil {
		return cost{}, err
	}
	for waited := time.Now(); out.items.Load() < int64(b.items()); time.Sleep(time.Millisecond) {
		if time.Since(waited) > time.Minute {
			return cost{}, fmt.Errorf("%s: %d of %d items came out", n.name, out.items.Load(), b.items())
		}
	}
	total := float64(b.items())
	took := cpuTime() - begun
	return cost{float64(took) / total, float64(mallocs()-allocs) / total}, nil
}
