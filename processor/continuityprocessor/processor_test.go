package continuityprocessor

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
	"github.com/agentcontinuity/otelcol-continuity/processor/continuityprocessor/internal/metadata"
)

// inForms runs a test in each of the two signals, on a clock of its own.
func inForms(t *testing.T, test func(t *testing.T, f form)) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) { test(t, f) })
		})
	}
}

// What the golden files say in full, in short: a file that is written anew must
// still say this.
func TestSixVerdicts(t *testing.T) {
	want := map[string][3]string{
		"1_kept":                     {"preserved", "match", "continue"},
		"2_kept_and_probed":          {"preserved", "match", "continue"},
		"3_approved_acceptance_test": {"approved_change", "approved_transition", "continue_with_audit"},
		"4_lost_approval_boundary":   {"dropped", "missing_after", "pause_and_restore"},
		"5_scope_changed":            {"conflicting", "changed_without_approval", "hold_and_ask"},
		"6_test_not_seen_again":      {"unverified", "not_fresh", "reobserve"},
	}
	for name, events := range sixCases() {
		t.Run(name, func(t *testing.T) {
			inForms(t, func(t *testing.T, f form) {
				p := start(t)
				var last []map[string]any
				for _, e := range events {
					time.Sleep(time.Until(e.at))
					last = f.send(p, e)
				}
				synctest.Wait()
				for _, got := range append(last, p.receipts()[0], p.records(semconv.EventBoundary)[0]) {
					require.Equal(t, want[name], [3]string{
						got[semconv.State].(string), got[semconv.Reason].(string), got[semconv.Action].(string),
					})
				}
			})
		})
	}
}

func TestObservationFirstInTheBatch(t *testing.T) {
	inForms(t, func(t *testing.T, f form) {
		p := start(t)
		out := f.send(p, observation("s-1", morning.Add(time.Second), original()), snapshot("s-1", morning, original()))
		require.Equal(t, "preserved", out[0][semconv.State])
		require.NotContains(t, out[1], semconv.State, "a snapshot has no state")
		require.Equal(t, out[0][semconv.BoundaryID], out[1][semconv.BoundaryID])
	})
}

// Nothing that the sender wrote passes as a verdict.
func TestForgedVerdicts(t *testing.T) {
	forgery := map[string]any{
		semconv.State: "preserved", semconv.BoundaryState: "preserved", semconv.Action: "continue", semconv.Reason: "match",
		semconv.Actions: []any{"continue"}, semconv.InvariantState + "scope": "preserved", semconv.Coverage: "observed",
		semconv.ValidationStatus: "reauthorization_required", semconv.InvariantsApprovedChange: []any{"scope"},
	}
	inForms(t, func(t *testing.T, f form) {
		p := start(t)
		forge := func(e event) event {
			e.outer = forgery
			for key, value := range forgery {
				e.attrs[key] = value
			}
			return e
		}
		for _, out := range f.send(p, forge(snapshot("s-1", morning, original()))) {
			for key := range forgery {
				require.NotContains(t, out, key, "on a snapshot")
			}
		}
		time.Sleep(time.Minute)
		out := f.send(p, forge(observation("s-1", time.Now(), original().with("scope", "other"))))[0]
		require.Equal(t, "conflicting", out[semconv.State])
		require.Equal(t, "conflicting", out[semconv.BoundaryState])
		require.Equal(t, "hold_and_ask", out[semconv.Action])
		require.Equal(t, "conflicting", out[semconv.InvariantState+"scope"])
		require.NotContains(t, out, semconv.ValidationStatus)
		require.NotContains(t, out, semconv.InvariantsApprovedChange)
		nobody := f.send(p, forge(observation("unknown", time.Now(), original())))[0]
		require.Equal(t, "unverified", nobody[semconv.State])
		require.Equal(t, "session_missing", nobody[semconv.Reason])
		require.NotContains(t, nobody, semconv.InvariantState+"scope")
	})
}

func TestEnclosingSpan(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := start(t)
		td := spans(snapshot("s-1", morning, original()), observation("s-1", morning.Add(time.Second), original().without("scope")))
		for _, span := range spansOf(td) {
			span.Status().SetCode(ptrace.StatusCodeError)
			span.Attributes().PutStr(semconv.State, "preserved")
		}
		require.NoError(t, p.traces.ConsumeTraces(t.Context(), td))
		out := spansOf(p.lastTraces())
		require.Equal(t, map[string]any{semconv.SessionID: "s-1"}, out[0].Attributes().AsRaw())
		got := out[1].Attributes().AsRaw()
		require.NotEmpty(t, got[semconv.BoundaryID])
		delete(got, semconv.BoundaryID)
		require.Equal(t, map[string]any{
			semconv.SessionID: "s-1", semconv.State: "dropped", semconv.BoundaryState: "dropped", semconv.Action: "pause_and_restore",
		}, got)
		require.Equal(t, ptrace.StatusCodeError, out[1].Status().Code(), "what speaks of activity is not ours")
	})
}

