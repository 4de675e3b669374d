package classify

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

var (
	noApproval = approval.Answer{}
	covering   = approval.Answer{Fits: true, Path: []*approval.Entry{{}}}
	byChain    = approval.Answer{Fits: true, Path: []*approval.Entry{{}, {}}}
	afterwards = approval.Answer{Fits: true, Path: []*approval.Entry{{}, {After: true}}}
)

func invalid(f approval.Fault) approval.Answer { return approval.Answer{Fits: true, Fault: f} }

// row is a comparison. Approvals are for the exact pair of digests, absent ones
// asked for as none.
type row struct {
	before, after Value
	text          bool   // comparison=text
	source        Source // of an agent unless given
	approval      approval.Answer
	want          string
}

func (c *row) compare() Vote {
	exact := func(v Value) digest.Digest {
		if v.Digest.IsNothing() {
			return digest.None
		}
		return v.Digest
	}
	ask := func(from, to digest.Digest) approval.Answer {
		if from == exact(c.before) && to == exact(c.after) {
			return c.approval
		}
		return noApproval
	}
	source := c.source
	if source == NoSource {
		source = Agent
	}
	return Compare(&Before{Value: c.before, Text: c.text}, &After{Value: c.after, Source: source}, ask)
}

func TestRules(t *testing.T) {
	const (
		match        = "preserved/match"
		incomparable = "unverified/digest_incomparable"
		dropped      = "dropped/missing_after"
		added        = "conflicting/unapproved_addition"
		changed      = "conflicting/changed_without_approval"
	)
	for name, c := range map[string]row{
		"1 approved transition":       {before: of("main"), after: of("dev"), approval: covering, want: "approved_change/approved_transition"},
		"1 by a chain":                {before: of("main"), after: of("dev"), approval: byChain, want: "approved_change/approved_transition"},
		"1 before 2, algorithm":       {before: keyed("main", "k1"), after: of("dev"), approval: covering, want: "approved_change/approved_transition"},
		"1 before 2, normalizer":      {before: of("main"), after: normalized("dev", "v2"), approval: covering, want: "approved_change/approved_transition"},
		"1 before 8":                  {before: of("main"), after: of("dev"), text: true, approval: covering, want: "approved_change/approved_transition"},
		"2 algorithm":                 {before: of("main"), after: keyed("main", ""), want: incomparable},
		"2 algorithm, other way":      {before: keyed("main", "k1"), after: of("main"), want: incomparable},
		"2 key id":                    {before: keyed("main", "k1"), after: keyed("dev", "k2"), want: incomparable},
		"2 key id, equal bytes":       {before: keyed("main", "k1"), after: keyed("main", "k2"), want: incomparable},
		"2 key id on one side":        {before: keyed("main", "k1"), after: keyed("main", ""), want: incomparable},
		"2 normalizer":                {before: normalized("main", "v1"), after: normalized("dev", "v2"), want: incomparable},
		"2 normalizer, equal bytes":   {before: normalized("main", "v1"), after: normalized("main", "v2"), want: incomparable},
		"2 absent normalizer":         {before: of("main"), after: normalized("main", "v2"), want: incomparable},
		"2 before 7":                  {before: of("main"), after: keyed("dev", ""), approval: invalid(approval.Expired), want: incomparable},
		"2 before 8":                  {before: of("main"), after: normalized("dev", "v2"), text: true, want: incomparable},
		"3 equal":                     {before: of("main"), after: of("main"), want: match},
		"3 equal, of a probe":         {before: of("main"), after: of("main"), source: Environment, want: match},
		"3 equal text":                {before: of("main"), after: of("main"), text: true, want: match},
		"3 equal, keyed":              {before: keyed("main", "k1"), after: keyed("main", "k1"), want: match},
		"3 absent normalizer is v1":   {before: of("main"), after: normalized("main", "v1"), want: match},
		"3 equal, other normalizer":   {before: normalized("main", "v2"), after: normalized("main", "v2"), want: match},
		"3 equal whatever approval":   {before: of("main"), after: of("main"), approval: invalid(approval.Expired), want: match},
		"3 both none":                 {before: of("none"), after: of("none"), want: match},
		"3 none and absent":           {before: of("none"), after: of(""), want: match},
		"3 none in any form":          {before: normalized("none", "v1"), after: normalized("none", "v2"), want: match},
		"4 approved removal":          {before: of("main"), after: of("none"), approval: covering, want: "approved_change/approved_removal"},
		"4 of what is absent":         {before: of("main"), after: of(""), approval: covering, want: "approved_change/approved_removal"},
		"4 keyed":                     {before: keyed("main", "k1"), after: of(""), approval: byChain, want: "approved_change/approved_removal"},
		"5 none":                      {before: of("main"), after: of("none"), want: dropped},
		"5 absent":                    {before: of("main"), after: of(""), want: dropped},
		"5 before 2":                  {before: keyed("main", "k1"), after: normalized("none", "v2"), want: dropped},
		"5 before 7":                  {before: of("main"), after: of(""), approval: invalid(approval.Revoked), want: dropped},
		"5 before 8":                  {before: of("main"), after: of("none"), text: true, want: dropped},
		"6 approved addition":         {before: of("none"), after: of("dev"), approval: covering, want: "approved_change/approved_addition"},
		"6 keyed":                     {before: of("none"), after: keyed("dev", "k1"), approval: covering, want: "approved_change/approved_addition"},
		"6a unapproved addition":      {before: of("none"), after: of("dev"), want: added},
		"6a before 2":                 {before: normalized("none", "v1"), after: normalized("dev", "v2"), want: added},
		"6a before 8":                 {before: of("none"), after: of("dev"), text: true, want: added},
		"6a approval expired":         {before: of("none"), after: of("dev"), approval: invalid(approval.Expired), want: "conflicting/approval_expired"},
		"6a approval revoked":         {before: of("none"), after: of("dev"), approval: invalid(approval.Revoked), want: "conflicting/approval_revoked"},
		"6a approval unsigned":        {before: of("none"), after: of("dev"), approval: invalid(approval.Unsigned), want: "conflicting/approval_unsigned"},
		"6a signature invalid":        {before: of("none"), after: of("dev"), approval: invalid(approval.SignatureInvalid), want: "conflicting/approval_signature_invalid"},
		"6a approval not independent": {before: of("none"), after: of("dev"), approval: invalid(approval.NotIndependent), want: "conflicting/approval_not_independent"},
		"6a approval reused":          {before: of("none"), after: of("dev"), approval: invalid(approval.Reused), want: "conflicting/approval_reused"},
		"6a approval not yet valid":   {before: of("none"), after: of("dev"), approval: invalid(approval.NotYetValid), want: "conflicting/approval_not_yet_valid"},
		"7 expired":                   {before: of("main"), after: of("dev"), approval: invalid(approval.Expired), want: "conflicting/approval_expired"},
		"7 revoked":                   {before: of("main"), after: of("dev"), approval: invalid(approval.Revoked), want: "conflicting/approval_revoked"},
		"7 unsigned":                  {before: of("main"), after: of("dev"), approval: invalid(approval.Unsigned), want: "conflicting/approval_unsigned"},
		"7 signature invalid":         {before: of("main"), after: of("dev"), approval: invalid(approval.SignatureInvalid), want: "conflicting/approval_signature_invalid"},
		"7 not independent":           {before: of("main"), after: of("dev"), approval: invalid(approval.NotIndependent), want: "conflicting/approval_not_independent"},
		"7 reused":                    {before: of("main"), after: of("dev"), approval: invalid(approval.Reused), want: "conflicting/approval_reused"},
		"7 not yet valid":             {before: of("main"), after: of("dev"), approval: invalid(approval.NotYetValid), want: "conflicting/approval_not_yet_valid"},
		"7 before 8":                  {before: of("main"), after: of("dev"), text: true, approval: invalid(approval.NotIndependent), want: "conflicting/approval_not_independent"},
		"8 reworded":                  {before: of("main"), after: of("dev"), text: true, want: "unverified/restatement_differs"},
		"8 reworded, keyed":           {before: keyed("main", "k1"), after: keyed("dev", "k1"), text: true, want: "unverified/restatement_differs"},
		"9 exact":                     {before: of("main"), after: of("dev"), want: changed},
		"9 exact, of a probe":         {before: of("main"), after: of("dev"), source: Environment, want: changed},
		"9 reworded by the world":     {before: of("main"), after: of("dev"), text: true, source: Environment, want: changed},
		"9 reworded by a human":       {before: of("main"), after: of("dev"), text: true, source: Human, want: changed},
		"9 keyed":                     {before: keyed("main", "k1"), after: keyed("dev", "k1"), source: Human, want: changed},
	} {
		t.Run(name, func(t *testing.T) {
			vote := c.compare()
			assert.Equal(t, c.want, words(vote.State, vote.Reason))
			assert.Equal(t, NoState, vote.Cleared)
			if vote.State == ApprovedChange {
				assert.Equal(t, c.approval, vote.Approval, "what decided is handed on")
			}
		})
	}
}

