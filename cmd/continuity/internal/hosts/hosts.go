// Package hosts knows what the hooks of agent hosts say. A host is data: which
// of its events mean what, and where in the payload the ids are. Reading is a
// pure function of payload and environment.
//
// Of a payload only ids, closed words (trigger, outcome) and the SHA-256 of a
// summary ever leave this package. Prompts, summaries, paths and messages do not.
package hosts

import "github.com/agentcontinuity/otelcol-continuity/continuity"

// Action is what an event of a host asks for.
type Action uint8

// The actions.
const (
	// Nothing: the event is not about continuity. It may still tell the activity.
	Nothing Action = iota
	// Snapshot: the context is about to be compacted.
	Snapshot
	// Completion: a compaction ended.
	Completion
	// Start: the session begins or goes on.
	Start
	// End: the session ends or sleeps.
	End
)

var actions = [...]string{Nothing: "nothing", Snapshot: "snapshot", Completion: "completion", Start: "start", End: "end"}

// String is the action's name.
func (a Action) String() string { return actions[a] }

// Output says what the host does with a hook's standard output at an event.
type Output uint8

// The forms of output.
const (
	// Silent: the host does not put it into the context; nothing may be written.
	Silent Output = iota
	// Text goes into the context as it is.
	Text
	// Context goes into the context as `hookSpecificOutput.additionalContext`.
	Context
)

// Values of `agent.activity.state`.
const (
	Working      = "working"
	WaitingHuman = "waiting_human"
)

// Option is something that the user must have asked for.
type Option uint8

// The options.
const (
	Always Option = iota
	// EveryTurn: a snapshot also at events that come with every turn.
	EveryTurn
)

// Host is one agent host.
type Host struct {
	// Name is what the user calls it, as in `continuity hook NAME`.
	Name string
	// Runtime is `continuity.runtime`.
	Runtime string
	// SessionAttribute is the attribute in which this host's own telemetry has the
	// session id.
	SessionAttribute string

	// The rest are places in the payload, best first: keys joined by dots.

	// Event has the event's name, Session and Agent the ids.
	Event, Session, Agent []string
	// Environment are variables with the session id, asked after the payload.
	Environment []string
	// Previous has the id of the session that this one goes on with.
	Previous []string
	// Trigger says why the host compacts.
	Trigger []string
	// Outcome says how the compaction ended, where a row does not.
	Outcome []string
	// Unique has an id that the host gives to this one event and to no other.
	Unique []string
	// Turn has ids and times that several events may share.
	Turn []string
	// Dir has the project's folder. It is used on this machine only.
	Dir []string

	// Rows are the events. The first that fits counts.
	Rows []Row
}

// Row is one event of a host.
type Row struct {
	// Event is its name.
	Event string
	// If must all hold: a place in the payload has one of these values.
	If []Condition
	// Needs is what the user must have asked for.
	Needs Option

	Action Action
	// Outcome is how the compaction ended; "" asks the payload.
	Outcome continuity.Outcome
	// Summary is the place of the summary, of which only the SHA-256 is taken.
	Summary string
	// Output is what becomes of standard output, where a question can be asked.
	Output Output
	// Activity is what the agent does from now on; "" is not known.
	Activity string
}

// Condition holds where a place in the payload has one of the values.
type Condition struct {
	Place  string
	Values []string
}

// Names lists the hosts.
func Names() []string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names
}

// Find returns the host of a name.
func Find(name string) (*Host, bool) {
	for i := range all {
		if all[i].Name == name {
			return &all[i], true
		}
	}
	return nil, false
}
