package report

import (
	"cmp"
	"slices"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// losses finds what was outstanding, from the receipt that raised it to the one
// that cleared it. Receipts do not say this in one place: a decision that is gone
// or in conflict is a finding, alerts speak of the rest, and the state of the
// session is healthy only where nothing is outstanding.
type losses struct {
	rows     []*Row
	findings []Finding
	// byPrint are losses by the fingerprint of their alert: a session that goes on
	// under another id clears what it raised under the first.
	byPrint map[string][]*Loss
}

func newLosses(rows []*Row, findings []Finding) *losses {
	return &losses{rows, findings, map[string][]*Loss{}}
}

// step is one receipt in the order of times.
type step struct {
	*Revision
	boundary int
}

func (l *losses) find() {
	for _, row := range l.rows {
		var steps []step
		for i, b := range row.Boundaries {
			for _, r := range b.Revisions {
				steps = append(steps, step{r, i})
			}
		}
		slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.At, b.At) })
		w := &watch{losses: l, row: row, open: map[string]*Loss{}, probed: map[string]bool{}, firing: map[string]step{}}
		for i, s := range steps {
			w.take(s, i == 0)
		}
	}
	for _, row := range l.rows {
		l.endElsewhere(row)
	}
	for _, row := range l.rows {
		row.lanes()
	}
}

// watch follows one row.
type watch struct {
	*losses
	row  *Row
	open map[string]*Loss // by decision, or by kind of alert
	// probed are the decisions of which the world, not an agent or a human, showed
	// that they are lost: only then can the world clear them.
	probed map[string]bool
	firing map[string]step // alerts, by kind
}

var (
	droppedAt     = stateOf(classify.Dropped.String())
	conflictingAt = stateOf(classify.Conflicting.String())
	kinds         = map[int]string{
		droppedAt: boundary.AlertDecisionDropped.String(), conflictingAt: boundary.AlertDecisionConflicting.String(),
	}
)

func healthy(state int) bool { return state >= 0 && classify.States[state].Healthy() }

func (w *watch) take(s step, isFirst bool) {
	for _, n := range s.Findings {
		w.finding(s, w.findings[n])
	}
	for _, a := range s.Alerts {
		w.alert(s, a)
	}
	for kind, fired := range w.firing {
		if !w.any(kind) { // an alert speaks of something, even if no finding says what
			w.raise(fired, kind, "", stateOfKind(kind))
		}
	}
	// The state of the session is the worst that is outstanding: what is worse is
	// cleared, even if no receipt here says by what.
	for key, loss := range w.open {
		if s.State >= 0 && (loss.State > s.State || healthy(s.State)) {
			w.clear(key, s, "cleared")
			delete(w.firing, loss.Kind)
		}
	}
	if !healthy(s.State) && s.State > s.Boundary && len(w.open) == 0 {
		// It is worse than this boundary, and no receipt here says why.
		loss := w.raise(s, kinds[s.State], "", s.State)
		if isFirst {
			loss.From, loss.Raised = 0, -1
		}
	}
}

func (w *watch) finding(s step, f Finding) {
	world := f.Source == classify.Environment.String()
	switch {
	case f.Reason == string(classify.ApprovedAfter):
		w.clear(f.Name, s, "approved")
	case f.State >= droppedAt && s.Boundary >= f.State && !w.saidBefore(s, f):
		// A boundary that is better says that the decision is not required.
		w.raise(s, kinds[f.State], f.Name, f.State)
		w.probed[f.Name] = world
	case healthy(f.State) && (!world || w.probed[f.Name]):
		end := "restored"
		if classify.States[f.State] == classify.ApprovedChange {
			end = "approved"
		}
		w.clear(f.Name, s, end)
	}
}

// saidBefore reports whether the revision before says the same: it was raised then,
// and may be cleared since.
func (w *watch) saidBefore(s step, f Finding) bool {
	revisions := w.row.Boundaries[s.boundary].Revisions
	at := slices.Index(revisions, s.Revision)
	return at > 0 && slices.ContainsFunc(revisions[at-1].Findings, func(n int) bool {
		return w.findings[n].Name == f.Name && w.findings[n].State == f.State
	})
}

func (w *watch) alert(s step, a Alert) {
	if a.Status == boundary.Firing.String() {
		w.firing[a.Kind] = s
		if !w.any(a.Kind) {
			w.raise(s, a.Kind, "", stateOfKind(a.Kind))
		}
		for _, loss := range w.open {
			if loss.Kind == a.Kind && a.Fingerprint != "" && !slices.Contains(w.byPrint[a.Fingerprint], loss) {
				w.byPrint[a.Fingerprint] = append(w.byPrint[a.Fingerprint], loss)
			}
		}
		return
	}
	delete(w.firing, a.Kind)
	for key, loss := range w.open {
		if loss.Kind == a.Kind {
			w.clear(key, s, a.Status)
		}
	}
}

// stateOfKind is the state that a kind of alert speaks of.
func stateOfKind(kind string) int {
	for state, of := range kinds {
		if of == kind {
			return state
		}
	}
	return stateOf(classify.Unverified.String())
}

func (w *watch) any(kind string) bool {
	for _, loss := range w.open {
		if loss.Kind == kind {
			return true
		}
	}
	return false
}

func (w *watch) raise(s step, kind, name string, state int) *Loss {
	key := name
	if name == "" {
		key = "alert " + kind
	}
	loss := w.open[key]
	if loss == nil {
		loss = &Loss{Kind: kind, Name: name, From: s.At, Raised: s.boundary, Cleared: -1}
		w.open[key] = loss
		w.row.Losses = append(w.row.Losses, loss)
	}
	loss.Kind, loss.State = kind, state
	return loss
}

func (w *watch) clear(key string, s step, end string) {
	if loss := w.open[key]; loss != nil {
		loss.To, loss.Cleared, loss.End = s.At, s.boundary, end
		delete(w.open, key)
	}
}

// endElsewhere ends losses of other rows that this one clears.
func (l *losses) endElsewhere(row *Row) {
	for _, b := range row.Boundaries {
		for _, r := range b.Revisions {
			for _, a := range r.Alerts {
				if a.Status == boundary.Firing.String() {
					continue
				}
				for _, loss := range l.byPrint[a.Fingerprint] {
					if loss.To == 0 && loss.Kind == a.Kind && loss.From <= r.At && !slices.Contains(row.Losses, loss) {
						loss.To, loss.End, loss.Where = r.At, a.Status, row.Session
					}
				}
			}
		}
	}
}

// maxLanes bounds how high a row can be.
const maxLanes = 6

// lanes puts losses that overlap below each other.
func (row *Row) lanes() {
	slices.SortStableFunc(row.Losses, func(a, b *Loss) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.State, a.State), classify.CompareNames(a.Name, b.Name))
	})
	var ends []int64
	for _, loss := range row.Losses {
		to := loss.To
		if to == 0 {
			to = latest
		}
		lane := slices.IndexFunc(ends, func(end int64) bool { return end <= loss.From })
		switch {
		case lane >= 0:
			ends[lane] = to
		case len(ends) < maxLanes:
			lane = len(ends)
			ends = append(ends, to)
		default:
			lane = maxLanes - 1
			row.Capped++
		}
		loss.Lane = lane
	}
	row.Lanes = len(ends)
}
