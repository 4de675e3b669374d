package continuityprocessor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pipeline"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

var errDisk = errors.New("no space left")

func refuse(c *Config) { c.OnStorageError = StorageErrorRefuse }

func entryOf(session string) string {
	return sessionEntry(boundary.SessionKey{Session: session})
}

// Whatever many senders do at once: what goes on is stored, a receipt that is
// handed on is too, and many requests share a transaction.
func TestGroupCommit(t *testing.T) {
	d := newDisk()
	has := func(key string) bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.entries[key] != nil
	}
	next, err := consumer.NewTraces(func(_ context.Context, td ptrace.Traces) error {
		if isReceipts(td) {
			if len(d.keys(owedPrefix+"traces/")) == 0 {
				t.Error("a receipt was handed on before it was stored")
			}
			return nil
		}
		id, _ := spansOf(td)[0].Attributes().Get(semconv.SessionID)
		if !has(entryOf(id.Str())) {
			t.Errorf("%s went on before it was stored", id.Str())
		}
		return nil
	})
	require.NoError(t, err)
	p, err := NewFactory().CreateTraces(t.Context(), settings(), defaultConfig(withStorage), next)
	require.NoError(t, err)
	require.NoError(t, p.Start(t.Context(), newStorageHost(d)))

	const senders, rounds = 32, 20
	began := time.Now()
	var wg sync.WaitGroup
	for n := range senders {
		wg.Go(func() {
			for i := range rounds {
				id := fmt.Sprint("s-", n, "-", i)
				for _, e := range []event{snapshot(id, began.Add(-time.Minute), original()), observation(id, began, original())} {
					if err := p.ConsumeTraces(context.Background(), spans(e)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	left := d.copied() // a kill
	require.Less(t, d.written(), 2*senders*rounds, "requests share transactions")
	require.NoError(t, p.Shutdown(t.Context()))
	require.Empty(t, d.keys(owedPrefix))

	again := durable(t, newStorageHost(left))
	require.NoError(t, again.traces.ConsumeTraces(t.Context(), spans(observation("s-0-0", began, original()))))
	got := spansOf(again.lastTraces())[0].Events().At(0).Attributes().AsRaw()
	require.Equal(t, "preserved", got[semconv.State], "the same event gets the same annotation")
	require.Len(t, left.keys(sessionPrefix), senders*rounds)
}

// A session that is moved from one shard to another while the writer goes
// through them is stored once in every transaction.
func TestLinksAreStoredOnce(t *testing.T) {
	d := newDisk()
	p, err := NewFactory().CreateTraces(t.Context(), settings(), defaultConfig(withStorage), consumertest.NewNop())
	require.NoError(t, err)
	require.NoError(t, p.Start(t.Context(), newStorageHost(d)))
	const senders, rounds = 16, 20
	var wg sync.WaitGroup
	for n := range senders {
		wg.Go(func() {
			for i := range rounds {
				id := fmt.Sprint(n, "-", i)
				link := snapshot("new-"+id, time.Now(), original())
				link.attrs[semconv.SessionPreviousID] = "old-" + id
				for _, e := range []event{snapshot("old-"+id, time.Now(), original()), link} {
					if err := p.ConsumeTraces(context.Background(), spans(e)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, p.Shutdown(t.Context()))
	stored := map[string]bool{}
	for _, batch := range d.batches {
		for _, op := range batch {
			stored[op.Key] = op.Type == storage.Set
		}
		for n := range senders {
			for i := range rounds {
				id := fmt.Sprint(n, "-", i)
				before, known := stored[entryOf("old-"+id)]
				if known && before == stored[entryOf("new-"+id)] {
					t.Fatalf("session %s: old %t, new %t", id, before, stored[entryOf("new-"+id)])
				}
			}
		}
	}
}

// measuredDurable is a durable pair whose metrics and log can be read.
func measuredDurable(t *testing.T, host component.Host, change ...func(*Config)) (*pipelines, *measured, *observer.ObservedLogs) {
	t.Helper()
	tel, set := componenttest.NewTelemetry(), settings()
	core, logs := observer.New(zap.InfoLevel)
	set.TelemetrySettings = tel.NewTelemetrySettings()
	set.Logger = zap.New(core)
	t.Cleanup(func() { require.NoError(t, tel.Shutdown(context.Background())) })
	return durableWith(t, set, host, change...), &measured{tel: tel}, logs
}

var recoverable, ok = componentstatus.StatusRecoverableError, componentstatus.StatusOK

// A disk that fails stops nothing; when it works again, everything is stored.
func TestFailingDiskPasses(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := newDisk()
		host := newStorageHost(d)
		p, m, logs := measuredDurable(t, host)
		traced(snapshot("before", time.Now(), original()))(t, p)
		d.set(errDisk, nil)
		began := time.Now()
		for n := range 10 {
			send(t, p, fmt.Sprint("s-", n))
		}
		synctest.Wait()
		require.Equal(t, began, time.Now(), "nobody waits for the next attempt")
		require.Len(t, p.receipts(), 10, "alerts are not silenced")
		require.Len(t, p.records(semconv.EventBoundary), 10)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Equal(t, []componentstatus.Status{recoverable, recoverable}, host.statuses(), "each pipeline, once")
		require.ErrorIs(t, host.events[0].Err(), errDisk)
		errs, _ := m.value(t, "storage_errors", "operation", "write")
		require.Greater(t, errs, int64(18))
		require.Less(t, errs, int64(40))
		require.Equal(t, 1, logs.FilterMessageSnippet("State cannot be stored").Len())
		require.Equal(t, []string{entryOf("before")}, d.keys(sessionPrefix))

		d.set(nil, nil)
		time.Sleep(retryPause)
		synctest.Wait()
		require.Equal(t, []componentstatus.Status{recoverable, recoverable, ok, ok}, host.statuses())
		require.Len(t, d.keys(sessionPrefix), 11)
		require.Empty(t, d.keys(owedPrefix), "what was handed on meanwhile is not stored any more")
		require.Equal(t, 1, logs.FilterMessageSnippet("State is stored again").Len())
		again := durable(t, newStorageHost(d.copied()))
		logged(observation("before", time.Now(), original()))(t, again)
		synctest.Wait()
		require.Len(t, again.receipts(), 1)
	})
}

// A request that is refused reached nobody; sent again, it counts once.
func TestFailingDiskRefuses(t *testing.T) {
	inForms(t, func(t *testing.T, f form) {
		d := newDisk()
		p := durable(t, newStorageHost(d), refuse)
		before, after := snapshot("s-1", time.Now().Add(-time.Minute), original()), observation("s-1", time.Now(), original())
		consume := func(ctx context.Context) error {
			if f.name == "logs" {
				return p.logs.ConsumeLogs(ctx, records(before, after))
			}
			return p.traces.ConsumeTraces(ctx, spans(before, after))
		}
		d.set(errDisk, nil)
		for range 3 {
			err := consume(t.Context())
			require.ErrorIs(t, err, errDisk)
			require.False(t, consumererror.IsPermanent(err))
		}
		require.NoError(t, p.traces.ConsumeTraces(t.Context(), busySpans(1)), "what is no event is not stored")
		require.Equal(t, 1, p.tracesOut.SpanCount()-len(p.receipts()))
		d.set(nil, nil)
		require.NoError(t, consume(t.Context()))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Len(t, p.receipts(), 1)
		require.Len(t, p.records(semconv.EventBoundary), 1)
		require.Equal(t, 2+2+1, p.tracesOut.SpanCount()+p.logsOut.LogRecordCount(), "it, and each receipt, once")
	})
}

// A disk that hangs is waited for once; then everything goes on without it.
func TestHangingDisk(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := newDisk()
		host := newStorageHost(d)
		p := durable(t, host)
		hang := make(chan struct{})
		d.set(nil, hang)
		began := time.Now()
		send(t, p, "s-1")
		require.Equal(t, patience, time.Since(began))
		for n := range 10 {
			send(t, p, fmt.Sprint("t-", n))
		}
		synctest.Wait()
		require.Equal(t, patience, time.Since(began))
		require.Len(t, p.receipts(), 11)
		require.Equal(t, []componentstatus.Status{recoverable, recoverable}, host.statuses())
		d.set(nil, nil)
		close(hang)
		synctest.Wait()
		require.Equal(t, []componentstatus.Status{recoverable, recoverable, ok, ok}, host.statuses())
		require.Len(t, d.keys(sessionPrefix), 11)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Empty(t, d.keys(owedPrefix))
	})
}

// Who waits for the disk stops waiting when nobody waits for him any more.
func TestWaitHonoursItsContext(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		for _, policy := range []func(*Config){refuse, func(*Config) {}} {
			d := newDisk()
			p := durable(t, newStorageHost(d), policy)
			hang := make(chan struct{})
			d.set(nil, hang)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			began := time.Now()
			err := p.traces.ConsumeTraces(ctx, spans(snapshot("s-1", time.Now(), original())))
			require.Equal(t, time.Second, time.Since(began))
			if cancel(); err != nil {
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			require.Equal(t, err == nil, p.tracesOut.SpanCount() == 1)
			d.set(nil, nil)
			close(hang)
		}
	})
}

func TestShutdownOfHangingDisk(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d, set := newDisk(), settings()
		p, err := NewFactory().CreateTraces(t.Context(), set, defaultConfig(withStorage), consumertest.NewNop())
		require.NoError(t, err)
		require.NoError(t, p.Start(t.Context(), newStorageHost(d)))
		hang := make(chan struct{})
		d.set(nil, hang)
		require.NoError(t, p.ConsumeTraces(t.Context(), spans(snapshot("s-1", time.Now(), original()))))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		require.ErrorIs(t, p.Shutdown(ctx), errStorageStuck)
		require.LessOrEqual(t, time.Since(began), time.Second+2*joinTime)
		require.NoError(t, p.Shutdown(ctx))
		require.Equal(t, 1, d.open)
		close(hang)
		synctest.Wait()
		require.Zero(t, d.open, "closed when it answers")
		require.Len(t, d.keys(sessionPrefix), 1)
	})
}

// While writing fails, what comes and goes leaves nothing behind; while it hangs,
// only what may be written by the transaction that hangs.
func TestSickDiskHoldsNothingOfThePast(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		hang := make(chan struct{})
		defer close(hang)
		require.Empty(t, leftBySickDisk(t, errDisk, nil))
		require.Len(t, leftBySickDisk(t, nil, hang), 1)
	})
}

func leftBySickDisk(t *testing.T, fault error, hang chan struct{}) map[string]*storage.Operation {
	d := newDisk()
	s := &store{tel: mustTelemetry(t, defaultConfig()), logger: zap.NewNop(), outbox: newOutbox(10), report: func(error) {}}
	s.outbox.stored = true
	s.state = newState(mustCore(t, defaultConfig(withStorage)), 10, s.outbox, s.tel)
	client, err := d.GetClient(t.Context(), component.KindProcessor, processorID, "")
	require.NoError(t, err)
	w := newWriter(s, client)
	l := s.outbox.attach(pipeline.SignalTraces)
	d.set(fault, hang)
	for n := range 1000 {
		one := numbered(0, n, n)
		toStore, _ := s.outbox.hold(pointers(one))
		w.set(owedEntry(toStore[0]), []byte("receipt"))
		require.Error(t, w.write())
		s.outbox.release()
		l.taken(1)
		w.collect()
	}
	return w.pending
}

// A lane that is full refuses with storage too; a pipeline with two troubles is
// well when both are over.
func TestTwoTroubles(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d, set, next := newDisk(), settings(), &moody{}
		tel := componenttest.NewTelemetry()
		set.TelemetrySettings = tel.NewTelemetrySettings()
		p, err := NewFactory().CreateTraces(t.Context(), set, defaultConfig(withStorage, func(c *Config) { c.Limits.Sessions = 3 }), next)
		require.NoError(t, err)
		host := newStorageHost(d)
		require.NoError(t, p.Start(t.Context(), host))
		next.set(func(_ context.Context, got []int64) error {
			if got[0] == 0 { // what passes
				return nil
			}
			return errBusy
		})
		for range 5 {
			require.NoError(t, p.ConsumeTraces(t.Context(), spans(
				snapshot("s-1", time.Now(), original()), observation("s-1", time.Now().Add(time.Second), original()))))
			time.Sleep(time.Minute)
		}
		require.Len(t, d.keys(owedPrefix), 3)
		(&measured{tel: tel}).require(t, 2, "outbox_dropped", "signal", "traces")
		require.Equal(t, []componentstatus.Status{recoverable}, host.statuses())
		d.set(errDisk, nil)
		require.NoError(t, p.ConsumeTraces(t.Context(), spans(snapshot("s-2", time.Now(), original()))))
		require.ErrorContains(t, host.events[1].Err(), "outbox of traces is full")
		require.ErrorIs(t, host.events[1].Err(), errDisk)
		next.set(nil)
		time.Sleep(time.Minute)
		require.Equal(t, []componentstatus.Status{recoverable, recoverable, recoverable}, host.statuses())
		d.set(nil, nil)
		time.Sleep(time.Minute)
		require.Equal(t, []componentstatus.Status{recoverable, recoverable, recoverable, ok}, host.statuses())
		require.NoError(t, p.Shutdown(t.Context()))
		require.NoError(t, tel.Shutdown(t.Context()))
	})
}

