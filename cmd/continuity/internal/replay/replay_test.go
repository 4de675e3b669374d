package replay_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/golden"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/replay"
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/cases"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
	"github.com/agentcontinuity/otelcol-continuity/testdata"
)

// The six cases and the recorded sessions give offline what they give through the
// collector (make demo).
func TestCases(t *testing.T) {
	for _, folder := range []string{testdata.Six, testdata.Recorded} {
		all, err := cases.LoadAll(testdata.Cases, folder)
		require.NoError(t, err)
		for _, c := range all {
			t.Run(c.Name, func(t *testing.T) {
				r := replay.New(replay.Options{})
				require.NoError(t, r.AddCase(c))
				result := r.Run()
				require.Len(t, result.Sessions, 1)
				s := result.Sessions[0]
				assert.Equal(t, c.Session(), s.Key.Session)
				assert.Empty(t, c.Differences(s.EventRule, s.Receipts()))
				assert.Empty(t, result.Rejected)
			})
		}
	}
}

// What the processor's tests replay gives the same verdicts here: state, reason,
// action and findings of every receipt, in order.
func TestGolden(t *testing.T) {
	const root = "../../../../processor/continuityprocessor/testdata/six"
	dirs, err := filepath.Glob(root + "/*/*")
	require.NoError(t, err)
	require.Len(t, dirs, 12)
	for _, dir := range dirs {
		t.Run(filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir), func(t *testing.T) {
			r := replay.New(replay.Options{})
			if filepath.Base(dir) == "traces" {
				in, err := golden.ReadTraces(filepath.Join(dir, "in.yaml"))
				require.NoError(t, err)
				r.AddTraces(in)
			} else {
				in, err := golden.ReadLogs(filepath.Join(dir, "in.yaml"))
				require.NoError(t, err)
				r.AddLogs(in)
			}
			result := r.Run()
			require.Len(t, result.Sessions, 1)
			want := receiptsOf(t, filepath.Join(dir, "out.logs.yaml"))
			require.NotEmpty(t, want)
			got := result.Sessions[0].Receipts()
			require.Len(t, got, len(want))
			for i := range want {
				assert.Equal(t, want[i].Str(semconv.BoundaryState), got[i].State)
				assert.Equal(t, want[i].Str(semconv.Reason), got[i].Reason)
				assert.Equal(t, want[i].Str(semconv.Action), got[i].Action)
				for name, said := range got[i].Invariants {
					assert.Equal(t, want[i].Str(semconv.InvariantState+name)+"/"+want[i].Str(semconv.InvariantReason+name), said, name)
				}
			}
		})
	}
}

type attributes struct{ pcommon.Map }

func (a attributes) Str(key string) string {
	v, _ := a.Get(key)
	return v.Str()
}

func receiptsOf(t *testing.T, file string) []attributes {
	t.Helper()
	logs, err := golden.ReadLogs(file)
	require.NoError(t, err)
	var out []attributes
	for _, rl := range logs.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, r := range sl.LogRecords().All() {
				if r.EventName() == semconv.EventBoundary {
					out = append(out, attributes{r.Attributes()})
				}
			}
		}
	}
	return out
}

const (
	one   = "sha256:78f44bc03942b04c397815f5c02792e62b0d9c28a1dd08aa9d49bf0ce3b94798"
	other = "sha256:7c23fbdb8fb4708d7e0f8f36af2e63443c6178bc8d6d913a337d960fec49b8d6"
)

var morning = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)

// record adds an event of session s; a negative time is none.
func record(ld plog.Logs, name string, at time.Duration, attrs map[string]any) {
	r := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	r.SetEventName(name)
	if at >= 0 {
		r.SetTimestamp(pcommon.NewTimestampFromTime(morning.Add(at)))
	}
	_ = r.Attributes().FromRaw(attrs) // strings and ints only
	if _, named := r.Attributes().Get(semconv.SessionID); !named {
		r.Attributes().PutStr(semconv.SessionID, "s")
	}
}

func scope(digest string, at time.Duration) map[string]any {
	return map[string]any{
		semconv.InvariantDigest + "scope": digest, semconv.InvariantSource + "scope": "agent",
		semconv.InvariantObservedAt + "scope": morning.Add(at).UnixNano(),
	}
}

// verdicts are the last verdicts of all boundaries.
func verdicts(result *replay.Result) (out []string) {
	for _, s := range result.Sessions {
		for _, b := range s.Boundaries {
			out = append(out, b.Last().Boundary.String()+"/"+string(b.Last().Reason))
		}
	}
	return out
}

