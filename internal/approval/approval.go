// Package approval judges approved transitions: records from outside the
// agent's context that join an old value to a new one. It is pure. Nothing in
// it grants anything: it says which changes were approved by somebody else.
package approval

import (
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// Approval is one approved or revoked transition, as stated.
type Approval struct {
	// Session is the session id as it was sent: it is part of what is signed.
	Session string
	// Agent restricts the approval to one agent of the session; "" is all.
	Agent     string
	Invariant string
	// Ref names the approval in the system that gave it; never empty.
	Ref string
	// From and To are normalised before the signature is checked.
	From, To digest.Digest
	Approver string
	// ApprovedAt and ExpiresAt are the texts as stated: they are signed.
	ApprovedAt, ExpiresAt string
	// Independent is set when source is `human` or `gate`.
	Independent bool
	Revoked     bool
	KeyID       string
	// Signature is the decoded Ed25519 signature, nil where there is none or it
	// cannot be decoded.
	Signature []byte
	// Received is when the collector took it.
	Received time.Time
}