// TestApprovedAfter: an approval that came after the verdict does not rewrite it.
func TestApprovedAfter(t *testing.T) {
	for name, c := range map[string]row{
		"1 transition": {before: of("main"), after: of("dev"), want: "conflicting/approved_after"},
		"4 removal":    {before: of("main"), after: of(""), want: "dropped/approved_after"},
		"6 addition":   {before: of("none"), after: of("dev"), want: "conflicting/approved_after"},
	} {
		t.Run(name, func(t *testing.T) {
			c.approval = afterwards
			vote := c.compare()
			assert.Equal(t, c.want, words(vote.State, vote.Reason))
			assert.Equal(t, ApprovedChange, vote.Cleared)
			assert.Equal(t, afterwards, vote.Approval)
		})
	}
}

// TestSilence is the rule without number: a baseline that does not state what is
// stated now.
func TestSilence(t *testing.T) {
	for name, c := range map[string]struct {
		after Value
		want  string
	}{
		"– stated":       {of("main"), "unverified/no_baseline"},
		"– stated keyed": {keyed("main", "k1"), "unverified/no_baseline"},
		"none":           {of("none"), "preserved/match"},
		"absent":         {of(""), "preserved/match"},
	} {
		t.Run(name, func(t *testing.T) {
			vote := SilentVote(&After{Value: c.after, Source: Agent})
			assert.Equal(t, c.want, words(vote.State, vote.Reason))
		})
	}
}