func TestClock(t *testing.T) {
	for name, c := range map[string]struct {
		add  func(plog.Logs)
		o    replay.Options
		want []string
	}{
		"any order in the file": {func(ld plog.Logs) {
			record(ld, "continuity.observation", time.Minute, scope(one, time.Minute))
			record(ld, "continuity.snapshot", 0, scope(one, 0))
		}, replay.Options{}, []string{"preserved/match"}},
		"the window closes between": {func(ld plog.Logs) {
			record(ld, "continuity.snapshot", 0, scope(one, 0))
			record(ld, "continuity.compaction", 0, nil)
			record(ld, "continuity.snapshot", 20*time.Minute, scope(one, 20*time.Minute))
			record(ld, "continuity.compaction", 20*time.Minute, nil)
		}, replay.Options{}, []string{"unverified/post_observation_missing", "unverified/post_observation_missing"}},
		"a longer window": {func(ld plog.Logs) {
			record(ld, "continuity.snapshot", 0, scope(one, 0))
			record(ld, "continuity.observation", 20*time.Minute, scope(one, 20*time.Minute))
		}, replay.Options{Window: time.Hour}, []string{"preserved/match"}},
		"required and nowhere": {func(ld plog.Logs) {
			record(ld, "continuity.snapshot", 0, scope(one, 0))
			record(ld, "continuity.observation", time.Minute, scope(one, time.Minute))
		}, replay.Options{Required: []string{"target"}}, []string{"unverified/no_baseline"}},
		"an approval that ended before": {func(ld plog.Logs) {
			record(ld, "continuity.snapshot", 0, scope(one, 0))
			record(ld, "continuity.approval", 10*time.Second, map[string]any{
				semconv.ApprovalInvariant: "scope", semconv.ApprovalRef: "C-1", semconv.ApprovalFrom: one, semconv.ApprovalTo: other,
				semconv.ApprovalSource: "human", semconv.ApprovalExpiresAt: morning.Add(30 * time.Second).Format(time.RFC3339),
			})
			record(ld, "continuity.observation", time.Minute, scope(other, time.Minute))
		}, replay.Options{}, []string{"conflicting/approval_expired"}},
		"an approval in time": {func(ld plog.Logs) {
			record(ld, "continuity.snapshot", 0, scope(one, 0))
			record(ld, "continuity.approval", 10*time.Second, map[string]any{
				semconv.ApprovalInvariant: "scope", semconv.ApprovalRef: "C-1", semconv.ApprovalFrom: one, semconv.ApprovalTo: other,
				semconv.ApprovalSource: "human", semconv.ApprovalExpiresAt: morning.Add(2 * time.Minute).Format(time.RFC3339),
			})
			record(ld, "continuity.observation", time.Minute, scope(other, time.Minute))
		}, replay.Options{}, []string{"approved_change/approved_transition"}},
		"without a time, by its neighbor": {func(ld plog.Logs) {
			record(ld, "continuity.snapshot", -1, scope(one, 0))
			record(ld, "continuity.observation", time.Minute, scope(one, time.Minute))
		}, replay.Options{}, []string{"preserved/match"}},
		"no time anywhere": {func(ld plog.Logs) {
			record(ld, "continuity.snapshot", -1, scope(one, 0))
		}, replay.Options{}, []string{"unverified/post_observation_missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			ld := plog.NewLogs()
			c.add(ld)
			r := replay.New(c.o)
			r.AddLogs(ld)
			assert.Equal(t, c.want, verdicts(r.Run()))
		})
	}
}

func TestRejectedAndUntold(t *testing.T) {
	ld := plog.NewLogs()
	record(ld, "continuity.snapshot", 0, map[string]any{semconv.SessionID: "unknown"})
	record(ld, "continuity.approval", 0, map[string]any{semconv.ApprovalInvariant: "scope"})
	record(ld, "session.start", 0, nil)
	r := replay.New(replay.Options{})
	r.AddLogs(ld)
	result := r.Run()
	assert.Empty(t, result.Sessions, "of no session was anything compacted")
	assert.Len(t, result.Rejected, 2)
	assert.Equal(t, 1, result.Events)
	assert.Empty(t, replay.New(replay.Options{}).Run().Sessions)
}

// A session goes on under another id: its boundary is told under that.
func TestSessionThatGoesOn(t *testing.T) {
	ld := plog.NewLogs()
	record(ld, "continuity.snapshot", 0, scope(one, 0))
	record(ld, "session.start", time.Second, map[string]any{semconv.SessionID: "t", semconv.SessionPreviousID: "s"})
	look := scope(one, time.Minute)
	look[semconv.SessionID] = "t"
	record(ld, "continuity.observation", time.Minute, look)
	r := replay.New(replay.Options{})
	r.AddLogs(ld)
	result := r.Run()
	assert.Equal(t, []string{"preserved/match"}, verdicts(result))
}

// The event-only rule sees all that a session does, not only events.
func TestEventRule(t *testing.T) {
	for name, c := range map[string]struct {
		status ptrace.StatusCode
		want   string
	}{
		"works on": {ptrace.StatusCodeUnset, cases.RuleHealthy},
		"fails":    {ptrace.StatusCodeError, cases.RuleFailed},
	} {
		t.Run(name, func(t *testing.T) {
			ld := plog.NewLogs()
			record(ld, "continuity.snapshot", 0, scope(one, 0))
			td := ptrace.NewTraces()
			span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
			span.Attributes().PutStr(semconv.SessionID, "s")
			span.SetStartTimestamp(pcommon.NewTimestampFromTime(morning.Add(time.Minute)))
			span.Status().SetCode(c.status)
			r := replay.New(replay.Options{})
			r.AddLogs(ld)
			r.AddTraces(td)
			assert.Equal(t, c.want, r.Run().Sessions[0].EventRule)
		})
	}
	ld := plog.NewLogs()
	record(ld, "continuity.snapshot", 0, scope(one, 0))
	r := replay.New(replay.Options{})
	r.AddLogs(ld)
	assert.Equal(t, cases.RuleSilent, r.Run().Sessions[0].EventRule)
}

func TestDefaultsAreTheProcessors(t *testing.T) {
	assert.Equal(t, boundary.DefaultConfig().Window, replay.New(replay.Options{}).Window())
}