// A transaction that fails after it hung is tried again like any other.
func TestDiskHangsThenFails(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := newDisk()
		host := newStorageHost(d)
		p := durable(t, host)
		hang := make(chan struct{})
		d.set(nil, hang)
		send(t, p, "s-1")
		d.set(errDisk, nil)
		close(hang)
		synctest.Wait()
		require.Empty(t, d.keys(""))
		send(t, p, "s-2")
		require.Equal(t, []componentstatus.Status{recoverable, recoverable}, host.statuses())
		d.set(nil, nil)
		time.Sleep(retryPause)
		synctest.Wait()
		require.Equal(t, []componentstatus.Status{recoverable, recoverable, ok, ok}, host.statuses())
		require.Len(t, d.keys(sessionPrefix), 2)
	})
}

// What a processor is sent before its start and after its end is nobody's plan;
// nothing of it is believed to be stored.
func TestOutsideOfItsLife(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := newDisk()
		p, err := NewFactory().CreateTraces(t.Context(), settings(), defaultConfig(withStorage, refuse), consumertest.NewNop())
		require.NoError(t, err)
		require.NoError(t, p.ConsumeTraces(t.Context(), spans(snapshot("s-1", time.Now(), original()))))
		require.NoError(t, p.Start(t.Context(), newStorageHost(d)))
		require.NoError(t, p.ConsumeTraces(t.Context(), spans(snapshot("s-2", time.Now(), original()))))
		require.Len(t, d.keys(sessionPrefix), 2)
		require.NoError(t, p.Shutdown(t.Context()))
		require.ErrorIs(t, p.ConsumeTraces(t.Context(), spans(snapshot("s-3", time.Now(), original()))), errStorageClosed)
	})
}

