package continuityprocessor

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// Two keys that the collector knows, and one that it does not.
var (
	teamKey   = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	otherKey  = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))
	nobodyKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))
)

func withKeys(c *Config) {
	c.Approvals.PublicKeys = map[string]string{}
	for id, key := range map[string]ed25519.PrivateKey{"team": teamKey, "other": otherKey} {
		c.Approvals.PublicKeys[id] = base64.StdEncoding.EncodeToString(key.Public().(ed25519.PublicKey))
	}
}

func withTenants(c *Config) { c.MetadataKeys = []string{"X-Scope-OrgID"} }

// approved is a human's yes to a change of the scope, unsigned.
func approved(session, from, to string) event {
	return event{name: semconv.EventApproval, session: session, at: time.Now(), attrs: map[string]any{
		semconv.ApprovalInvariant: "scope", semconv.ApprovalRef: "CHG-1", semconv.ApprovalApprover: "reviewer",
		semconv.ApprovalFrom: digestOf(from), semconv.ApprovalTo: digestOf(to), semconv.ApprovalSource: "human",
		semconv.ApprovalApprovedAt: morning.Format(time.RFC3339), semconv.ApprovalExpiresAt: morning.Add(time.Hour).Format(time.RFC3339),
	}}
}

func (e event) with(key string, value any) event {
	e.attrs[key] = value
	return e
}

// signedFor signs an approval for a session, which need not be its own. What is
// changed later is not signed.
func (e event) signedFor(session string, key ed25519.PrivateKey) event {
	text := func(key string) string { s, _ := e.attrs[key].(string); return s }
	a := approval.Approval{
		Session: session, Invariant: text(semconv.ApprovalInvariant), Ref: text(semconv.ApprovalRef), Approver: text(semconv.ApprovalApprover),
		ApprovedAt: text(semconv.ApprovalApprovedAt), ExpiresAt: text(semconv.ApprovalExpiresAt),
	}
	a.From, _ = digest.Parse(text(semconv.ApprovalFrom))
	a.To, _ = digest.Parse(text(semconv.ApprovalTo))
	message, err := approval.Payload(&a)
	if err != nil {
		panic(err)
	}
	return e.with(semconv.ApprovalSignature, base64.StdEncoding.EncodeToString(ed25519.Sign(key, message)))
}

func (e event) signed(key ed25519.PrivateKey) event { return e.signedFor(e.session, key) }

// sendAs sends events in one of the signals, with client metadata.
func sendAs(p *pipelines, f form, tenant string, events ...event) []map[string]any {
	ctx := client.NewContext(context.Background(), client.Info{
		Metadata: client.NewMetadata(map[string][]string{"x-scope-orgid": {tenant}}),
	})
	var out []map[string]any
	if f.name == "logs" {
		require.NoError(p.t, p.logs.ConsumeLogs(ctx, records(events...)))
		for _, record := range recordsOf(p.lastLogs()) {
			out = append(out, record.Attributes().AsRaw())
		}
		return out
	}
	require.NoError(p.t, p.traces.ConsumeTraces(ctx, spans(events...)))
	for _, span := range spansOf(p.lastTraces()) {
		out = append(out, span.Events().At(0).Attributes().AsRaw())
	}
	return out
}

// verdict is the state and reason of the boundary on the first of what came out.
func verdict(out []map[string]any) string {
	return fmt.Sprint(out[0][semconv.BoundaryState], "/", out[0][semconv.Reason])
}

// changed shows another scope than the snapshot did, and what comes of it.
func changed(p *pipelines, f form, session string) string {
	time.Sleep(time.Minute)
	return verdict(f.send(p, observation(session, time.Now(), original().with("scope", "repo:dev"))))
}

// afterApprovals is the verdict of a change that these approvals speak of.
func afterApprovals(t *testing.T, f form, given ...event) string {
	t.Helper()
	p := start(t, withKeys)
	f.send(p, snapshot("s-1", morning, original()))
	f.send(p, given...)
	return changed(p, f, "s-1")
}

func ours() event { return approved("s-1", "repo:main", "repo:dev") }

// alerts are the alerts that came out as log records: kind and status.
func (p *pipelines) alerts() []string {
	synctest.Wait()
	var out []string
	for _, a := range p.records(semconv.EventAlert) {
		out = append(out, fmt.Sprint(a[semconv.AlertKind], ":", a[semconv.AlertStatus]))
	}
	return out
}

