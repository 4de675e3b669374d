package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// report is all that was measured.
type report struct {
	spans, records []line
	// awake and resting are boundaries in memory, of sessions that fit among those
	// that are awake and of more; stored are those with file storage.
	awake, resting, stored []rate
	// decode is what decoding a span cost in the rounds of these.
	decode []cost
	heap   *weights
	points []point
}

// benchfmt writes every round as a line that benchstat reads.
func (r *report) benchfmt(w io.Writer) {
	name := func(parts ...string) string {
		return "Benchmark" + strings.NewReplacer(" ", "_", "=", ":").Replace(strings.Join(parts, "/"))
	}
	for kind, lines := range map[string][]line{"span": r.spans, "record": r.records} {
		for i := range lines {
			for _, c := range lines[i].costs {
				fmt.Fprintf(w, "%s 1 %.3f ns/%s %.4f allocs/%s\n", name("Throughput", kind, lines[i].name), c.ns, kind, c.allocs, kind)
			}
		}
	}
	for kind, rates := range map[string][]rate{"awake": r.awake, "resting": r.resting, "file_storage": r.stored} {
		for _, c := range rates {
			fmt.Fprintf(w, "%s 1 %d cpu-ns/boundary %d ns/boundary %.1f allocs/boundary\n", name("Boundary", kind), c.cpu.Nanoseconds(), c.wall.Nanoseconds(), c.allocs)
		}
	}
	if h := r.heap; h != nil {
		fmt.Fprintf(w, "%s 1 %d B/open %d B/closed %d B/another\n", name("Heap", fmt.Sprint(h.sessions)), h.open, h.closed, h.another)
	}
	for _, p := range r.points {
		fmt.Fprintf(w, "%s 1 %.0f spans/s %d B/session %d p50-ns %d p99-ns\n",
			name("Scale", fmt.Sprintf("sessions:%d", p.sessions), fmt.Sprintf("cores:%d", p.cores)), p.spans, p.bytes, p.p50.Nanoseconds(), p.p99.Nanoseconds())
	}
}

// markdown writes the tables of docs/performance.md.
func (r *report) markdown(w io.Writer) {
	for _, t := range []struct {
		item  string
		lines []line
	}{{"span", r.spans}, {"record", r.records}} {
		if len(t.lines) == 0 {
			continue
		}
		decode, transform := find(t.lines, "OTLP decode"), find(t.lines, "transform set")
		fmt.Fprintf(w, "| a %s costs | ns of CPU | of OTLP decode | of `transform` | allocations |\n|---|---:|---:|---:|---:|\n", t.item)
		for i := range t.lines {
			l := &t.lines[i]
			fmt.Fprintf(w, "| %s | %.1f | %.2f %% | %.2f | %.2f |\n", l.name, l.ns(), 100*l.ns()/decode, l.ns()/transform, l.allocs())
		}
		fmt.Fprintln(w)
	}
	if len(r.awake) > 0 {
		decode := (&line{costs: r.decode}).ns()
		fmt.Fprintf(w, "Decoding a span took %.0f ns of CPU in these rounds.\n\n", decode)
		fmt.Fprintf(w, "| a boundary costs | µs of CPU | decoded spans | allocations | a second, of time passed |\n|---|---:|---:|---:|---:|\n")
		for _, t := range []struct {
			name  string
			rates []rate
		}{{"in memory, session awake", r.awake}, {"in memory, session rested in between", r.resting}, {"with file storage", r.stored}} {
			c := middle(t.rates)
			fmt.Fprintf(w, "| %s | %.1f | %.0f | %.0f | %.0f |\n", t.name, float64(c.cpu.Nanoseconds())/1e3, float64(c.cpu.Nanoseconds())/decode, c.allocs, 1e9/float64(c.wall.Nanoseconds()))
		}
		fmt.Fprintln(w)
	}
	if h := r.heap; h != nil {
		fmt.Fprintf(w, "| bytes of live heap, %d sessions | |\n|---|---:|\n| a session with an open boundary | %d |\n| the same, closed and remembered | %d |\n| one more boundary, closed and remembered | %d |\n\n",
			h.sessions, h.open, h.closed, h.another)
	}
	if len(r.points) > 0 {
		fmt.Fprintf(w, "| live sessions | cores | spans a second | bytes a session | p50 | p99 |\n|---:|---:|---:|---:|---:|---:|\n")
		for _, p := range r.points {
			fmt.Fprintf(w, "| %d | %d | %.0f | %d | %s | %s |\n", p.sessions, p.cores, p.spans, p.bytes, p.p50, p.p99)
		}
	}
}

func find(lines []line, name string) float64 {
	for i := range lines {
		if lines[i].name == name {
			return lines[i].ns()
		}
	}
	return 0
}

func middle(rates []rate) rate {
	of := func(get func(rate) float64) float64 {
		values := make([]float64, len(rates))
		for i, r := range rates {
			values[i] = get(r)
		}
		return median(values)
	}
	return rate{
		cpu: duration(of(func(r rate) float64 { return float64(r.cpu) })), wall: duration(of(func(r rate) float64 { return float64(r.wall) })),
		allocs: of(func(r rate) float64 { return r.allocs }),
	}
}

// draw plots latency by live sessions, a line for each number of cores.
func (r *report) draw(file string) error {
	p := plot.New()
	p.Title.Text = "ConsumeTraces, 100 spans of which 2 are looks"
	p.X.Label.Text, p.Y.Label.Text = "live sessions", "µs"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	lines := map[string]plotter.XYs{}
	var names []string
	add := func(name string, x int, y float64) {
		if lines[name] == nil {
			names = append(names, name)
		}
		lines[name] = append(lines[name], plotter.XY{X: float64(x), Y: y})
	}
	for _, at := range r.points {
		cores := fmt.Sprintf("%d cores", at.cores)
		if at.cores == 1 {
			cores = "1 core"
		}
		add("p50, "+cores, at.sessions, float64(at.p50.Nanoseconds())/1e3)
		add("p99, "+cores, at.sessions, float64(at.p99.Nanoseconds())/1e3)
	}
	var args []any
	for _, name := range names {
		args = append(args, name, lines[name])
	}
	if err := plotutil.AddLinePoints(p, args...); err != nil {
		return err
	}
	return p.Save(16*vg.Centimeter, 10*vg.Centimeter, file)
}

// write writes to a file with what fill gives.
func write(name string, fill func(io.Writer)) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	fill(f)
	return f.Close()
}