// What cannot be read is kept aside, and the rest is loaded.
func TestUnreadableIsKeptAside(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		inBubble(t, func(t *testing.T) {
			d := newDisk()
			d.indexed = indexed
			p := durable(t, newStorageHost(d))
			for _, id := range []string{"s-1", "s-2", "s-3"} {
				traced(snapshot(id, time.Now(), original()))(t, p)
			}
			p.stop()
			bad := map[string][]byte{
				entryOf("s-2"):                            d.entries[entryOf("s-2")][:20],
				sessionPrefix + "other":                   d.entries[entryOf("s-3")],
				owedPrefix + "traces/0000000000000007":    []byte("?"),
				owedPrefix + "metrics/0000000000000007":   []byte("?"),
				owedPrefix + "logs/7":                     []byte("?"),
				habitPrefix + "00":                        {habitVersion, 0, 0},
				habitEntry(habitKey{runtime: "x"}):        {habitVersion, 9, 0},
				entryOf("s-4"):                            nil,
				entryOf("the next version's own session"): append([]byte{200}, d.entries[entryOf("s-1")][1:]...),
			}
			x := keyIndex{}
			for key := range d.entries {
				x.note(key, true)
			}
			for key, value := range bad {
				if value == nil {
					value = []byte{}
				}
				bad[key], d.entries[key] = value, value
				x.note(key, true)
			}
			for name := range x {
				if indexed && name != indexPrefix {
					d.entries[name] = x.encode(name)
				}
			}
			d.entries["z/of somebody else"] = []byte("z")

			p, m, logs := measuredDurable(t, newStorageHost(d))
			time.Sleep(retryPause)
			synctest.Wait()
			m.require(t, int64(len(bad)), "storage_errors", "operation", "decode")
			require.Equal(t, 1, logs.FilterMessageSnippet("A stored entry cannot be read").Len())
			require.Len(t, d.keys(asidePrefix), len(bad))
			for key, value := range bad {
				require.Equal(t, string(value), string(d.entries[asideEntry(key, value)]), key)
				require.NotContains(t, d.keys(""), key)
			}
			require.Contains(t, d.keys(""), "z/of somebody else")
			for _, id := range []string{"s-1", "s-3"} {
				logged(observation(id, time.Now(), original()))(t, p)
			}
			synctest.Wait()
			require.Len(t, p.receipts(), 2)
			p.stop()

			_, m, _ = measuredDurable(t, newStorageHost(d))
			m.require(t, 0, "storage_errors", "operation", "decode")
			require.Len(t, d.keys(asidePrefix), len(bad), "never deleted")
		})
	}
}