func TestAnnotateSession(t *testing.T) {
	work := func(session string) event {
		return event{name: "agent.turn", session: session, at: time.Now(), outer: map[string]any{semconv.State: "preserved"}}
	}
	stateOf := func(p *pipelines, f form, e event) any {
		out := f.send(p, e)
		if f.name == "logs" {
			return out[0][semconv.State]
		}
		return spansOf(p.lastTraces())[0].Attributes().AsRaw()[semconv.State]
	}
	inForms(t, func(t *testing.T, f form) {
		p := start(t, func(c *Config) { c.Annotate = AnnotateSession })
		require.Nil(t, stateOf(p, f, work("s-1")), "no boundary yet, and what the sender claims goes")
		f.send(p, snapshot("s-1", time.Now(), original()))
		require.Equal(t, "unverified", stateOf(p, f, work("s-1")), "while it is open")
		time.Sleep(time.Second)
		require.Equal(t, "dropped", stateOf(p, f, observation("s-1", time.Now(), original().without("scope"))))
		require.Equal(t, "dropped", stateOf(p, f, work("s-1")))
		require.Nil(t, stateOf(p, f, work("s-2")))
		require.Nil(t, stateOf(p, f, work("unknown")))
		require.Equal(t, "unverified", stateOf(p, f, observation("s-3", time.Now(), original())), "awaits its snapshot")
	})
	inForms(t, func(t *testing.T, f form) {
		p := start(t)
		f.send(p, snapshot("s-1", time.Now(), original()), observation("s-1", time.Now(), original()))
		require.Equal(t, "preserved", stateOf(p, f, work("s-1")), "what is no event is not touched")
	})
}

// Tenants do not meet, however their metadata are put together.
func TestTenants(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := start(t, func(c *Config) { c.MetadataKeys = []string{"X-Org", "x-team"} })
		ctx := func(md map[string][]string) context.Context {
			return client.NewContext(context.Background(), client.Info{Metadata: client.NewMetadata(md)})
		}
		tenants := []map[string][]string{
			nil, {"x-org": {""}}, {"x-org": {"a"}}, {"x-team": {"a"}}, {"x-org": {"a", "b"}}, {"x-org": {"ab"}}, {"x-org": {"a"}, "x-team": {"b"}},
		}
		for _, md := range tenants {
			require.NoError(t, p.traces.ConsumeTraces(ctx(md), spans(snapshot("s-1", time.Now(), original()))))
		}
		time.Sleep(time.Minute)
		for _, md := range tenants[1:] {
			require.NoError(t, p.traces.ConsumeTraces(ctx(md), spans(observation("s-1", time.Now(), original()))))
		}
		synctest.Wait()
		require.Len(t, p.receipts(), len(tenants)-1)
		for _, r := range p.receipts() {
			require.Equal(t, "preserved", r[semconv.State])
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Len(t, p.receipts(), len(tenants))
		require.Equal(t, "post_observation_missing", p.receipts()[len(tenants)-1][semconv.Reason])
	})
}

func TestSessionLink(t *testing.T) {
	for range 20 { // shards are picked at random: equal ones and different ones, in both orders
		inForms(t, func(t *testing.T, f form) {
			p := start(t)
			f.send(p, snapshot("old", time.Now(), original()))
			time.Sleep(time.Minute)
			next := observation("new", time.Now(), original())
			next.attrs[semconv.SessionPreviousID] = "old"
			require.Equal(t, "preserved", f.send(p, next)[0][semconv.State])
		})
	}
}

// Errors are those of the next consumer only, and receipts go out all the same.
func TestErrorsAreTheNextConsumers(t *testing.T) {
	refuse := errors.New("no")
	f, cfg, set := NewFactory(), defaultConfig(), processortest.NewNopSettings(metadata.Type)
	traces, err := f.CreateTraces(t.Context(), set, cfg, consumertest.NewErr(refuse))
	require.NoError(t, err)
	logs, err := f.CreateLogs(t.Context(), set, cfg, consumertest.NewErr(refuse))
	require.NoError(t, err)
	require.True(t, traces.Capabilities().MutatesData)
	require.True(t, logs.Capabilities().MutatesData)
	require.ErrorIs(t, traces.ConsumeTraces(t.Context(), spans(snapshot("s", morning, original()))), refuse)
	require.ErrorIs(t, logs.ConsumeLogs(t.Context(), records(snapshot("s", morning, original()))), refuse)
	require.NoError(t, traces.Shutdown(t.Context()))
	require.NoError(t, logs.Shutdown(t.Context()))
}

// A client that is refused sends the same batch again: it is the same event, with
// the same annotation and one receipt.
func TestClientRetry(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		next := &moody{}
		f, cfg, set := NewFactory(), defaultConfig(), processortest.NewNopSettings(metadata.Type)
		traces, err := f.CreateTraces(t.Context(), set, cfg, next)
		require.NoError(t, err)
		require.NoError(t, traces.Start(t.Context(), componenttest.NewNopHost()))
		batch := func() ptrace.Traces {
			return spans(snapshot("s-1", morning, original()), observation("s-1", morning.Add(time.Second), original()))
		}
		next.set(func(context.Context, []int64) error { return errBusy })
		for range 3 {
			require.ErrorIs(t, traces.ConsumeTraces(t.Context(), batch()), errBusy)
			time.Sleep(time.Second)
		}
		next.set(nil)
		require.NoError(t, traces.ConsumeTraces(t.Context(), batch()))
		time.Sleep(time.Minute)
		require.ElementsMatch(t, []int64{0, 0, 1}, next.seen(), "two spans and one receipt")
		require.NoError(t, traces.Shutdown(t.Context()))
	})
}
