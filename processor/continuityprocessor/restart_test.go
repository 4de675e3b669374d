package continuityprocessor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// step is what happens to the pipelines that run.
type step func(t *testing.T, p *pipelines)

func traced(events ...event) step {
	return func(t *testing.T, p *pipelines) {
		require.NoError(t, p.traces.ConsumeTraces(t.Context(), spans(events...)))
	}
}

func logged(events ...event) step {
	return func(t *testing.T, p *pipelines) {
		require.NoError(t, p.logs.ConsumeLogs(t.Context(), records(events...)))
	}
}

func pass(d time.Duration) step {
	return func(*testing.T, *pipelines) { time.Sleep(d) }
}

func with(e event, attrs map[string]any) event {
	for key, value := range attrs {
		e.attrs[key] = value
	}
	return e
}

func plain(name, session string, at time.Time, attrs map[string]any) event {
	return with(event{name: name, session: session, at: at, attrs: map[string]any{}}, attrs)
}

// story touches all that a restart could forget.
func story() []step {
	at := func(s int) time.Time { return morning.Add(time.Duration(s) * time.Second) }
	changed := original().with("acceptance_test", "make test lint")
	approval := sixCases()["3_approved_acceptance_test"][1]
	claude := map[string]any{semconv.Runtime: "claude_code"}
	done := map[string]any{semconv.CompactionOutcome: "completed", semconv.Runtime: "claude_code"}
	return []step{
		traced(snapshot("window", at(0), original()), snapshot("overdue", at(0), original()), snapshot("s-3", at(0), original())),
		// An early look waits for its snapshot.
		pass(3 * time.Second),
		logged(observation("early", at(2), original())),
		pass(2 * time.Second),
		traced(snapshot("early", at(1), original())),
		// A loss, and what comes in twice.
		traced(snapshot("loss", at(5), original())),
		pass(5 * time.Second),
		logged(observation("loss", at(10), original().without("scope"))),
		logged(observation("loss", at(10), original().without("scope"))),
		// A runtime that reports completions.
		logged(plain(semconv.EventCompactionCompleted, "reports", at(10), done)),
		logged(observation("reports", at(11), original())),
		traced(with(snapshot("unconfirmed", at(10), original()), claude)),
		// An approval that is used, and used again.
		pass(time.Minute - 10*time.Second),
		logged(approval),
		logged(observation("s-3", at(60), changed)),
		traced(snapshot("s-3", at(70), original())),
		pass(20 * time.Second),
		logged(observation("s-3", at(80), changed)),
		// The window is met late in its life.
		pass(10 * time.Minute),
		logged(observation("window", at(680), original())),
		// A session goes on under another name, with its loss.
		traced(with(snapshot("next", at(681), original().without("scope")), map[string]any{semconv.SessionPreviousID: "loss"})),
		pass(10 * time.Minute),
		// The loss is made good, and what is overdue answered late.
		logged(observation("next", at(1290), original())),
		logged(observation("overdue", at(1291), original())),
		traced(snapshot("overdue", at(1292), original())),
		pass(time.Second),
		traced(observation("overdue", at(1293), original())),
		pass(200 * time.Hour),
	}
}

// told is what came out in both signals.
type told struct{ receipts, records, alerts []map[string]any }

func (a told) and(p *pipelines) told {
	a.receipts = append(a.receipts, p.receipts()...)
	a.records = append(a.records, p.records(semconv.EventBoundary)...)
	a.alerts = append(a.alerts, p.records(semconv.EventAlert)...)
	return a
}

// bySession splits receipts: of different sessions the order at one moment is
// free.
func bySession(of []map[string]any) map[string][]map[string]any {
	out := map[string][]map[string]any{}
	for _, one := range of {
		id := one[semconv.SessionID].(string)
		out[id] = append(out[id], one)
	}
	return out
}

func requireSame(t *testing.T, want, got told) {
	t.Helper()
	require.Equal(t, bySession(want.receipts), bySession(got.receipts))
	require.Equal(t, bySession(want.records), bySession(got.records))
	require.Equal(t, bySession(want.alerts), bySession(got.alerts))
}

// rest is long enough that what was handed on is recorded.
func rest() {
	time.Sleep(lazyPause + time.Millisecond)
	synctest.Wait()
}

