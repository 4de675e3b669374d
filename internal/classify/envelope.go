package classify

import "slices"

// Field is one scalar field of an envelope that is compared as text.
type Field uint8

// The scalar fields, in the order of the vocabulary.
const (
	FieldSchemaVersion Field = iota
	FieldID
	FieldSourceTraceID
	FieldTenantID
	FieldPrincipalID
	FieldAuthorizationMode
	FieldDelegatedPrincipalID
	FieldDelegatedScope
	FieldPolicyVersion
	FieldCapabilityName
	FieldCapabilityVersion
	FieldApprovalID
	FieldApprovalStatus
	FieldApprovalExpiresAt
	FieldActionDigest
	FieldIdempotencyKey
	FieldSideEffectStatus
	FieldCheckpointRef
	FieldSandboxSnapshotRef
	FieldSummarySHA256
	FieldSourceEventFirst
	FieldSourceEventLast
	FieldResetReason
	fieldCount
)

// FieldNames are the names behind continuity.envelope., by Field.
var FieldNames = [fieldCount]string{
	"schema_version", "id", "source_trace_id", "tenant_id", "principal_id", "authorization_mode",
	"delegated_principal_id", "delegated_scope", "policy_version", "capability_name", "capability_version",
	"approval_id", "approval_status", "approval_expires_at", "action_digest", "idempotency_key",
	"side_effect_status", "checkpoint_ref", "sandbox_snapshot_ref", "summary_sha256", "source_event_first",
	"source_event_last", "reset_reason",
}

// ListField is one field of an envelope that is a list of texts.
type ListField uint8

// The list fields.
const (
	ListPendingObligations ListField = iota
	ListResolvedObligations
	ListExactConstraintRefs
	ListEvidenceRefs
	ListPreservedClasses
	listFieldCount
)

// ListFieldNames are the names behind continuity.envelope., by ListField.
var ListFieldNames = [listFieldCount]string{
	"pending_obligations", "resolved_obligations", "exact_constraint_refs", "evidence_refs", "preserved_classes",
}

// Names of the two fields that are neither text nor list.
const (
	FieldNameBudgetRemaining         = "budget_remaining"
	FieldNameRequiresReauthorization = "requires_reauthorization"
)

// IsEnvelopeField reports whether an envelope has a field of that name.
func IsEnvelopeField(name string) bool {
	return name == FieldNameBudgetRemaining || name == FieldNameRequiresReauthorization ||
		slices.Contains(FieldNames[:], name) || slices.Contains(ListFieldNames[:], name)
}

// Envelope is the set of identity, policy, capability, approval, side-effect
// and checkpoint facts that travel beside the invariants. Fields are as stated;
// "" is a field that was not stated or stated empty.
type Envelope struct {
	Fields [fieldCount]string
	// Lists hold list fields; nil is not stated, empty is stated as empty.
	Lists [listFieldCount][]string
	// Budget is budget_remaining where HasBudget.
	Budget    int64
	HasBudget bool
	// Reauthorization is requires_reauthorization where HasReauthorization.
	Reauthorization, HasReauthorization bool
	// Malformed is set when an envelope attribute was duplicated or mistyped.
	Malformed bool
}

// Stated returns a field and whether it was stated.
func (e *Envelope) Stated(f Field) (string, bool) { return e.Fields[f], e.Fields[f] != "" }

// Validation is the judgement of one envelope, or the runtime's own. The zero
// value says that there was no envelope.
type Validation struct {
	Status   ValidationStatus
	Reason   Reason
	Findings []Reason
}

// RuntimeVerdict is the runtime's own refusal to resume, read from a
// validation-failure event: closed sets only, "" where it said nothing known.
type RuntimeVerdict struct {
	Status ValidationStatus
	Reason Reason
}

// Equal reports whether two envelopes state the same; nil equals nil only.
func (e *Envelope) Equal(o *Envelope) bool {
	if e == nil || o == nil {
		return e == o
	}
	for l := range e.Lists {
		if (e.Lists[l] == nil) != (o.Lists[l] == nil) || !slices.Equal(e.Lists[l], o.Lists[l]) {
			return false
		}
	}
	return e.Fields == o.Fields && e.Budget == o.Budget && e.HasBudget == o.HasBudget &&
		e.Reauthorization == o.Reauthorization && e.HasReauthorization == o.HasReauthorization && e.Malformed == o.Malformed
}
