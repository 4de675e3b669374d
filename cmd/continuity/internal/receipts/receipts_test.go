package receipts_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/golden"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/receipts"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/replay"
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/receipt"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

const root = "../../../.."

var writer = receipt.Writer{Scope: receipts.Scope}

func TestScopeIsTheProcessors(t *testing.T) {
	text, err := os.ReadFile(root + "/processor/continuityprocessor/internal/metadata/generated_status.go")
	require.NoError(t, err)
	assert.Contains(t, string(text), `"`+receipts.Scope+`"`)
}

// What the processor's tests expect of it is consistent, in both forms.
func TestGolden(t *testing.T) {
	for _, dir := range []string{"1_kept/logs", "3_approved_acceptance_test/traces", "4_lost_approval_boundary/logs", "6_test_not_seen_again/traces"} {
		dir = root + "/processor/continuityprocessor/testdata/six/" + dir
		var set receipts.Set
		ld, err := golden.ReadLogs(dir + "/out.logs.yaml")
		require.NoError(t, err)
		set.AddLogs(ld, "logs")
		td, err := golden.ReadTraces(dir + "/out.traces.yaml")
		require.NoError(t, err)
		set.AddTraces(td, "traces")
		report := set.Check()
		assert.Empty(t, report.Problems, dir)
		assert.Equal(t, 1, report.Boundaries, dir)
		assert.Positive(t, report.Receipts, dir)
	}
}

// replayed are the receipts of a replay in the order of their decisions.
func replayed(r *replay.Replay) []*boundary.Receipt {
	var out []*boundary.Receipt
	for _, s := range r.Run().Sessions {
		for _, b := range s.Boundaries {
			for i := range b.Receipts {
				out = append(out, &b.Receipts[i])
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *boundary.Receipt) int { return a.End.Compare(b.End) })
	return out
}

// Whatever happens to a session, what the core says of it is consistent.
func TestWhateverTheCoreSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := replay.New(replay.Options{})
		r.AddLogs(randomEvents(t))
		all := replayed(r)
		var set receipts.Set
		set.AddLogs(writer.Logs(all), "logs")
		set.AddTraces(writer.Traces(all), "traces")
		report := set.Check()
		for _, p := range report.Problems {
			t.Errorf("%+v", p)
		}
		if report.Receipts != 2*len(all) {
			t.Errorf("%d receipts, not two for each of %d", report.Receipts, len(all))
		}
	})
}

var morning = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)

