package approval

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"

	"github.com/gowebpki/jcs"
)

// payload is what is signed; a field that is absent is "".
type payload struct {
	V          int    `json:"v"`
	Session    string `json:"session"`
	Invariant  string `json:"invariant"`
	Ref        string `json:"ref"`
	From       string `json:"from"`
	To         string `json:"to"`
	Approver   string `json:"approver"`
	ApprovedAt string `json:"approved_at"`
	ExpiresAt  string `json:"expires_at"`
	Status     string `json:"status"`
}

// The values of continuity.approval.status.
const (
	StatusApproved = "approved"
	StatusRevoked  = "revoked"
)

// Payload returns the bytes that are signed: the RFC 8785 canonical JSON of the
// approval's fields, digests in canonical text form.
func Payload(a *Approval) ([]byte, error) {
	status := StatusApproved
	if a.Revoked {
		status = StatusRevoked
	}
	raw, err := json.Marshal(payload{
		1, a.Session, a.Invariant, a.Ref, a.From.String(), a.To.String(),
		a.Approver, a.ApprovedAt, a.ExpiresAt, status,
	})
	if err != nil {
		return nil, fmt.Errorf("approval %q: %w", a.Ref, err)
	}
	canonical, err := jcs.Transform(raw)
	if err != nil {
		return nil, fmt.Errorf("approval %q: canonical JSON: %w", a.Ref, err)
	}
	return canonical, nil
}

// Verify reports whether one of the keys signed the approval: the one it names,
// or any where it names none.
func Verify(a *Approval, keys map[string]ed25519.PublicKey) bool {
	message, err := Payload(a)
	if err != nil || len(a.Signature) != ed25519.SignatureSize {
		return false
	}
	if a.KeyID != "" {
		key, ok := keys[a.KeyID]
		return ok && verify(key, message, a.Signature)
	}
	for _, key := range keys {
		if verify(key, message, a.Signature) {
			return true
		}
	}
	return false
}

func verify(key ed25519.PublicKey, message, signature []byte) bool {
	return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, message, signature)
}
