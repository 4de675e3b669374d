package continuityprocessor

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
	"github.com/agentcontinuity/otelcol-continuity/processor/continuityprocessor/internal/metadata"
)

func mustCore(t *testing.T, cfg *Config) *boundary.Config {
	t.Helper()
	core, err := cfg.core()
	require.NoError(t, err)
	return core
}

func mustTelemetry(t *testing.T, cfg *Config) *telemetry {
	t.Helper()
	tel, err := newTelemetry(componenttest.NewNopTelemetrySettings(), cfg)
	require.NoError(t, err)
	return tel
}

// measured is one pipeline whose own metrics can be read.
type measured struct {
	processor.Traces
	tel *componenttest.Telemetry
}

func measure(t *testing.T, change ...func(*Config)) *measured {
	t.Helper()
	tel := componenttest.NewTelemetry()
	set := processortest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = tel.NewTelemetrySettings()
	p, err := NewFactory().CreateTraces(t.Context(), set, defaultConfig(change...), consumertest.NewNop())
	require.NoError(t, err)
	require.NoError(t, p.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() {
		require.NoError(t, p.Shutdown(context.Background()))
		require.NoError(t, tel.Shutdown(context.Background()))
	})
	return &measured{Traces: p, tel: tel}
}

// value is the sum of all points of a counter or gauge that have these labels.
func (m *measured) value(t *testing.T, name string, pairs ...string) (sum int64, points int) {
	t.Helper()
	got, err := m.tel.GetMetric("otelcol_processor_continuity_" + name)
	require.NoError(t, err)
	add := func(set attribute.Set, n int64) {
		for i := 0; i < len(pairs); i += 2 {
			if v, ok := set.Value(attribute.Key(pairs[i])); !ok || v.AsString() != pairs[i+1] {
				return
			}
		}
		sum += n
		points++
	}
	switch data := got.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, p.Value)
		}
	case metricdata.Gauge[int64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, p.Value)
		}
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, int64(p.Value))
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, int64(p.Count))
		}
	default:
		t.Fatalf("%s is %T", name, got.Data)
	}
	return sum, points
}

func (m *measured) require(t *testing.T, want int64, name string, pairs ...string) {
	t.Helper()
	got, points := m.value(t, name, pairs...)
	require.NotZero(t, points, "%s %v does not exist", name, pairs)
	require.Equal(t, want, got, "%s %v", name, pairs)
}

func TestCountersBeginAtZero(t *testing.T) {
	m := measure(t)
	for name, pairs := range map[string][]string{
		"boundaries": {"state", "conflicting", "coverage", "observed", "runtime", "claude_code"}, "alerts": {"kind", "decision_dropped", "status", "closed"},
		"compactions": {"outcome", "no_op", "runtime", "other", "trigger", "manual"}, "compaction_tokens": {"side", "after", "runtime", "opencode"},
		"boundary_activity": {"activity", "working", "state", "conflicting"}, "events_rejected": {"reason", "session_missing"}, "findings": {"reason", "match"},
		"events_duplicate": nil, "observations_late": nil, "snapshots_superseded": nil, "storage_errors": {"operation", "write"},
		"outbox_refused": {"signal", "traces"}, "outbox_dropped": {"signal", "logs"}, "boundaries_open": nil, "sessions": {"state", "dropped"},
		"sessions_used": nil, "alerts_active": {"kind", "reconciliation_required"}, "outbox_length": {"signal", "traces"},
	} {
		m.require(t, 0, name, pairs...)
	}
	m.require(t, 100_000, "sessions_limit")
	m.require(t, 100_000, "outbox_limit")
}