func randomEvents(t *rapid.T) plog.Logs {
	ld := plog.NewLogs()
	digests := []string{"none"}
	for _, c := range "abc" {
		digests = append(digests, "sha256:"+strings.Repeat(string(c), 64))
	}
	pick := func(what string, from ...string) string { return rapid.SampledFrom(from).Draw(t, what) }
	digest := func() string { return pick("digest", digests...) }
	// Sessions that both call a boundary the same and are joined then have two of
	// that name: nobody can tell their receipts apart.
	joined := rapid.Bool().Draw(t, "sessions are joined")
	for range rapid.IntRange(1, 12).Draw(t, "events") {
		at := morning.Add(time.Duration(rapid.IntRange(0, 40*60).Draw(t, "at")) * time.Second)
		record := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		record.SetTimestamp(pcommon.NewTimestampFromTime(at))
		m := record.Attributes()
		m.PutStr(semconv.SessionID, pick("session", "s", "t"))
		if rapid.IntRange(0, 4).Draw(t, "by an agent") == 0 {
			m.PutStr(semconv.AgentID, "a")
		}
		if !joined && rapid.IntRange(0, 5).Draw(t, "with an id") == 0 {
			m.PutStr(semconv.BoundaryID, pick("boundary", "1", "2"))
		}
		look := func() {
			seen := at.Add(time.Duration(rapid.IntRange(-120, 5).Draw(t, "seen")) * time.Second)
			m.PutInt(semconv.ObservedAt, seen.UnixNano())
			for _, name := range []string{"scope", "constraint.push", "own.thing"} {
				if rapid.IntRange(0, 3).Draw(t, "states "+name) > 0 {
					m.PutStr(semconv.InvariantDigest+name, digest())
				}
			}
			if rapid.IntRange(0, 3).Draw(t, "envelope") == 0 {
				m.PutStr(semconv.EnvelopePrefix+"schema_version", "continuity-envelope/v1")
				m.PutStr(semconv.EnvelopePrefix+"tenant_id", "t")
				m.PutStr(semconv.EnvelopePrefix+"principal_id", "p")
				m.PutStr(semconv.EnvelopePrefix+"policy_version", pick("policy", "1", "2"))
				m.PutStr(semconv.EnvelopePrefix+"side_effect_status", pick("effect", "not_executed", "side_effect_unknown"))
			}
		}
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0, 1, 2:
			record.SetEventName(semconv.EventSnapshot)
			look()
			if _, required := m.Get(semconv.InvariantDigest + "scope"); required && rapid.Bool().Draw(t, "optional") {
				m.PutBool(semconv.InvariantRequired+"own.thing", false)
			}
		case 3, 4, 5:
			record.SetEventName(semconv.EventObservation)
			look()
			m.PutStr(semconv.Source, pick("source", "agent", "environment", "human", "record"))
			m.PutStr(semconv.ObservationCoverage, pick("coverage", "complete", "partial"))
		case 6:
			record.SetEventName(semconv.EventContinuityCompaction)
			m.PutStr(semconv.CompactionOutcome, pick("outcome", "completed", "failed", "cancelled", "unknown"))
		case 7:
			record.SetEventName(semconv.EventApproval)
			m.PutStr(semconv.ApprovalInvariant, pick("invariant", "scope", "constraint.push", "own.thing"))
			m.PutStr(semconv.ApprovalRef, pick("ref", "C-1", "C-2"))
			m.PutStr(semconv.ApprovalSource, "human")
			m.PutStr(semconv.ApprovalFrom, digest())
			m.PutStr(semconv.ApprovalTo, digest())
			m.PutStr(semconv.ApprovalStatus, pick("status", "approved", "approved", "revoked"))
		case 8:
			record.SetEventName(pick("life", semconv.EventSessionEnd, semconv.EventSessionStart))
			if joined && rapid.Bool().Draw(t, "goes on") {
				m.PutStr(semconv.SessionPreviousID, pick("previous", "s", "t"))
			}
		case 9:
			record.SetEventName(semconv.EventValidationFailed)
			m.PutStr(semconv.ValidationStatus, pick("status", "continuity_validation_failed", "blocked_on_reconciliation"))
			m.PutStr(semconv.ValidationReason, pick("reason", "policy_version_changed", "unknown_side_effect"))
		}
	}
	return ld
}

// lost is a session in which a constraint was lost, and shown again later: two
// revisions, an alert that fires and is resolved.
func lost() []*boundary.Receipt {
	ld := plog.NewLogs()
	event := func(name string, at time.Duration, scope, push string) {
		record := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		record.SetEventName(name)
		record.SetTimestamp(pcommon.NewTimestampFromTime(morning.Add(at)))
		m := record.Attributes()
		m.PutStr(semconv.SessionID, "s")
		m.PutStr(semconv.Source, "agent")
		m.PutInt(semconv.ObservedAt, morning.Add(at).UnixNano())
		for name, digit := range map[string]string{"scope": scope, "constraint.push": push} {
			if digit != "" {
				m.PutStr(semconv.InvariantDigest+name, "sha256:"+strings.Repeat(digit, 64))
			}
		}
	}
	event(semconv.EventSnapshot, 0, "a", "b")
	event(semconv.EventObservation, time.Minute, "a", "")
	event(semconv.EventObservation, 2*time.Minute, "a", "b")
	r := replay.New(replay.Options{})
	r.AddLogs(ld)
	return replayed(r)
}

func recordsOf(ld plog.Logs) (out []plog.LogRecord) {
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, r := range sl.LogRecords().All() {
				out = append(out, r)
			}
		}
	}
	return out
}

