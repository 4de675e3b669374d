package signal

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

const apr = "continuity.approval."

// approvalWith is a valid approval with some attributes changed (nil removes
// one; another with the same key follows as a duplicate).
func approvalWith(changes ...kv) telemetry {
	attrs := []kv{
		{apr + "invariant", "scope"},
		{apr + "ref", "apr-1"},
		{apr + "from", strings.ToUpper(sum("a"))},
		{apr + "to", "none"},
		{apr + "approver", "ann"},
		{apr + "approved_at", "2026-11-30T12:00:00Z"},
		{apr + "source", "human"},
	}
	changed := map[string]bool{}
	for _, c := range changes {
		c.key = apr + c.key
		i := slices.IndexFunc(attrs, func(x kv) bool { return x.key == c.key })
		switch {
		case i < 0 || changed[c.key]:
			attrs = append(attrs, c)
		case c.value == nil:
			attrs = slices.Delete(attrs, i, i+1)
		default:
			attrs[i] = c
		}
		changed[c.key] = true
	}
	return telemetry{name: "continuity.approval", attrs: attrs}
}

func TestApproval(t *testing.T) {
	inBothForms(t, func(t *testing.T, form Form) {
		x := approvalWith(kv{"expires_at", "2126-01-01T00:00:00Z"}, kv{"key_id", "k1"}, kv{"signature", "AAEC"})
		x.enclosing = []kv{{sessionID, " s1 "}, {"agent_id", "sub"}}
		e := readOne(t, form, x)
		assert.Equal(t, boundary.Approval, e.Kind)
		assert.Equal(t, "s1", e.Key.Session)
		assert.Equal(t, &approval.Approval{
			Session: " s1 ", Agent: "sub", Invariant: "scope", Ref: "apr-1", From: parsed(t, sum("a")), To: digest.None,
			Approver: "ann", ApprovedAt: "2026-11-30T12:00:00Z", ExpiresAt: "2126-01-01T00:00:00Z",
			Independent: true, KeyID: "k1", Signature: []byte{0, 1, 2}, Received: received,
		}, e.Approval)
	})
}