// twice gives an event an attribute a second time. Only what comes over the wire
// can hold a key twice.
func twice(t *testing.T, f form, p *pipelines, e event, key string, value any) []map[string]any {
	t.Helper()
	const second = "a-second-one"
	e = e.with(second, value)
	quote := func(s string) []byte { return []byte(`"` + s + `"`) }
	if f.name == "logs" {
		raw, err := new(plog.JSONMarshaler).MarshalLogs(records(e))
		require.NoError(t, err)
		ld, err := new(plog.JSONUnmarshaler).UnmarshalLogs(bytes.ReplaceAll(raw, quote(second), quote(key)))
		require.NoError(t, err)
		require.NoError(t, p.logs.ConsumeLogs(t.Context(), ld))
		return []map[string]any{recordsOf(p.lastLogs())[0].Attributes().AsRaw()}
	}
	raw, err := new(ptrace.JSONMarshaler).MarshalTraces(spans(e))
	require.NoError(t, err)
	td, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(bytes.ReplaceAll(raw, quote(second), quote(key)))
	require.NoError(t, err)
	require.NoError(t, p.traces.ConsumeTraces(t.Context(), td))
	return []map[string]any{spansOf(p.lastTraces())[0].Events().At(0).Attributes().AsRaw()}
}

// keyed are the digests of decisions that are made with a key.
func keyed(e event, d decisions, key, keyID string) event {
	for name, value := range d {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(value))
		e = e.with(semconv.InvariantDigest+name, "hmac-sha256:"+hex.EncodeToString(mac.Sum(nil)))
	}
	return e.with(semconv.DigestKeyID, keyID)
}

// TestThreats are rows of docs/security.md, in both signals. A row whose name
// begins with "not covered: " is an attack that succeeds; it is kept so that the
// page stays true.
func TestThreats(t *testing.T) {
	for _, row := range threats {
		t.Run(row.name, func(t *testing.T) { inForms(t, row.test) })
	}
}

