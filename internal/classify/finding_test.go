package classify

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func finding(name string, s State, r Reason) Finding { return Finding{Name: name, State: s, Reason: r} }

func optional(f Finding) Finding {
	f.Optional = true
	return f
}

func TestRollup(t *testing.T) {
	for name, c := range map[string]struct {
		findings []Finding
		want     string
	}{
		"none":             {nil, "/"},
		"only an optional": {[]Finding{optional(finding("note", Dropped, MissingAfter))}, "/"},
		"one":              {[]Finding{finding("scope", Preserved, Match)}, "preserved/match"},

		"approved_change > preserved":   {[]Finding{finding("scope", Preserved, Match), finding("target", ApprovedChange, ApprovedTransition)}, "approved_change/approved_transition"},
		"unverified > approved_change":  {[]Finding{finding("scope", ApprovedChange, ApprovedTransition), finding("target", Unverified, NotFresh)}, "unverified/not_fresh"},
		"dropped > unverified":          {[]Finding{finding("scope", Unverified, NotFresh), finding("target", Dropped, MissingAfter)}, "dropped/missing_after"},
		"conflicting > dropped":         {[]Finding{finding("approval_boundary", Dropped, MissingAfter), finding("zeal", Conflicting, ApprovalExpired)}, "conflicting/approval_expired"},
		"the worst whatever its place":  {[]Finding{finding("note", Conflicting, ApprovalReused), finding("scope", Preserved, Match)}, "conflicting/approval_reused"},
		"an optional does not count":    {[]Finding{finding("scope", Preserved, Match), optional(finding("note", Conflicting, ChangedWithoutApproval))}, "preserved/match"},
		"approval_boundary > scope":     {[]Finding{finding("scope", Unverified, NotFresh), finding("approval_boundary", Unverified, SourceMissing)}, "unverified/source_missing"},
		"scope > constraint":            {[]Finding{finding("constraint.a", Unverified, NotFresh), finding("scope", Unverified, SourceMissing)}, "unverified/source_missing"},
		"constraint > target":           {[]Finding{finding("target", Unverified, NotFresh), finding("constraint.z", Unverified, SourceMissing)}, "unverified/source_missing"},
		"target > acceptance_test":      {[]Finding{finding("acceptance_test", Unverified, NotFresh), finding("target", Unverified, SourceMissing)}, "unverified/source_missing"},
		"acceptance_test > another":     {[]Finding{finding("a", Unverified, NotFresh), finding("acceptance_test", Unverified, SourceMissing)}, "unverified/source_missing"},
		"then by name":                  {[]Finding{finding("branch", Unverified, NotFresh), finding("assignee", Unverified, SourceMissing)}, "unverified/source_missing"},
		"constraints by name":           {[]Finding{finding("constraint.b", Dropped, MissingAfter), finding("constraint.a", Dropped, ApprovedAfter)}, "dropped/approved_after"},
		"the verdict, whatever cleared": {[]Finding{{Name: "scope", State: Conflicting, Reason: ApprovedAfter, Cleared: ApprovedChange}}, "conflicting/approved_after"},

		"of the boundary, alone":      {[]Finding{finding("", Unverified, NoBaseline)}, "unverified/no_baseline"},
		"of the boundary, worse":      {[]Finding{finding("scope", Preserved, Match), finding("", Conflicting, TenantMismatch)}, "conflicting/tenant_mismatch"},
		"of the boundary, equal":      {[]Finding{finding("", Conflicting, TenantMismatch), finding("zeal", Conflicting, ChangedWithoutApproval)}, "conflicting/changed_without_approval"},
		"of the boundary, the first":  {[]Finding{finding("", Conflicting, TenantMismatch), finding("", Conflicting, PolicyVersionChanged)}, "conflicting/tenant_mismatch"},
		"of the boundary, the effect": {[]Finding{finding("scope", Preserved, Match), finding("", Unverified, UnknownSideEffect)}, "unverified/unknown_side_effect"},
	} {
		t.Run(name, func(t *testing.T) {
			state, reason := Rollup(c.findings)
			assert.Equal(t, c.want, words(state, reason))
		})
	}
}

