package continuityprocessor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

const (
	// producers send in each signal, each of them plays sessions.
	producers = 64
	sessions  = 6
)

// play is what happens to one session: a decision is lost in one compaction, and
// there again after the next.
func play(session string, began time.Time) []event {
	at := func(s int) time.Time { return began.Add(time.Duration(s) * time.Second) }
	out := []event{
		snapshot(session, at(0), original()),
		plain(semconv.EventCompactionCompleted, session, at(5), map[string]any{semconv.CompactionOutcome: "completed"}),
		observation(session, at(10), original().without("scope")),
		snapshot(session, at(30), original()),
		plain(semconv.EventCompactionCompleted, session, at(35), map[string]any{semconv.CompactionOutcome: "completed"}),
		observation(session, at(40), original()),
	}
	for n := range out {
		out[n].attrs[semconv.EventID] = fmt.Sprint(session, "-", n)
	}
	return out
}

// Many producers in both signals at once. Every event of a session is sent in both
// of them at the same moment: one of the two is the duplicate. Each session ends
// with exactly its own receipts and alerts in both signals, and what is counted is
// what came out.
func TestManyProducers(t *testing.T) {
	for name, host := range map[string]func(t *testing.T) component.Host{
		"in memory": func(*testing.T) component.Host { return nil },
		"storage":   func(*testing.T) component.Host { return newStorageHost(newDisk()) },
		"indexed storage": func(*testing.T) component.Host {
			return newStorageHost(&disk{indexed: true, entries: map[string][]byte{}})
		},
		"file_storage": func(t *testing.T) component.Host { return newStorageHost(fileStorage(t, t.TempDir())) },
	} {
		t.Run(name, func(t *testing.T) { manyProducers(t, host(t)) })
	}
}

func manyProducers(t *testing.T, host component.Host) {
	tel, set, f, cfg := componenttest.NewTelemetry(), settings(), NewFactory(), defaultConfig()
	set.TelemetrySettings = tel.NewTelemetrySettings()
	if host == nil {
		host = componenttest.NewNopHost()
	} else {
		withStorage(cfg)
	}
	tracesOut, logsOut := newExporter(), newExporter()
	traces, err := f.CreateTraces(t.Context(), set, cfg, tracesOut)
	require.NoError(t, err)
	logs, err := f.CreateLogs(t.Context(), set, cfg, logsOut)
	require.NoError(t, err)
	for _, c := range []component.Component{traces, logs} {
		require.NoError(t, c.Start(t.Context(), host))
	}

	began := time.Now().Add(-time.Minute)
	steps := len(play("", began))
	var pairs sync.WaitGroup
	for n := range producers {
		pairs.Go(func() {
			for i := range sessions {
				for _, e := range play(fmt.Sprint("s-", n, "-", i), began) {
					var both sync.WaitGroup
					both.Go(func() {
						if err := traces.ConsumeTraces(context.Background(), spans(e)); err != nil {
							t.Error(err)
						}
					})
					both.Go(func() {
						if err := logs.ConsumeLogs(context.Background(), records(e)); err != nil {
							t.Error(err)
						}
					})
					both.Wait()
				}
			}
		})
	}
	pairs.Wait()

	const total = producers * sessions
	m := &measured{tel: tel}
	m.require(t, int64(total*steps), "events_duplicate")
	m.require(t, total, "sessions_used")
	m.require(t, 0, "boundaries_open")
	m.require(t, 0, "alerts_active")
	m.require(t, total, "sessions", "state", "preserved")
	require.NoError(t, errors.Join(traces.Shutdown(context.Background()), logs.Shutdown(context.Background())))
	m.require(t, total, "boundaries", "state", "dropped")
	m.require(t, total, "boundaries", "state", "preserved")
	m.require(t, total, "alerts", "kind", "decision_dropped", "status", "firing")
	m.require(t, total, "alerts", "kind", "decision_dropped", "status", "resolved")
	for _, name := range []string{"outbox_dropped", "outbox_refused", "storage_errors", "observations_late", "snapshots_superseded"} {
		m.require(t, 0, name)
	}
	for _, out := range []*exporter{tracesOut, logsOut} {
		require.Equal(t, map[string]int{"missing_after": total, "match": total}, out.reasons)
		require.Len(t, out.data, total)
		for id, n := range out.data {
			require.Equal(t, steps, n, id)
			require.Equal(t, 2, out.receipts[id+" 1"], "%s: a receipt for each boundary", id)
			require.Equal(t, 2, out.alerts[id+" 1"], "%s: it fired, and was resolved", id)
		}
		require.Len(t, out.receipts, total)
	}
	require.NoError(t, tel.Shutdown(context.Background()))
}
