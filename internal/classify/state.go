// Package classify says what changed across a compaction and what it means.
// It is pure: no clock, no lock, no telemetry. Each rule carries the number it
// has in docs/semantics.md.
package classify

// State is the continuity state of one invariant, one boundary or one session.
// A larger State is worse; the zero value is no state at all.
type State uint8

// The five states, from best to worst.
const (
	NoState State = iota
	Preserved
	ApprovedChange
	Unverified
	Dropped
	Conflicting
)

// States lists the five states, best first.
var States = []State{Preserved, ApprovedChange, Unverified, Dropped, Conflicting}

var stateNames = [...]string{"", "preserved", "approved_change", "unverified", "dropped", "conflicting"}

// String is the value of continuity.state; "" for no state.
func (s State) String() string { return stateNames[s] }

// Healthy reports whether nothing is wrong and nothing is unknown.
func (s State) Healthy() bool { return s == Preserved || s == ApprovedChange }

// Worse returns the worse of two states.
func Worse(a, b State) State { return max(a, b) }

// Action is what a state calls for. A larger Action is stricter.
type Action uint8

// The actions, from mildest to strictest.
const (
	NoAction Action = iota
	Continue
	ContinueWithAudit
	Reobserve
	PauseAndRestore
	Reconcile
	HoldAndAsk
)

// AllActions lists the actions, mildest first.
var AllActions = []Action{Continue, ContinueWithAudit, Reobserve, PauseAndRestore, Reconcile, HoldAndAsk}

var actionNames = [...]string{"", "continue", "continue_with_audit", "reobserve", "pause_and_restore", "reconcile", "hold_and_ask"}

// String is the value of continuity.action.
func (a Action) String() string { return actionNames[a] }

var actionOf = [...]Action{NoAction, Continue, ContinueWithAudit, Reobserve, PauseAndRestore, HoldAndAsk}

// ActionFor is the action that a state calls for, where the defect is not an
// unresolved effect (that one calls for Reconcile).
func ActionFor(s State) Action { return actionOf[s] }

// ActionSet collects actions; the zero value is empty.
type ActionSet uint8

// With returns the set and one action more.
func (s ActionSet) With(a Action) ActionSet {
	if a == NoAction {
		return s
	}
	return s | 1<<a
}

// List returns the actions for defects, strictest first, or the strictest of
// the healthy ones where there is no defect.
func (s ActionSet) List() []Action {
	var out []Action
	for a := HoldAndAsk; a >= Reobserve; a-- {
		if s&(1<<a) != 0 {
			out = append(out, a)
		}
	}
	if out != nil {
		return out
	}
	for a := ContinueWithAudit; a >= Continue; a-- {
		if s&(1<<a) != 0 {
			return []Action{a}
		}
	}
	return nil
}
