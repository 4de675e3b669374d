package approval

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// What an approver signs, and the signature by the key of seed 07 07 … 07; both
// were made by another implementation.
const (
	payloadText = `{"approved_at":"2026-03-04T11:59:00Z","approver":"Zoë <ops&sec>","expires_at":"",` +
		`"from":"sha256:df384ae97c77ad3001626aab01f2eb2aad176448109165df1d64c57b7091cd1c",` +
		`"invariant":"scope","ref":"apr-1","session":"s-1","status":"approved",` +
		`"to":"sha256:0c95c7ece1ce1a9750275ef1c6d7ad6b278f70d66592207783ffe7d58474cc01","v":1}`
	payloadSignature = "vmGIS2mzqHnD7fNTqu1VJMtUYIkGjZx1oR56f8oJVo6QQtknB2rznEm+WJ6ttwchheHplv0AsSkZMS2NwNodAg=="
	payloadKey       = "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c"
)

func parsed(t *testing.T, text string) digest.Digest {
	d, fault := digest.Parse(text)
	require.Equal(t, digest.OK, fault)
	return d
}

func TestPayload(t *testing.T) {
	a := given(func(a *Approval) {
		a.Approver = "Zoë <ops&sec>"
		a.From = parsed(t, " SHA256:DF384AE97C77AD3001626AAB01F2EB2AAD176448109165DF1D64C57B7091CD1C\n")
	})
	got, err := Payload(a)
	require.NoError(t, err)
	assert.Equal(t, payloadText, string(got))

	key, err := hex.DecodeString(payloadKey)
	require.NoError(t, err)
	a.Signature, err = base64.StdEncoding.DecodeString(payloadSignature)
	require.NoError(t, err)
	assert.True(t, Verify(a, map[string]ed25519.PublicKey{"team": key}))
}

func TestPayloadForms(t *testing.T) {
	const a64 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	got, err := Payload(&Approval{From: parsed(t, "None"), To: parsed(t, "HMAC-SHA256:"+a64), Revoked: true})
	require.NoError(t, err)
	assert.Equal(t, `{"approved_at":"","approver":"","expires_at":"","from":"none","invariant":"","ref":"","session":"",`+
		`"status":"revoked","to":"hmac-sha256:`+a64+`","v":1}`, string(got))
}

// TestPayloadOfAnyText: RFC 8785 escapes what JSON must and nothing else.
func TestPayloadOfAnyText(t *testing.T) {
	got, err := Payload(given(func(a *Approval) { a.Approver = "\b\t\n\f\r\x00\x0f\"\\/<>&'\u2028\u2029\u007f é 😀" }))
	require.NoError(t, err)
	assert.Contains(t, string(got), `"approver":"\b\t\n\f\r\u0000\u000f\"\\/<>&'`+"\u2028\u2029\u007f é 😀"+`","expires_at"`)
}

