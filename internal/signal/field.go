package signal

import (
	"strings"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// field numbers the attributes that an event can carry once.
type field uint8

const (
	fieldBoundaryID field = iota
	fieldEventID
	fieldTrigger
	fieldOutcome
	fieldTokensBefore
	fieldTokensAfter
	fieldNormalizer
	fieldKeyID
	fieldObservedAt
	fieldSource
	fieldCoverage
	fieldSnapshotStatus
	fieldValidationStatus
	fieldValidationReason
	fieldApprovalInvariant
	fieldApprovalRef
	fieldApprovalFrom
	fieldApprovalTo
	fieldApprovalApprover
	fieldApprovalApprovedAt
	fieldApprovalExpiresAt
	fieldApprovalSource
	fieldApprovalStatus
	fieldApprovalKeyID
	fieldApprovalSignature
	fieldEnvelopeBudget
	fieldEnvelopeReauthorization
	fieldEnvelope // + classify.Field
	fieldList     = fieldEnvelope + field(len(classify.FieldNames))
	fields        = fieldList + field(len(classify.ListFieldNames))
)

// fieldOf is the field of each attribute key.
var fieldOf = func() map[string]field {
	m := map[string]field{
		semconv.BoundaryID:          fieldBoundaryID,
		semconv.EventID:             fieldEventID,
		semconv.CompactionTrigger:   fieldTrigger,
		semconv.CompactionOutcome:   fieldOutcome,
		semconv.TokensBefore:        fieldTokensBefore,
		semconv.TokensAfter:         fieldTokensAfter,
		semconv.DigestNormalizer:    fieldNormalizer,
		semconv.DigestKeyID:         fieldKeyID,
		semconv.ObservedAt:          fieldObservedAt,
		semconv.Source:              fieldSource,
		semconv.ObservationCoverage: fieldCoverage,
		semconv.SnapshotStatus:      fieldSnapshotStatus,
		semconv.ValidationStatus:    fieldValidationStatus,
		semconv.ValidationReason:    fieldValidationReason,
		semconv.ApprovalInvariant:   fieldApprovalInvariant,
		semconv.ApprovalRef:         fieldApprovalRef,
		semconv.ApprovalFrom:        fieldApprovalFrom,
		semconv.ApprovalTo:          fieldApprovalTo,
		semconv.ApprovalApprover:    fieldApprovalApprover,
		semconv.ApprovalApprovedAt:  fieldApprovalApprovedAt,
		semconv.ApprovalExpiresAt:   fieldApprovalExpiresAt,
		semconv.ApprovalSource:      fieldApprovalSource,
		semconv.ApprovalStatus:      fieldApprovalStatus,
		semconv.ApprovalKeyID:       fieldApprovalKeyID,
		semconv.ApprovalSignature:   fieldApprovalSignature,
		semconv.EnvelopePrefix + classify.FieldNameBudgetRemaining:         fieldEnvelopeBudget,
		semconv.EnvelopePrefix + classify.FieldNameRequiresReauthorization: fieldEnvelopeReauthorization,
	}
	for i, name := range classify.FieldNames {
		m[semconv.EnvelopePrefix+name] = fieldEnvelope + field(i)
	}
	for i, name := range classify.ListFieldNames {
		m[semconv.EnvelopePrefix+name] = fieldList + field(i)
	}
	return m
}()

// facet numbers the attributes that an event can carry once an invariant.
type facet uint8

const (
	facetDigest facet = iota
	facetObservedAt
	facetSource
	facetComparison
	facetChoices
	facetRevision
	facetApprovalRef
	facetRequired
	facetValue
	facets
)

// facetOf is the facet of each key up to the invariant's name.
var facetOf = map[string]facet{
	semconv.InvariantDigest:      facetDigest,
	semconv.InvariantObservedAt:  facetObservedAt,
	semconv.InvariantSource:      facetSource,
	semconv.InvariantComparison:  facetComparison,
	semconv.InvariantChoices:     facetChoices,
	semconv.InvariantRevision:    facetRevision,
	semconv.InvariantApprovalRef: facetApprovalRef,
	semconv.InvariantRequired:    facetRequired,
	semconv.InvariantValue:       facetValue,
}

// cutFacet splits the key of an invariant's attribute into facet and name.
func cutFacet(key string) (f facet, name string, ok bool) {
	rest, ok := strings.CutPrefix(key, semconv.InvariantPrefix)
	if !ok {
		return 0, "", false
	}
	dot := strings.IndexByte(rest, '.')
	if dot < 0 {
		return 0, "", false
	}
	end := len(semconv.InvariantPrefix) + dot + 1
	f, ok = facetOf[key[:end]]
	return f, key[end:], ok
}
