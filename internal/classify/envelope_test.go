package classify

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Names of the contract: all fields, those that must be stated on both sides and
// those that may be stated on one only.
var (
	fieldsOfTheContract = strings.Fields(`
		schema_version id source_trace_id tenant_id principal_id authorization_mode delegated_principal_id delegated_scope
		policy_version capability_name capability_version approval_id approval_status approval_expires_at action_digest
		idempotency_key side_effect_status checkpoint_ref sandbox_snapshot_ref budget_remaining summary_sha256
		source_event_first source_event_last pending_obligations resolved_obligations exact_constraint_refs evidence_refs
		preserved_classes reset_reason requires_reauthorization`)
	requiredByContract = strings.Fields("schema_version tenant_id principal_id policy_version")
	oneSidedByContract = strings.Fields("summary_sha256 resolved_obligations evidence_refs preserved_classes reset_reason id source_trace_id")
)

func TestFieldNames(t *testing.T) {
	names := slices.Concat(FieldNames[:], ListFieldNames[:], []string{FieldNameBudgetRemaining, FieldNameRequiresReauthorization})
	assert.ElementsMatch(t, fieldsOfTheContract, names)
}

// remove makes a field of the contract not stated.
func remove(t *testing.T, e *Envelope, name string) {
	t.Helper()
	switch name {
	case FieldNameBudgetRemaining:
		e.Budget, e.HasBudget = 0, false
	case FieldNameRequiresReauthorization:
		e.Reauthorization, e.HasReauthorization = false, false
	default:
		if i := slices.Index(FieldNames[:], name); i >= 0 {
			e.Fields[i] = ""
			return
		}
		i := slices.Index(ListFieldNames[:], name)
		require.GreaterOrEqual(t, i, 0, name)
		e.Lists[i] = nil
	}
}

// TestOneSidedFields takes each field away from one side, the other and both.
func TestOneSidedFields(t *testing.T) {
	for _, name := range fieldsOfTheContract {
		t.Run(name, func(t *testing.T) {
			mayMiss := slices.Contains(oneSidedByContract, name)
			now, before, neither := pair(), pair(), pair()
			remove(t, now.Now, name)
			remove(t, before.Before, name)
			remove(t, neither.Before, name)
			remove(t, neither.Now, name)
			for _, p := range []*EnvelopePair{now, before} {
				assert.Equal(t, !mayMiss, slices.Contains(p.Check(), EnvelopeFieldMissing))
				if mayMiss {
					assert.Empty(t, p.Check())
				}
			}
			assert.Equal(t, slices.Contains(requiredByContract, name), slices.Contains(neither.Check(), EnvelopeFieldMissing))
		})
	}
}

// TestMinimalEnvelope: the required four are enough.
func TestMinimalEnvelope(t *testing.T) {
	minimal := func() *Envelope {
		e := full()
		for _, name := range fieldsOfTheContract {
			if !slices.Contains(requiredByContract, name) {
				remove(t, e, name)
			}
		}
		return e
	}
	assert.Empty(t, (&EnvelopePair{Before: minimal(), Now: minimal(), Received: noon}).Check())
	assert.Equal(t, []Reason{EnvelopeFieldMissing}, (&EnvelopePair{Before: &Envelope{}, Now: &Envelope{}, Received: noon}).Check())

	withList := minimal()
	withList.Lists[ListPendingObligations] = []string{}
	assert.Equal(t, []Reason{EnvelopeFieldMissing}, (&EnvelopePair{Before: minimal(), Now: withList, Received: noon}).Check(),
		"an empty list is stated")
}

// TestNormalize: older names of an effect are today's, and what is outside a
// closed set is not stated.
func TestNormalize(t *testing.T) {
	sets := map[Field][]string{
		FieldAuthorizationMode: {"platform_owned", "user_delegated", "human_approved"},
		FieldApprovalStatus:    {"approved", "pending", "rejected", "revoked", "expired"},
		FieldSideEffectStatus:  {"not_executed", "applied", "side_effect_unknown", "partial_side_effect"},
	}
	normalized := func(f Field, text string) string {
		e := full()
		e.Fields[f] = text
		want := full()
		e.Normalize()
		want.Fields[f] = e.Fields[f]
		assert.Equal(t, want, e, "nothing else changes")
		return e.Fields[f]
	}
	for f := range fieldCount {
		set, closed := sets[f]
		for _, text := range slices.Concat(slices.Concat(sets[FieldAuthorizationMode], sets[FieldApprovalStatus], sets[FieldSideEffectStatus]),
			[]string{"", "Approved", "APPLIED", " applied", "done", "none", "unknown"}) {
			want := text
			if closed && !slices.Contains(set, text) {
				want = ""
			}
			assert.Equal(t, want, normalized(f, text), "%s=%q", FieldNames[f], text)
		}
		for older, today := range map[string]string{"not_started": "not_executed", "side_effect_committed": "applied"} {
			switch {
			case f == FieldSideEffectStatus:
				assert.Equal(t, today, normalized(f, older))
			case closed:
				assert.Empty(t, normalized(f, older))
			default:
				assert.Equal(t, older, normalized(f, older))
			}
		}
	}
	e := &Envelope{}
	e.Normalize()
	assert.Equal(t, &Envelope{}, e)
}

func TestEffect(t *testing.T) {
	for status, c := range map[string]struct {
		effect   Reason
		resolved bool
	}{
		"not_executed": {"", true}, "applied": {"", true}, "not_started": {"", true}, "side_effect_committed": {"", true},
		"side_effect_unknown": {"unknown_side_effect", false}, "partial_side_effect": {"partial_side_effect", false},
		"": {"", false}, "done": {"", false},
	} {
		e := &Envelope{}
		e.Fields[FieldSideEffectStatus] = status
		e.Normalize()
		assert.Equal(t, c.effect, e.Effect(), status)
		assert.Equal(t, c.resolved, e.EffectResolved(), status)
	}
}

func TestEnvelopesAreEqual(t *testing.T) {
	var none *Envelope
	assert.True(t, none.Equal(nil))
	assert.False(t, none.Equal(&Envelope{}))
	assert.False(t, (&Envelope{}).Equal(none))
	assert.True(t, full().Equal(full()))
	for _, name := range fieldsOfTheContract {
		e := full()
		remove(t, e, name)
		assert.False(t, e.Equal(full()), name)
		assert.False(t, full().Equal(e), name)
	}
	for name, change := range map[string]func(*Envelope){
		"malformed":       func(e *Envelope) { e.Malformed = true },
		"budget":          func(e *Envelope) { e.Budget++ },
		"reauthorization": func(e *Envelope) { e.Reauthorization = false },
		"text":            func(e *Envelope) { e.Fields[FieldTenantID] = "tenant-x" },
		"order":           func(e *Envelope) { slices.Reverse(e.Lists[ListPendingObligations]) },
		"nil for empty":   func(e *Envelope) { e.Lists[ListResolvedObligations] = nil },
	} {
		e := full()
		change(e)
		assert.False(t, e.Equal(full()), name)
	}
}

func TestStated(t *testing.T) {
	e := full()
	text, ok := e.Stated(FieldTenantID)
	assert.True(t, ok)
	assert.Equal(t, "tenant-acme", text)
	e.Fields[FieldTenantID] = ""
	_, ok = e.Stated(FieldTenantID)
	assert.False(t, ok, "empty is not stated")
}