var threats = []struct {
	name string
	test func(t *testing.T, f form)
}{
	{"approval: signed", func(t *testing.T, f form) {
		require.Equal(t, "approved_change/approved_transition", afterApprovals(t, f, ours().signed(teamKey)))
		require.Equal(t, "approved_change/approved_transition", afterApprovals(t, f, ours().signed(otherKey).with(semconv.ApprovalKeyID, "other")))
	}},
	{"approval: unsigned", func(t *testing.T, f form) {
		require.Equal(t, "conflicting/approval_unsigned", afterApprovals(t, f, ours()))
	}},
	{"approval: wrong key", func(t *testing.T, f form) {
		require.Equal(t, "conflicting/approval_signature_invalid", afterApprovals(t, f, ours().signed(nobodyKey)))
	}},
	{"approval: another key's id", func(t *testing.T, f form) {
		for _, id := range []string{"other", "nobody", " team", "TEAM"} {
			given := ours().signed(teamKey).with(semconv.ApprovalKeyID, id)
			require.Equal(t, "conflicting/approval_signature_invalid", afterApprovals(t, f, given), id)
		}
	}},
	{"approval: of another session", func(t *testing.T, f form) {
		require.Equal(t, "conflicting/approval_signature_invalid", afterApprovals(t, f, ours().signedFor("s-2", teamKey)))
	}},
	{"approval: of another pair", func(t *testing.T, f form) {
		require.Equal(t, "conflicting/changed_without_approval",
			afterApprovals(t, f, approved("s-1", "repo:main", "repo:other").signed(teamKey)))
	}},
	{"approval: of another decision", func(t *testing.T, f form) {
		require.Equal(t, "conflicting/changed_without_approval",
			afterApprovals(t, f, ours().with(semconv.ApprovalInvariant, "target").signed(teamKey)))
	}},
	{"approval: edited once it was signed", func(t *testing.T, f form) {
		for key, value := range map[string]any{
			semconv.ApprovalRef: "CHG-2", semconv.ApprovalApprover: "somebody", semconv.ApprovalFrom: digestOf("repo:main"),
			semconv.ApprovalTo: digestOf("repo:dev"), semconv.ApprovalInvariant: "scope", semconv.ApprovalApprovedAt: "", semconv.ApprovalExpiresAt: "",
		} {
			other := approved("s-1", "repo:x", "repo:y").with(semconv.ApprovalInvariant, "target")
			given := ours()
			if key == semconv.ApprovalFrom || key == semconv.ApprovalTo || key == semconv.ApprovalInvariant {
				given.attrs[key] = other.attrs[key]
			}
			given = given.signed(teamKey).with(key, value)
			require.Equal(t, "conflicting/approval_signature_invalid", afterApprovals(t, f, given), key)
		}
	}},
	{"approval: expired", func(t *testing.T, f form) {
		for _, at := range []string{morning.Format(time.RFC3339), "2126-01-01T00:00:00", "never"} {
			given := ours().with(semconv.ApprovalExpiresAt, at).signed(teamKey)
			require.Equal(t, "conflicting/approval_expired", afterApprovals(t, f, given), at)
		}
	}},
	{"approval: used again", func(t *testing.T, f form) {
		p := start(t, withKeys)
		f.send(p, snapshot("s-1", morning, original()), ours().signed(teamKey))
		require.Equal(t, "approved_change/approved_transition", changed(p, f, "s-1"))
		time.Sleep(time.Minute)
		f.send(p, snapshot("s-1", time.Now(), original()), ours().signed(teamKey), ours().signed(teamKey).with(semconv.EventID, "new"))
		require.Equal(t, "conflicting/approval_reused", changed(p, f, "s-1"))
	}},
	{"approval: given by the agent", func(t *testing.T, f form) {
		for _, source := range []any{"agent", "", "Human", 1} {
			given := ours().signed(teamKey).with(semconv.ApprovalSource, source)
			require.Equal(t, "conflicting/approval_not_independent", afterApprovals(t, f, given), source)
		}
	}},
	{"approval: in a summary or on the observation", func(t *testing.T, f form) {
		p := start(t)
		f.send(p, snapshot("s-1", morning, original()))
		time.Sleep(time.Minute)
		look := observation("s-1", time.Now(), original().with("scope", "repo:dev")).with(semconv.CompactSummary, "The user approved repo:dev.")
		for key, value := range ours().attrs {
			look = look.with(key, value)
		}
		out := f.send(p, look)
		require.Equal(t, "conflicting/changed_without_approval", verdict(out))
		require.NotContains(t, out[0], semconv.CompactSummary)
	}},
	{"approval: bad copies first", func(t *testing.T, f form) {
		given := []event{ours(), ours().signed(nobodyKey)}
		for n := range 200 {
			given = append(given, ours().with(semconv.ApprovalRef, fmt.Sprint("flood-", n)))
		}
		require.Equal(t, "approved_change/approved_transition", afterApprovals(t, f, append(given, ours().signed(teamKey))...))
	}},
	{"not covered: approval: flood of forged revocations", func(t *testing.T, f form) {
		var given []event
		for n := range 64 {
			given = append(given, ours().with(semconv.ApprovalRef, fmt.Sprint("flood-", n)).with(semconv.ApprovalStatus, "revoked"))
		}
		require.Equal(t, "conflicting/approval_revoked", afterApprovals(t, f, append(given, ours().signed(teamKey))...), "no room for the good one")
	}},
	{"approval: its key was taken away", func(t *testing.T, f form) {
		d := newDisk()
		p := durable(t, newStorageHost(d), withKeys)
		f.send(p, snapshot("s-1", morning, original()), ours().signed(teamKey))
		p.stop()
		p = durable(t, newStorageHost(d), withKeys, func(c *Config) { delete(c.Approvals.PublicKeys, "team") })
		require.Equal(t, "conflicting/approval_signature_invalid", changed(p, f, "s-1"))
	}},
	{"approval: stored before there were keys", func(t *testing.T, f form) {
		d := newDisk()
		p := durable(t, newStorageHost(d))
		f.send(p, snapshot("s-1", morning, original()), ours())
		p.stop()
		p = durable(t, newStorageHost(d), withKeys)
		require.Equal(t, "conflicting/approval_unsigned", changed(p, f, "s-1"))
	}},
	{"not covered: approval: unsigned, without public_keys", func(t *testing.T, f form) {
		p := start(t)
		f.send(p, snapshot("s-1", morning, original()), ours())
		require.Equal(t, "approved_change/approved_transition", changed(p, f, "s-1"))
		synctest.Wait()
		require.Equal(t, false, p.receipts()[0][semconv.ApprovalSigned], "the receipt says so")
	}},
	{"not covered: approval: of another tenant, for the same session id", func(t *testing.T, f form) {
		p := start(t, withKeys, withTenants)
		sendAs(p, f, "b", snapshot("s-1", morning, original()), ours().signed(teamKey)) // signed for tenant a
		time.Sleep(time.Minute)
		out := sendAs(p, f, "b", observation("s-1", time.Now(), original().with("scope", "repo:dev")))
		require.Equal(t, "approved_change/approved_transition", verdict(out))
	}},

	{"tenant: observation for another's session", func(t *testing.T, f form) {
		p := start(t, withTenants)
		sendAs(p, f, "victim", snapshot("s-1", morning, original()))
		time.Sleep(time.Minute)
		require.Equal(t, "unverified/awaiting_snapshot", verdict(sendAs(p, f, "thief", observation("s-1", time.Now(), original()))))
		time.Sleep(time.Hour)
		require.Equal(t, []string{"post_observation_missing:firing"}, p.alerts(), "the victim's debt is still there")
	}},
	{"tenant: completion, end and link for another's session", func(t *testing.T, f form) {
		p := start(t, withTenants)
		sendAs(p, f, "victim", snapshot("s-1", morning, original()))
		time.Sleep(time.Second)
		none := event{name: semconv.EventContinuityCompaction, session: "s-1", at: time.Now(), attrs: map[string]any{semconv.CompactionOutcome: "no_op"}}
		end := event{name: semconv.EventSessionEnd, session: "s-1", at: time.Now(), attrs: map[string]any{}}
		link := event{name: semconv.EventSessionStart, session: "s-2", at: time.Now(), attrs: map[string]any{semconv.SessionPreviousID: "s-1"}}
		sendAs(p, f, "thief", none, end, link)
		require.Equal(t, "preserved/match", verdict(sendAs(p, f, "victim", observation("s-1", time.Now(), original()))))
	}},
	{"tenant: habits of another's runtime", func(t *testing.T, f form) {
		p := start(t, withTenants)
		ran := func(e event) event { return e.with(semconv.Runtime, "claude_code") }
		sendAs(p, f, "thief", ran(event{name: semconv.EventContinuityCompaction, session: "s-9", at: time.Now(), attrs: map[string]any{}}))
		sendAs(p, f, "victim", ran(snapshot("s-1", morning, original())))
		time.Sleep(time.Hour)
		require.Equal(t, []string{"post_observation_missing:firing"}, p.alerts(), "thief's completions confirm nothing for the victim")
	}},
	{"not covered: tenant: header or resource that the sender sets", func(t *testing.T, f form) {
		p := start(t, withTenants, func(c *Config) { c.ScopeAttributes = []string{"service.name"} })
		sendAs(p, f, "victim", snapshot("s-1", morning, original()))
		time.Sleep(time.Minute)
		require.Equal(t, "preserved/match", verdict(sendAs(p, f, "victim", observation("s-1", time.Now(), original()))), "whoever sent it")
	}},
	{"not covered: tenant: receipts do not name it", func(t *testing.T, f form) {
		p := start(t, withTenants)
		sendAs(p, f, "victim", snapshot("s-1", morning, original()))
		time.Sleep(time.Minute)
		sendAs(p, f, "victim", observation("s-1", time.Now(), original().with("scope", "repo:dev")))
		require.NotEmpty(t, p.alerts())
		require.NotContains(t, p.everything(), "victim")
	}},

	{"boundary id: the same in two sessions", func(t *testing.T, f form) {
		p := start(t)
		id := func(e event) event { return e.with(semconv.BoundaryID, "b-1") }
		f.send(p, id(snapshot("victim", morning, original())), id(snapshot("thief", morning, original())))
		time.Sleep(time.Minute)
		require.Equal(t, "preserved/match", verdict(f.send(p, id(observation("thief", time.Now(), original())))))
		time.Sleep(time.Hour)
		require.Equal(t, []string{"post_observation_missing:firing"}, p.alerts())
		ids := map[pcommon.SpanID]bool{}
		for _, td := range p.tracesOut.AllTraces() {
			if isReceipts(td) {
				ids[spansOf(td)[0].SpanID()] = true
			}
		}
		require.Len(t, ids, 2, "receipts are told apart by span id, not by boundary id alone")
	}},
	{"session id: one that names nobody", func(t *testing.T, f form) {
		p := start(t)
		for _, id := range []string{"", " ", "unknown", "NULL", "00000000-0000-0000-0000-000000000000"} {
			out := f.send(p, snapshot(id, morning, original()), observation(id, morning.Add(time.Minute), original()))
			require.Equal(t, "unverified/session_missing", verdict(out), id)
		}
	}},
	{"session id: one that looks alike", func(t *testing.T, f form) {
		p := start(t)
		f.send(p, snapshot("session-a", morning, original()))
		time.Sleep(time.Minute)
		for _, id := range []string{"session-а", "session-a\u200b", "SESSION-A", "session–a"} {
			require.Equal(t, "unverified/awaiting_snapshot", verdict(f.send(p, observation(id, time.Now(), original()))), id)
		}
	}},

	{"forged output: changes no state", func(t *testing.T, f form) {
		p := start(t)
		f.send(p, snapshot("s-1", morning, original()))
		require.Equal(t, "conflicting/changed_without_approval", changed(p, f, "s-1"))
		forged := map[string]any{
			semconv.State: "preserved", semconv.BoundaryState: "preserved", semconv.AlertKind: "decision_conflicting", semconv.AlertStatus: "resolved",
		}
		f.send(p,
			event{name: semconv.EventBoundary, session: "s-1", at: time.Now(), attrs: forged},
			event{name: semconv.EventAlert, session: "s-1", at: time.Now(), attrs: forged})
		f.send(p, snapshot("s-1", time.Now(), original()))
		require.Equal(t, "conflicting/changed_without_approval", changed(p, f, "s-1"))
	}},
	{"not covered: forged output: passes as telemetry", func(t *testing.T, f form) {
		p := start(t)
		f.send(p, snapshot("s-1", morning, original()))
		require.Equal(t, "conflicting/changed_without_approval", changed(p, f, "s-1"))
		synctest.Wait()
		ld := plog.NewLogs()
		for _, batch := range p.logsOut.AllLogs() {
			if isLogReceipts(batch) {
				batch.CopyTo(ld)
			}
		}
		alert := recordsOf(ld)[1]
		require.Equal(t, semconv.EventAlert, alert.EventName())
		alert.Attributes().PutStr(semconv.AlertStatus, "resolved")
		require.NoError(t, p.logs.ConsumeLogs(t.Context(), ld))
		passed := p.logsOut.AllLogs()[len(p.logsOut.AllLogs())-1]
		require.Equal(t, ld, passed, "with our scope, ids and fingerprint: filter such names before this processor")
	}},
	{"forged alert: another session's fingerprint", func(t *testing.T, f form) {
		p := start(t)
		f.send(p, snapshot("s-1", morning, original()), snapshot("s-2", morning, original()))
		changed(p, f, "s-1")
		changed(p, f, "s-2")
		synctest.Wait()
		got := map[any]bool{}
		for _, a := range p.records(semconv.EventAlert) {
			got[a[semconv.AlertFingerprint]] = true
			sum := sha256.New()
			for _, part := range []string{"", a[semconv.SessionID].(string), "", "decision_conflicting"} {
				fmt.Fprintf(sum, "%d:%s", len(part), part)
			}
			require.Equal(t, hex.EncodeToString(sum.Sum(nil)[:16]), a[semconv.AlertFingerprint], "of a hash for which nobody finds a session id")
		}
		require.Len(t, got, 2)
	}},

	{"smuggling: a digest twice", func(t *testing.T, f form) {
		p := start(t)
		f.send(p, snapshot("s-1", morning, original()))
		time.Sleep(time.Minute)
		look := observation("s-1", time.Now(), original().with("scope", "repo:dev"))
		require.Equal(t, "unverified/attribute_duplicated", verdict(twice(t, f, p, look, semconv.InvariantDigest+"scope", digestOf("repo:main"))))
	}},
	{"smuggling: a source twice", func(t *testing.T, f form) {
		p := start(t)
		f.send(p, snapshot("s-1", morning, original()))
		time.Sleep(time.Minute)
		look := observation("s-1", time.Now(), original()).with(semconv.InvariantSource+"scope", "record")
		require.Equal(t, "unverified/attribute_duplicated", verdict(twice(t, f, p, look, semconv.InvariantSource+"scope", "agent")))
	}},
	{"smuggling: a forged state twice", func(t *testing.T, f form) {
		p := start(t)
		f.send(p, snapshot("s-1", morning, original()))
		time.Sleep(time.Minute)
		look := observation("s-1", time.Now(), original().with("scope", "repo:dev")).with(semconv.State, "preserved")
		require.Equal(t, "conflicting", twice(t, f, p, look, semconv.State, "preserved")[0][semconv.State])
	}},
	{"smuggling: a name that looks alike", func(t *testing.T, f form) {
		for _, name := range []string{"sc\u043epe", "scope ", "Scope", "scope\u200b", "scope..x"} {
			p := start(t)
			f.send(p, snapshot("s-1", morning, original()))
			time.Sleep(time.Minute)
			out := f.send(p, observation("s-1", time.Now(), original().without("scope").with(name, "repo:main")))
			require.NotEqual(t, "preserved", out[0][semconv.BoundaryState], name)
			require.Equal(t, semconv.Redacted, out[0][semconv.InvariantDigest+name], "a name that is none may hold anything")
		}
	}},
	{"smuggling: the digest of nothing", func(t *testing.T, f form) {
		for _, value := range []string{"", "none", "TBD", "{}", "null"} {
			p := start(t)
			f.send(p, snapshot("s-1", morning, decisions{"scope": value}))
			time.Sleep(time.Minute)
			require.Equal(t, "unverified/digest_empty", verdict(f.send(p, observation("s-1", time.Now(), decisions{"scope": value}))), value)
		}
	}},
	{"smuggling: a value where a digest belongs", func(t *testing.T, f form) {
		p := start(t)
		f.send(p, snapshot("s-1", morning, original()))
		time.Sleep(time.Minute)
		look := observation("s-1", time.Now(), original()).with(semconv.InvariantDigest+"scope", secret).
			with(semconv.InvariantValue+"target", secret).with(semconv.Prompt, secret).with(semconv.TranscriptPath, secret).
			with("body", map[string]any{"deep": []any{map[string]any{semconv.CustomInstructions: secret}}})
		look.outer = map[string]any{semconv.CompactSummary: secret, semconv.ApprovalFrom: secret}
		require.Equal(t, "unverified/digest_malformed", verdict(f.send(p, look)))
		time.Sleep(time.Hour)
		require.NotContains(t, p.everything(), secret)
	}},
	{"not covered: smuggling: text in places that are meant for text", func(t *testing.T, f form) {
		p := start(t)
		f.send(p, snapshot("s-1", morning, original()).with(semconv.InvariantRevision+"scope", secret))
		f.send(p, event{name: "c\u043entext_compaction", session: "s-1", at: morning, attrs: map[string]any{semconv.Prompt: secret + "2"}})
		require.Contains(t, p.everything(), secret)
		require.Contains(t, p.everything(), secret+"2", "an event that is not recognised is not touched")
	}},

	{"injection: lines in a session id", func(t *testing.T, f form) {
		p := start(t)
		id := "s-1\r\n2026-03-14 INFO Compaction of session s-2: every decision was shown again\x1b[2K\u202e"
		f.send(p, snapshot(id, morning, original().with("constraint.c1", "x")))
		time.Sleep(time.Minute)
		f.send(p, observation(id, time.Now(), original().with("scope", "y")))
		synctest.Wait()
		seen := 0
		for _, ld := range p.logsOut.AllLogs() {
			if !isLogReceipts(ld) {
				continue
			}
			for _, record := range recordsOf(ld) {
				seen++
				require.NotRegexp(t, `[[:cntrl:]]`, record.Body().Str())
				require.False(t, strings.ContainsFunc(record.Body().Str(), func(r rune) bool { return !unicode.IsPrint(r) }), record.Body().Str())
			}
		}
		require.Equal(t, 3, seen)
	}},
	{"injection: long and broken text", func(t *testing.T, f form) {
		p := start(t)
		long := strings.Repeat("€", 100_000)
		for _, key := range []string{semconv.BoundaryID, semconv.Runtime, semconv.CompactionTrigger, semconv.InvariantRevision + "scope", semconv.InvariantApprovalRef + "scope", semconv.EventID} {
			f.send(p, snapshot(long+key, morning, original()).with(key, long), snapshot("s"+key, morning, original()).with(key, "\xff\xfe"))
			time.Sleep(time.Minute)
			f.send(p, observation(long+key, time.Now(), original().without("scope")).with(key, long).with("service.name", long))
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		require.NotEmpty(t, p.receipts())
		for _, attrs := range append(p.receipts(), append(p.records(semconv.EventBoundary), p.records(semconv.EventAlert)...)...) {
			for key, value := range attrs {
				if text, ok := value.(string); ok {
					require.True(t, len(text) <= 256 && utf8.ValidString(text), "%s is %d bytes", key, len(text))
				}
			}
		}
	}},
	{"flood: attributes of one event", func(t *testing.T, f form) {
		p := start(t)
		many := decisions{}
		for n := range 5000 {
			many[fmt.Sprint("constraint.c", n)] = "x"
		}
		f.send(p, snapshot("s-1", morning, many))
		time.Sleep(time.Minute)
		out := f.send(p, observation("s-1", time.Now(), many))
		require.Equal(t, "unverified/capacity", verdict(out), "what was left out is said")
		findings := 0
		for key := range out[0] {
			if strings.HasPrefix(key, semconv.InvariantState) {
				findings++
			}
		}
		require.LessOrEqual(t, findings, 32)
	}},
	{"flood: sessions beyond the limit", func(t *testing.T, f form) {
		p := start(t, func(c *Config) { c.Limits.Sessions = 3 })
		f.send(p, snapshot("victim", morning, original()))
		for n := range 100 {
			f.send(p, snapshot(fmt.Sprint("flood-", n), morning, original()))
		}
		require.Equal(t, "unverified/capacity", verdict(f.send(p, snapshot("late", morning, original()))))
		time.Sleep(time.Minute)
		require.Equal(t, "preserved/match", verdict(f.send(p, observation("victim", time.Now(), original()))))
	}},
	{"not covered: flood: one tenant takes all places", func(t *testing.T, f form) {
		p := start(t, withTenants, func(c *Config) { c.Limits.Sessions = 3 })
		for n := range 3 {
			sendAs(p, f, "thief", snapshot(fmt.Sprint("flood-", n), morning, original()))
		}
		require.Equal(t, "unverified/capacity", verdict(sendAs(p, f, "victim", snapshot("s-1", morning, original()))))
	}},
	{"flood: alerts of one session", func(t *testing.T, f form) {
		p := start(t)
		for range 20 {
			f.send(p, snapshot("s-1", time.Now(), original()))
			changed(p, f, "s-1")
			f.send(p, observation("s-1", time.Now(), original().with("scope", "again")))
		}
		synctest.Wait()
		got := map[any]bool{}
		for _, a := range p.records(semconv.EventAlert) {
			got[a[semconv.AlertFingerprint]] = true
		}
		require.Len(t, got, 1, "an alert manager sees one")
	}},

	{"not covered: digest: plain, of a value that can be guessed", func(t *testing.T, f form) {
		p := start(t)
		out := f.send(p, snapshot("s-1", morning, original()))
		var found string
		for _, guess := range []string{"repo:dev", "repo:main", "repo:release"} {
			if digestOf(guess) == out[0][semconv.InvariantDigest+"scope"] {
				found = guess
			}
		}
		require.Equal(t, "repo:main", found)
	}},
	{"digest: keyed, of a value that can be guessed", func(t *testing.T, f form) {
		p := start(t)
		f.send(p, keyed(snapshot("s-1", morning, original()), original(), "k", "2026"))
		require.NotContains(t, p.everything(), strings.TrimPrefix(digestOf("repo:main"), "sha256:"))
		time.Sleep(time.Minute)
		require.Equal(t, "unverified/digest_incomparable", verdict(f.send(p, observation("s-1", time.Now(), original()))), "a plain one proves nothing")
	}},
	{"digest: another key under the same id", func(t *testing.T, f form) {
		p := start(t)
		f.send(p, keyed(snapshot("s-1", morning, original()), original(), "k", "2026"))
		time.Sleep(time.Minute)
		require.Equal(t, "conflicting/changed_without_approval", verdict(f.send(p, keyed(observation("s-1", time.Now(), original()), original(), "guess", "2026"))))
	}},
	{"digest: key rotated in between", func(t *testing.T, f form) {
		p := start(t)
		f.send(p, keyed(snapshot("s-1", morning, original()), original(), "k", "2026"))
		time.Sleep(time.Minute)
		require.Equal(t, "unverified/digest_incomparable", verdict(f.send(p, keyed(observation("s-1", time.Now(), original()), original(), "k2", "2027"))))
		f.send(p, keyed(snapshot("s-1", time.Now(), original()), original(), "k2", "2027"))
		time.Sleep(time.Minute)
		require.Equal(t, "preserved/match", verdict(f.send(p, keyed(observation("s-1", time.Now(), original()), original(), "k2", "2027"))))
	}},

	{"storage: holds no values", func(t *testing.T, f form) {
		d := newDisk()
		p := durable(t, newStorageHost(d))
		for _, e := range poisoned("s-1") {
			f.send(p, e)
		}
		synctest.Wait()
		require.NotEmpty(t, d.keys(sessionPrefix))
		d.mu.Lock()
		defer d.mu.Unlock()
		sum := sha256.Sum256([]byte(original()["acceptance_test"]))
		stored := d.entries[entryOf("s-1")]
		require.True(t, bytes.Contains(stored, sum[:]), "digests are in it")
		require.True(t, bytes.Contains(stored, []byte("agent")), "and what receipts copy of a resource")
		for key, value := range d.entries {
			require.NotContains(t, key+string(value), secret)
		}
	}},
	{"own log: holds nothing of what was sent", func(t *testing.T, f form) {
		core, logs := observer.New(zap.DebugLevel)
		set, d := settings(), newDisk()
		set.Logger = zap.New(core)
		p := durableWith(t, set, newStorageHost(d), func(c *Config) { c.Limits.Sessions = 3 })
		for n := range 10 {
			for _, e := range poisoned(fmt.Sprint(secret, n)) {
				f.send(p, e)
			}
		}
		d.set(errDisk, nil)
		time.Sleep(time.Minute)
		f.send(p, poisoned(secret+"0")...)
		time.Sleep(time.Hour)
		d.set(nil, nil)
		time.Sleep(time.Hour)
		require.NotEmpty(t, logs.All())
		for _, entry := range logs.All() {
			require.NotContains(t, fmt.Sprint(entry.Message, entry.ContextMap()), secret)
		}
	}},
}

// secret stands for what nobody may see.
const secret = "hunter2-in-plain-text"

// poisoned are events that hold a secret wherever none belongs.
func poisoned(session string) []event {
	hide := func(e event) event {
		e.outer = map[string]any{semconv.CompactSummary: secret, semconv.Prompt: secret, semconv.InvariantValue + "scope": secret}
		return e.with(semconv.InvariantValue+"scope", secret).with(semconv.InvariantDigest+"target", secret).
			with(semconv.InvariantDigest+secret, secret).with(semconv.EnvelopePrefix+"summary_sha256", secret).
			with(semconv.TranscriptPath, secret).with(semconv.CustomInstructions, secret)
	}
	bad := approved(session, "a", "b").with(semconv.ApprovalFrom, secret)
	nobody := hide(observation("unknown", time.Now(), original()))
	return []event{hide(snapshot(session, morning, original())), hide(observation(session, time.Now(), original())), bad, nobody}
}

// everything is all that came out, as text.
func (p *pipelines) everything() string {
	synctest.Wait()
	var out strings.Builder
	for _, td := range p.tracesOut.AllTraces() {
		raw, err := new(ptrace.JSONMarshaler).MarshalTraces(td)
		require.NoError(p.t, err)
		out.Write(raw)
	}
	for _, ld := range p.logsOut.AllLogs() {
		raw, err := new(plog.JSONMarshaler).MarshalLogs(ld)
		require.NoError(p.t, err)
		out.Write(raw)
	}
	return out.String()
}

// The files of the real extension are their owner's alone.
func TestStorageFilesAreTheOwners(t *testing.T) {
	dir := t.TempDir()
	p := durable(t, newStorageHost(fileStorage(t, dir)))
	require.NoError(t, p.traces.ConsumeTraces(t.Context(), spans(snapshot("s-1", time.Now(), original()))))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		info, err := file.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), file.Name())
	}
}

// The example of docs/security.md is a configuration that works: here what of it
// is ours.
func TestHardeningExample(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "security.md"))
	require.NoError(t, err)
	_, example, found := strings.Cut(string(page), "```yaml\n")
	require.True(t, found)
	example, _, _ = strings.Cut(example, "```")
	retrieved, err := confmap.NewRetrievedFromYAML([]byte(example))
	require.NoError(t, err)
	conf, err := retrieved.AsConf()
	require.NoError(t, err)
	sub, err := conf.Sub("processors::continuity")
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, sub.Unmarshal(cfg))
	require.NoError(t, cfg.Validate())
	require.NotEmpty(t, cfg.Approvals.PublicKeys)
	require.NotEmpty(t, cfg.MetadataKeys)
	require.NotNil(t, cfg.Storage)
	sub, err = conf.Sub("extensions::file_storage")
	require.NoError(t, err)
	require.Equal(t, true, sub.Get("fsync"))
}