// Sessions that find no room stay stored until there is some.
func TestNoRoomForStored(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := newDisk()
		p := durable(t, newStorageHost(d))
		for n := range 5 {
			traced(snapshot(fmt.Sprint("s-", n), time.Now(), original()))(t, p)
		}
		p.stop()
		p, m, logs := measuredDurable(t, newStorageHost(d), func(c *Config) { c.Limits.Sessions = 2 })
		m.require(t, 3, "storage_errors", "operation", "load")
		m.require(t, 0, "storage_errors", "operation", "decode")
		require.Equal(t, 1, logs.FilterMessageSnippet("there is no room").Len())
		p.stop()
		require.Empty(t, d.keys(asidePrefix))
		p = durable(t, newStorageHost(d))
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Len(t, p.receipts(), 5)
	})
}

// Receipts of a signal that has no pipeline any more wait for one.
func TestOrphanedReceipts(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d, set := newDisk(), settings()
		f, cfg := NewFactory(), defaultConfig(withStorage)
		logs, err := f.CreateLogs(t.Context(), set, cfg, consumertest.NewErr(errBusy))
		require.NoError(t, err)
		require.NoError(t, logs.Start(t.Context(), newStorageHost(d)))
		require.Error(t, logs.ConsumeLogs(t.Context(), records(
			snapshot("s-1", time.Now().Add(-time.Minute), original()), observation("s-1", time.Now(), original()))))
		require.NoError(t, logs.Shutdown(t.Context()))
		require.Len(t, d.keys(owedPrefix+"logs/"), 1)

		traces, err := f.CreateTraces(t.Context(), set, defaultConfig(withStorage), consumertest.NewNop())
		require.NoError(t, err)
		require.NoError(t, traces.Start(t.Context(), newStorageHost(d)))
		require.NoError(t, traces.Shutdown(t.Context()))
		require.Len(t, d.keys(owedPrefix+"logs/"), 1)

		p := durable(t, newStorageHost(d))
		synctest.Wait()
		require.Len(t, p.records(semconv.EventBoundary), 1)
	})
}

