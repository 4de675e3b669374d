package replay

import "github.com/agentcontinuity/otelcol-continuity/internal/boundary"

// fleet has room for everything: a recording is finite.
type fleet struct{ habits map[habit]bool }

type habit struct {
	tenant, runtime string
	habit           boundary.Habit
}

var _ boundary.Fleet = (*fleet)(nil)

// TakeSession and the next three never refuse.
func (*fleet) TakeSession() bool { return true }

// GiveSession does nothing.
func (*fleet) GiveSession() {}

// Weigh does nothing.
func (*fleet) Weigh(int) {}

// Room is always there.
func (*fleet) Room(int, int) bool { return true }

// Saw remembers that a runtime does something.
func (f *fleet) Saw(tenant, runtime string, h boundary.Habit) {
	if f.habits == nil {
		f.habits = map[habit]bool{}
	}
	f.habits[habit{tenant, runtime, h}] = true
}

// Seen reports whether a runtime was seen to do it.
func (f *fleet) Seen(tenant, runtime string, h boundary.Habit) bool {
	return f.habits[habit{tenant, runtime, h}]
}
