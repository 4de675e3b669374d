package signal

import (
	"encoding/base64"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// unreadable stands for a time that was stated and is none: an approval that
// expires at an unknown time has expired, one without a time has not.
const unreadable = "unreadable"

// readApproval reads an approved or revoked transition, or why it is none. What
// is stated in two ways is none, but a revocation counts in any case.
func readApproval(f *facts) (*approval.Approval, classify.Reason) {
	revoked := f.anyIs(semconv.ApprovalStatus, approval.StatusRevoked)
	for i := fieldApprovalInvariant; i <= fieldApprovalSignature; i++ {
		if revoked && i == fieldApprovalStatus {
			continue
		}
		if f.get(i).differs {
			return nil, classify.AttributeDuplicated
		}
	}
	if status := f.get(fieldApprovalStatus); !revoked && status.stated() && status.text() != approval.StatusApproved {
		return nil, classify.ApprovalMalformed
	}
	a := &approval.Approval{
		Invariant:   strings.Clone(f.text(fieldApprovalInvariant)),
		Ref:         distinct(f.text(fieldApprovalRef), maxOpaque),
		Approver:    distinct(f.text(fieldApprovalApprover), maxOpaque),
		ApprovedAt:  timeText(f.get(fieldApprovalApprovedAt)),
		ExpiresAt:   timeText(f.get(fieldApprovalExpiresAt)),
		Independent: independent(f.text(fieldApprovalSource)),
		Revoked:     revoked,
		KeyID:       distinct(f.text(fieldApprovalKeyID), maxText),
		Signature:   signature(f.get(fieldApprovalSignature)),
	}
	if strings.TrimSpace(a.Ref) == "" {
		return nil, classify.ApprovalMalformed
	}
	if !classify.ValidName(a.Invariant) {
		return nil, classify.NameInvalid
	}
	var reason classify.Reason
	if a.From, reason = transitionDigest(f.get(fieldApprovalFrom)); reason != "" {
		return nil, reason
	}
	if a.To, reason = transitionDigest(f.get(fieldApprovalTo)); reason != "" {
		return nil, reason
	}
	return a, ""
}

func transitionDigest(f *fact) (digest.Digest, classify.Reason) {
	if !f.stated() {
		return digest.Digest{}, classify.DigestMalformed
	}
	return parseDigest(f.value)
}

// independent reports whether an approval came from outside the agent's context.
func independent(source string) bool { return source == "human" || source == "gate" }

// timeText keeps a time as it was stated, because that is what is signed.
func timeText(f *fact) string {
	if !f.stated() {
		return ""
	}
	if text, ok := asText(f.value); ok {
		return distinct(text, maxOpaque)
	}
	return unreadable
}

// signature decodes base64 in any of its alphabets, padded or not; nil where
// there is none or it is not base64.
func signature(f *fact) []byte {
	if !f.stated() {
		return nil
	}
	if f.value.Type() == pcommon.ValueTypeBytes && f.value.Bytes().Len() <= maxText {
		return f.value.Bytes().AsRaw()
	}
	text := strings.TrimRight(strings.TrimSpace(f.text()), "=")
	if text == "" || len(text) > maxText {
		return nil
	}
	raw, err := base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(text))
	if err != nil {
		return nil
	}
	return raw
}