func TestWhatIsNoApproval(t *testing.T) {
	for name, c := range map[string]struct {
		changes []kv
		want    classify.Reason
	}{
		"no reference":        {[]kv{{"ref", nil}}, classify.ApprovalMalformed},
		"empty reference":     {[]kv{{"ref", ""}}, classify.ApprovalMalformed},
		"blank reference":     {[]kv{{"ref", " "}}, classify.ApprovalMalformed},
		"number as reference": {[]kv{{"ref", 7}}, classify.ApprovalMalformed},
		"no invariant":        {[]kv{{"invariant", nil}}, classify.NameInvalid},
		"bad invariant":       {[]kv{{"invariant", "Scope"}}, classify.NameInvalid},
		"every invariant":     {[]kv{{"invariant", "*"}}, classify.NameInvalid},
		"no from":             {[]kv{{"from", nil}}, classify.DigestMalformed},
		"no to":               {[]kv{{"to", nil}}, classify.DigestMalformed},
		"from is raw":         {[]kv{{"from", "main branch"}}, classify.DigestMalformed},
		"to is a number":      {[]kv{{"to", 7}}, classify.AttributeType},
		"to is of nothing":    {[]kv{{"to", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}, classify.DigestEmpty},
		"pending":             {[]kv{{"status", "pending"}}, classify.ApprovalMalformed},
		"empty status":        {[]kv{{"status", ""}}, classify.ApprovalMalformed},
		"status is a bool":    {[]kv{{"status", true}}, classify.ApprovalMalformed},
		"two invariants":      {[]kv{{"invariant", "scope"}, {"invariant", "target"}}, classify.AttributeDuplicated},
		"two targets":         {[]kv{{"to", sum("b")}, {"to", sum("c")}}, classify.AttributeDuplicated},
		"two sources":         {[]kv{{"source", "agent"}, {"source", "human"}}, classify.AttributeDuplicated},
		"two statuses":        {[]kv{{"status", "pending"}, {"status", "approved"}}, classify.AttributeDuplicated},
	} {
		t.Run(name, func(t *testing.T) {
			inBothForms(t, func(t *testing.T, form Form) {
				item := readItem(t, form, approvalWith(c.changes...))
				assert.Nil(t, item.Event.Approval)
				assert.Equal(t, c.want, item.Reason)
				assert.Equal(t, boundary.Approval, item.Kind)
			})
		})
	}
}

func TestApprovalFields(t *testing.T) {
	for name, c := range map[string]struct {
		changes []kv
		check   func(t *testing.T, a *approval.Approval)
	}{
		"gate":                 {[]kv{{"source", "gate"}}, func(t *testing.T, a *approval.Approval) { assert.True(t, a.Independent) }},
		"agent":                {[]kv{{"source", "agent"}}, func(t *testing.T, a *approval.Approval) { assert.False(t, a.Independent) }},
		"source in upper case": {[]kv{{"source", "HUMAN"}}, func(t *testing.T, a *approval.Approval) { assert.False(t, a.Independent) }},
		"no source":            {[]kv{{"source", nil}}, func(t *testing.T, a *approval.Approval) { assert.False(t, a.Independent) }},
		"approved":             {[]kv{{"status", "approved"}}, func(t *testing.T, a *approval.Approval) { assert.False(t, a.Revoked) }},
		"revoked":              {[]kv{{"status", "revoked"}}, func(t *testing.T, a *approval.Approval) { assert.True(t, a.Revoked) }},
		"approved and revoked": {[]kv{{"status", "approved"}, {"status", "revoked"}}, func(t *testing.T, a *approval.Approval) { assert.True(t, a.Revoked) }},
		"the same twice":       {[]kv{{"ref", "apr-1"}, {"ref", "apr-1"}}, func(t *testing.T, a *approval.Approval) { assert.Equal(t, "apr-1", a.Ref) }},
		"never expires":        {nil, func(t *testing.T, a *approval.Approval) { assert.Empty(t, a.ExpiresAt) }},
		"expires unreadably":   {[]kv{{"expires_at", []any{}}}, func(t *testing.T, a *approval.Approval) { assert.Equal(t, unreadable, a.ExpiresAt) }},
		"expires at a number":  {[]kv{{"expires_at", 7}}, func(t *testing.T, a *approval.Approval) { assert.Equal(t, unreadable, a.ExpiresAt) }},
		"expires at nothing":   {[]kv{{"expires_at", nil}}, func(t *testing.T, a *approval.Approval) { assert.Equal(t, unreadable, a.ExpiresAt) }},
		"as it was signed":     {[]kv{{"approved_at", "2026-11-30 12:00z"}}, func(t *testing.T, a *approval.Approval) { assert.Equal(t, "2026-11-30 12:00z", a.ApprovedAt) }},
		"long approver":        {[]kv{{"approver", strings.Repeat("a", 9999)}}, func(t *testing.T, a *approval.Approval) { assert.Len(t, a.Approver, 512) }},
	} {
		t.Run(name, func(t *testing.T) {
			a := readOne(t, LogRecord, approvalWith(c.changes...)).Approval
			require.NotNil(t, a)
			c.check(t, a)
		})
	}
}

func TestSignature(t *testing.T) {
	raw := []byte{0xfb, 0xff, 0xfe, 0x01}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		a := readOne(t, LogRecord, approvalWith(kv{"signature", " " + encoding.EncodeToString(raw) + "\n"})).Approval
		assert.Equal(t, raw, a.Signature)
	}
	assert.Equal(t, raw, readOne(t, LogRecord, approvalWith(kv{"signature", raw})).Approval.Signature)
	for _, bad := range []any{"", "=", "no base64!", 7, strings.Repeat("A", 400), make([]byte, 400)} {
		assert.Empty(t, readOne(t, LogRecord, approvalWith(kv{"signature", bad})).Approval.Signature, "%v", bad)
	}
}
