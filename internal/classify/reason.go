package classify

// Reason is the reason of a finding: the value of continuity.reason.
type Reason string

// Reasons of the comparison (rules 1 to 9).
const (
	Match                    Reason = "match"
	ApprovedTransition       Reason = "approved_transition"
	ApprovedRemoval          Reason = "approved_removal"
	ApprovedAddition         Reason = "approved_addition"
	ApprovedAfter            Reason = "approved_after"
	MissingAfter             Reason = "missing_after"
	UnapprovedAddition       Reason = "unapproved_addition"
	ChangedWithoutApproval   Reason = "changed_without_approval"
	ApprovalExpired          Reason = "approval_expired"
	ApprovalRevoked          Reason = "approval_revoked"
	ApprovalUnsigned         Reason = "approval_unsigned"
	ApprovalSignatureInvalid Reason = "approval_signature_invalid"
	ApprovalNotIndependent   Reason = "approval_not_independent"
	ApprovalReused           Reason = "approval_reused"
	ApprovalNotYetValid      Reason = "approval_not_yet_valid"
	DigestIncomparable       Reason = "digest_incomparable"
)

// Reasons of evidence that does not suffice.
const (
	AttributeDuplicated   Reason = "attribute_duplicated"
	AttributeType         Reason = "attribute_type"
	DigestMalformed       Reason = "digest_malformed"
	DigestEmpty           Reason = "digest_empty"
	RawValueRejected      Reason = "raw_value_rejected"
	NameInvalid           Reason = "name_invalid"
	SnapshotTruncated     Reason = "snapshot_truncated"
	ObservationEmpty      Reason = "observation_empty"
	ObservationIncomplete Reason = "observation_incomplete"
	SourceMissing         Reason = "source_missing"
	SourceNotAccepted     Reason = "source_not_accepted"
	NotFresh              Reason = "not_fresh"
	RestatementDiffers    Reason = "restatement_differs"
	ObservedTooEarly      Reason = "observed_too_early"
	NoBaseline            Reason = "no_baseline"
	EvidenceMissing       Reason = "evidence_missing"
	Ambiguous             Reason = "ambiguous"
	Capacity              Reason = "capacity"
	EnvelopeNotObserved   Reason = "envelope_not_observed"
)

// Reasons of a boundary as a whole.
const (
	PostObservationMissing Reason = "post_observation_missing"
	NoObservation          Reason = "no_observation"
	CompactionUnconfirmed  Reason = "compaction_unconfirmed"
	CompactionFailed       Reason = "compaction_failed"
	SessionEnded           Reason = "session_ended"
	SessionExpired         Reason = "session_expired"
	SessionMissing         Reason = "session_missing"
	AwaitingSnapshot       Reason = "awaiting_snapshot"
	CollectorShutdown      Reason = "collector_shutdown"
	ApprovalMalformed      Reason = "approval_malformed"
)

// Reasons of the envelope, in the order in which they are checked and listed.
const (
	EnvelopeMalformed          Reason = "envelope_malformed"
	SchemaVersionUnsupported   Reason = "schema_version_unsupported"
	EnvelopeFieldMissing       Reason = "envelope_field_missing"
	DelegationMissing          Reason = "delegation_missing"
	TimestampInvalid           Reason = "timestamp_invalid"
	SummaryDigestMalformed     Reason = "summary_digest_malformed"
	ReauthorizationNotRequired Reason = "reauthorization_not_required"
	SummaryDigestMismatch      Reason = "summary_digest_mismatch"
	UnknownSideEffect          Reason = "unknown_side_effect"
	PartialSideEffect          Reason = "partial_side_effect"
	TenantMismatch             Reason = "tenant_mismatch"
	PrincipalMismatch          Reason = "principal_mismatch"
	AuthorizationModeChanged   Reason = "authorization_mode_changed"
	DelegatedPrincipalChanged  Reason = "delegated_principal_changed"
	DelegatedScopeChanged      Reason = "delegated_scope_changed"
	PolicyVersionChanged       Reason = "policy_version_changed"
	CapabilityChanged          Reason = "capability_changed"
	CapabilityVersionChanged   Reason = "capability_version_changed"
	ApprovalBindingChanged     Reason = "approval_binding_changed"
	ActionDigestChanged        Reason = "action_digest_changed"
	IdempotencyKeyChanged      Reason = "idempotency_key_changed"
	SideEffectStatusChanged    Reason = "side_effect_status_changed"
	CheckpointChanged          Reason = "checkpoint_changed"
	SandboxChanged             Reason = "sandbox_changed"
	SourceRangeChanged         Reason = "source_range_changed"
	ObligationLost             Reason = "obligation_lost"
	ConstraintRefLost          Reason = "constraint_ref_lost"
	BudgetIncreased            Reason = "budget_increased"
	EnvelopeApprovalRevoked    Reason = "approval_revoked"
	ApprovalNotActive          Reason = "approval_not_active"
	EnvelopeApprovalExpired    Reason = "approval_expired"
)

// Reasons of a validation as a whole.
const (
	ContinuityValidated Reason = "continuity_validated"
	DecisionConflicting Reason = "decision_conflicting"
	DecisionDropped     Reason = "decision_dropped"
	DecisionUnverified  Reason = "decision_unverified"
	// ValidationFailed is the reason where the runtime gave none that we know.
	ValidationFailed Reason = "continuity_validation_failed"
)

// ValidationStatus is the value of continuity.validation.status. None of them
// grants anything.
type ValidationStatus string

// The statuses of a validation.
const (
	NoValidation            ValidationStatus = ""
	StatusValidationFailed  ValidationStatus = "continuity_validation_failed"
	StatusBlocked           ValidationStatus = "blocked_on_reconciliation"
	StatusReauthorization   ValidationStatus = "reauthorization_required"
	EnvelopeSchemaVersionV1                  = "continuity-envelope/v1"
)
