// Command bench measures Continuity and its neighbours on the same data in one run.
// What it says of a machine is worth little; what it says of two lines of one table
// is worth more.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"
)

// parts are what can be measured.
var parts = []string{"throughput", "boundary", "heap", "scale"}

type options struct {
	rounds, sessions              int
	parts                         []string
	bench, markdown, svg, profile string
}

func main() {
	var o options
	what := flag.String("parts", strings.Join(parts, ","), "what to measure")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds; medians are reported")
	flag.IntVar(&o.sessions, "sessions", 1_000_000, "how many sessions the heap and the end of the curve have")
	flag.StringVar(&o.bench, "bench", "", "file for the rounds, as benchstat reads them")
	flag.StringVar(&o.markdown, "markdown", "", "file for the tables; they are printed too")
	flag.StringVar(&o.svg, "svg", "", "file for the scaling curve")
	flag.StringVar(&o.profile, "cpuprofile", "", "file for a profile of the run")
	flag.Parse()
	o.parts = strings.Split(*what, ",")
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (o *options) run() error {
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	var r report
	for _, part := range []struct {
		name    string
		measure func(*report) error
	}{{"throughput", o.throughput}, {"boundary", o.boundaries}, {"heap", o.heap}, {"scale", o.scale}} {
		if slices.Contains(o.parts, part.name) {
			if err := part.measure(&r); err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
		}
	}
	r.markdown(os.Stdout)
	if err := write(o.markdown, r.markdown); err != nil {
		return err
	}
	if o.svg != "" && len(r.points) > 0 {
		if err := r.draw(o.svg); err != nil {
			return err
		}
	}
	return write(o.bench, r.benchfmt)
}

func (o *options) throughput(r *report) (err error) {
	if r.spans, err = throughput(o.rounds, false); err != nil {
		return err
	}
	r.records, err = throughput(o.rounds, true)
	return err
}

// boundaries are measured on one processor: the collector of garbage would use all
// that are idle, and that is no cost.
func (o *options) boundaries(r *report) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b, err := newBatches(warm, false)
	if err != nil {
		return err
	}
	for range o.rounds {
		c, err := measured(b.items(), b.decode)
		if err != nil {
			return err
		}
		r.decode = append(r.decode, c)
		for _, one := range []struct {
			to      *[]rate
			measure func() (rate, error)
		}{
			{&r.awake, func() (rate, error) { return boundaryCost(1000, nil, nil) }},
			{&r.resting, func() (rate, error) { return boundaryCost(10_000, nil, nil) }},
			{&r.stored, func() (rate, error) { return storedCost(2000) }},
		} {
			c, err := one.measure()
			if err != nil {
				return err
			}
			*one.to = append(*one.to, c)
		}
	}
	return nil
}

func (o *options) heap(r *report) error {
	w, err := boundaryHeap(o.sessions)
	r.heap = &w
	return err
}

func (o *options) scale(r *report) error {
	var cores []int
	for n := 1; n <= min(4, runtime.NumCPU()); n *= 2 {
		cores = append(cores, n)
	}
	for n := 1000; n <= o.sessions; n *= 10 {
		points, err := scale(n, cores)
		if err != nil {
			return err
		}
		r.points = append(r.points, points...)
	}
	return nil
}

func duration(ns float64) time.Duration { return time.Duration(ns) }