func TestTampered(t *testing.T) {
	attr := func(key string, value any) func(plog.Logs, ptrace.Traces) {
		return func(ld plog.Logs, _ ptrace.Traces) { _ = recordsOf(ld)[0].Attributes().PutEmpty(key).FromRaw(value) }
	}
	remove := func(key string) func(plog.Logs, ptrace.Traces) {
		return func(ld plog.Logs, _ ptrace.Traces) { recordsOf(ld)[0].Attributes().Remove(key) }
	}
	drop := func(which func(n int, r plog.LogRecord) bool) func(plog.Logs, ptrace.Traces) {
		return func(ld plog.Logs, _ ptrace.Traces) {
			n := -1
			for _, rl := range ld.ResourceLogs().All() {
				for _, sl := range rl.ScopeLogs().All() {
					sl.LogRecords().RemoveIf(func(r plog.LogRecord) bool { n++; return which(n, r) })
				}
			}
		}
	}
	for name, c := range map[string]struct {
		change func(plog.Logs, ptrace.Traces)
		want   string
	}{
		"nothing":             {func(plog.Logs, ptrace.Traces) {}, ""},
		"state":               {attr(semconv.BoundaryState, "preserved"), "the boundary is preserved, and a required decision is dropped"},
		"no state":            {attr(semconv.BoundaryState, "authorized"), `continuity.boundary.state is "authorized"`},
		"session state":       {attr(semconv.State, ""), `continuity.state is ""`},
		"worse than findings": {attr(semconv.BoundaryState, "conflicting"), "the boundary is conflicting for the reason missing_after, and no decision is"},
		"reason":              {attr(semconv.Reason, "not_fresh"), "the reason is not_fresh; that of constraint.push, which comes first, is missing_after"},
		"no reason":           {remove(semconv.Reason), "continuity.reason is missing"},
		"action":              {attr(semconv.Action, "continue"), "continuity.action is continue, and the first of"},
		"actions": {func(ld plog.Logs, td ptrace.Traces) {
			attr(semconv.Actions, []any{"continue"})(ld, td)
			attr(semconv.Action, "continue")(ld, td)
		}, "constraint.push is dropped, and the actions are"},
		"order of actions":   {attr(semconv.Actions, []any{"pause_and_restore", "hold_and_ask"}), "not strictest first"},
		"unknown action":     {attr(semconv.Actions, []any{"proceed"}), `"proceed" is no action`},
		"list":               {attr(semconv.InvariantsDropped, []any{"scope"}), "continuity.invariants.dropped lists"},
		"finding":            {attr(semconv.InvariantState+"scope", "fine"), "which is no state"},
		"finding's reason":   {remove(semconv.InvariantReason + "scope"), "scope has a state and no reason"},
		"finding gone":       {remove(semconv.InvariantState + "scope"), "scope has a reason and no state"},
		"finding of no name": {attr(semconv.InvariantState+"Scope", "preserved"), "no name of a decision"},
		"coverage":           {attr(semconv.Coverage, "all"), "continuity.coverage is"},
		"revision":           {attr(semconv.Revision, int64(0)), "continuity.revision is not 1 or more"},
		"a grant":            {attr(semconv.RequiresReauthorization, false), "continuity.requires_reauthorization is false beside a status"},
		"a status":           {attr(semconv.ValidationStatus, "authorized"), "continuity.validation.status is authorized"},
		"differs from span":  {attr(semconv.Runtime, "other"), "continuity.runtime is other in the record and <nil> in the span"},
		"first gone":         {drop(func(n int, _ plog.LogRecord) bool { return n == 0 }), "an alert without its receipt"},
		"a gap":              {drop(func(n int, _ plog.LogRecord) bool { return n < 2 }), "revision 2 comes where 1 should"},
		"alert gone":         {drop(func(n int, _ plog.LogRecord) bool { return n == 1 }), "its alerts differ from those of the span"},
		"alert's kind": {
			func(ld plog.Logs, _ ptrace.Traces) {
				recordsOf(ld)[1].Attributes().PutStr(semconv.AlertKind, "all_well")
			},
			"the alert's kind all_well is not known",
		},
		"alert's status": {
			func(ld plog.Logs, _ ptrace.Traces) {
				recordsOf(ld)[1].Attributes().PutStr(semconv.AlertStatus, "muted")
			},
			"the alert's status muted is not known",
		},
		"alert's receipt": {
			func(ld plog.Logs, _ ptrace.Traces) { recordsOf(ld)[1].Attributes().PutInt(semconv.Revision, 7) },
			"says continuity.revision = 7",
		},
		"alert's severity": {func(ld plog.Logs, _ ptrace.Traces) { recordsOf(ld)[1].SetSeverityNumber(plog.SeverityNumberInfo) }, "has severity 9, not 17"},
		"no fingerprint":   {func(ld plog.Logs, _ ptrace.Traces) { recordsOf(ld)[1].Attributes().Remove(semconv.AlertFingerprint) }, "no fingerprint"},
		"no ids":           {func(ld plog.Logs, _ ptrace.Traces) { recordsOf(ld)[0].SetSpanID(pcommon.SpanID{}) }, "no trace id or no span id"},
		"another writer": {
			func(_ plog.Logs, td ptrace.Traces) { td.ResourceSpans().At(0).ScopeSpans().At(0).Scope().SetName("me") },
			`its scope is "me"`,
		},
		"alert on a span": {func(_ plog.Logs, td ptrace.Traces) {
			td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Events().At(0).Attributes().PutStr(semconv.AlertKind, "x")
		}, "the alert's kind x is not known"},
		"order": {func(ld plog.Logs, _ ptrace.Traces) {
			records := ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords()
			first := plog.NewLogRecord()
			records.At(0).CopyTo(first)
			records.RemoveIf(func(r plog.LogRecord) bool {
				return r.SpanID() == first.SpanID() && r.EventName() == semconv.EventBoundary
			})
			first.CopyTo(records.AppendEmpty())
		}, "revision 1 comes after 2"},
	} {
		t.Run(name, func(t *testing.T) {
			all := lost()
			require.Len(t, all, 2)
			ld, td := writer.Logs(all), writer.Traces(all)
			c.change(ld, td)
			var set receipts.Set
			set.AddLogs(ld, "file")
			set.AddTraces(td, "file")
			report := set.Check()
			said := fmt.Sprint(report.Problems)
			if c.want == "" {
				assert.True(t, report.OK, said)
				assert.Equal(t, map[string]receipts.StateCount{"preserved": {Boundaries: 1, Receipts: 2, Firing: 1}}, report.States)
				return
			}
			assert.False(t, report.OK)
			assert.Contains(t, said, c.want)
		})
	}
}

// A copy is no fault: receipts are delivered at least once. One that says
// something else is.
func TestCopies(t *testing.T) {
	all := lost()
	var set receipts.Set
	set.AddLogs(writer.Logs(all), "one")
	set.AddLogs(writer.Logs(all), "again")
	set.AddTraces(writer.Traces(all), "one")
	set.AddTraces(writer.Traces(all), "again")
	report := set.Check()
	assert.Empty(t, report.Problems)
	assert.Equal(t, 4, report.Copies)
	assert.Equal(t, 4, report.Receipts)
	assert.Equal(t, 8, set.Len())
	changed := writer.Logs(all)
	recordsOf(changed)[0].Attributes().PutStr(semconv.Reason, "match")
	set.AddLogs(changed, "forged")
	assert.Contains(t, fmt.Sprint(set.Check().Problems), "and says something else")
}

func TestStatesInOrder(t *testing.T) {
	r := receipts.Report{States: map[string]receipts.StateCount{"preserved": {}, "conflicting": {}, "unverified": {}}}
	assert.Equal(t, []string{"conflicting", "unverified", "preserved"}, r.StatesInOrder())
}
