package semconv

//go:generate go run ../../docs/gen -o ../../docs/attributes.md

// Attribute is one row of the vocabulary.
type Attribute struct {
	// Key is the attribute's key. NamePlaceholder at its end stands for the name
	// of an invariant.
	Key string
	// Type is what the value should be. Numbers and booleans may also arrive as
	// strings.
	Type string
	// Where says on what the attribute is read or written.
	Where   string
	Meaning string
	Section Section
}

// NamePlaceholder stands for the name of an invariant in a row's key.
const NamePlaceholder = "<name>"

// Section groups the rows of the vocabulary.
type Section uint8

// The sections, in the order of the page.
const (
	Identity Section = iota
	Input
	Invariants
	Approvals
	Verdict
	Receipts
	Alerts
	Removed
)

// Sections lists all sections.
var Sections = []Section{Identity, Input, Invariants, Approvals, Verdict, Receipts, Alerts, Removed}

var sectionTitles = [...]string{
	Identity:   "Whose decision it is",
	Input:      "Snapshots, observations and completions",
	Invariants: "Invariants",
	Approvals:  "Approvals",
	Verdict:    "The verdict",
	Receipts:   "Receipts",
	Alerts:     "Alerts",
	Removed:    "What never passes",
}

// String is the section's title.
func (s Section) String() string { return sectionTitles[s] }

// The types of values.
const (
	typeString  = "string"
	typeStrings = "string[]"
	typeInt     = "int"
	typeBool    = "bool"
	typeDigest  = "string (digest)"
	typeTime    = "string (ISO 8601 with zone) or int (Unix ns)"
	typeISO     = "string (ISO 8601 with zone)"
	typeLabel   = "string or int"
	typeSeconds = "int or double (s)"
	typeAny     = "any"
)

// The places of attributes.
const (
	onNearest     = "event, its span or record, scope or resource (nearest first)"
	onOwn         = "event, or its own span or record"
	onLook        = "snapshot, observation"
	onSnapshot    = "snapshot"
	onObservation = "observation"
	onPaired      = "snapshot, observation, completion"
	onRecord      = "log record"
	onApproval    = "approval"
	onVerdict     = "observation, receipt"
	onSummary     = "observation and its span or record, receipt, alert"
	onReceipt     = "receipt"
	onAlert       = "alert"
	onRecognised  = "recognized event and its span or record"
)