// Votes of one baseline each.
var (
	votePreserved = Vote{State: Preserved, Reason: Match}
	voteApproved  = Vote{State: ApprovedChange, Reason: ApprovedTransition, Approval: covering}
	voteSilent    = Vote{State: Unverified, Reason: NoBaseline}
	voteLost      = Vote{State: Dropped, Reason: MissingAfter}
	voteChanged   = Vote{State: Conflicting, Reason: ChangedWithoutApproval}
	voteLostLater = Vote{State: Dropped, Reason: ApprovedAfter, Cleared: ApprovedChange, Approval: afterwards}
	voteCleared   = Vote{State: Conflicting, Reason: ApprovedAfter, Cleared: ApprovedChange, Approval: afterwards}
)

func TestDecide(t *testing.T) {
	ambiguous := Vote{State: Unverified, Reason: Ambiguous}
	for name, c := range map[string]struct {
		votes []Vote
		want  Vote
	}{
		"one preserved":               {[]Vote{votePreserved}, votePreserved},
		"one conflicting":             {[]Vote{voteChanged}, voteChanged},
		"one unverified":              {[]Vote{voteSilent}, voteSilent},
		"one cleared":                 {[]Vote{voteCleared}, voteCleared},
		"all preserved":               {[]Vote{votePreserved, votePreserved, votePreserved}, votePreserved},
		"all approved":                {[]Vote{voteApproved, voteApproved}, voteApproved},
		"all dropped":                 {[]Vote{voteLost, voteLost}, voteLost},
		"all conflicting":             {[]Vote{voteChanged, voteChanged}, voteChanged},
		"all unverified":              {[]Vote{voteSilent, voteSilent}, voteSilent},
		"healthy: the worse":          {[]Vote{votePreserved, voteApproved, votePreserved}, voteApproved},
		"preserved and changed":       {[]Vote{votePreserved, voteChanged}, ambiguous},
		"preserved and dropped":       {[]Vote{votePreserved, voteLost}, ambiguous},
		"preserved and unverified":    {[]Vote{votePreserved, voteSilent}, ambiguous},
		"approved and changed":        {[]Vote{voteApproved, voteChanged}, ambiguous},
		"approved and unverified":     {[]Vote{voteApproved, voteSilent}, ambiguous},
		"dropped and changed":         {[]Vote{voteLost, voteChanged}, ambiguous},
		"dropped and unverified":      {[]Vote{voteLost, voteSilent}, ambiguous},
		"changed and unverified":      {[]Vote{voteChanged, voteSilent}, ambiguous},
		"two and one":                 {[]Vote{voteChanged, voteChanged, votePreserved}, ambiguous},
		"all cleared":                 {[]Vote{voteCleared, voteCleared}, voteCleared},
		"cleared towards one":         {[]Vote{voteCleared, voteChanged}, voteChanged},
		"dropped, cleared for one":    {[]Vote{voteLost, voteLostLater, voteLostLater}, voteLost},
		"cleared and preserved":       {[]Vote{voteCleared, votePreserved}, ambiguous},
		"cleared of different states": {[]Vote{voteCleared, voteLostLater}, ambiguous},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, Decide(c.votes))
			for i := range c.votes { // whichever baseline comes first
				assert.Equal(t, c.want, Decide(append(c.votes[i:len(c.votes):len(c.votes)], c.votes[:i]...)))
			}
		})
	}
}

func TestDecideAgainstItsSentence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		votes := rapid.SliceOfN(rapid.SampledFrom([]Vote{votePreserved, voteApproved, voteSilent, voteLost, voteChanged, voteLostLater, voteCleared}), 1, 6).Draw(t, "votes")
		count := map[State]int{}
		uncleared := 0
		for _, v := range votes {
			count[v.State]++
			if v.Cleared == NoState {
				uncleared++
			}
		}
		want, wantCleared := Unverified, NoState
		switch {
		case len(count) == 1:
			want = votes[0].State
			if uncleared == 0 {
				wantCleared = ApprovedChange
			}
		case count[Preserved]+count[ApprovedChange] == len(votes):
			want = ApprovedChange
		}
		got := Decide(votes)
		require.Equal(t, want, got.State)
		require.Equal(t, wantCleared, got.Cleared)
		require.Equal(t, len(count) > 1 && want == Unverified, got.Reason == Ambiguous)
		require.Equal(t, wantCleared != NoState, got.Reason == ApprovedAfter)
	})
}
