package approval

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEmptyBook(t *testing.T) {
	assert.Equal(t, Answer{}, (&Book{}).Ask(question()))
}

// TestSentAgain: the same approval is the one with the same reference, invariant
// and pair.
func TestSentAgain(t *testing.T) {
	b := bookOf(t, nil, given(), given(), given(received(noon.Add(time.Hour)), func(a *Approval) { a.Approver = "somebody else" }))
	require.Len(t, b.Entries, 1)
	assert.Equal(t, "reviewer", b.Entries[0].Approver, "the first stays")
	for name, change := range map[string]func(*Approval){
		"reference": func(a *Approval) { a.Ref = "apr-2" },
		"invariant": func(a *Approval) { a.Invariant = "target" },
		"from":      func(a *Approval) { a.From = of("ledger") },
		"to":        func(a *Approval) { a.To = of("ledger") },
	} {
		t.Run(name, func(t *testing.T) { assert.Len(t, bookOf(t, nil, given(), given(change)).Entries, 2) })
	}
}

// TestBadCopyBlocksNothing: whichever copy comes first, the good one counts.
func TestBadCopyBlocksNothing(t *testing.T) {
	signed := signedBy(teamKey)
	good := given(signed)
	for name, bad := range map[string]*Approval{
		"unsigned":         given(),
		"by nobody":        given(signedBy(nobodyKey)),
		"tampered":         given(signed, func(a *Approval) { a.Approver = "somebody else" }),
		"unknown key":      given(signed, keyID("team-2019")),
		"from the summary": given(signed, fromTheSummary),
		"in the future":    given(approvedAt("2026-03-05T12:00:00Z"), signed),
		"expired, forged":  given(signed, expires("2026-03-04T11:00:00Z")),
	} {
		t.Run(name, func(t *testing.T) {
			b := bookOf(t, keys, bad)
			assert.False(t, answerOf(b).Covers())
			for range 2 {
				require.True(t, b.Add(good, keys, plenty))
				require.Len(t, b.Entries, 1)
				assert.True(t, answerOf(b).Covers())
				assert.True(t, answerOf(b).Signed())
				require.True(t, b.Add(bad, keys, plenty), "and the bad one again")
			}
			assert.Equal(t, *good, b.Entries[0].Approval)
		})
	}
	t.Run("after a revocation", func(t *testing.T) {
		b := bookOf(t, keys, given(revoke), given(), good)
		assert.Equal(t, "revoked", says(*answerOf(b)))
	})
}

func answerOf(b *Book) *Answer {
	a := b.Ask(question())
	return &a
}

func TestLimit(t *testing.T) {
	second, third := func(a *Approval) { a.Ref = "apr-2" }, func(a *Approval) { a.Ref = "apr-3" }
	b := &Book{}
	assert.False(t, b.Add(given(), nil, 0))
	assert.True(t, b.Add(given(), nil, 2))
	assert.True(t, b.Add(given(second), nil, 2))
	assert.False(t, b.Add(given(third), nil, 2), "one more")
	assert.False(t, b.Add(given(third, revoke), nil, 2), "nor its revocation")
	assert.True(t, b.Add(given(), nil, 2), "a copy takes no place")
	assert.True(t, b.Add(given(revoke), nil, 2), "nor does a revocation of what is there")
	require.Len(t, b.Entries, 2)
	assert.Equal(t, "valid", says(*answerOf(b)), "by the second")
}

func TestAgents(t *testing.T) {
	forAgent := func(agent string) func(*Approval) { return func(a *Approval) { a.Agent = agent } }
	for name, c := range map[string]struct {
		approvals []*Approval
		asks      string
		want      string
	}{
		"without agent: the main one":       {[]*Approval{given()}, "", "valid"},
		"without agent: any":                {[]*Approval{given()}, "reviewer", "valid"},
		"its own":                           {[]*Approval{given(forAgent("reviewer"))}, "reviewer", "valid"},
		"another":                           {[]*Approval{given(forAgent("reviewer"))}, "tester", "nothing"},
		"the main one is another":           {[]*Approval{given(forAgent("reviewer"))}, "", "nothing"},
		"a copy for one agent comes first":  {[]*Approval{given(forAgent("reviewer")), given()}, "tester", "valid"},
		"a copy for one agent comes second": {[]*Approval{given(), given(forAgent("reviewer"))}, "tester", "valid"},
		"a bad copy does not widen":         {[]*Approval{given(forAgent("reviewer")), given(fromTheSummary)}, "tester", "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, says(bookOf(t, nil, c.approvals...).Ask(question(byAgent(c.asks)))))
		})
	}
}

// TestAfter: what came after the verdict of its boundary says so, as long as the
// boundary lives.
func TestAfter(t *testing.T) {
	b := bookOf(t, nil, given())
	answer := answerOf(b)
	assert.False(t, answer.After())
	answer.Use("b-1", true)
	again := answerOf(b)
	assert.True(t, again.Covers())
	assert.True(t, again.After())
	again.Use("b-1", false)
	assert.True(t, b.Entries[0].After, "it did not come earlier by being looked at")
}
