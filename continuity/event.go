package continuity

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
)

// Event is a [Snapshot], [Observation], [Completion], [Approval], [SessionStart]
// or [SessionEnd].
type Event interface {
	// Name is the event's name, as `continuity.snapshot`.
	Name() string
	// When is the event's time; zero is now.
	When() time.Time
	// Attributes are the event's attributes by the vocabulary of
	// docs/attributes.md. It fails where the event could not be understood: an
	// invariant's name that is none, a digest that is none, no session.
	Attributes() ([]attribute.KeyValue, error)
}

// Session says whose decisions these are.
type Session struct {
	// ID is the conversation's id: the key by which events are paired. It is
	// required, unless the span, scope or resource that the event goes on has it
	// and Inherit is set.
	ID string
	// Attribute is the attribute that carries the id: the one that the agent's own
	// telemetry uses, of `gen_ai.conversation.id` (default), `session.id` and
	// `conversation.id`.
	Attribute string
	// Inherit leaves the id to the span, scope or resource.
	Inherit bool
	// Agent is the id of a sub-agent, "" for the session's own.
	Agent string
	// Runtime names the agent's runtime, as `claude_code`: it selects window and
	// profile in the processor.
	Runtime string
}

// Common is what all events have.
type Common struct {
	Session Session
	// Time is when it happened; zero is now.
	Time time.Time
	// EventID makes the event idempotent: the same id, session and kind again
	// changes nothing. Optional.
	EventID string
	// BoundaryID pairs the events of one compaction explicitly. Optional; events
	// without it are paired by session.
	BoundaryID string
	// Trigger is why the host compacted, `auto` or `manual`. Optional.
	Trigger string
	// Activity is `agent.activity.state`, as `working` or `waiting_human`. It is
	// passed through and never changes a verdict. Optional.
	Activity string
}

// When is the event's time; zero is now.
func (c Common) When() time.Time { return c.Time }

// Source says who saw a decision after the compaction.
type Source string

// The sources of an observation.
const (
	// Agent restated it from its own context.
	Agent Source = "agent"
	// Environment is a probe of the world, as the branch that is checked out.
	Environment Source = "environment"
	// Human is what a person says.
	Human Source = "human"
	// FromRecord was read back from a stored file, which proves nothing about the
	// agent's context: it never gives `preserved`.
	FromRecord Source = "record"
)

// Outcome says how a compaction ended.
type Outcome string

// The outcomes of a compaction.
const (
	Completed Outcome = "completed"
	Unknown   Outcome = "unknown"
	Failed    Outcome = "failed"
	Cancelled Outcome = "cancelled"
	NoOp      Outcome = "no_op"
)

// Decision is one named decision in force.
type Decision struct {
	// Name is `scope`, `approval_boundary`, `target`, `acceptance_test`,
	// `constraint.<id>`, or a name of your own of that form.
	Name string
	// Digest is the digest of its value, or [None].
	Digest Digest
	// Prose: honest rewording changes the digest, so a difference is no conflict
	// but `unverified`. In snapshots only.
	Prose bool
	// Optional keeps a decision of your own name out of the roll-up. In snapshots
	// only.
	Optional bool
	// ObservedAt is when it was seen; zero is the event's.
	ObservedAt time.Time
	// Source is who saw it; "" is the event's. In observations only.
	Source Source
	// Choices is from how many answers the agent could choose; 0 is not stated. In
	// observations only.
	Choices int
	// Revision and ApprovalRef are passed through to receipts.
	Revision    string
	ApprovalRef string

	keyID string // of the digester that made the digest, where that is known
}

// Snapshot states the decisions in force before a compaction.
type Snapshot struct {
	Common
	// Decisions may be empty: a marker that a compaction begins.
	Decisions []Decision
	// Failed: a snapshot was attempted and could not be taken.
	Failed bool
	// ObservedAt is when the decisions were seen; zero is not stated.
	ObservedAt time.Time
	// KeyID names the key of keyed digests: [Digester.KeyID]. "" is that of the
	// decisions, where [Digester.Decision] made them.
	KeyID string
	// Envelope holds fields of the envelope by name, as `policy_version`. Values
	// are string, int64, bool or []string.
	Envelope map[string]any
}

// Observation states the decisions as seen after a compaction.
type Observation struct {
	Common
	Decisions []Decision
	// Source is who saw them; required, here or at each decision.
	Source Source
	// Partial: not all was looked at. A partial look proves no absence.
	Partial bool
	// ObservedAt is when the decisions were seen; zero is the event's time. What
	// was seen before the snapshot proves nothing.
	ObservedAt time.Time
	// KeyID names the key of keyed digests: [Digester.KeyID]. "" is that of the
	// decisions, where [Digester.Decision] made them.
	KeyID string
	// Envelope holds fields of the envelope as read now from the systems of record,
	// never from the summary.
	Envelope map[string]any
}

// Completion says how the compaction ended.
type Completion struct {
	Common
	// Outcome is [Completed] where it is "".
	Outcome Outcome
	// SummarySHA256 is `sha256:` and 64 hex digits of the summary, where it is
	// known. It is the only thing that may be derived from a summary.
	SummarySHA256 string
	// TokensBefore and TokensAfter are how large the context was; 0 is not stated.
	TokensBefore, TokensAfter int64
}

// SessionStart says that the session begins or goes on.
type SessionStart struct {
	Common
	// PreviousID is the id of the session that this one continues, whose state
	// moves along; "" where it continues none.
	PreviousID string
}

// SessionEnd says that the session ended or sleeps.
type SessionEnd struct{ Common }

// Approval joins one old value of one invariant to one new one. It comes from a
// human or a gate that the agent cannot reach.
type Approval struct {
	Common
	Invariant string
	// Ref names the approval in the system that gave it; required.
	Ref string
	// From and To are the two values' digests or [None].
	From, To Digest
	// Approver is who approved.
	Approver string
	// ApprovedAt is when; required.
	ApprovedAt time.Time
	// ExpiresAt is until when it counts; zero is without end.
	ExpiresAt time.Time
	// Gate: a gate gave it, not a human.
	Gate bool
	// Revoked withdraws the approval that has the same ref, invariant and values.
	Revoked bool
	// KeyID and Signature are set by [Approval.Sign].
	KeyID     string
	Signature []byte
}
