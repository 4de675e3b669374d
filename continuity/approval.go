package continuity

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// maxSigned is how many bytes of a text the processor keeps. Of a longer one the
// signature would not be found good.
const maxSigned = 512

// Name is `continuity.approval`.
func (Approval) Name() string { return semconv.EventApproval }

// Attributes are the approval's attributes.
func (a Approval) Attributes() ([]attribute.KeyValue, error) {
	var b builder
	b.common(&a.Common)
	if !classify.ValidName(a.Invariant) {
		b.fail("%q is no name of a decision", a.Invariant)
	}
	if strings.TrimSpace(a.Ref) == "" {
		b.fail("it has no ref: the id of the ticket, review or record where the change was approved")
	}
	if a.ApprovedAt.IsZero() {
		b.fail("it does not say when it was given")
	}
	if max(len(a.Session.ID), len(a.Ref), len(a.Approver)) > maxSigned {
		b.fail("its session id, ref or approver has more than %d bytes", maxSigned)
	}
	b.text(semconv.ApprovalInvariant, a.Invariant)
	b.text(semconv.ApprovalRef, a.Ref)
	b.text(semconv.ApprovalFrom, b.digest("from", a.From))
	b.text(semconv.ApprovalTo, b.digest("to", a.To))
	b.text(semconv.ApprovalApprover, a.Approver)
	b.time(semconv.ApprovalApprovedAt, a.ApprovedAt)
	b.time(semconv.ApprovalExpiresAt, a.ExpiresAt)
	b.text(semconv.ApprovalSource, map[bool]string{false: "human", true: "gate"}[a.Gate])
	b.text(semconv.ApprovalStatus, map[bool]string{false: approval.StatusApproved, true: approval.StatusRevoked}[a.Revoked])
	b.text(semconv.ApprovalKeyID, a.KeyID)
	if a.Signature != nil {
		b.text(semconv.ApprovalSignature, base64.StdEncoding.EncodeToString(a.Signature))
	}
	return b.done("approval")
}

// Sign returns the approval signed with an Ed25519 key, whose public half the
// processor knows by keyID (`approvals.public_keys`). All that is signed must be
// set before: session, invariant, ref, both values, approver, times and Revoked.
func (a Approval) Sign(keyID string, key ed25519.PrivateKey) (Approval, error) {
	if _, err := a.Attributes(); err != nil {
		return Approval{}, err
	}
	if a.Session.ID == "" {
		return Approval{}, fmt.Errorf("continuity: approval %q: it has no session id: one that is inherited cannot be signed", a.Ref)
	}
	if len(key) != ed25519.PrivateKeySize {
		return Approval{}, fmt.Errorf("continuity: approval %q: the signing key has %d bytes: an Ed25519 private key has %d", a.Ref, len(key), ed25519.PrivateKeySize)
	}
	message, err := approval.Payload(a.payload())
	if err != nil {
		return Approval{}, fmt.Errorf("continuity: %w", err)
	}
	a.KeyID, a.Signature = keyID, ed25519.Sign(key, message)
	return a, nil
}

// Verify reports whether one of the keys signed the approval: the one it names,
// or any where it names none.
func (a Approval) Verify(keys map[string]ed25519.PublicKey) bool {
	return approval.Verify(a.payload(), keys)
}

func (a Approval) payload() *approval.Approval {
	from, _ := digest.Parse(string(a.From))
	to, _ := digest.Parse(string(a.To))
	return &approval.Approval{
		Session: a.Session.ID, Invariant: a.Invariant, Ref: a.Ref, From: from, To: to,
		Approver: a.Approver, ApprovedAt: stamp(a.ApprovedAt), ExpiresAt: stamp(a.ExpiresAt),
		Revoked: a.Revoked, KeyID: a.KeyID, Signature: a.Signature,
	}
}

// stamp is a time as it is sent and signed, "" for zero.
func stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}