// TestRollupInAnyOrder: findings with names are told apart, so that their order
// does not matter.
func TestRollupInAnyOrder(t *testing.T) {
	names := []string{"approval_boundary", "scope", "constraint.a", "constraint.b", "target", "acceptance_test", "branch", "note"}
	rapid.Check(t, func(t *rapid.T) {
		var findings []Finding
		var worst State
		for _, name := range names { // in order of authority
			f := finding(name, rapid.SampledFrom(States).Draw(t, name), Reason(name))
			f.Optional = rapid.Bool().Draw(t, "optional")
			findings = append(findings, f)
			if !f.Optional {
				worst = max(worst, f.State)
			}
		}
		want := Reason("")
		for i := len(findings) - 1; i >= 0; i-- {
			if f := findings[i]; !f.Optional && f.State == worst {
				want = f.Reason
			}
		}
		seed := rapid.Uint64().Draw(t, "seed")
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(findings), func(i, j int) { findings[i], findings[j] = findings[j], findings[i] })
		state, reason := Rollup(findings)
		require.Equal(t, words(worst, want), words(state, reason))
		Sort(findings)
		for i, f := range findings {
			require.Equal(t, names[i], f.Name)
		}
	})
}

func TestSort(t *testing.T) {
	findings := []Finding{
		finding("", Unverified, SnapshotTruncated), finding("note", Preserved, Match), finding("", Unverified, NameInvalid),
		finding("acceptance_test", Preserved, Match), finding("constraint.b", Preserved, Match), finding("target", Preserved, Match),
		finding("constraint.a", Preserved, Match), finding("approval_boundary", Preserved, Match), finding("scope", Preserved, Match),
	}
	Sort(findings)
	var got []string
	for _, f := range findings {
		got = append(got, f.Name+" "+string(f.Reason))
	}
	assert.Equal(t, []string{
		"approval_boundary match", "scope match", "constraint.a match", "constraint.b match", "target match",
		"acceptance_test match", "note match", " snapshot_truncated", " name_invalid",
	}, got)
}

func TestWanting(t *testing.T) {
	wants := Finding{Name: "scope", State: Unverified, Reason: NotFresh, Wants: true}
	assert.False(t, Wanting(nil))
	assert.False(t, Wanting([]Finding{finding("scope", Unverified, Ambiguous)}))
	assert.False(t, Wanting([]Finding{optional(wants)}), "it holds nothing up")
	assert.True(t, Wanting([]Finding{finding("target", Preserved, Match), wants}))
}

func TestNow(t *testing.T) {
	assert.Equal(t, Dropped, Finding{State: Dropped}.Now())
	assert.Equal(t, ApprovedChange, Finding{State: Dropped, Cleared: ApprovedChange}.Now())
}

func TestSaysSame(t *testing.T) {
	base := Finding{Name: "note", State: Dropped, Reason: MissingAfter}
	for name, c := range map[string]struct {
		change func(*Finding)
		same   bool
	}{
		"nothing":  {func(*Finding) {}, true},
		"name":     {func(f *Finding) { f.Name = "scope" }, false},
		"state":    {func(f *Finding) { f.State = Conflicting }, false},
		"reason":   {func(f *Finding) { f.Reason = ApprovedAfter }, false},
		"cleared":  {func(f *Finding) { f.Cleared = ApprovedChange }, false},
		"optional": {func(f *Finding) { f.Optional = true }, false},
		"source":   {func(f *Finding) { f.Source = Human }, true},
		"revision": {func(f *Finding) { f.Revision, f.ApprovalRef, f.Choices = "7", "apr-1", 3 }, true},
	} {
		t.Run(name, func(t *testing.T) {
			other := base
			c.change(&other)
			assert.Equal(t, c.same, base.SaysSame(other))
			assert.Equal(t, c.same, other.SaysSame(base))
		})
	}
}