// A storage that cannot be opened or read lets nothing start.
func TestUnreadableStorage(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		d, set := newDisk(), settings()
		d.indexed, d.fault = indexed, errDisk
		p, err := NewFactory().CreateTraces(t.Context(), set, defaultConfig(withStorage), consumertest.NewNop())
		require.NoError(t, err)
		for range 2 {
			require.ErrorIs(t, p.Start(t.Context(), newStorageHost(d)), errDisk)
		}
		require.Equal(t, 1, d.clients)
		require.Zero(t, d.open)
		require.NoError(t, p.Shutdown(t.Context()))
	}
}

// In every order two pipelines share one client, which the last one closes.
func TestEveryOrderWithStorage(t *testing.T) {
	for n := range 8 {
		create, start, stop := n&1 == 0, n&2 == 0, n&4 == 0
		t.Run(fmt.Sprintf("traces first: create %t, start %t, stop %t", create, start, stop), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				d := newDisk()
				var got told
				for round := range 3 {
					f, p := createdInOrder(t, defaultConfig(withStorage), create)
					for _, c := range ordered(p, start) {
						require.NoError(t, c.Start(t.Context(), newStorageHost(d)))
					}
					require.Equal(t, 1, d.open)
					if round == 0 {
						traced(snapshot("s-1", time.Now(), original()), snapshot("s-2", time.Now(), original()))(t, p)
						send(t, p, "s-3")
					}
					first, last := ordered(p, stop)[0], ordered(p, stop)[1]
					require.NoError(t, first.Shutdown(t.Context()))
					require.Equal(t, 1, d.open)
					// What arrives between the two still counts, in both signals.
					if between := observation(fmt.Sprint("s-", round+1), time.Now().Add(time.Second), original()); round == 2 {
						// Nothing arrives.
					} else if stop {
						logged(between)(t, p)
					} else {
						traced(between)(t, p)
					}
					require.NoError(t, last.Shutdown(t.Context()))
					for _, c := range ordered(p, stop) {
						require.NoError(t, c.Shutdown(t.Context()), "twice is once")
					}
					require.Zero(t, d.open)
					require.Empty(t, f.states)
					got = got.and(p)
				}
				for _, receipts := range [][]map[string]any{got.receipts, got.records} {
					require.Len(t, receipts, 3)
					require.Len(t, bySession(receipts), 3)
				}
				require.Empty(t, got.alerts)
			})
		})
	}
}

