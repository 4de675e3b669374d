package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// rowKey is a session of a tenant, or one agent of it.
type rowKey = boundary.Key

// builder makes a model of an input.
type builder struct {
	*Model
	rows     map[rowKey]*Row
	findings map[Finding]int
	names    map[string]int
	foreign  int
	differ   int
}

// Model is the model of what was read. It is nil where there is no receipt.
func (in *Input) Model() *Model {
	if len(in.receipts) == 0 {
		return nil
	}
	b := &builder{
		Model: &Model{Sources: []string{}, Notes: []string{}, Names: []string{}, Findings: []Finding{}},
		rows:  map[rowKey]*Row{}, findings: map[Finding]int{}, names: map[string]int{},
	}
	for _, s := range classify.States {
		b.States = append(b.States, s.String())
	}
	in.giveAlerts()
	b.addReceipts(in.receipts)
	for _, row := range b.Rows {
		row.order()
	}
	elsewhere := b.addWork(in)
	for _, row := range b.Rows {
		row.openByEvents()
	}
	losses := newLosses(b.Rows, b.Findings)
	losses.find()
	b.note(elsewhere)
	b.fromBase()
	return b.Model
}

// giveAlerts gives the records of alerts to their receipts.
func (in *Input) giveAlerts() {
	type ids struct {
		trace pcommon.TraceID
		span  pcommon.SpanID
	}
	byID := map[ids]*given{}
	for _, g := range in.receipts {
		if g.form == formRecord && !g.span.IsEmpty() {
			byID[ids{g.trace, g.span}] = g
		}
	}
	for _, a := range in.alerts {
		if g := byID[ids{a.trace, a.span}]; g != nil {
			g.alerts = withAlert(g.alerts, a.alert)
		}
	}
}

// withAlert adds an alert that is not there yet.
func withAlert(all []Alert, a Alert) []Alert {
	if slices.ContainsFunc(all, func(b Alert) bool { return a.Kind == b.Kind && a.Status == b.Status && a.Fingerprint == b.Fingerprint }) {
		return all
	}
	return append(all, a)
}

// derived is the form of boundary ids that the processor makes: each is unique,
// also where a session goes on under another id.
var derived = regexp.MustCompile(`^[0-9a-f]{32}$`)

// addReceipts makes rows of receipts. The span and the record of one are one.
func (b *builder) addReceipts(all []*given) {
	type boundaryKey struct {
		row rowKey
		id  string
	}
	known := map[boundaryKey]*Boundary{}
	for _, g := range all {
		id := text(g.attrs, semconv.BoundaryID)
		key := boundaryKey{g.key, id}
		if derived.MatchString(id) {
			key.row = rowKey{}
		}
		one := known[key]
		if one == nil {
			one = &Boundary{ID: Show(id)}
			known[key] = one
			row := b.row(g)
			row.Boundaries = append(row.Boundaries, one)
		}
		b.add(one, g)
	}
}

func (b *builder) row(g *given) *Row {
	row := b.rows[g.key]
	if row == nil {
		row = &Row{Session: Show(g.key.Session), Agent: Show(g.key.Agent), Service: Show(g.service)}
		b.rows[g.key] = row
		b.Rows = append(b.Rows, row)
	}
	if row.Runtime == "" {
		row.Runtime = shown(g.attrs, semconv.Runtime)
	}
	return row
}

// add adds a receipt to its boundary, or to its other form.
func (b *builder) add(one *Boundary, g *given) {
	r := g.revisionOf(b.finding)
	if r.Foreign {
		b.foreign++
	}
	for _, other := range one.Revisions {
		if other.Number != r.Number {
			continue
		}
		if other.Boundary != r.Boundary || other.Reason != r.Reason || !slices.Equal(other.Findings, r.Findings) {
			b.differ++
		}
		if other.Form != r.Form {
			other.Form = formBoth
		}
		other.At, other.Opened = first(other.At, r.At), first(other.Opened, r.Opened)
		other.Trace, other.Span = cmp.Or(other.Trace, r.Trace), cmp.Or(other.Span, r.Span)
		for _, a := range r.Alerts {
			other.Alerts = withAlert(other.Alerts, a)
		}
		return
	}
	one.Revisions = append(one.Revisions, r)
	slices.SortStableFunc(one.Revisions, func(x, y *Revision) int { return cmp.Compare(x.Number, y.Number) })
}

func (b *builder) finding(f Finding) int {
	n, known := b.findings[f]
	if !known {
		n = len(b.Findings)
		b.findings[f] = n
		b.Findings = append(b.Findings, f)
	}
	return n
}

func (b *builder) note(elsewhere int) {
	note := func(n int, one, many string) {
		switch {
		case n == 1:
			b.Notes = append(b.Notes, one)
		case n > 1:
			b.Notes = append(b.Notes, fmt.Sprintf(many, n))
		}
	}
	note(b.foreign, "One receipt was not written by Continuity's processor.", "%d receipts were not written by Continuity's processor.")
	note(b.differ, "One receipt is there twice and differs: the first is shown. continuity verify receipts says more.",
		"%d receipts are there twice and differ: the first of each is shown. continuity verify receipts says more.")
	note(elsewhere, "One session in the files has activity and no boundary, and is left out.",
		"%d sessions in the files have activity and no boundary, and are left out.")
}
