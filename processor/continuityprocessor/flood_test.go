package continuityprocessor

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
	"github.com/agentcontinuity/otelcol-continuity/processor/continuityprocessor/internal/metadata"
)

// flooded is a logs pipeline whose own metrics can be read.
type flooded struct {
	measured
	logs processor.Logs
}

func newFlooded(t testing.TB, change ...func(*Config)) *flooded {
	t.Helper()
	f := &flooded{measured: measured{tel: componenttest.NewTelemetry()}}
	set := processortest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = f.tel.NewTelemetrySettings()
	cfg := defaultConfig(change...)
	require.NoError(t, cfg.Validate())
	var err error
	f.logs, err = NewFactory().CreateLogs(t.Context(), set, cfg, consumertest.NewNop())
	require.NoError(t, err)
	require.NoError(t, f.logs.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() {
		require.NoError(t, f.logs.Shutdown(context.Background()))
		require.NoError(t, f.tel.Shutdown(context.Background()))
	})
	return f
}

// send plays records by number, from first up to n, in batches of one sender.
func (f *flooded) send(t testing.TB, tenant func(batch int) string, first, n int, fill func(i int, record plog.LogRecord)) {
	const batch = 2000
	for at := first; at < n; at += batch {
		ld := plog.NewLogs()
		rl := ld.ResourceLogs().AppendEmpty()
		rl.Resource().Attributes().PutStr("service.name", "flood")
		records := rl.ScopeLogs().AppendEmpty().LogRecords()
		records.EnsureCapacity(batch)
		for i := at; i < min(at+batch, n); i++ {
			fill(i, records.AppendEmpty())
		}
		ctx := t.Context()
		if tenant != nil {
			ctx = client.NewContext(ctx, client.Info{Metadata: client.NewMetadata(map[string][]string{"x-tenant": {tenant(at / batch)}})})
		}
		require.NoError(t, f.logs.ConsumeLogs(ctx, ld))
	}
}

// told sends one event and returns what is annotated beside it.
func (f *flooded) told(t testing.TB, e event) map[string]any {
	ld := records(e)
	require.NoError(t, f.logs.ConsumeLogs(t.Context(), ld))
	return recordsOf(ld)[0].Attributes().AsRaw()
}

func heapNow() int {
	runtime.GC()
	runtime.GC() // what sync.Pools hold goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func named(record plog.LogRecord, name, session string, at time.Time) pcommon.Map {
	record.SetEventName(name)
	record.SetTimestamp(pcommon.NewTimestampFromTime(at))
	record.Attributes().PutStr(semconv.SessionID, session)
	return record.Attributes()
}

// stateOf puts n invariants into the attributes of an event.
func stateOf(attrs pcommon.Map, n int, at time.Time) {
	attrs.PutInt(semconv.ObservedAt, at.UnixNano())
	attrs.PutStr(semconv.Source, "agent")
	for i := range n {
		attrs.PutStr(semconv.InvariantDigest+"constraint.c"+strconv.Itoa(i), someDigest)
	}
}

var someDigest = digestOf("some value")

// One sender makes up session ids, with the default limits. Memory stops growing
// where the sessions are, the baseline that was open before is decided as if nothing
// had happened, and who was refused is told and counted.
//
// CONTINUITY_FLOOD=5000000 plays that many; by default it is a twentieth, and
// fewer, with fewer sessions, with the race detector.
func TestFloodOfIDs(t *testing.T) {
	limit, first, total := int64(defaultSessions), 150_000, 250_000
	if raced || testing.Short() {
		limit, first, total = 5_000, 10_000, 30_000
	}
	if n, err := strconv.Atoi(os.Getenv("CONTINUITY_FLOOD")); err == nil {
		total = n
	}
	f := newFlooded(t, func(c *Config) { c.Limits.Sessions = int(limit) })
	now := time.Now()
	require.Contains(t, f.told(t, snapshot("victim", now, original())), semconv.BoundaryID)
	fill := func(i int, record plog.LogRecord) {
		stateOf(named(record, semconv.EventSnapshot, "flood-"+strconv.Itoa(i), now), 5, now)
	}
	empty, start := heapNow(), time.Now()
	f.send(t, nil, 0, first, fill)
	full := heapNow()
	f.send(t, nil, first, total, fill)
	after := heapNow()
	t.Logf("%d ids in %s; heap %d MiB, after %d ids %d MiB, after all %d MiB", total, time.Since(start).Round(time.Millisecond),
		empty>>20, first, full>>20, after>>20)
	require.Less(t, after-full, 16<<20, "nothing is kept of who was refused")

	used, _ := f.value(t, "memory_used")
	held, _ := f.value(t, "sessions_used")
	refused, _ := f.value(t, "events_rejected", "reason", "capacity")
	reached, _ := f.value(t, "limits_reached")
	require.LessOrEqual(t, held, limit)
	require.Equal(t, int64(total+1)-held, refused)
	require.Equal(t, refused, reached, "each with the limit that it met")
	require.InDelta(t, full-empty, used, float64(full-empty)/2, "the estimate is near the truth")
	late := f.told(t, snapshot("one too many", now, original()))
	require.Equal(t, "unverified", late[semconv.State])
	require.Equal(t, "capacity", late[semconv.Reason])
	told := f.told(t, observation("victim", now.Add(time.Second), original().without("approval_boundary")))
	require.Equal(t, "dropped", told[semconv.State])
	require.Equal(t, "missing_after", told[semconv.Reason])
}