// Only one of two starts, or none.
func TestStorageWithoutStart(t *testing.T) {
	for n := range 8 {
		starts, started, stop := n&1 == 0, n&2 == 0, n&4 == 0
		inBubble(t, func(t *testing.T) {
			d := newDisk()
			f, p := createdInOrder(t, defaultConfig(withStorage), true)
			if starts {
				require.NoError(t, ordered(p, started)[0].Start(t.Context(), newStorageHost(d)))
			}
			for _, c := range ordered(p, stop) {
				require.NoError(t, c.Shutdown(t.Context()))
			}
			require.Zero(t, d.open)
			require.Empty(t, f.states)
		})
	}
}

// A client that fails to close says so.
func TestCloseError(t *testing.T) {
	d := newDisk()
	tel, set := componenttest.NewTelemetry(), settings()
	set.TelemetrySettings = tel.NewTelemetrySettings()
	p, err := NewFactory().CreateTraces(t.Context(), set, defaultConfig(withStorage), consumertest.NewNop())
	require.NoError(t, err)
	require.NoError(t, p.Start(t.Context(), newStorageHost(d)))
	d.set(errDisk, nil)
	require.ErrorIs(t, p.Shutdown(t.Context()), errDisk)
	m := &measured{tel: tel}
	m.require(t, 1, "storage_errors", "operation", "close")
	require.NoError(t, tel.Shutdown(t.Context()))
}

func TestHabitEntries(t *testing.T) {
	for _, key := range []habitKey{{}, {"tenant", "runtime", boundary.ReportsActivity}, {"", "r", boundary.ReportsCompletions}, {"t", "", 0}} {
		got, err := decodeHabit(encodeHabit(key))
		require.NoError(t, err)
		require.Equal(t, key, got)
	}
	for _, value := range []string{"", "\x01", "\x01\x00", "\x02\x00\x00", "\x01\x02\x00", "\x01\x00\x05abc", "\x01\x00\x80"} {
		_, err := decodeHabit([]byte(value))
		require.ErrorIs(t, err, errEntry, "%q", value)
	}
	require.NotEqual(t, habitEntry(habitKey{"ab", "c", 0}), habitEntry(habitKey{"a", "bc", 0}))
	require.NotEqual(t, sessionEntry(boundary.SessionKey{Scope: "ab", Session: "c"}), sessionEntry(boundary.SessionKey{Scope: "a", Session: "bc"}))
}

func FuzzHabit(f *testing.F) {
	f.Add(encodeHabit(habitKey{"tenant", "runtime", boundary.ReportsActivity}))
	f.Fuzz(func(t *testing.T, value []byte) {
		key, err := decodeHabit(value)
		if err != nil {
			return
		}
		again, err := decodeHabit(encodeHabit(key))
		require.NoError(t, err)
		require.Equal(t, key, again)
	})
}
