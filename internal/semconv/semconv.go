// Package semconv spells every attribute key and event name that Continuity
// reads or writes, once. docs/attributes.md is generated from its tables.
//
// It is the lowest floor of the house: it imports nothing.
package semconv

// Attributes that identify whose decision is stated.
const (
	ConversationID      = "gen_ai.conversation.id"
	SessionID           = "session.id"
	PlainConversationID = "conversation.id"
	AgentID             = "gen_ai.agent.id"
	PlainAgentID        = "agent_id"
	SessionPreviousID   = "session.previous_id"
	EventName           = "event.name"
	ActivityState       = "agent.activity.state"
)

// Attributes of input events.
const (
	BoundaryID          = "continuity.boundary.id"
	EventID             = "continuity.event.id"
	Runtime             = "continuity.runtime"
	CompactionTrigger   = "continuity.compaction.trigger"
	CompactionOutcome   = "continuity.compaction.outcome"
	TokensBefore        = "continuity.compaction.tokens_before"
	TokensAfter         = "continuity.compaction.tokens_after"
	DigestNormalizer    = "continuity.digest.normalizer"
	DigestKeyID         = "continuity.digest.key_id"
	ObservedAt          = "continuity.observed_at"
	Source              = "continuity.source"
	ObservationCoverage = "continuity.observation.coverage"
	SnapshotStatus      = "continuity.snapshot.status"
)

// Prefixes of attributes that carry the invariant's name behind the last dot
// group, as in continuity.invariant.digest.scope.
const (
	InvariantPrefix      = "continuity.invariant."
	InvariantDigest      = "continuity.invariant.digest."
	InvariantObservedAt  = "continuity.invariant.observed_at."
	InvariantSource      = "continuity.invariant.source."
	InvariantComparison  = "continuity.invariant.comparison."
	InvariantChoices     = "continuity.invariant.choices."
	InvariantRevision    = "continuity.invariant.revision."
	InvariantApprovalRef = "continuity.invariant.approval_ref."
	InvariantRequired    = "continuity.invariant.required."
	InvariantValue       = "continuity.invariant.value."
	InvariantState       = "continuity.invariant.state."
	InvariantReason      = "continuity.invariant.reason."
	EnvelopePrefix       = "continuity.envelope."
	ApprovalPrefix       = "continuity.approval."
)

// Attributes of one approval event.
const (
	ApprovalInvariant  = "continuity.approval.invariant"
	ApprovalRef        = "continuity.approval.ref"
	ApprovalFrom       = "continuity.approval.from"
	ApprovalTo         = "continuity.approval.to"
	ApprovalApprover   = "continuity.approval.approver"
	ApprovalApprovedAt = "continuity.approval.approved_at"
	ApprovalExpiresAt  = "continuity.approval.expires_at"
	ApprovalSource     = "continuity.approval.source"
	ApprovalStatus     = "continuity.approval.status"
	ApprovalKeyID      = "continuity.approval.key_id"
	ApprovalSignature  = "continuity.approval.signature"
)

// Attributes of annotations and receipts.
const (
	State                    = "continuity.state"
	BoundaryState            = "continuity.boundary.state"
	Reason                   = "continuity.reason"
	Action                   = "continuity.action"
	Actions                  = "continuity.actions"
	Revision                 = "continuity.revision"
	InvariantsConflicting    = "continuity.invariants.conflicting"
	InvariantsDropped        = "continuity.invariants.dropped"
	InvariantsUnverified     = "continuity.invariants.unverified"
	InvariantsApprovedChange = "continuity.invariants.approved_change"
	InvariantsChangedSince   = "continuity.invariants.changed_since"
	ValidationStatus         = "continuity.validation.status"
	ValidationReason         = "continuity.validation.reason"
	ValidationFindings       = "continuity.validation.findings"
	RequiresReauthorization  = "continuity.requires_reauthorization"
	Late                     = "continuity.late"
	SupersededCount          = "continuity.superseded_count"
	Window                   = "continuity.window"
	ApprovalSigned           = "continuity.approval.signed"
	Coverage                 = "continuity.coverage"
	WritesBefore             = "continuity.writes_before_observation"
)

// Attributes of an alert.
const (
	AlertKind        = "continuity.alert.kind"
	AlertStatus      = "continuity.alert.status"
	AlertInvariants  = "continuity.alert.invariants"
	AlertSince       = "continuity.alert.since"
	AlertFingerprint = "continuity.alert.fingerprint"
)

// Attributes that carry what people or models wrote. They never pass on a
// recognised event or the span or record around it.
const (
	CompactSummary     = "compact_summary"
	CustomInstructions = "custom_instructions"
	TranscriptPath     = "transcript_path"
	Prompt             = "prompt"
)

// Names of events that Continuity emits.
const (
	EventBoundary = "continuity.boundary"
	EventAlert    = "continuity.alert"
)

// Default names of the events that Continuity reads, by kind.
const (
	EventCompaction           = "context_compaction"
	EventSnapshot             = "continuity.snapshot"
	EventRehydration          = "context_rehydration"
	EventObservation          = "continuity.observation"
	EventValidationFailed     = "continuity_validation_failed"
	EventCompactionCompleted  = "context_compaction_completed"
	EventContinuityCompaction = "continuity.compaction"
	EventApproval             = "continuity.approval"
	EventSessionEnd           = "session.end"
	EventSessionStart         = "session.start"
)

// Redacted replaces a value that must not pass.
const Redacted = "[redacted]"
