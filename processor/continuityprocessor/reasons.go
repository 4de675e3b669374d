package continuityprocessor

import (
	"slices"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// rejections are the reasons for which an event holds no state.
var rejections = []classify.Reason{
	classify.SessionMissing, classify.Capacity, classify.ApprovalMalformed, classify.AttributeDuplicated, classify.AttributeType,
	classify.NameInvalid, classify.DigestMalformed, classify.DigestEmpty,
}

// findingReasons are the reasons that a finding can have.
var findingReasons = slices.Concat([]classify.Reason{
	classify.Match, classify.ApprovedTransition, classify.ApprovedRemoval, classify.ApprovedAddition, classify.ApprovedAfter,
	classify.MissingAfter, classify.UnapprovedAddition, classify.ChangedWithoutApproval, classify.ApprovalExpired,
	classify.ApprovalRevoked, classify.ApprovalUnsigned, classify.ApprovalSignatureInvalid, classify.ApprovalNotIndependent,
	classify.ApprovalReused, classify.ApprovalNotYetValid, classify.DigestIncomparable,

	classify.AttributeDuplicated, classify.AttributeType, classify.DigestMalformed, classify.DigestEmpty,
	classify.RawValueRejected, classify.NameInvalid, classify.SnapshotTruncated, classify.ObservationEmpty,
	classify.ObservationIncomplete, classify.SourceMissing, classify.SourceNotAccepted, classify.NotFresh,
	classify.RestatementDiffers, classify.ObservedTooEarly, classify.NoBaseline, classify.EvidenceMissing,
	classify.Ambiguous, classify.Capacity, classify.EnvelopeNotObserved,

	classify.PostObservationMissing, classify.NoObservation, classify.CompactionUnconfirmed, classify.CompactionFailed,
	classify.SessionEnded, classify.SessionExpired, classify.CollectorShutdown,

	classify.DecisionConflicting, classify.DecisionDropped, classify.DecisionUnverified, classify.ValidationFailed,
}, classify.EnvelopeReasons)
