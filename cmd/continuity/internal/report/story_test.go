package report_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/receipts"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/replay"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/report"
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/receipt"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

var (
	writer  = receipt.Writer{Scope: receipts.Scope}
	morning = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
)

// story writes the telemetry of agents, event by event. What comes of it is said by
// the core.
type story struct {
	td    ptrace.Traces
	spans int
}

func newStory() *story { return &story{td: ptrace.NewTraces()} }

// at is a time of the story, in minutes.
func at(minutes float64) pcommon.Timestamp {
	return pcommon.NewTimestampFromTime(morning.Add(time.Duration(minutes * float64(time.Minute))))
}

func (s *story) span(session, name string, from, to float64) ptrace.Span {
	rs := s.td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "payments-agent")
	span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetName(name)
	span.SetStartTimestamp(at(from))
	span.SetEndTimestamp(at(to))
	span.Attributes().PutStr(semconv.ConversationID, session)
	s.spans++
	span.SetTraceID(pcommon.TraceID{1, byte(len(session)), session[0], session[len(session)-1]})
	span.SetSpanID(pcommon.SpanID{2, byte(s.spans >> 8), byte(s.spans)})
	return span
}

// event puts an event on a span; pairs are names and values of decisions.
func (s *story) event(session, name string, minute float64, pairs ...string) pcommon.Map {
	span := s.span(session, "chat", minute-.2, minute+.2)
	e := span.Events().AppendEmpty()
	e.SetName(name)
	e.SetTimestamp(at(minute))
	e.Attributes().PutStr(semconv.ObservedAt, at(minute).AsTime().Format(time.RFC3339Nano))
	for i := 0; i < len(pairs); i += 2 {
		e.Attributes().PutStr(semconv.InvariantDigest+pairs[i], digest(pairs[i+1]))
	}
	return e.Attributes()
}

func digest(value string) string {
	if value == "none" {
		return value
	}
	return "sha256:" + strings.Repeat(fmt.Sprintf("%x", value), 64)[:64]
}

func (s *story) snapshot(session string, minute float64, pairs ...string) pcommon.Map {
	return s.event(session, semconv.EventSnapshot, minute, pairs...)
}

func (s *story) look(session, source string, minute float64, pairs ...string) pcommon.Map {
	m := s.event(session, semconv.EventObservation, minute, pairs...)
	m.PutStr(semconv.Source, source)
	return m
}

func (s *story) approval(session, invariant, ref string, minute float64, from, to string) {
	m := s.event(session, semconv.EventApproval, minute)
	m.PutStr(semconv.ApprovalInvariant, invariant)
	m.PutStr(semconv.ApprovalRef, ref)
	m.PutStr(semconv.ApprovalSource, "human")
	m.PutStr(semconv.ApprovalApprover, "release-desk")
	m.PutStr(semconv.ApprovalFrom, digest(from))
	m.PutStr(semconv.ApprovalTo, digest(to))
}

// work is an agent that is busy.
func (s *story) work(session string, from, to float64, failsAt ...float64) {
	names := []string{"chat", "execute_tool edit", "execute_tool bash", "chat", "execute_tool read"}
	r := rand.New(rand.NewPCG(uint64(len(session)), uint64(session[0])))
	for i, t := 0, from; t < to; i++ {
		length := .1 + r.Float64()*.8
		span := s.span(session, names[i%len(names)], t, t+length)
		if slices.ContainsFunc(failsAt, func(f float64) bool { return f >= t && f < t+length+.4 }) {
			span.Status().SetCode(ptrace.StatusCodeError)
		}
		t += length + r.Float64()*.4
	}
}

var five = []string{"approval_boundary", "b", "scope", "s", "constraint.push", "c", "target", "t", "acceptance_test", "a"}

// with is five with some values changed, or left out where the value is "".
func with(changes ...string) []string {
	out := slices.Clone(five)
	for i := 0; i < len(changes); i += 2 {
		if n := slices.Index(out, changes[i]); n < 0 {
			out = append(out, changes[i], changes[i+1])
		} else if out[n+1] = changes[i+1]; changes[i+1] == "" {
			out = slices.Delete(out, n, n+2)
		}
	}
	return out
}

