package approval

import (
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func expires(text string) func(*Approval) { return func(a *Approval) { a.ExpiresAt = text } }

func approvedAt(text string) func(*Approval) { return func(a *Approval) { a.ApprovedAt = text } }

func fromTheSummary(a *Approval) { a.Independent = false }

func keyID(id string) func(*Approval) { return func(a *Approval) { a.KeyID = id } }

// TestFaultOfAnApproval has the rows that need one approval and one question.
func TestFaultOfAnApproval(t *testing.T) {
	for name, c := range map[string]struct {
		change   []func(*Approval)
		question []func(*Question)
		want     string
	}{
		"valid":                  {},
		"other pair":             {question: []func(*Question){func(q *Question) { q.To = of("ledger") }}, want: "nothing"},
		"other original":         {question: []func(*Question){func(q *Question) { q.From = of("ledger") }}, want: "nothing"},
		"reverse direction":      {question: []func(*Question){func(q *Question) { q.From, q.To = q.To, q.From }}, want: "nothing"},
		"other invariant":        {question: []func(*Question){func(q *Question) { q.Invariant = "target" }}, want: "nothing"},
		"keyed is another value": {question: []func(*Question){func(q *Question) { q.To.Alg++ }}, want: "nothing"},

		"expires later":                {change: []func(*Approval){expires("2026-03-04T12:00:00.000000001Z")}},
		"expires then":                 {change: []func(*Approval){expires("2026-03-04T12:00:00Z")}, want: "expired"},
		"expired":                      {change: []func(*Approval){expires("2026-03-04T11:59:59.999999999Z")}, want: "expired"},
		"expired in another zone":      {change: []func(*Approval){expires("2026-03-04T13:30:00+02:00")}, want: "expired"},
		"expires later, another zone":  {change: []func(*Approval){expires("2026-03-04T11:30:00-02:00")}},
		"expiry unreadable":            {change: []func(*Approval){expires("soon")}, want: "expired"},
		"expiry without zone":          {change: []func(*Approval){expires("2126-03-04T12:00:00")}, want: "expired"},
		"expiry is a day":              {change: []func(*Approval){expires("2126-03-04")}, want: "expired"},
		"expiry blank":                 {change: []func(*Approval){expires(" ")}, want: "expired"},
		"expiry beyond all time":       {change: []func(*Approval){expires("9999-12-31T23:59:59Z")}, want: "expired"},
		"expires between sent and use": {[]func(*Approval){expires("2026-03-04T12:30:00Z")}, []func(*Question){at(noon.Add(time.Hour))}, "expired"},
		"expired when sent, not when what it covers came": {
			change: []func(*Approval){expires("2026-03-04T12:30:00Z"), received(noon.Add(time.Hour))},
		},

		"given in 5 minutes":            {change: []func(*Approval){approvedAt("2026-03-04T12:05:00Z")}},
		"given in more than 5 minutes":  {change: []func(*Approval){approvedAt("2026-03-04T12:05:00.000000001Z")}, want: "not yet valid"},
		"given in 5 minutes elsewhere":  {change: []func(*Approval){approvedAt("2026-03-04T07:05:00-05:00")}},
		"given tomorrow":                {change: []func(*Approval){approvedAt("2026-03-05T12:00:00Z")}, want: "not yet valid"},
		"given years ago":               {change: []func(*Approval){approvedAt("2019-03-04T12:00:00Z")}},
		"time of the giving unreadable": {change: []func(*Approval){approvedAt("yesterday")}, want: "not yet valid"},

		"from the summary": {change: []func(*Approval){fromTheSummary}, want: "not independent"},
		"only revoked":     {change: []func(*Approval){revoke}, want: "revoked"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want == "" {
				c.want = "valid"
			}
			answer := bookOf(t, nil, given(c.change...)).Ask(question(c.question...))
			assert.Equal(t, c.want, says(answer))
			assert.Equal(t, c.want == "valid", answer.Covers())
			assert.Equal(t, c.want == "valid", len(answer.Path) == 1, "a path is there exactly where it counts")
			assert.False(t, answer.Signed(), "nobody verified it")
		})
	}
}

func TestSignatureOfAnApproval(t *testing.T) {
	for name, c := range map[string]struct {
		keys   map[string]ed25519.PublicKey
		change []func(*Approval)
		want   string
	}{
		"signed":                {keys, []func(*Approval){signedBy(teamKey)}, "valid"},
		"by another of ours":    {keys, []func(*Approval){signedBy(otherKey)}, "valid"},
		"unsigned":              {keys, nil, "unsigned"},
		"unsigned, key named":   {keys, []func(*Approval){keyID("team")}, "unsigned"},
		"by nobody":             {keys, []func(*Approval){signedBy(nobodyKey)}, "signature invalid"},
		"cut off":               {keys, []func(*Approval){signedBy(teamKey), func(a *Approval) { a.Signature = a.Signature[:63] }}, "signature invalid"},
		"too long":              {keys, []func(*Approval){signedBy(teamKey), func(a *Approval) { a.Signature = append(a.Signature, 0) }}, "signature invalid"},
		"zeros":                 {keys, []func(*Approval){func(a *Approval) { a.Signature = make([]byte, 64) }}, "signature invalid"},
		"named":                 {keys, []func(*Approval){keyID("team"), signedBy(teamKey)}, "valid"},
		"another of ours named": {keys, []func(*Approval){keyID("other"), signedBy(teamKey)}, "signature invalid"},
		"unknown key named":     {keys, []func(*Approval){keyID("team-2019"), signedBy(teamKey)}, "signature invalid"},
		"no key of ours":        {nil, []func(*Approval){signedBy(nobodyKey)}, "valid"},
		"key of another size":   {map[string]ed25519.PublicKey{"short": keys["team"][:31]}, []func(*Approval){signedBy(teamKey)}, "signature invalid"},
		"another size named":    {map[string]ed25519.PublicKey{"": nil}, []func(*Approval){signedBy(teamKey)}, "signature invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			b := bookOf(t, c.keys, given(c.change...))
			answer := b.Ask(question())
			assert.Equal(t, c.want, says(answer))
			verified := c.want == "valid" && len(c.keys) > 0
			assert.Equal(t, verified, answer.Signed())
			assert.Equal(t, verified, b.Entries[0].Signed)
		})
	}
}

