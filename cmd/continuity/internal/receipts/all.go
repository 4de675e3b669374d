package receipts

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// Report is what was found.
type Report struct {
	OK         bool `json:"ok"`
	Receipts   int  `json:"receipts"`
	Copies     int  `json:"copies"` // of receipts that are there already: they are delivered at least once
	Boundaries int  `json:"boundaries"`
	Alerts     int  `json:"alerts"`
	// States counts boundaries by the state that stands.
	States   map[string]StateCount `json:"states"`
	Problems []Problem             `json:"problems"`
}

// StateCount is what there is of one state.
type StateCount struct {
	Boundaries int `json:"boundaries"`
	Receipts   int `json:"receipts"`
	Firing     int `json:"firing"` // alerts on these receipts
}

// Problem is one thing that does not fit.
type Problem struct {
	Where    string `json:"where"`
	Session  string `json:"session,omitempty"`
	Boundary string `json:"boundary,omitempty"`
	Revision int64  `json:"revision,omitempty"`
	Problem  string `json:"problem"`
}

// Check checks all receipts.
func (s *Set) Check() *Report {
	r := &Report{States: map[string]StateCount{}, Problems: []Problem{}}
	receipts := s.dropCopies(r)
	s.attach(r, receipts)
	for _, one := range receipts {
		for _, problem := range one.check() {
			r.add(one, problem)
		}
		for _, alert := range one.alerts {
			r.Alerts++
			for _, problem := range one.checkAlert(alert) {
				r.add(one, problem)
			}
		}
	}
	r.compareForms(receipts)
	r.followRevisions(receipts)
	r.OK = len(r.Problems) == 0
	return r
}

func (r *Report) add(one *Receipt, problem string) {
	r.Problems = append(r.Problems, Problem{one.Where, one.session(), one.text(semconv.BoundaryID), one.revision(), problem})
}

// dropCopies leaves out receipts that were delivered twice. Those that claim to be
// the same and are not are a problem.
func (s *Set) dropCopies(r *Report) []*Receipt {
	type key struct {
		id   string
		span bool
	}
	first := map[key]*Receipt{}
	var out []*Receipt
	for _, one := range s.receipts {
		k := key{one.ID, one.Span}
		other, known := first[k]
		switch {
		case one.ID == "" || !known:
			first[k] = one
			out = append(out, one)
		case !reflect.DeepEqual(other.attrs, one.attrs) || one.Span && !reflect.DeepEqual(other.alerts, one.alerts):
			r.add(one, "it has the ids of "+other.Where+" and says something else")
		default:
			r.Copies++
		}
	}
	r.Receipts = len(out)
	return out
}

// compareForms: a receipt that is there as a span and as a record says the same.
func (r *Report) compareForms(receipts []*Receipt) {
	spans := map[string]*Receipt{}
	for _, one := range receipts {
		if one.Span {
			spans[one.ID] = one
		}
	}
	for _, one := range receipts {
		span := spans[one.ID]
		if one.Span || one.ID == "" || span == nil {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(union(one.attrs, span.attrs))) {
			if !reflect.DeepEqual(one.attrs[key], span.attrs[key]) {
				r.add(one, fmt.Sprintf("%s is %v in the record and %v in the span", key, one.attrs[key], span.attrs[key]))
			}
		}
		if len(one.alerts) != len(span.alerts) || slices.ContainsFunc(span.alerts, func(a map[string]any) bool {
			return !slices.ContainsFunc(one.alerts, func(b map[string]any) bool { return reflect.DeepEqual(a, b) })
		}) {
			r.add(one, "its alerts differ from those of the span")
		}
	}
}

func union(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// followRevisions: those of one boundary count up from 1 without a gap, in each
// form. A session that goes on under another id takes its boundaries along.
func (r *Report) followRevisions(receipts []*Receipt) {
	type key struct {
		boundary string
		span     bool
	}
	groups := map[key][]*Receipt{}
	var order []key
	for _, one := range receipts {
		k := key{one.text(semconv.BoundaryID), one.Span}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], one)
	}
	counted := map[string]bool{}
	for _, k := range order {
		for _, chain := range chains(groups[k]) {
			r.follow(chain)
			// Each boundary counts once, in whichever forms it is there.
			last := chain[len(chain)-1]
			if counted[last.ID] {
				continue
			}
			for _, one := range chain {
				counted[one.ID] = true
			}
			r.Boundaries++
			r.count(chain, last)
		}
	}
}

// derived is the form of boundary ids that the processor makes: each is unique.
var derived = regexp.MustCompile(`^[0-9a-f]{32}$`)

// chains parts receipts of one boundary id into boundaries. An id that a sender
// chose may be that of several, in sessions or agents of theirs: what goes on
// where another ends is joined, the same session's first.
func chains(all []*Receipt) (out [][]*Receipt) {
	if derived.MatchString(all[0].text(semconv.BoundaryID)) {
		return [][]*Receipt{all}
	}
	for _, one := range all {
		best := -1
		for i, chain := range out {
			last := chain[len(chain)-1]
			if last.revision() == one.revision()-1 && (best < 0 || last.session() == one.session()) {
				best = i
			}
		}
		if best < 0 {
			out = append(out, []*Receipt{one})
		} else {
			out[best] = append(out[best], one)
		}
	}
	return out
}

func (r *Report) follow(chain []*Receipt) {
	expected := int64(1)
	for _, one := range chain {
		switch n := one.revision(); {
		case n == expected:
			expected++
		case n > expected:
			r.add(one, fmt.Sprintf("revision %d comes where %d should", n, expected))
			expected = n + 1
		default:
			r.add(one, fmt.Sprintf("revision %d comes after %d", n, expected-1))
		}
	}
}

func (r *Report) count(chain []*Receipt, last *Receipt) {
	state := last.text(semconv.BoundaryState)
	c := r.States[state]
	c.Boundaries++
	c.Receipts += len(chain)
	for _, one := range chain {
		for _, a := range one.alerts {
			if a[semconv.AlertStatus] == boundary.Firing.String() {
				c.Firing++
			}
		}
	}
	r.States[state] = c
}

// StatesInOrder lists the states that are there, worst first.
func (r *Report) StatesInOrder() []string {
	var out []string
	for _, s := range slices.Backward(classify.States) {
		if _, is := r.States[s.String()]; is {
			out = append(out, s.String())
		}
	}
	return out
}