func TestWhatIsCounted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := measure(t)
		consume := func(events ...event) { require.NoError(t, m.ConsumeTraces(t.Context(), spans(events...))) }
		known, unknown := snapshot("s-1", morning, original()), snapshot("s-2", morning, original())
		known.attrs[semconv.Runtime], unknown.attrs[semconv.Runtime] = "claude_code", "my secret project"
		consume(known, unknown)
		consume(known)
		m.require(t, 1, "events_duplicate")
		m.require(t, 2, "boundaries_open")
		m.require(t, 2, "sessions_used")
		time.Sleep(time.Minute)
		consume(observation("s-1", time.Now(), original().with("scope", "x")))
		m.require(t, 1, "boundaries", "state", "conflicting", "coverage", "observed", "runtime", "claude_code")
		m.require(t, 1, "findings", "reason", "changed_without_approval")
		m.require(t, 2, "findings", "reason", "match")
		m.require(t, 1, "alerts", "kind", "decision_conflicting", "status", "firing")
		m.require(t, 1, "alerts_active", "kind", "decision_conflicting")
		m.require(t, 1, "sessions", "state", "conflicting")
		m.require(t, 1, "boundary_duration", "state", "conflicting")
		m.require(t, 1, "time_to_observation", "runtime", "claude_code")
		time.Sleep(time.Hour)
		m.require(t, 1, "boundaries", "state", "unverified", "coverage", "baseline", "runtime", "other")
		m.require(t, 0, "boundaries_open")
		consume(observation("", time.Now(), original()))
		m.require(t, 1, "events_rejected", "reason", "session_missing")
		synctest.Wait()
		m.require(t, 0, "outbox_length", "signal", "traces")
		got, err := m.tel.GetMetric("otelcol_processor_continuity_boundaries")
		require.NoError(t, err)
		for _, p := range got.Data.(metricdata.Sum[int64]).DataPoints {
			v, _ := p.Attributes.Value("runtime")
			require.NotContains(t, v.AsString(), "secret")
		}
	})
}

// A compaction that a hook and the agent both tell of counts once, and its tokens
// with whoever knows them.
func TestCompactionsAreCounted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := measure(t)
		end := func(session, trigger string, more map[string]any) {
			attrs := map[string]any{semconv.Runtime: "claude_code", semconv.CompactionOutcome: "completed"}
			if trigger != "" {
				attrs[semconv.CompactionTrigger] = trigger
			}
			maps.Copy(attrs, more)
			require.NoError(t, m.ConsumeTraces(t.Context(), spans(event{"continuity.compaction", session, time.Now(), attrs, nil})))
		}
		tokens := map[string]any{semconv.TokensBefore: 1000, semconv.TokensAfter: 100}
		end("s-1", "auto", nil)
		time.Sleep(20 * time.Millisecond)
		end("s-1", "auto", tokens)
		m.require(t, 1, "compactions", "outcome", "completed", "runtime", "claude_code", "trigger", "auto")
		m.require(t, 1000, "compaction_tokens", "side", "before", "runtime", "claude_code")
		m.require(t, 100, "compaction_tokens", "side", "after", "runtime", "claude_code")

		time.Sleep(time.Minute)
		end("s-1", "manual", tokens)
		m.require(t, 1, "compactions", "outcome", "completed", "runtime", "claude_code", "trigger", "manual")
		m.require(t, 1, "compaction_interval", "runtime", "claude_code")
		m.require(t, 2000, "compaction_tokens", "side", "before", "runtime", "claude_code")

		end("s-2", "", map[string]any{semconv.TokensAfter: 7})
		end("s-3", "because I say so", map[string]any{semconv.CompactionOutcome: "failed", semconv.TokensBefore: 5, semconv.TokensAfter: 5})
		m.require(t, 1, "compactions", "outcome", "completed", "trigger", "unknown")
		m.require(t, 1, "compactions", "outcome", "failed", "trigger", "other")
		m.require(t, 1, "compaction_interval", "runtime", "claude_code")
		m.require(t, 2000, "compaction_tokens", "side", "before")
	})
}

