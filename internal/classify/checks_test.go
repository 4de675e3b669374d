package classify

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// contractOrder are the checks of the contract, in its order.
var contractOrder = strings.Fields(`
	envelope_malformed schema_version_unsupported envelope_field_missing delegation_missing timestamp_invalid
	summary_digest_malformed reauthorization_not_required
	summary_digest_mismatch
	unknown_side_effect partial_side_effect
	tenant_mismatch principal_mismatch authorization_mode_changed delegated_principal_changed delegated_scope_changed
	policy_version_changed capability_changed capability_version_changed approval_binding_changed action_digest_changed
	idempotency_key_changed side_effect_status_changed checkpoint_changed sandbox_changed source_range_changed
	obligation_lost constraint_ref_lost budget_increased
	approval_revoked approval_not_active approval_expired`)

func TestChecksAreThoseOfTheContract(t *testing.T) {
	assert.Equal(t, contractOrder, reasonTexts(EnvelopeReasons))
}

func reasonTexts(reasons []Reason) []string {
	var out []string
	for _, r := range reasons {
		out = append(out, string(r))
	}
	return out
}

const (
	sumA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	sumB = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// full is an envelope that states every field.
func full() *Envelope {
	e := &Envelope{Budget: 7, HasBudget: true, Reauthorization: true, HasReauthorization: true}
	for f, text := range map[Field]string{
		FieldSchemaVersion: "continuity-envelope/v1", FieldID: "ce-1", FieldSourceTraceID: "4bf92f3577b34da6a3ce929d0e0e4736",
		FieldTenantID: "tenant-acme", FieldPrincipalID: "user-42", FieldAuthorizationMode: "user_delegated",
		FieldDelegatedPrincipalID: "user-42", FieldDelegatedScope: "tickets:create", FieldPolicyVersion: "policy-v4",
		FieldCapabilityName: "create_ticket", FieldCapabilityVersion: "create-ticket-v3", FieldApprovalID: "apr-017",
		FieldApprovalStatus: "approved", FieldApprovalExpiresAt: "2026-07-21T18:00:00Z", FieldActionDigest: sumA,
		FieldIdempotencyKey: "ticket-intent-017", FieldSideEffectStatus: "not_executed", FieldCheckpointRef: "checkpoint:6",
		FieldSandboxSnapshotRef: "sandbox:1", FieldSummarySHA256: sumB, FieldSourceEventFirst: "event-0001",
		FieldSourceEventLast: "event-0142", FieldResetReason: "context_limit",
	} {
		e.Fields[f] = text
	}
	e.Lists = [listFieldCount][]string{
		ListPendingObligations: {"reconcile", "notify"}, ListResolvedObligations: {}, ListExactConstraintRefs: {"event:17", "event:18"},
		ListEvidenceRefs: {"log:1"}, ListPreservedClasses: {"scope"},
	}
	return e
}

// pair is a clean pair, with what the change makes of it.
func pair(changes ...func(*EnvelopePair)) *EnvelopePair {
	p := &EnvelopePair{Before: full(), Now: full(), Received: noon}
	for _, change := range changes {
		change(p)
	}
	return p
}

func now(f Field, text string) func(*EnvelopePair) {
	return func(p *EnvelopePair) { p.Now.Fields[f] = text }
}

func before(f Field, text string) func(*EnvelopePair) {
	return func(p *EnvelopePair) { p.Before.Fields[f] = text }
}

func both(f Field, text string) func(*EnvelopePair) {
	return func(p *EnvelopePair) { p.Before.Fields[f], p.Now.Fields[f] = text, text }
}

func and(changes ...func(*EnvelopePair)) func(*EnvelopePair) {
	return func(p *EnvelopePair) {
		for _, change := range changes {
			change(p)
		}
	}
}

func budget(before, now int64) func(*EnvelopePair) {
	return func(p *EnvelopePair) { p.Before.Budget, p.Now.Budget = before, now }
}

func pending(before, now, resolved []string) func(*EnvelopePair) {
	return func(p *EnvelopePair) {
		p.Before.Lists[ListPendingObligations] = before
		p.Now.Lists[ListPendingObligations], p.Now.Lists[ListResolvedObligations] = now, resolved
	}
}

func refs(before, now []string) func(*EnvelopePair) {
	return func(p *EnvelopePair) {
		p.Before.Lists[ListExactConstraintRefs], p.Now.Lists[ListExactConstraintRefs] = before, now
	}
}

// failures make one check fail, and only it. Those on one subject exclude each
// other.
var failures = map[string]struct {
	subject string
	change  func(*EnvelopePair)
}{
	"envelope_malformed":           {"malformed", func(p *EnvelopePair) { p.Now.Malformed = true }},
	"schema_version_unsupported":   {"schema", now(FieldSchemaVersion, "continuity-envelope/v9")},
	"envelope_field_missing":       {"checkpoint", now(FieldCheckpointRef, "")},
	"delegation_missing":           {"delegated scope", both(FieldDelegatedScope, "")},
	"timestamp_invalid":            {"expiry", now(FieldApprovalExpiresAt, "next week")},
	"summary_digest_malformed":     {"summary", now(FieldSummarySHA256, "sha256:bbbb")},
	"reauthorization_not_required": {"reauthorization", func(p *EnvelopePair) { p.Now.Reauthorization = false }},
	"summary_digest_mismatch":      {"summary", now(FieldSummarySHA256, sumA)},
	"unknown_side_effect":          {"effect", now(FieldSideEffectStatus, "side_effect_unknown")},
	"partial_side_effect":          {"effect", now(FieldSideEffectStatus, "partial_side_effect")},
	"tenant_mismatch":              {"tenant", now(FieldTenantID, "tenant-x")},
	"principal_mismatch":           {"principal", now(FieldPrincipalID, "user-1")},
	"authorization_mode_changed":   {"mode", before(FieldAuthorizationMode, "platform_owned")},
	"delegated_principal_changed":  {"delegated principal", now(FieldDelegatedPrincipalID, "user-9")},
	"delegated_scope_changed":      {"delegated scope", now(FieldDelegatedScope, "tickets:*")},
	"policy_version_changed":       {"policy", now(FieldPolicyVersion, "policy-v5")},
	"capability_changed":           {"capability", now(FieldCapabilityName, "delete_ticket")},
	"capability_version_changed":   {"capability version", now(FieldCapabilityVersion, "create-ticket-v4")},
	"approval_binding_changed":     {"approval", now(FieldApprovalID, "apr-018")},
	"action_digest_changed":        {"action", now(FieldActionDigest, sumB)},
	"idempotency_key_changed":      {"idempotency", now(FieldIdempotencyKey, "ticket-intent-018")},
	"side_effect_status_changed":   {"effect", now(FieldSideEffectStatus, "applied")},
	"checkpoint_changed":           {"checkpoint", now(FieldCheckpointRef, "checkpoint:7")},
	"sandbox_changed":              {"sandbox", now(FieldSandboxSnapshotRef, "sandbox:2")},
	"source_range_changed":         {"range", now(FieldSourceEventLast, "event-0001")},
	"obligation_lost":              {"obligations", pending([]string{"a", "b"}, []string{"b"}, nil)},
	"constraint_ref_lost":          {"constraints", refs([]string{"a"}, []string{})},
	"budget_increased":             {"budget", budget(7, 8)},
	"approval_revoked":             {"status", now(FieldApprovalStatus, "revoked")},
	"approval_not_active":          {"status", now(FieldApprovalStatus, "pending")},
	"approval_expired":             {"expiry", now(FieldApprovalExpiresAt, "2026-03-04T11:00:00Z")},
}

func TestEachCheckAlone(t *testing.T) {
	assert.Empty(t, pair().Check(), "a clean pair")
	require.Len(t, failures, len(contractOrder))
	for want, failure := range failures {
		t.Run(want, func(t *testing.T) {
			assert.Equal(t, []string{want}, reasonTexts(pair(failure.change).Check()))
		})
	}
}

func TestChecksInCombination(t *testing.T) {
	expect := func(t require.TestingT, failing map[string]bool) {
		p, subjects := pair(), map[string]bool{}
		var want []string
		for _, reason := range contractOrder {
			failure := failures[reason]
			if failing[reason] && !subjects[failure.subject] {
				subjects[failure.subject] = true
				failure.change(p)
				want = append(want, reason)
			}
		}
		require.Equal(t, want, reasonTexts(p.Check()))
	}
	t.Run("pairs", func(t *testing.T) {
		for a := range failures {
			for b := range failures {
				expect(t, map[string]bool{a: true, b: true})
			}
		}
	})
	t.Run("any", rapid.MakeCheck(func(t *rapid.T) {
		failing := map[string]bool{}
		for _, reason := range rapid.SliceOf(rapid.SampledFrom(contractOrder)).Draw(t, "failing") {
			failing[reason] = true
		}
		expect(t, failing)
	}))
	t.Run("all", func(t *testing.T) {
		failing := map[string]bool{}
		for reason := range failures {
			failing[reason] = true
		}
		expect(t, failing)
	})
}

// TestChecksInDetail has what one row a check does not show.
func TestChecksInDetail(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*EnvelopePair)
		want   string
	}{
		"malformed before":           {func(p *EnvelopePair) { p.Before.Malformed = true }, "envelope_malformed"},
		"unsupported before":         {before(FieldSchemaVersion, "continuity-envelope/v0"), "schema_version_unsupported"},
		"unsupported on both sides":  {both(FieldSchemaVersion, "v1"), "schema_version_unsupported"},
		"another id":                 {now(FieldID, "ce-2"), ""},
		"another trace":              {now(FieldSourceTraceID, "0af7651916cd43dd8448eb211c80319c"), ""},
		"another reset reason":       {now(FieldResetReason, "user"), ""},
		"other evidence":             {func(p *EnvelopePair) { p.Now.Lists[ListEvidenceRefs] = []string{"log:2"} }, ""},
		"other preserved classes":    {func(p *EnvelopePair) { p.Now.Lists[ListPreservedClasses] = []string{} }, ""},
		"delegation without whom":    {both(FieldDelegatedPrincipalID, ""), "delegation_missing"},
		"no delegation needed":       {and(both(FieldDelegatedScope, ""), both(FieldAuthorizationMode, "human_approved")), ""},
		"unreadable expiry before":   {before(FieldApprovalExpiresAt, "2026-07-21T18:00:00"), "timestamp_invalid"},
		"unreadable on both sides":   {both(FieldApprovalExpiresAt, "soon"), "timestamp_invalid"},
		"no expiry":                  {both(FieldApprovalExpiresAt, ""), ""},
		"malformed summary before":   {before(FieldSummarySHA256, "sha256:bbbb"), "summary_digest_malformed"},
		"summary with other digest":  {both(FieldSummarySHA256, "hmac-"+sumB), "summary_digest_malformed"},
		"summary without prefix":     {both(FieldSummarySHA256, sumB[7:]), "summary_digest_malformed"},
		"summary none":               {both(FieldSummarySHA256, "none"), "summary_digest_malformed"},
		"summary in another case":    {now(FieldSummarySHA256, " "+strings.ToUpper(sumB)), ""},
		"not required before":        {func(p *EnvelopePair) { p.Before.Reauthorization = false }, "reauthorization_not_required"},
		"unstated on both sides":     {func(p *EnvelopePair) { *p.Before, *p.Now = withoutReauthorization(), withoutReauthorization() }, ""},
		"effect on both sides":       {both(FieldSideEffectStatus, "side_effect_unknown"), "unknown_side_effect"},
		"partial on both sides":      {both(FieldSideEffectStatus, "partial_side_effect"), "partial_side_effect"},
		"effect only before":         {before(FieldSideEffectStatus, "side_effect_unknown"), ""},
		"effect applied now":         {and(before(FieldSideEffectStatus, "partial_side_effect"), now(FieldSideEffectStatus, "applied")), ""},
		"effect became partial":      {and(before(FieldSideEffectStatus, "side_effect_unknown"), now(FieldSideEffectStatus, "partial_side_effect")), "partial_side_effect"},
		"undone":                     {and(before(FieldSideEffectStatus, "applied"), now(FieldSideEffectStatus, "not_executed")), "side_effect_status_changed"},
		"range began elsewhere":      {now(FieldSourceEventFirst, "event-0002"), "source_range_changed"},
		"range listed once":          {and(now(FieldSourceEventFirst, "event-0002"), now(FieldSourceEventLast, "event-0003")), "source_range_changed"},
		"obligation resolved":        {pending([]string{"a", "b"}, []string{"a"}, []string{"b"}), ""},
		"all resolved":               {pending([]string{"a", "b"}, []string{}, []string{"b", "a"}), ""},
		"one more obligation":        {pending([]string{"a"}, []string{"b", "a"}, nil), ""},
		"another obligation":         {pending([]string{"a"}, []string{"A"}, []string{}), "obligation_lost"},
		"no obligation":              {pending([]string{}, []string{}, nil), ""},
		"one more constraint":        {refs([]string{"a"}, []string{"b", "a"}), ""},
		"one constraint of two lost": {refs([]string{"a", "b"}, []string{"b"}), "constraint_ref_lost"},
		"budget spent":               {budget(7, 0), ""},
		"budget overdrawn":           {budget(7, -3), ""},
		"budget from nothing":        {budget(0, 1), "budget_increased"},
		"rejected":                   {now(FieldApprovalStatus, "rejected"), "approval_not_active"},
		"expired by status":          {now(FieldApprovalStatus, "expired"), "approval_not_active"},
		"pending before, approved":   {before(FieldApprovalStatus, "pending"), ""},
		"revoked before, approved":   {before(FieldApprovalStatus, "revoked"), ""},
		"revoked on both sides":      {both(FieldApprovalStatus, "revoked"), "approval_revoked"},
		"expires at receipt":         {both(FieldApprovalExpiresAt, "2026-03-04T12:00:00.5Z"), "approval_expired"},
		"expires then, elsewhere":    {both(FieldApprovalExpiresAt, "2026-03-04T14:00:00.500+02:00"), "approval_expired"},
		"expires a moment later":     {both(FieldApprovalExpiresAt, "2026-03-04T12:00:00.500000001Z"), ""},
		"expired before, extended":   {before(FieldApprovalExpiresAt, "2026-03-04T11:00:00Z"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, strings.Fields(c.want), append([]string{}, reasonTexts(pair(c.change).Check())...))
		})
	}
}

func withoutReauthorization() Envelope {
	e := full()
	e.Reauthorization, e.HasReauthorization = false, false
	return *e
}