// Other floods, with a small limit: n events each, of which every one could be
// another session, agent or tenant.
func TestFloods(t *testing.T) {
	limit, n := 1000, 20_000
	if raced {
		limit, n = 300, 4000 // more sessions than one may have agents
	}
	now := time.Now()
	id := func(i int) string { return "flood-" + strconv.Itoa(i) }
	for _, flood := range []struct {
		name   string
		tenant func(batch int) string
		fill   func(i int, record plog.LogRecord)
		// limit is the one that is reached.
		limit string
	}{
		{"observations", nil, func(i int, r plog.LogRecord) {
			stateOf(named(r, semconv.EventObservation, id(i), now), 5, now)
		}, "sessions"},
		{"completions", nil, func(i int, r plog.LogRecord) {
			named(r, semconv.EventContinuityCompaction, id(i), now)
		}, "sessions"},
		{"approvals", nil, func(i int, r plog.LogRecord) {
			attrs := named(r, semconv.EventApproval, id(i), now)
			attrs.PutStr(semconv.ApprovalInvariant, "scope")
			attrs.PutStr(semconv.ApprovalRef, "r")
			attrs.PutStr(semconv.ApprovalFrom, someDigest)
			attrs.PutStr(semconv.ApprovalTo, "none")
		}, "sessions"},
		{"approvals of one session", nil, func(i int, r plog.LogRecord) {
			attrs := named(r, semconv.EventApproval, "one", now)
			attrs.PutStr(semconv.ApprovalInvariant, "scope")
			attrs.PutStr(semconv.ApprovalRef, id(i))
			attrs.PutStr(semconv.ApprovalSource, "human")
			attrs.PutStr(semconv.ApprovalFrom, someDigest)
			attrs.PutStr(semconv.ApprovalTo, "none")
		}, "approvals"},
		{"starts with links", nil, func(i int, r plog.LogRecord) {
			named(r, semconv.EventSessionStart, id(i+1), now).PutStr(semconv.SessionPreviousID, id(i))
		}, ""},
		{"snapshots that are linked in a chain", nil, func(i int, r plog.LogRecord) {
			attrs := named(r, semconv.EventSnapshot, id(i+1), now)
			attrs.PutStr(semconv.SessionPreviousID, id(i))
			stateOf(attrs, 5, now)
		}, ""},
		{"sub-agents of one session", nil, func(i int, r plog.LogRecord) {
			attrs := named(r, semconv.EventSnapshot, "one", now)
			attrs.PutStr(semconv.AgentID, id(i))
			stateOf(attrs, 5, now)
		}, "agents"},
		{"boundaries of one session", nil, func(i int, r plog.LogRecord) {
			named(r, semconv.EventContinuityCompaction, "one", now).PutStr(semconv.BoundaryID, id(i))
		}, "boundaries"},
		{"tenants and runtimes", func(batch int) string { return fmt.Sprint("tenant ", batch) }, func(i int, r plog.LogRecord) {
			attrs := named(r, semconv.EventContinuityCompaction, id(i%10), now)
			attrs.PutStr(semconv.Runtime, id(i))
			attrs.PutStr(semconv.EventID, id(i))
		}, "runtimes"},
	} {
		t.Run(flood.name, func(t *testing.T) {
			f := newFlooded(t, func(c *Config) {
				c.Limits.Sessions, c.MetadataKeys = limit, []string{"x-tenant"}
			})
			require.Contains(t, f.told(t, snapshot("victim", now, original())), semconv.BoundaryID)
			f.send(t, flood.tenant, 0, n/2, flood.fill)
			half := heapNow()
			f.send(t, flood.tenant, n/2, n, flood.fill)
			grown := heapNow() - half
			used, _ := f.value(t, "sessions_used")
			reached, _ := f.value(t, "limits_reached", "limit", flood.limit)
			t.Logf("grown by %d KiB in the second half, %d sessions", grown>>10, used)
			require.Less(t, grown, 4<<20)
			require.LessOrEqual(t, used, int64(limit))
			if flood.limit != "" && (flood.limit != "runtimes" || n > maxHabits) {
				require.NotZero(t, reached)
			}
			told := f.told(t, observation("victim", now.Add(time.Second), original().with("scope", "x")))
			require.Equal(t, "conflicting", told[semconv.State])
		})
	}
}

// What a session takes that has one open boundary with five invariants.
func BenchmarkOpenBoundary(b *testing.B) {
	const n = 20_000
	now := time.Now()
	for b.Loop() {
		b.StopTimer()
		f := newFlooded(b)
		before := heapNow()
		b.StartTimer()
		f.send(b, nil, 0, n, func(i int, record plog.LogRecord) {
			stateOf(named(record, semconv.EventSnapshot, "flood-"+strconv.Itoa(i), now), 5, now)
		})
		b.StopTimer()
		held, err := f.tel.GetMetric("otelcol_processor_continuity_memory_used")
		require.NoError(b, err)
		b.ReportMetric(float64(heapNow()-before)/n, "B/session")
		b.ReportMetric(float64(held.Data.(metricdata.Gauge[int64]).DataPoints[0].Value)/n, "estimated-B/session")
		b.StartTimer()
	}
}
