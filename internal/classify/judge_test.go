package classify

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSummaryOfTheCompletion(t *testing.T) {
	noSummary := before(FieldSummarySHA256, "")
	by := func(sum string) func(*EnvelopePair) { return func(p *EnvelopePair) { p.Summary = sum } }
	for name, c := range map[string]struct {
		change         func(*EnvelopePair)
		want           string
		shown, differs bool
	}{
		"nowhere":                 {and(noSummary, now(FieldSummarySHA256, "")), "", true, false},
		"only now":                {noSummary, "", true, false},
		"recorded, not shown":     {now(FieldSummarySHA256, ""), "", false, false},
		"completed, not shown":    {and(noSummary, by(sumA), now(FieldSummarySHA256, "")), "", false, false},
		"completed and equal":     {and(noSummary, by(strings.ToUpper(sumB))), "", true, false},
		"completed and different": {and(noSummary, by(sumA)), "summary_digest_mismatch", true, true},
		"completed, malformed":    {and(noSummary, by("sha256:aa")), "summary_digest_malformed", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := pair(c.change)
			assert.Equal(t, strings.Fields(c.want), append([]string{}, reasonTexts(p.Check())...))
			assert.Equal(t, c.shown, p.SummaryShown())
			assert.Equal(t, c.differs, p.SummaryDiffers())
		})
	}
}

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		findings   []Reason
		invariants State
		want       string
	}{
		"clean":                        {nil, Preserved, "reauthorization_required continuity_validated"},
		"clean, approved change":       {nil, ApprovedChange, "reauthorization_required continuity_validated"},
		"clean, no invariants":         {nil, NoState, "reauthorization_required continuity_validated"},
		"clean, conflicting":           {nil, Conflicting, "continuity_validation_failed decision_conflicting"},
		"clean, dropped":               {nil, Dropped, "continuity_validation_failed decision_dropped"},
		"clean, unverified":            {nil, Unverified, "continuity_validation_failed decision_unverified"},
		"unknown effect":               {[]Reason{UnknownSideEffect}, Preserved, "blocked_on_reconciliation unknown_side_effect"},
		"partial effect":               {[]Reason{PartialSideEffect}, Preserved, "blocked_on_reconciliation partial_side_effect"},
		"effect before drift":          {[]Reason{UnknownSideEffect, PolicyVersionChanged}, Preserved, "blocked_on_reconciliation unknown_side_effect"},
		"malformed before effect":      {[]Reason{SummaryDigestMismatch, UnknownSideEffect}, Preserved, "continuity_validation_failed summary_digest_mismatch"},
		"drift":                        {[]Reason{TenantMismatch, PolicyVersionChanged}, Preserved, "continuity_validation_failed tenant_mismatch"},
		"drift, whatever invariants":   {[]Reason{PolicyVersionChanged}, Conflicting, "continuity_validation_failed policy_version_changed"},
		"effect, whatever invariants":  {[]Reason{PartialSideEffect}, Dropped, "blocked_on_reconciliation partial_side_effect"},
		"approval expired":             {[]Reason{EnvelopeApprovalExpired}, Preserved, "continuity_validation_failed approval_expired"},
		"envelope_field_missing first": {[]Reason{EnvelopeFieldMissing, UnknownSideEffect}, Unverified, "continuity_validation_failed envelope_field_missing"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Judge(c.findings, c.invariants)
			assert.Equal(t, c.want, string(got.Status)+" "+string(got.Reason))
			assert.Equal(t, c.findings, got.Findings, "all are listed")
		})
	}
}

// TestStateOfAFinding: an unresolved effect is unverified, any other finding
// conflicting.
func TestStateOfAFinding(t *testing.T) {
	for _, r := range contractOrder {
		want := Conflicting
		if r == "unknown_side_effect" || r == "partial_side_effect" {
			want = Unverified
		}
		assert.Equal(t, want, EnvelopeState(Reason(r)), r)
		assert.Equal(t, want == Unverified, IsEffect(Reason(r)), r)
	}
}

func TestReadable(t *testing.T) {
	assert.True(t, Readable(nil))
	for _, r := range EnvelopeReasons {
		unreadable := r == EnvelopeMalformed || r == SchemaVersionUnsupported || r == EnvelopeFieldMissing
		assert.Equal(t, !unreadable, Readable([]Reason{TenantMismatch, r}), r)
	}
}
