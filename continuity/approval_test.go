package continuity_test

import (
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

var (
	signer = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	keys   = map[string]ed25519.PublicKey{"team": signer.Public().(ed25519.PublicKey)}
)

func anyApproval() *rapid.Generator[continuity.Approval] {
	value := rapid.SampledFrom([]continuity.Digest{digestA, digestB, continuity.None, must(keyed.Text("a"))})
	return rapid.Custom(func(t *rapid.T) continuity.Approval {
		return continuity.Approval{
			Common:    anyCommon().Draw(t, "common"),
			Invariant: rapid.SampledFrom([]string{"scope", "constraint.push", "mine"}).Draw(t, "invariant"),
			Ref:       rapid.StringMatching(`[A-Z]{1,5}-[0-9]{1,5} ?é?"?`).Draw(t, "ref"),
			From:      value.Draw(t, "from"), To: value.Draw(t, "to"),
			Approver:   rapid.StringN(0, 20, 500).Draw(t, "approver"),
			ApprovedAt: time.Unix(0, rapid.Int64Range(1, 1<<62).Draw(t, "at")).In(time.FixedZone("", 7200)),
			ExpiresAt:  anyTime().Draw(t, "expires"),
			Gate:       rapid.Bool().Draw(t, "gate"),
			Revoked:    rapid.Bool().Draw(t, "revoked"),
		}
	})
}

// TestSignedApprovalIsVerifiedByTheProcessor: what is read from the attributes has
// the signature of what was signed.
func TestSignedApprovalIsVerifiedByTheProcessor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, err := anyApproval().Draw(t, "approval").Sign("team", signer)
		require.NoError(t, err)
		require.True(t, a.Verify(keys))
		got := read(t, a).Approval
		require.NotNil(t, got)
		require.True(t, approval.Verify(got, keys))

		from, _ := digest.Parse(string(a.From))
		require.Equal(t, from, got.From)
		require.Equal(t, a.Invariant, got.Invariant)
		require.Equal(t, a.Ref, got.Ref)
		require.Equal(t, a.Approver, got.Approver)
		require.Equal(t, a.Revoked, got.Revoked)
		require.Equal(t, a.Session.ID, got.Session)
		require.Equal(t, "team", got.KeyID)
		require.True(t, got.Independent)
	})
}

// TestEveryFieldIsSigned: an approval that was changed afterwards is not verified.
func TestEveryFieldIsSigned(t *testing.T) {
	a, err := continuity.Approval{
		Common: common, Invariant: "scope", Ref: "CHG-1", From: digestA, To: digestB, Approver: "x", ApprovedAt: noon, ExpiresAt: noon.Add(time.Hour),
	}.Sign("team", signer)
	require.NoError(t, err)
	require.True(t, a.Verify(keys))
	for name, change := range map[string]func(*continuity.Approval){
		"session":   func(a *continuity.Approval) { a.Session.ID = "s2" },
		"invariant": func(a *continuity.Approval) { a.Invariant = "target" },
		"ref":       func(a *continuity.Approval) { a.Ref = "CHG-2" },
		"from":      func(a *continuity.Approval) { a.From = continuity.None },
		"to":        func(a *continuity.Approval) { a.To = digestA },
		"approver":  func(a *continuity.Approval) { a.Approver = "y" },
		"time":      func(a *continuity.Approval) { a.ApprovedAt = a.ApprovedAt.Add(1) },
		"expiry":    func(a *continuity.Approval) { a.ExpiresAt = time.Time{} },
		"status":    func(a *continuity.Approval) { a.Revoked = true },
		"signature": func(a *continuity.Approval) { a.Signature = a.Signature[1:] },
		"key id":    func(a *continuity.Approval) { a.KeyID = "other" },
	} {
		other := a
		change(&other)
		assert.False(t, other.Verify(keys), name)
	}
	assert.False(t, a.Verify(nil))
	a.KeyID = ""
	assert.True(t, a.Verify(keys), "any of the keys counts where none is named")
	a.From = continuity.Digest(strings.ToUpper(string(a.From)))
	assert.True(t, a.Verify(keys), "a digest has one meaning in any case of letters")
}

func TestWhatCannotBeSigned(t *testing.T) {
	a := continuity.Approval{Common: common, Invariant: "scope", Ref: "CHG-1", From: digestA, To: digestB, ApprovedAt: noon}
	_, err := a.Sign("team", signer[:10])
	require.ErrorContains(t, err, "10 bytes")
	a.Common = continuity.Common{Session: continuity.Session{Inherit: true}}
	_, err = a.Sign("team", signer)
	require.ErrorContains(t, err, "cannot be signed")
	a.Common, a.To = common, ""
	_, err = a.Sign("team", signer)
	require.ErrorContains(t, err, "no usable digest")
}