// tale is a morning of six sessions.
func tale() *story {
	s := newStory()
	s.work("checkout-refactor", 0, 58, 21)
	s.snapshot("checkout-refactor", 6, five...)
	s.look("checkout-refactor", "agent", 7.5, five...)
	m := s.snapshot("checkout-refactor", 18, five...)
	m.PutStr(semconv.Runtime, "opencode")
	s.look("checkout-refactor", "agent", 20, with("approval_boundary", "", "constraint.push", "")...)
	s.snapshot("checkout-refactor", 30, with("approval_boundary", "", "constraint.push", "")...)
	s.look("checkout-refactor", "agent", 31, with("approval_boundary", "")...)
	s.look("checkout-refactor", "human", 44, five...)
	s.snapshot("checkout-refactor", 50, five...)
	s.look("checkout-refactor", "agent", 51, five...)

	s.work("billing-export", 4, 40, 30, 31)
	s.snapshot("billing-export", 10, five...)
	s.look("billing-export", "agent", 12, with("scope", "x")...)
	s.snapshot("billing-export", 25, with("scope", "x")...)
	s.look("billing-export", "environment", 27, "scope", "x", "target", "t")

	s.work("docs-site", 2, 35)
	s.snapshot("docs-site", 9, five...)
	s.approval("docs-site", "acceptance_test", "CHG-17", 9.5, "a", "n")
	s.look("docs-site", "agent", 11, with("acceptance_test", "n")...)
	s.snapshot("docs-site", 22, with("acceptance_test", "n")...)
	s.look("docs-site", "agent", 23, with("acceptance_test", "n")...)

	s.work("nightly-upgrade", 0, 50)
	s.snapshot("nightly-upgrade", 12, five...)
	done := s.event("nightly-upgrade", semconv.EventContinuityCompaction, 12.5)
	done.PutStr(semconv.CompactionOutcome, "completed")
	done.PutInt(semconv.TokensBefore, 184_000)
	done.PutInt(semconv.TokensAfter, 9_200)
	s.look("nightly-upgrade", "record", 14, five...)

	for i, effect := range []string{"side_effect_unknown", "side_effect_unknown", "applied"} {
		minute := []float64{5, 6.5, 19}[i]
		e := s.snapshot
		if i > 0 {
			e = func(session string, minute float64, pairs ...string) pcommon.Map {
				return s.look(session, "agent", minute, pairs...)
			}
		}
		m := e("ticket-4411", minute, "scope", "s")
		m.PutStr(semconv.EnvelopePrefix+"schema_version", "continuity-envelope/v1")
		m.PutStr(semconv.EnvelopePrefix+"tenant_id", "t")
		m.PutStr(semconv.EnvelopePrefix+"principal_id", "p")
		m.PutStr(semconv.EnvelopePrefix+"policy_version", "4")
		m.PutStr(semconv.EnvelopePrefix+"side_effect_status", effect)
	}
	s.work("ticket-4411", 1, 26)
	return s
}

// replayed are the receipts that the core makes of telemetry, by time.
func replayed(t testing.TB, td ptrace.Traces) []*boundary.Receipt {
	t.Helper()
	r := replay.New(replay.Options{})
	clone := ptrace.NewTraces()
	td.CopyTo(clone)
	r.AddTraces(clone)
	var out []*boundary.Receipt
	for _, s := range r.Run().Sessions {
		for _, b := range s.Boundaries {
			for i := range b.Receipts {
				out = append(out, &b.Receipts[i])
			}
		}
	}
	require.NotEmpty(t, out)
	slices.SortStableFunc(out, func(a, b *boundary.Receipt) int { return a.End.Compare(b.End) })
	return out
}

// read is the model of telemetry and of its receipts in both forms.
func (s *story) read(t testing.TB) *report.Model {
	t.Helper()
	all := replayed(t, s.td)
	in := report.NewInput()
	in.AddLogs(writer.Logs(all))
	in.AddTraces(s.td)
	in.AddTraces(writer.Traces(all))
	m := in.Model()
	m.Title, m.Sources = "A morning of five agents", []string{"receipts.jsonl", "agents.jsonl"}
	return m
}
