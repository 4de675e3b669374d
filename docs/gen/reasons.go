package main

import "github.com/agentcontinuity/otelcol-continuity/internal/classify"

// meaning says in one line what a value of a closed set means.
type meaning[T any] struct {
	value T
	text  string
}

// reasonGroup is one table of reasons. One text can be a reason in two of them:
// of an approval of a decision, and of the approval in an envelope.
type reasonGroup struct {
	title, intro string
	reasons      []meaning[classify.Reason]
}

var reasonGroups = []reasonGroup{
	{
		"Reasons of the comparison", "What was shown sufficed, and was compared.",
		[]meaning[classify.Reason]{
			{classify.Match, "preserved: the same digest, or no such decision on both sides"},
			{classify.ApprovedTransition, "approved_change: another digest, and exactly this change was approved"},
			{classify.ApprovedRemoval, "approved_change: the decision is gone, as was approved"},
			{classify.ApprovedAddition, "approved_change: a decision is there that was not, as was approved"},
			{classify.ApprovedAfter, "dropped or conflicting, but cleared: the approval came after the verdict"},
			{classify.MissingAfter, "dropped: the decision is gone, and nobody approved that"},
			{classify.UnapprovedAddition, "conflicting: a decision is there where there was explicitly none"},
			{classify.ChangedWithoutApproval, "conflicting: another digest, and nobody approved the change"},
			{classify.ApprovalExpired, "conflicting: the approval of this change had expired"},
			{classify.ApprovalRevoked, "conflicting: the approval of this change was withdrawn"},
			{classify.ApprovalUnsigned, "conflicting: keys are configured, and the approval is not signed"},
			{classify.ApprovalSignatureInvalid, "conflicting: no configured key made the approval's signature"},
			{classify.ApprovalNotIndependent, "conflicting: the approval's source is neither `human` nor `gate`"},
			{classify.ApprovalReused, "conflicting: the approval was used up by an earlier change"},
			{classify.ApprovalNotYetValid, "conflicting: the approval was given in the future, or at a time that cannot be read"},
			{classify.DigestIncomparable, "unverified: the digests were made in different ways, or with different keys"},
		},
	},
	{
		"Reasons of the evidence", "Always unverified: a side that says nothing usable cannot be compared.",
		[]meaning[classify.Reason]{
			{classify.AttributeDuplicated, "an attribute of this invariant is there twice"},
			{classify.AttributeType, "the digest is no string"},
			{classify.DigestMalformed, "the digest is no digest, or was cut off"},
			{classify.DigestEmpty, "the digest is that of nothing, or of a placeholder such as `n/a`"},
			{classify.RawValueRejected, "the decision itself was sent beside its digest, under `continuity.invariant.value.<name>`; a value in place of the digest is `digest_malformed`. Neither passes: the one is removed, the other reads `[redacted]`"},
			{classify.NameInvalid, "a digest stands under a name that no invariant can have"},
			{classify.SnapshotTruncated, "the snapshot lost attributes on the way"},
			{classify.ObservationEmpty, "the observation states no invariant at all"},
			{classify.ObservationIncomplete, "the observation does not state this one, and does not prove that it is gone"},
			{classify.SourceMissing, "nobody says who saw it"},
			{classify.SourceNotAccepted, "who saw it does not count for this invariant"},
			{classify.NotFresh, "it was not looked at after the snapshot"},
			{classify.RestatementDiffers, "the agent's own words differ, which wording alone can explain"},
			{classify.ObservedTooEarly, "it was looked at before the compaction was over"},
			{classify.NoBaseline, "nobody said what was in force before"},
			{classify.EvidenceMissing, "a snapshot was attempted and failed, or states no decision"},
			{classify.Ambiguous, "several snapshots are owed an answer, and this one fits only some of them"},
			{classify.Capacity, "there was no room to keep all that is needed for an answer"},
			{classify.EnvelopeNotObserved, "the snapshot has an envelope or a summary digest, and the observation shows none"},
		},
	},
	{
		"Reasons of a boundary", "Always unverified: time or the end of something decided, not a comparison.",
		[]meaning[classify.Reason]{
			{classify.PostObservationMissing, "the window closed, and nobody had looked"},
			{classify.NoObservation, "the agent reported a compaction, and nobody took a snapshot or looked"},
			{classify.CompactionUnconfirmed, "the window closed without the completion that this runtime reports: perhaps it never compacted"},
			{classify.CompactionFailed, "the compaction failed"},
			{classify.SessionEnded, "the session ended; its window opens again when it goes on"},
			{classify.SessionExpired, "the session was idle for too long and is forgotten"},
			{classify.SessionMissing, "nothing on the event says whose it is"},
			{classify.AwaitingSnapshot, "the observation came first and waits for its snapshot"},
			{classify.CollectorShutdown, "the collector stopped and keeps no state"},
			{classify.ApprovalMalformed, "an approval without reference, invariant or readable digests, or with a status that is none: it is no approval (counted, not on a receipt)"},
		},
	},
	{
		"Reasons of the envelope", "In the order of the checks. Conflicting, except for the two unresolved effects: these are unverified.",
		[]meaning[classify.Reason]{
			{classify.EnvelopeMalformed, "an envelope attribute is there twice or has the wrong type"},
			{classify.SchemaVersionUnsupported, "the schema version is not `continuity-envelope/v1`"},
			{classify.EnvelopeFieldMissing, "a required field is missing, or a field is on one side only"},
			{classify.DelegationMissing, "`user_delegated`, but not by whom or for what"},
			{classify.TimestampInvalid, "`approval_expires_at` is no time with a zone"},
			{classify.SummaryDigestMalformed, "`summary_sha256` is no SHA-256 digest"},
			{classify.ReauthorizationNotRequired, "the envelope claims that no new authorization is needed"},
			{classify.SummaryDigestMismatch, "the summary is not the one that was made"},
			{classify.UnknownSideEffect, "unverified: it is not known whether an effect took place"},
			{classify.PartialSideEffect, "unverified: an effect took place in part"},
			{classify.TenantMismatch, "another tenant"},
			{classify.PrincipalMismatch, "another principal"},
			{classify.AuthorizationModeChanged, "another mode of authorization"},
			{classify.DelegatedPrincipalChanged, "delegated by another principal"},
			{classify.DelegatedScopeChanged, "delegated for another scope"},
			{classify.PolicyVersionChanged, "another version of the policy"},
			{classify.CapabilityChanged, "another capability"},
			{classify.CapabilityVersionChanged, "another version of the capability"},
			{classify.ApprovalBindingChanged, "bound to another approval"},
			{classify.ActionDigestChanged, "another action"},
			{classify.IdempotencyKeyChanged, "another idempotency key: the effect could take place twice"},
			{classify.SideEffectStatusChanged, "an effect that was resolved is resolved otherwise now"},
			{classify.CheckpointChanged, "another checkpoint"},
			{classify.SandboxChanged, "another snapshot of the sandbox"},
			{classify.SourceRangeChanged, "the summary covers another range of events"},
			{classify.ObligationLost, "a pending obligation is neither pending nor resolved"},
			{classify.ConstraintRefLost, "a constraint is no longer referred to"},
			{classify.BudgetIncreased, "there is more budget than there was"},
			{classify.EnvelopeApprovalRevoked, "the envelope's approval was withdrawn"},
			{classify.ApprovalNotActive, "the envelope's approval is pending, rejected or expired"},
			{classify.EnvelopeApprovalExpired, "the envelope's approval had expired when the observation came"},
		},
	},
	{
		"Reasons of a validation", "Values of `continuity.validation.reason` besides those of the envelope.",
		[]meaning[classify.Reason]{
			{classify.ContinuityValidated, "envelope and invariants are in order"},
			{classify.DecisionConflicting, "the envelope is in order, but an invariant is in conflict"},
			{classify.DecisionDropped, "the envelope is in order, but an invariant is gone"},
			{classify.DecisionUnverified, "the envelope is in order, but an invariant is unverified"},
			{classify.ValidationFailed, "the runtime refused to resume, and did not say why in words that are known"},
		},
	},
}