// untold is what comes out of a story that nothing interrupts.
func untold(t *testing.T) (want told) {
	inBubble(t, func(t *testing.T) {
		p := start(t)
		for _, s := range story() {
			rest()
			s(t, p)
		}
		rest()
		want = told{}.and(p)
	})
	var brief []string
	for _, r := range want.receipts {
		brief = append(brief, fmt.Sprint(r[semconv.SessionID], " ", r[semconv.Revision], " ", r[semconv.BoundaryState], " ", r[semconv.Reason]))
	}
	for _, a := range want.alerts {
		brief = append(brief, fmt.Sprint(a[semconv.SessionID], " ", a[semconv.AlertKind], " ", a[semconv.AlertStatus]))
	}
	require.ElementsMatch(t, []string{
		"early 1 preserved match",
		"loss 1 dropped missing_after", "loss decision_dropped firing",
		"reports 1 unverified no_baseline",
		"s-3 1 approved_change approved_transition", "s-3 1 conflicting approval_reused", "s-3 decision_conflicting firing",
		"window 1 preserved match",
		"overdue 1 unverified post_observation_missing", "overdue post_observation_missing firing",
		"unconfirmed 1 unverified compaction_unconfirmed",
		"next 1 preserved match", "next decision_dropped resolved",
		"overdue 1 preserved match", "overdue post_observation_missing resolved",
		"s-3 2 conflicting session_expired", "s-3 decision_conflicting closed",
	}, brief)
	return want
}

func noGrace(c *Config) { c.StartupGrace = new(time.Duration) }

// Wherever a story is interrupted, by a stop or by a kill, it ends the same way.
func TestRestartChangesNothing(t *testing.T) {
	want := untold(t)
	for _, indexed := range []bool{false, true} {
		for _, kill := range []bool{false, true} {
			for cut := range len(story()) + 1 {
				t.Run(fmt.Sprintf("indexed %t, kill %t, before step %d", indexed, kill, cut), func(t *testing.T) {
					inBubble(t, func(t *testing.T) {
						d := newDisk()
						d.indexed = indexed
						p := durable(t, newStorageHost(d), noGrace)
						var got told
						for n, s := range append(story(), pass(0)) {
							rest()
							if n == cut {
								got = got.and(p)
								if kill {
									d = d.copied()
								} else {
									p.stop()
									require.Equal(t, got, told{}.and(p), "a stop decides nothing")
								}
								p = durable(t, newStorageHost(d), noGrace)
								synctest.Wait()
							}
							s(t, p)
						}
						requireSame(t, want, got.and(p))
						p.stop()
						require.Empty(t, d.keys(owedPrefix), "all was handed on")
						require.Empty(t, d.keys(asidePrefix))
					})
				})
			}
		}
	}
}

// The same on the real extension, interrupted before every step.
func TestRestartOnFileStorage(t *testing.T) {
	want := untold(t)
	for _, kill := range []bool{false, true} {
		t.Run(fmt.Sprintf("kill %t", kill), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				dir := t.TempDir()
				p := durable(t, newStorageHost(fileStorage(t, dir)), noGrace)
				var got told
				for _, s := range append(story(), pass(0)) {
					rest()
					got = got.and(p)
					if kill {
						dir = copyDir(t, dir)
					} else {
						p.stop()
					}
					p = durable(t, newStorageHost(fileStorage(t, dir)), noGrace)
					s(t, p)
				}
				requireSame(t, want, got.and(p))
			})
		})
	}
}

func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	names, err := os.ReadDir(from)
	require.NoError(t, err)
	require.Len(t, names, 1)
	in, err := os.Open(filepath.Join(from, names[0].Name()))
	require.NoError(t, err)
	out, err := os.Create(filepath.Join(to, names[0].Name()))
	require.NoError(t, err)
	_, err = io.Copy(out, in)
	require.NoError(t, err)
	require.NoError(t, in.Close())
	require.NoError(t, out.Close())
	return to
}

// What became overdue while down fires once, after the grace; what queued up
// meanwhile and comes in within it counts.
func TestStartupGrace(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := newDisk()
		p := durable(t, newStorageHost(d))
		traced(snapshot("silent", morning, original()), snapshot("queued", morning, original()))(t, p)
		logged(snapshot("later", morning.Add(5*time.Minute), original()))(t, p)
		synctest.Wait()
		p.stop()
		time.Sleep(time.Hour)

		p = durable(t, newStorageHost(d), func(c *Config) { c.StartupGrace = new(time.Duration); *c.StartupGrace = time.Minute })
		time.Sleep(59 * time.Second)
		synctest.Wait()
		require.Empty(t, p.receipts())
		logged(observation("queued", morning.Add(time.Minute), original()))(t, p)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Len(t, p.receipts(), 3)
		got := bySession(p.receipts())
		require.Equal(t, "preserved", got["queued"][0][semconv.BoundaryState])
		require.Equal(t, "post_observation_missing", got["silent"][0][semconv.Reason])
		require.Equal(t, "post_observation_missing", got["later"][0][semconv.Reason])
		require.Len(t, p.records(semconv.EventAlert), 2)
		p.stop()
		p = durable(t, newStorageHost(d))
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Empty(t, p.receipts(), "once")
	})
}

