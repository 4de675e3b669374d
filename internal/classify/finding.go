package classify

import "slices"

// Source says who saw an invariant after the compaction.
type Source uint8

// The sources. NoSource is one that was not stated or not in the closed set.
const (
	NoSource Source = iota
	Agent
	Environment
	Human
	Record // read back from a stored file: proves nothing about the context
)

var sourceNames = [...]string{"", "agent", "environment", "human", "record"}

// String is the value of continuity.invariant.source.<name>.
func (s Source) String() string { return sourceNames[s] }

// ParseSource reads a source; what is not in the closed set is NoSource.
func ParseSource(text string) Source {
	if i := slices.Index(sourceNames[:], text); i > 0 {
		return Source(i)
	}
	return NoSource
}

// Finding is the state and reason of one invariant at one boundary. A finding
// of the boundary as a whole has no name.
type Finding struct {
	Name   string
	State  State
	Reason Reason
	// Wants is set where evidence that would decide the invariant can still
	// come: it keeps the window armed.
	Wants bool
	// Optional keeps the finding out of the roll-up.
	Optional bool
	// Cleared is what an approval made of the finding after the verdict,
	// NoState where nothing did.
	Cleared State
	// Effect is set on an unresolved effect: it calls for Reconcile.
	Effect bool
	// Source, Revision, ApprovalRef and Choices are those of the statement that
	// decided, else of the snapshot.
	Source                Source
	Revision, ApprovalRef string
	Choices               int64
}

// Action is what the finding calls for.
func (f Finding) Action() Action {
	switch {
	case f.Effect:
		return Reconcile
	default:
		return ActionFor(f.Now())
	}
}

// SaysSame reports whether two findings are the same: who said it and what is
// passed through beside it may differ.
func (f Finding) SaysSame(g Finding) bool {
	return f.Name == g.Name && f.State == g.State && f.Reason == g.Reason && f.Cleared == g.Cleared && f.Optional == g.Optional
}

// Now is the finding's state with what cleared it taken into account.
func (f Finding) Now() State {
	if f.Cleared != NoState {
		return f.Cleared
	}
	return f.State
}

// Rollup is the state and primary reason of the required findings: the worst
// state, and at equal states the finding of the highest authority. Without any
// required finding it is NoState.
func Rollup(findings []Finding) (State, Reason) {
	var worst Finding
	for _, f := range findings {
		if f.Optional {
			continue
		}
		if f.State > worst.State || f.State == worst.State && CompareNames(f.Name, worst.Name) < 0 {
			worst = f
		}
	}
	return worst.State, worst.Reason
}

// Wanting reports whether a required finding wants evidence.
func Wanting(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return f.Wants && !f.Optional })
}

// Sort orders findings by authority; those of the boundary come last, in the
// order in which they were made.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int { return CompareNames(a.Name, b.Name) })
}