func TestOpenBoundariesAreCounted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := measure(t, func(c *Config) {
			c.Window = 4 * time.Hour
			c.Runtimes["codex_cli"] = RuntimeConfig{Enabled: true, Window: time.Minute}
		})
		consume := func(events ...event) { require.NoError(t, m.ConsumeTraces(t.Context(), spans(events...))) }
		m.require(t, 0, "boundaries_open_age", "age", "older", "window", "parked")
		m.require(t, 4*60*60, "window", "runtime", "claude_code")
		m.require(t, 60, "window", "runtime", "codex_cli")
		consume(snapshot("s-1", time.Now(), original()))
		time.Sleep(2 * time.Hour)
		consume(snapshot("s-2", time.Now(), original()), snapshot("s-3", time.Now(), original()))
		time.Sleep(time.Minute)
		consume(event{"session.end", "s-3", time.Now(), nil, nil})
		m.require(t, 1, "boundaries_open_age", "age", "1d", "window", "running")
		m.require(t, 1, "boundaries_open_age", "age", "1m", "window", "running")
		m.require(t, 1, "boundaries_open_age", "age", "1m", "window", "parked")
		m.require(t, 3, "boundaries_open_age")
		m.require(t, 2*60*60+60, "boundaries_open_oldest", "window", "running")
		m.require(t, 60, "boundaries_open_oldest", "window", "parked")
		m.require(t, 0, "boundaries_open_oldest", "window", "waiting")
	})
}

// What an agent was doing and what became of its decisions are two things.
func TestActivityIsCountedBesideState(t *testing.T) {
	m := measure(t)
	for session, activity := range map[string]string{"s-1": "working", "s-2": "waiting_human", "s-3": "dreaming", "s-4": ""} {
		look := observation(session, time.Now(), original())
		look.attrs[semconv.ActivityState] = activity
		require.NoError(t, m.ConsumeTraces(t.Context(), spans(snapshot(session, time.Now().Add(-time.Minute), original()), look)))
	}
	for _, activity := range activities {
		m.require(t, 1, "boundary_activity", "activity", activity, "state", "preserved")
	}
}

func TestCapacityIsCounted(t *testing.T) {
	m := measure(t, func(c *Config) { c.Limits.Sessions = 1 })
	require.NoError(t, m.ConsumeTraces(t.Context(), spans(snapshot("s-1", time.Now(), original()), snapshot("s-2", time.Now(), original()))))
	m.require(t, 1, "events_rejected", "reason", "capacity")
	m.require(t, 1, "sessions_used")
}

// Every reason of the vocabulary is counted from zero, but for those that only
// annotations and validations have.
func TestEveryReasonIsCounted(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "internal", "classify", "reason.go"), nil, 0)
	require.NoError(t, err)
	counted := map[string]bool{"awaiting_snapshot": true, "continuity_validated": true}
	for _, r := range slices.Concat(findingReasons, rejections) {
		counted[string(r)] = true
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == "Reason" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			require.True(t, counted[text], text)
			found++
		}
		return true
	})
	require.Greater(t, found, 50)
}

func TestFleet(t *testing.T) {
	f := newFleet(2, false)
	require.True(t, f.TakeSession())
	require.True(t, f.TakeSession())
	require.False(t, f.TakeSession())
	f.GiveSession()
	require.True(t, f.TakeSession())

	require.False(t, f.Seen("a", "x", boundary.ReportsCompletions))
	f.Saw("a", "x", boundary.ReportsCompletions)
	require.True(t, f.Seen("a", "x", boundary.ReportsCompletions))
	require.False(t, f.Seen("b", "x", boundary.ReportsCompletions))
	require.False(t, f.Seen("a", "x", boundary.ReportsActivity))
	for n := range maxHabits + 10 {
		f.Saw(string(rune(n)), "y", boundary.ReportsActivity)
	}
	require.EqualValues(t, maxHabits, f.held.Load(), "senders choose the names")
}