// Receipts that the next consumer does not take survive, in their order; what a
// kill doubles is the same receipt.
func TestReceiptsSurvive(t *testing.T) {
	for _, kill := range []bool{false, true} {
		inBubble(t, func(t *testing.T) {
			d := newDisk()
			f, cfg, set := NewFactory(), defaultConfig(withStorage), settings()
			traces, err := f.CreateTraces(t.Context(), set, cfg, consumertest.NewErr(errBusy))
			require.NoError(t, err)
			logsOut := new(consumertest.LogsSink)
			logs, err := f.CreateLogs(t.Context(), set, cfg, logsOut)
			require.NoError(t, err)
			for _, c := range []component.Component{traces, logs} {
				require.NoError(t, c.Start(t.Context(), newStorageHost(d)))
			}
			const rounds = 20
			for n := range rounds {
				before, after := time.Now(), time.Now().Add(time.Second)
				d := original().with("acceptance_test", fmt.Sprint(n))
				require.NoError(t, logs.ConsumeLogs(t.Context(), records(snapshot("s-1", before, d))))
				time.Sleep(2 * time.Second)
				require.NoError(t, logs.ConsumeLogs(t.Context(), records(observation("s-1", after, d))))
			}
			time.Sleep(time.Second)
			synctest.Wait()
			require.Len(t, d.keys(owedPrefix+"traces/"), rounds)
			require.Empty(t, d.keys(owedPrefix+"logs/"))
			first := (&pipelines{logsOut: logsOut}).records(semconv.EventBoundary)
			require.Len(t, first, rounds)
			left := d.copied()
			for _, c := range []component.Component{traces, logs} {
				require.NoError(t, c.Shutdown(t.Context()))
			}
			if !kill {
				left = d
			}
			p := durable(t, newStorageHost(left))
			synctest.Wait()
			require.Equal(t, first, p.receipts(), "as in the other signal, in the same order")
			require.Empty(t, p.records(semconv.EventBoundary))
			p.stop()
			require.Empty(t, left.keys(owedPrefix))
		})
	}
}

// A kill between handing on and recording it: the same receipt again.
func TestDuplicatesAreEqual(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d, next, out := newDisk(), &moody{}, new(consumertest.TracesSink)
		f, cfg := NewFactory(), defaultConfig(withStorage)
		both, err := consumer.NewTraces(func(ctx context.Context, td ptrace.Traces) error {
			return errors.Join(out.ConsumeTraces(ctx, cloneTraces(td)), next.ConsumeTraces(ctx, td))
		})
		require.NoError(t, err)
		p, err := f.CreateTraces(t.Context(), settings(), cfg, both)
		require.NoError(t, err)
		require.NoError(t, p.Start(t.Context(), newStorageHost(d)))
		var left *disk
		next.set(func(_ context.Context, got []int64) error {
			if got[0] > 0 {
				left = d.copied()
			}
			return nil
		})
		require.NoError(t, p.ConsumeTraces(t.Context(), spans(
			snapshot("s-1", time.Now(), original()), observation("s-1", time.Now().Add(time.Second), original()))))
		rest()
		handedOn := (&pipelines{tracesOut: out}).receipts()
		require.Len(t, handedOn, 1)
		for disk, want := range map[*disk][]map[string]any{left: handedOn, d.copied(): nil} {
			again, err := f.CreateTraces(t.Context(), settings(), defaultConfig(withStorage), out)
			require.NoError(t, err)
			out.Reset()
			require.NoError(t, again.Start(t.Context(), newStorageHost(disk)))
			synctest.Wait()
			require.Equal(t, want, (&pipelines{tracesOut: out}).receipts())
			require.NoError(t, again.Shutdown(t.Context()))
		}
		require.NoError(t, p.Shutdown(t.Context()))
	})
}

// What a runtime was seen to report raises no false alarm after a restart.
func TestHabitsSurvive(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := newDisk()
		p := durable(t, newStorageHost(d))
		logged(plain(semconv.EventCompactionCompleted, "a", time.Now(),
			map[string]any{semconv.CompactionOutcome: "completed", semconv.Runtime: "claude_code"}))(t, p)
		require.Len(t, d.keys(habitPrefix), 1)
		p = durable(t, newStorageHost(d.copied()))
		traced(with(snapshot("b", time.Now(), original()), map[string]any{semconv.Runtime: "claude_code"}))(t, p)
		time.Sleep(time.Hour)
		synctest.Wait()
		got := bySession(p.receipts())["b"]
		require.Equal(t, "compaction_unconfirmed", got[0][semconv.Reason])
	})
}
