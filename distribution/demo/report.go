package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agentcontinuity/otelcol-continuity/internal/cases"
)

// report is what the demo found.
type report struct {
	*options
	six, recorded []*result
	outcome       *outcome
	strays        []string
	hint          string
	// sent is what the agents sent, as lines of OTLP/JSON.
	sent []byte
}

func (r *report) results() []*result { return slices.Concat(r.six, r.recorded) }

// judge reads what the collector left behind and compares it with what was
// expected.
func (r *report) judge() error {
	var err error
	if r.outcome, err = readReceipts(r.options.receipts(), false); err != nil {
		return fmt.Errorf("reading receipts: %w", err)
	}
	for _, one := range r.results() {
		one.receipts = r.outcome.bySession[one.Session()]
		one.judge()
	}
	r.strays = strays(r.outcome, r.results())
	return nil
}

// problems lists all that is otherwise than expected.
func (r *report) problems() []string {
	var out []string
	for _, one := range r.results() {
		for _, d := range one.differs {
			out = append(out, one.Title+": "+d)
		}
	}
	return append(out, r.strays...)
}

func (r *report) ok() bool { return len(r.problems()) == 0 }

const intro = `When the conversation of an AI agent grows too long, it is replaced by a summary. Each row is a session where that happened.
EVENTS: a rule that sees the agent go on working. CONTINUITY: do the decisions from before still hold? ACTION: what to do.
`

// writeText prints the table and what to do next.
func (r *report) writeText(w io.Writer, p painter) error {
	var b strings.Builder
	b.WriteString("\n" + intro + "\n")
	t := table{head: []string{"CASE", "EVENTS", "CONTINUITY", "REASON", "ACTION", "ALERT"}}
	for _, one := range r.six {
		t.rows = append(t.rows, rowOf(one))
	}
	t.gap()
	for _, one := range r.recorded {
		t.rows = append(t.rows, rowOf(one))
	}
	t.write(&b, p)
	b.WriteString("\n")
	if problems := r.problems(); len(problems) > 0 {
		b.WriteString(p.paint(red, "Not as expected:") + "\n")
		for _, text := range problems {
			b.WriteString("  " + text + "\n")
		}
		fmt.Fprintf(&b, "The collector's log is in %s/%s.\n\n", r.out, logName)
	} else {
		fmt.Fprintf(&b, "All %d verdicts are as expected.\n\n", len(r.results()))
	}
	r.writeNext(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *report) writeNext(b *strings.Builder) {
	fmt.Fprintf(b, "Receipts: %s (%d receipts, %d alerts; OTLP/JSON, one document a line). One of them says:\n",
		r.options.receipts(), r.outcome.receipts, r.outcome.alerts)
	if s := r.example(); s != "" {
		fmt.Fprintf(b, "  %s\n", s)
	}
	fmt.Fprintf(b, `
To see them in a tracing backend (Jaeger, Tempo, ...):
  1. %s;
  2. make run, and send your agent's telemetry to 127.0.0.1:4317 (gRPC) or 4318 (HTTP);
  3. look for spans named continuity.boundary, for example in TraceQL:
     { name = "continuity.boundary" && span.continuity.state != "preserved" }
`, r.hint)
}

// example is the sentence of a receipt with an alert, if there is one.
func (r *report) example() string {
	for _, one := range r.results() {
		if last := one.last(); len(last.Alerts) > 0 {
			return last.Sentence
		}
	}
	return ""
}

func rowOf(r *result) row {
	last := r.last()
	state, mark := last.State, ""
	if len(r.differs) > 0 {
		mark = "! "
	}
	alert := "none"
	if alerts := cases.Firing(r.receipts); len(alerts) > 0 {
		alert = strings.Join(alerts, " ")
	}
	return row{cells: []string{mark + r.Title, r.eventRule, state, last.Reason, last.Action, alert}, state: state}
}

// The report for machines.
type jsonReport struct {
	OK       bool       `json:"ok"`
	Window   string     `json:"window"`
	Receipts string     `json:"receipts"`
	Cases    []jsonCase `json:"cases"`
	Problems []string   `json:"problems"`
}

type jsonCase struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	About     string   `json:"about"`
	Session   string   `json:"session"`
	EventRule string   `json:"event_rule"`
	State     string   `json:"state"`
	Reason    string   `json:"reason"`
	Action    string   `json:"action"`
	Alerts    []string `json:"alerts"`
	Receipts  int      `json:"receipts"`
	OK        bool     `json:"ok"`
}

func (r *report) writeJSON(w io.Writer) error {
	doc := jsonReport{OK: r.ok(), Window: window.String(), Receipts: r.options.receipts(), Problems: append([]string{}, r.problems()...)}
	for _, one := range r.results() {
		last := one.last()
		doc.Cases = append(doc.Cases, jsonCase{
			Name: one.Name, Title: one.Title, About: one.About, Session: one.Session(), EventRule: one.eventRule,
			State: last.State, Reason: last.Reason, Action: last.Action, Alerts: append([]string{}, cases.Firing(one.receipts)...),
			Receipts: len(one.receipts), OK: len(one.differs) == 0,
		})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(doc)
}
