package approval

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// plenty is a limit that does not matter.
const plenty = 64

// Two keys of a team, of which the collector knows the first as "team" and the
// second as "other", and one of nobody.
var (
	teamKey   = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	otherKey  = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))
	nobodyKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))
	keys      = map[string]ed25519.PublicKey{"team": public(teamKey), "other": public(otherKey)}
)

func public(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }

// of is the digest of a text, of "none" no decision.
func of(text string) digest.Digest {
	if text == digest.NoneText {
		return digest.None
	}
	return digest.Digest{Alg: digest.SHA256, Sum: sha256.Sum256([]byte(text))}
}

// given is an approval of scope from payments to billing, received at noon.
func given(changes ...func(*Approval)) *Approval {
	a := &Approval{
		Session: "s-1", Invariant: "scope", Ref: "apr-1", From: of("payments"), To: of("billing"),
		Approver: "reviewer", ApprovedAt: "2026-03-04T11:59:00Z", Independent: true, Received: noon,
	}
	for _, change := range changes {
		change(a)
	}
	return a
}

func revoke(a *Approval) { a.Revoked = true }

func received(at time.Time) func(*Approval) { return func(a *Approval) { a.Received = at } }

// signedBy is the last change: what comes after it is not signed.
func signedBy(key ed25519.PrivateKey) func(*Approval) {
	return func(a *Approval) {
		message, err := Payload(a)
		if err != nil {
			panic(err)
		}
		a.Signature = ed25519.Sign(key, message)
	}
}

func bookOf(t *testing.T, keys map[string]ed25519.PublicKey, approvals ...*Approval) *Book {
	t.Helper()
	b := &Book{}
	for _, a := range approvals {
		require.True(t, b.Add(a, keys, plenty))
	}
	return b
}

// question asks at noon for boundary b-1 whether scope may be billing now.
func question(changes ...func(*Question)) Question {
	q := Question{Invariant: "scope", From: of("payments"), To: of("billing"), At: noon, Boundary: "b-1"}
	for _, change := range changes {
		change(&q)
	}
	return q
}

func at(t time.Time) func(*Question) { return func(q *Question) { q.At = t } }

func forBoundary(id string) func(*Question) { return func(q *Question) { q.Boundary = id } }

func byAgent(agent string) func(*Question) { return func(q *Question) { q.Agent = agent } }

var faultNames = map[Fault]string{
	Valid: "valid", Expired: "expired", Revoked: "revoked", Unsigned: "unsigned", SignatureInvalid: "signature invalid",
	NotIndependent: "not independent", Reused: "reused", NotYetValid: "not yet valid",
}

// says is an answer in words.
func says(a Answer) string {
	if !a.Fits {
		return "nothing"
	}
	return faultNames[a.Fault]
}