// Attributes is the vocabulary, except for the fields of the envelope, which
// have a table of their own in internal/classify.
var Attributes = []Attribute{
	{ConversationID, typeString, onNearest, "Session id. At each place this one is looked for first.", Identity},
	{SessionID, typeString, onNearest, "Session id, second choice.", Identity},
	{PlainConversationID, typeString, onNearest, "Session id, third choice.", Identity},
	{AgentID, typeString, onOwn, "Agent id: tells the sub-agents of one session apart.", Identity},
	{PlainAgentID, typeString, onOwn, "Agent id, second choice.", Identity},
	{SessionPreviousID, typeString, onNearest, "The session that this one goes on with under a new id. Its state moves along, once.", Identity},
	{EventName, typeString, onRecord, "The record's event name, where its EventName is none that is known. Written on alerts.", Identity},

	{BoundaryID, typeString, onPaired + ", validation failure; receipt, alert", "Pairs events explicitly, also across agents of one session. Where nobody states one, Continuity makes one.", Input},
	{EventID, typeString, "any event", "Idempotency key: the same id, session and kind is the same event.", Input},
	{Runtime, typeString, onNearest + "; receipt, alert", "The agent's runtime, as `claude_code`: selects window and profile.", Input},
	{CompactionTrigger, typeString, "any event, receipt", "Why the host compacted: `auto` or `manual`; all else is passed on as `other`.", Input},
	{CompactionOutcome, typeString, "completion, receipt", "How the compaction ended. `completed` where it is not stated, `unknown` where it cannot be read.", Input},
	{TokensBefore, typeInt, "completion, receipt", "How large the context was before the compaction. Passed through.", Input},
	{TokensAfter, typeInt, "completion, receipt", "How large it was afterwards. Passed through.", Input},
	{DigestNormalizer, typeString, onLook, "The canonical form that was digested; `v1` where it is not stated.", Input},
	{DigestKeyID, typeString, onLook, "The key of keyed digests.", Input},
	{ObservedAt, typeTime, onLook, "When the decisions were seen: the default for all invariants of the event.", Input},
	{Source, typeString, onObservation, "Who saw them: the default for all invariants of the event.", Input},
	{ObservationCoverage, typeString, onObservation, "`complete` (default) or `partial`: a partial look proves no absence.", Input},
	{SnapshotStatus, typeString, onSnapshot, "`failed`: a snapshot was attempted and could not be taken.", Input},
	{ActivityState, typeString, onOwn + "; receipt", "The agent's activity, passed through. It never changes a verdict.", Input},

	{InvariantDigest + NamePlaceholder, typeDigest, onLook, "`sha256:` or `hmac-sha256:` and 64 hex digits, or `none`: there is explicitly no such decision.", Invariants},
	{InvariantObservedAt + NamePlaceholder, typeTime, onLook, "When this invariant was seen.", Invariants},
	{InvariantSource + NamePlaceholder, typeString, onVerdict, "Who saw this invariant.", Invariants},
	{InvariantComparison + NamePlaceholder, typeString, onSnapshot, "`exact` (default), or `text`: honest rewording gives another digest.", Invariants},
	{InvariantChoices + NamePlaceholder, typeInt, onVerdict, "From how many answers the agent could choose. Passed through.", Invariants},
	{InvariantRevision + NamePlaceholder, typeLabel, onLook + ", receipt", "Revision of the decision. Passed through.", Invariants},
	{InvariantApprovalRef + NamePlaceholder, typeLabel, onLook + ", receipt", "The approval that the decision rests on. Passed through; it approves nothing.", Invariants},
	{InvariantRequired + NamePlaceholder, typeBool, onSnapshot, "false keeps the invariant out of the roll-up; only for names of your own.", Invariants},
	{InvariantState + NamePlaceholder, typeString, onVerdict, "State of this invariant. Written by Continuity.", Invariants},
	{InvariantReason + NamePlaceholder, typeString, onVerdict, "Reason of that state. Written by Continuity.", Invariants},

	{ApprovalInvariant, typeString, onApproval, "The invariant that may change.", Approvals},
	{ApprovalRef, typeString, onApproval, "Names the approval in the system that gave it. Never empty.", Approvals},
	{ApprovalFrom, typeDigest, onApproval, "The value before.", Approvals},
	{ApprovalTo, typeDigest, onApproval, "The value after.", Approvals},
	{ApprovalApprover, typeString, onApproval, "Who approved.", Approvals},
	{ApprovalApprovedAt, typeISO, onApproval, "When.", Approvals},
	{ApprovalExpiresAt, typeISO, onApproval, "Until when it counts; without it, it does not expire.", Approvals},
	{ApprovalSource, typeString, onApproval, "`human` or `gate`; anything else is not independent of the agent.", Approvals},
	{ApprovalStatus, typeString, onApproval, "`approved` (default) or `revoked`.", Approvals},
	{ApprovalKeyID, typeString, onApproval, "The key that signed.", Approvals},
	{ApprovalSignature, typeString + " (base64)", onApproval, "Ed25519 over the approval's canonical JSON; see [semantics](semantics.md#approvals).", Approvals},

	{State, typeString, onSummary, "State of the session: what is outstanding, and the boundary that was decided last.", Verdict},
	{BoundaryState, typeString, onSummary, "State of this boundary alone.", Verdict},
	{Reason, typeString, "observation, receipt, alert", "Reason of the boundary's state: that of its primary finding.", Verdict},
	{Action, typeString, onSummary, "What to do: the strictest of the actions.", Verdict},
	{Actions, typeStrings, onVerdict, "All that findings and outstanding defects call for, strictest first.", Verdict},
	{Revision, typeInt, "observation, receipt, alert", "Counts the receipts of one boundary, from 1.", Verdict},
	{InvariantsConflicting, typeStrings, onVerdict, "Names of the invariants in conflict, by authority. This list and the next four are left out when empty.", Verdict},
	{InvariantsDropped, typeStrings, onVerdict, "Names of the invariants that are gone.", Verdict},
	{InvariantsUnverified, typeStrings, onVerdict, "Names of the invariants of which nothing is known.", Verdict},
	{InvariantsApprovedChange, typeStrings, onVerdict, "Names of the invariants that changed as was approved.", Verdict},
	{InvariantsChangedSince, typeStrings, onVerdict, "Names that a snapshot states otherwise than they were last found healthy: they changed while nobody looked.", Verdict},
	{ValidationStatus, typeString, onVerdict + "; validation failure", "Judgement of the envelope, or the runtime's own. No value of it grants anything.", Verdict},
	{ValidationReason, typeString, onVerdict + "; validation failure", "The first finding of the envelope, or what is wrong with the invariants beside it.", Verdict},
	{ValidationFindings, typeStrings, onVerdict, "All findings of the envelope, in the order of the checks.", Verdict},
	{RequiresReauthorization, typeBool, onVerdict, "Always true beside a validation status.", Verdict},

	{Coverage, typeString, onReceipt, "Which sides of the boundary are known.", Receipts},
	{Window, typeSeconds, onReceipt, "How long an observation could take.", Receipts},
	{Late, typeBool, onReceipt, "true: the observation came after the window had closed.", Receipts},
	{SupersededCount, typeInt, onReceipt, "How many further snapshots and completions joined the boundary before it settled.", Receipts},
	{WritesBefore, typeInt, onReceipt, "How many edits, commands and the like the agent's own telemetry showed between the compaction and the first observation; left out where it showed none.", Receipts},
	{ApprovalSigned, typeBool, onReceipt, "Whether all approvals that were used were signed by a configured key; only where one was used.", Receipts},

	{AlertKind, typeString, onAlert, "What is outstanding.", Alerts},
	{AlertStatus, typeString, onAlert, "Whether it began or ended to be so.", Alerts},
	{AlertInvariants, typeStrings, onAlert, "The invariants that the alert is about.", Alerts},
	{AlertSince, typeISO, onAlert, "When the alert first fired.", Alerts},
	{AlertFingerprint, typeString, onAlert, "The same for all alerts of one kind of one session, also under a new session id.", Alerts},

	{InvariantValue + NamePlaceholder, typeAny, onRecognised, "The decision itself. A statement with it is unusable (`raw_value_rejected`).", Removed},
	{CompactSummary, typeAny, onRecognised, "The summary that replaced the conversation.", Removed},
	{CustomInstructions, typeAny, onRecognised, "What the user asked of the summary.", Removed},
	{TranscriptPath, typeAny, onRecognised, "Where the conversation is stored.", Removed},
	{Prompt, typeAny, onRecognised, "What the user wrote.", Removed},
}

// Event is one row of the names that Continuity reads or emits.
type Event struct {
	Name string
	// Kind is the kind in configuration (`events:`); "" is an event that
	// Continuity emits.
	Kind    string
	Meaning string
}

// Events lists the default names of events.
var Events = []Event{
	{EventCompaction, "snapshot", "The decisions in force before a compaction."},
	{EventSnapshot, "snapshot", "The same."},
	{EventRehydration, "observation", "The decisions as seen after it."},
	{EventObservation, "observation", "The same."},
	{EventValidationFailed, "validation_failed", "The runtime itself refused to resume. Decides the boundary."},
	{EventCompactionCompleted, "completion", "What the host says of how the compaction ended."},
	{EventContinuityCompaction, "completion", "The same."},
	{EventApproval, "approval", "One approved or revoked transition of one invariant."},
	{EventSessionEnd, "session_end", "The session ended or sleeps: what is open is parked."},
	{EventSessionStart, "session_start", "The session begins or goes on, perhaps under a new id."},
	{EventBoundary, "", "A receipt: span name in traces, EventName in logs."},
	{EventAlert, "", "An alert: span event on the receipt in traces, a record of its own in logs."},
}