// TestRevocation: whenever it comes, but for what was covered before.
func TestRevocation(t *testing.T) {
	const minute = time.Minute
	good, gone := given(), given(revoke, received(noon.Add(10*minute)))
	for name, c := range map[string]struct {
		approvals []*Approval
		usedBy    string
		at        time.Duration
		want      string
	}{
		"before what it covers":            {[]*Approval{good, gone}, "", 20 * minute, "revoked"},
		"at the same time":                 {[]*Approval{good, gone}, "", 10 * minute, "revoked"},
		"after it, but nothing was made":   {[]*Approval{good, gone}, "", 5 * minute, "revoked"},
		"before the approval":              {[]*Approval{gone, good}, "", 20 * minute, "revoked"},
		"without an approval":              {[]*Approval{gone}, "", 20 * minute, "revoked"},
		"and approved again":               {[]*Approval{good, gone, given(received(noon.Add(15 * minute)))}, "", 20 * minute, "revoked"},
		"after what it covered":            {[]*Approval{good, gone}, "b-1", 5 * minute, "valid"},
		"before what came to the boundary": {[]*Approval{good, gone}, "b-1", 11 * minute, "revoked"},
		"of one that another used":         {[]*Approval{good, gone}, "b-0", 5 * minute, "revoked"},
		"twice: the first counts":          {[]*Approval{good, gone, given(revoke, received(noon.Add(30*minute)))}, "b-1", 20 * minute, "revoked"},
		"of another reference":             {[]*Approval{good, given(revoke, func(a *Approval) { a.Ref = "apr-2" })}, "", 20 * minute, "valid"},
		"of another pair":                  {[]*Approval{good, given(revoke, func(a *Approval) { a.To = of("ledger") })}, "", 20 * minute, "valid"},
		"of another invariant":             {[]*Approval{good, given(revoke, func(a *Approval) { a.Invariant = "target" })}, "", 20 * minute, "valid"},
	} {
		t.Run(name, func(t *testing.T) {
			b := bookOf(t, nil, c.approvals...)
			b.Entries[0].UsedBy = c.usedBy
			assert.Equal(t, c.want, says(b.Ask(question(at(noon.Add(c.at))))))
		})
	}
	t.Run("needs no signature", func(t *testing.T) {
		b := bookOf(t, keys, given(signedBy(teamKey)), given(revoke))
		assert.Equal(t, "revoked", says(b.Ask(question())))
	})
}

func TestUsedOnce(t *testing.T) {
	b := bookOf(t, nil, given())
	answer := b.Ask(question())
	answer.Use("b-1", false)
	assert.Equal(t, "valid", says(b.Ask(question())), "its own boundary may look again")
	assert.Equal(t, "reused", says(b.Ask(question(forBoundary("b-2")))))
	assert.Equal(t, "reused", says(b.Ask(question(forBoundary("b-2"), byAgent("reviewer")))), "whatever the agent")
	assert.Equal(t, "reused", says(b.Ask(question(forBoundary("")))), "nor for who has no boundary")

	again := b.Ask(question())
	again.Use("b-1", true)
	assert.Equal(t, "b-1", b.Entries[0].UsedBy)
	assert.False(t, b.Entries[0].After, "the first use stays what it was")
	require.True(t, b.Add(given(), nil, plenty))
	assert.Equal(t, "reused", says(b.Ask(question(forBoundary("b-2")))), "sent again it is no second one")
}

// TestFirstFault puts every set of faults on one approval: the first in the order
// of the contract is the reason.
func TestFirstFault(t *testing.T) {
	order := []string{"expired", "revoked", "unsigned", "signature invalid", "not independent", "reused", "not yet valid"}
	for set := range 1 << len(order) {
		has := map[string]bool{}
		want := ""
		for i := len(order) - 1; i >= 0; i-- {
			if set>>i&1 == 1 {
				has[order[i]], want = true, order[i]
			}
		}
		if want == "" || has["unsigned"] && has["signature invalid"] {
			continue
		}
		a := given()
		if has["expired"] {
			a.ExpiresAt = "2026-03-04T11:59:30Z"
		}
		if has["not yet valid"] {
			a.ApprovedAt = "2026-03-04T13:00:00Z"
		}
		a.Independent = !has["not independent"]
		switch {
		case has["signature invalid"]:
			signedBy(nobodyKey)(a)
		case !has["unsigned"]:
			signedBy(teamKey)(a)
		}
		b := bookOf(t, keys, a)
		if has["revoked"] {
			require.True(t, b.Add(given(revoke), keys, plenty))
		}
		if has["reused"] {
			b.Entries[0].UsedBy = "b-0"
		}
		require.Equal(t, want, says(b.Ask(question())), "%v", has)
	}
}
