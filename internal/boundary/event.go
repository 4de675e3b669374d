package boundary

import (
	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// Kind is what an input event tells.
type Kind uint8

// The kinds of input events.
const (
	NoKind Kind = iota
	Snapshot
	Observation
	ValidationFailure
	Completion
	Approval
	SessionEnd
	SessionStart
	Activity
)

var kindNames = [...]string{"", "snapshot", "observation", "validation_failed", "completion", "approval", "session_end", "session_start", "activity"}

// String is the kind's name in configuration (`events:`) and documents.
func (k Kind) String() string { return kindNames[k] }

// Kinds lists all kinds.
var Kinds = []Kind{Snapshot, Observation, ValidationFailure, Completion, Approval, SessionEnd, SessionStart, Activity}

// SessionKey names one agent conversation of one tenant.
type SessionKey struct {
	// Scope joins tenant and resource attributes that tell equal ids apart.
	Scope string
	// Session is the session id.
	Session string
}

// Key is the pairing key: a session, or one agent of it.
type Key struct {
	SessionKey
	// Agent is the agent id, "" for the session's own agent.
	Agent string
}

// Attr is one attribute that is carried through to receipts: a copied string,
// int or bool, never a view into telemetry.
type Attr struct {
	Key   string
	Value any // string, int64 or bool
}

// SpanContext is where an event happened; the zero value is nowhere.
type SpanContext struct {
	TraceID [16]byte
	SpanID  [8]byte
}

// IsZero reports whether there is no trace to point to.
func (c SpanContext) IsZero() bool { return c.TraceID == [16]byte{} }

// Outcome says how a compaction ended.
type Outcome uint8

// The outcomes of a compaction.
const (
	NoOutcome Outcome = iota
	Completed
	UnknownOutcome
	Failed
	Cancelled
	NoOp
)

// Outcomes lists all outcomes.
var Outcomes = []Outcome{Completed, UnknownOutcome, Failed, Cancelled, NoOp}

var outcomeNames = [...]string{"", "completed", "unknown", "failed", "cancelled", "no_op"}

// String is the value of continuity.compaction.outcome.
func (o Outcome) String() string { return outcomeNames[o] }

// Happened reports whether the context may have been replaced.
func (o Outcome) Happened() bool { return o == Completed || o == UnknownOutcome }

// Statement is what an event says of one invariant. Which fields count depends
// on the event's kind.
type Statement struct {
	Name   string
	Digest digest.Digest
	// Fault is why the statement is unusable, "" if it is usable:
	// attribute_duplicated, attribute_type, digest_malformed, digest_empty or
	// raw_value_rejected.
	Fault classify.Reason
	// ObservedAt is the invariant's own time or the event's, 0 if neither or
	// unreadable.
	ObservedAt classify.Instant
	// Source is the invariant's own or the event's (observations).
	Source classify.Source
	// Text and Optional are comparison=text and required=false (snapshots).
	Text, Optional bool
	// Revision, ApprovalRef and Choices are passed through.
	Revision, ApprovalRef string
	Choices               int64
}

// Event is one input event: copied, typed and bounded. Everything in it is as
// the sender stated it; nothing is believed yet.
type Event struct {
	Kind Kind
	Key  Key
	// Previous is the session that this one continues, "" for none.
	Previous string
	// BoundaryID is the explicit pairing id, "" for none.
	BoundaryID string
	// Fingerprint identifies the event within its session: from kind and event
	// id where it has one, else from its content.
	Fingerprint uint64
	// Time is the event's own time, 0 if it has none.
	Time classify.Instant
	// Statements are sorted by authority, one a name, at most
	// Config.Limits.Invariants.
	Statements []Statement
	// Form says how the digests were made.
	Form digest.Form
	// Dropped is set when attributes were lost on the way (dropped count > 0).
	Dropped bool
	// BadName is set when a digest stood under a name that is none.
	BadName bool
	// TooMany is set when statements beyond the limit were left out.
	TooMany bool
	// Partial is coverage=partial (observations).
	Partial bool
	// SnapshotFailed is snapshot.status=failed (snapshots).
	SnapshotFailed bool
	// ObservedAt is the event-level time, 0 if not stated or unreadable.
	ObservedAt classify.Instant
	// Envelope is nil where the event carries none.
	Envelope *classify.Envelope
	// Outcome is set on completions.
	Outcome Outcome
	// TokensBefore and TokensAfter are the size of the context around the
	// compaction, 0 where it is not stated (completions).
	TokensBefore, TokensAfter int64
	// Writes is set where the activity changed something.
	Writes bool
	// Verdict is the runtime's own (validation failures).
	Verdict classify.RuntimeVerdict
	// Approval is set on approvals.
	Approval *approval.Approval
	// Runtime, Trigger and Activity are passed through: known runtime, `auto`,
	// `manual` or `other`, agent.activity.state.
	Runtime, Trigger, Activity string
	// Identity holds the session and agent attributes as they came.
	Identity []Attr
	// Resource holds the attributes that receipts copy.
	Resource []Attr
	// Context is the span around the event.
	Context SpanContext
	// Origin is the pipeline that delivered the event.
	Origin Origin
}

// Origin numbers the attached pipelines of one shared state.
type Origin uint16
