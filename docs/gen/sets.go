package main

import (
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

var states = []meaning[classify.State]{
	{classify.Preserved, "shown again after the compaction, unchanged"},
	{classify.ApprovedChange, "changed exactly as somebody else approved"},
	{classify.Unverified, "not known: not shown, not sufficiently, or not comparable"},
	{classify.Dropped, "gone, and nobody approved that"},
	{classify.Conflicting, "another one is in force, and nobody approved that"},
}

var actions = []meaning[classify.Action]{
	{classify.Continue, "nothing to do"},
	{classify.ContinueWithAudit, "go on, and let somebody read what was approved"},
	{classify.Reobserve, "look again: ask the agent, or the world"},
	{classify.PauseAndRestore, "pause the agent and give it back what it lost"},
	{classify.Reconcile, "find out whether the effect took place before anything is done again"},
	{classify.HoldAndAsk, "hold the agent and ask a human which decision is in force"},
}

var alertKinds = []meaning[boundary.AlertKind]{
	{boundary.AlertPostObservationMissing, "the window closed on decisions that nobody showed again"},
	{boundary.AlertDecisionConflicting, "a required invariant is in conflict, or a check of the envelope failed"},
	{boundary.AlertDecisionDropped, "a required invariant is gone"},
	{boundary.AlertReconciliationRequired, "an effect is unresolved"},
	{boundary.AlertDecisionUnverified, "off by default: a boundary ended unverified"},
	{boundary.AlertCompactionFailed, "off by default: a compaction failed"},
	{boundary.AlertInstrumentationGap, "off by default: an agent compacts, and nobody states its decisions"},
}

var alertStatuses = []meaning[boundary.AlertStatus]{
	{boundary.Firing, "a boundary added something that is outstanding"},
	{boundary.Resolved, "nothing of this kind is outstanding any more: evidence or an approval cleared it"},
	{boundary.Closed, "the session was forgotten with it; not a sign of health"},
}

var coverages = []meaning[boundary.Coverage]{
	{boundary.CoverageBoundary, "no snapshot: only that there was a boundary"},
	{boundary.CoverageBaseline, "a snapshot, and no observation"},
	{boundary.CoverageObserved, "both sides"},
}

var outcomes = []meaning[boundary.Outcome]{
	{boundary.Completed, "the context was replaced"},
	{boundary.UnknownOutcome, "it may have been; treated like `completed`"},
	{boundary.Failed, "it was attempted and not replaced"},
	{boundary.Cancelled, "it was called off"},
	{boundary.NoOp, "there was nothing to compact"},
}

var sources = []meaning[classify.Source]{
	{classify.Agent, "restated by the agent from its own context"},
	{classify.Environment, "read from the world; by default not accepted for `approval_boundary` and `constraint.*`"},
	{classify.Human, "a human looked"},
	{classify.Record, "read back from a stored file: proves nothing about the context and never counts"},
}

var validationStatuses = []meaning[classify.ValidationStatus]{
	{classify.StatusValidationFailed, "the first finding is no unresolved effect, or an invariant is not well"},
	{classify.StatusBlocked, "the first finding is an unresolved effect"},
	{classify.StatusReauthorization, "nothing is wrong; the agent still has to be authorized anew"},
}

var kinds = []meaning[boundary.Kind]{
	{boundary.Snapshot, "the decisions before"},
	{boundary.Observation, "the decisions after"},
	{boundary.ValidationFailure, "the runtime itself refused to resume"},
	{boundary.Completion, "how the compaction ended"},
	{boundary.Approval, "an approved or revoked transition"},
	{boundary.SessionEnd, "the session ends or sleeps"},
	{boundary.SessionStart, "the session begins or goes on"},
	{boundary.Activity, "the session did something; no names by default, only known runtimes report it"},
}

// fields are the attributes of the envelope that are single texts.
var fields = []meaning[classify.Field]{
	{classify.FieldSchemaVersion, "`continuity-envelope/v1`. Required on both sides."},
	{classify.FieldID, "Id of the envelope."},
	{classify.FieldSourceTraceID, "The trace that it was made in."},
	{classify.FieldTenantID, "For whom the agent works. Required on both sides."},
	{classify.FieldPrincipalID, "As whom it works. Required on both sides."},
	{classify.FieldAuthorizationMode, "`platform_owned`, `user_delegated` or `human_approved`."},
	{classify.FieldDelegatedPrincipalID, "Who delegated. Needed with `user_delegated`."},
	{classify.FieldDelegatedScope, "What was delegated. Needed with `user_delegated`."},
	{classify.FieldPolicyVersion, "Version of the policy in force. Required on both sides."},
	{classify.FieldCapabilityName, "The capability in use."},
	{classify.FieldCapabilityVersion, "Its version."},
	{classify.FieldApprovalID, "The approval that the work rests on."},
	{classify.FieldApprovalStatus, "`approved`, `pending`, `rejected`, `revoked` or `expired`."},
	{classify.FieldApprovalExpiresAt, "Until when it counts, ISO 8601 with zone."},
	{classify.FieldActionDigest, "Digest of the action under way."},
	{classify.FieldIdempotencyKey, "Its idempotency key."},
	{classify.FieldSideEffectStatus, "`not_executed`, `applied`, `side_effect_unknown` or `partial_side_effect`; older: `not_started`, `side_effect_committed`."},
	{classify.FieldCheckpointRef, "The checkpoint to resume from."},
	{classify.FieldSandboxSnapshotRef, "The sandbox's snapshot."},
	{classify.FieldSummarySHA256, "Digest of the summary; also on the completion. May stand on one side only."},
	{classify.FieldSourceEventFirst, "First event that the summary covers."},
	{classify.FieldSourceEventLast, "Last event that the summary covers."},
	{classify.FieldResetReason, "Why the context was replaced."},
}

// listFields are the attributes of the envelope that are lists.
var listFields = []meaning[classify.ListField]{
	{classify.ListPendingObligations, "What the agent still has to do."},
	{classify.ListResolvedObligations, "What of it is done; observation only."},
	{classify.ListExactConstraintRefs, "The constraints that hold word for word."},
	{classify.ListEvidenceRefs, "Where the evidence lies."},
	{classify.ListPreservedClasses, "What the summary claims to preserve. A claim, never evidence."},
}

// otherFields are the two that are neither.
var otherFields = []struct{ name, kind, text string }{
	{classify.FieldNameBudgetRemaining, "int", "What is left of the budget."},
	{classify.FieldNameRequiresReauthorization, "bool", "Must not be false."},
}