// TestTampered: each field of the contract is signed, and nothing else is.
func TestTampered(t *testing.T) {
	for name, change := range map[string]func(*Approval){
		"session":                         func(a *Approval) { a.Session = "s-2" },
		"invariant":                       func(a *Approval) { a.Invariant = "target" },
		"ref":                             func(a *Approval) { a.Ref = "apr-2" },
		"from":                            func(a *Approval) { a.From = of("ledger") },
		"from another digest":             func(a *Approval) { a.From.Alg = digest.HMACSHA256 },
		"to":                              func(a *Approval) { a.To = of("ledger") },
		"to none":                         func(a *Approval) { a.To = digest.None },
		"turned round":                    func(a *Approval) { a.From, a.To = a.To, a.From },
		"approver":                        func(a *Approval) { a.Approver = "Reviewer" },
		"approver, blank added":           func(a *Approval) { a.Approver += " " },
		"approved_at":                     func(a *Approval) { a.ApprovedAt = "2026-03-04T11:59:01Z" },
		"the same time written otherwise": func(a *Approval) { a.ApprovedAt = "2026-03-04T11:59:00+00:00" },
		"approved_at taken away":          func(a *Approval) { a.ApprovedAt = "" },
		"expires_at":                      func(a *Approval) { a.ExpiresAt = "2026-03-04T14:00:00Z" },
		"expires_at taken away":           func(a *Approval) { a.ExpiresAt = "" },
		"status":                          revoke,
		"fields shifted":                  func(a *Approval) { a.Ref, a.Approver = a.Ref+`","x":"`, "" },
	} {
		t.Run(name, func(t *testing.T) {
			a := given(expires("2026-03-04T13:00:00Z"), signedBy(teamKey))
			require.True(t, Verify(a, keys))
			change(a)
			assert.False(t, Verify(a, keys))
		})
	}
	for name, change := range map[string]func(*Approval){
		"source":  fromTheSummary,
		"agent":   func(a *Approval) { a.Agent = "tester" },
		"receipt": received(noon.Add(1)),
		"key id":  keyID("team"),
	} {
		t.Run(name, func(t *testing.T) {
			a := given(signedBy(teamKey))
			change(a)
			assert.True(t, Verify(a, keys))
		})
	}
	for bit := range 8 * ed25519.SignatureSize {
		a := given(signedBy(teamKey))
		a.Signature[bit/8] ^= 1 << (bit % 8)
		require.False(t, Verify(a, keys), "bit %d", bit)
	}
}

// FuzzVerify: a signature counts for exactly what was signed, by exactly the keys
// that are ours.
func FuzzVerify(f *testing.F) {
	f.Add("s-1", "scope", "apr-1", "reviewer", "2026-03-04T11:59:00Z", "", "team", []byte("sum"), []byte{}, false)
	f.Add("", "", "", "", "", "", "", []byte{}, make([]byte, 64), true)
	f.Add("s\xff", "constraint.no_push", `"`, "Zoë\u2028<&>", "now", "\x00", "other", []byte{1}, []byte{1, 2, 3}, false)
	f.Fuzz(func(t *testing.T, session, invariant, ref, approver, approvedAt, expiresAt, id string, sum, noise []byte, revoked bool) {
		a := &Approval{
			Session: session, Invariant: invariant, Ref: ref, From: of(string(sum)), To: digest.None, Approver: approver,
			ApprovedAt: approvedAt, ExpiresAt: expiresAt, Revoked: revoked, Signature: noise,
		}
		require.False(t, Verify(a, keys), "noise is no signature")
		message, err := Payload(a)
		require.NoError(t, err)
		require.True(t, utf8.Valid(message))

		a.Signature = ed25519.Sign(teamKey, message)
		require.True(t, Verify(a, keys))
		require.False(t, Verify(a, map[string]ed25519.PublicKey{"other": keys["other"]}))
		require.False(t, Verify(a, nil))
		a.KeyID = id
		require.Equal(t, id == "" || id == "team", Verify(a, keys))
		a.KeyID = ""

		b := *a
		b.Revoked = !a.Revoked
		require.False(t, Verify(&b, keys))
		for _, field := range []*string{&b.Session, &b.Invariant, &b.Ref, &b.Approver, &b.ApprovedAt, &b.ExpiresAt} {
			b.Revoked = a.Revoked
			kept := *field
			*field += "x"
			require.False(t, Verify(&b, keys))
			*field = kept
			require.True(t, Verify(&b, keys))
		}

		for _, text := range []string{session, invariant, ref, approver, approvedAt, expiresAt} {
			if !utf8.ValidString(text) {
				return
			}
		}
		var read map[string]any
		require.NoError(t, json.Unmarshal(message, &read))
		status := StatusApproved
		if revoked {
			status = StatusRevoked
		}
		require.Equal(t, map[string]any{
			"v": 1.0, "session": session, "invariant": invariant, "ref": ref, "from": a.From.String(), "to": "none",
			"approver": approver, "approved_at": approvedAt, "expires_at": expiresAt, "status": status,
		}, read)
	})
}
