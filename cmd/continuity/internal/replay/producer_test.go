package replay

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/hosts"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

// send plays an event of a producer.
func (r *Replay) send(t testing.TB, e continuity.Event, when time.Time) {
	attributes, err := e.Attributes()
	require.NoError(t, err)
	ld := plog.NewLogs()
	record := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	record.SetEventName(e.Name())
	record.SetTimestamp(pcommon.NewTimestampFromTime(e.When()))
	for _, a := range attributes {
		require.NoError(t, put(record.Attributes(), string(a.Key), a.Value.AsInterface()))
	}
	r.arriving(when, func() { r.AddLogs(ld) })
}

func put(m pcommon.Map, key string, value any) error { return m.PutEmpty(key).FromRaw(value) }

// producer is what a host's hooks make of its events, and what the agent answers.
type producer struct {
	host *hosts.Host
	// answers: the agent restates its decisions where it was asked to, with the
	// next prompt that it answers. Else only snapshots are taken.
	answers bool
	// everyTurn: a snapshot and an answer with every turn, as --every-turn.
	everyTurn bool
	// fresh: no agent of this runtime was seen before.
	fresh bool
	asked map[string]bool
	sent  int
}

func newProducer(t testing.TB, agent string) *producer {
	host, ok := hosts.Find(agent)
	require.True(t, ok)
	return &producer{host: host, asked: map[string]bool{}}
}

// decisions are in force all the time.
func decisions() []continuity.Decision {
	var out []continuity.Decision
	for _, name := range []string{"approval_boundary", "scope", "target", "acceptance_test", "constraint.push"} {
		out = append(out, continuity.Decision{Name: name, Digest: continuity.Digest("sha256:" + strings.Repeat("5e55", 16))})
	}
	return out
}

// hook plays a hook: what it sends, and what the agent answers.
func (p *producer) hook(t testing.TB, r *Replay, l *line) {
	e, err := p.host.Read(l.Hook, hosts.Options{EveryTurn: p.everyTurn}, func(string) string { return "" })
	require.NoError(t, err)
	when := at(t, l.At)
	p.sent++
	common := continuity.Common{
		Session: continuity.Session{ID: e.Session, Attribute: e.SessionAttribute, Agent: e.Agent, Runtime: e.Runtime},
		Time:    when, EventID: fmt.Sprint("event-", p.sent), Trigger: e.Trigger, Activity: e.Activity,
	}
	if e.Action == hosts.End && p.everyTurn || e.Activity == hosts.WaitingHuman && e.Action == hosts.Nothing {
		p.answer(t, r, e.Session, common, when.Add(-time.Millisecond))
	}
	switch e.Action {
	case hosts.Snapshot:
		r.send(t, continuity.Snapshot{Common: common, Decisions: decisions(), ObservedAt: when}, when)
		p.asked[e.Session] = p.asked[e.Session] || p.everyTurn
	case hosts.Completion:
		r.send(t, continuity.Completion{Common: common, Outcome: e.Outcome, SummarySHA256: e.SummarySHA256}, when)
	case hosts.Start:
		r.send(t, continuity.SessionStart{Common: common}, when)
	case hosts.End:
		r.send(t, continuity.SessionEnd{Common: common}, when)
	case hosts.Nothing:
	}
	if e.Output != hosts.Silent {
		p.asked[e.Session] = true
		if p.host.Name == "opencode" { // its recordings do not show when it was idle again
			p.answer(t, r, e.Session, common, when.Add(50*time.Millisecond))
		}
	}
}

func (p *producer) answer(t testing.TB, r *Replay, session string, common continuity.Common, when time.Time) {
	if !p.answers || !p.asked[session] {
		return
	}
	p.asked[session] = false
	p.sent++
	common.Time, common.EventID = when, fmt.Sprint("event-", p.sent)
	r.send(t, continuity.Observation{Common: common, Decisions: decisions(), Source: continuity.Agent, ObservedAt: when}, when)
}

// sendOnSpan plays an event of a producer that puts it on a span.
func (r *Replay) sendOnSpan(t testing.TB, e continuity.Event, when time.Time) {
	attributes, err := e.Attributes()
	require.NoError(t, err)
	td := ptrace.NewTraces()
	span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID(pcommon.TraceID{1})
	span.SetSpanID(pcommon.SpanID{1})
	event := span.Events().AppendEmpty()
	event.SetName(e.Name())
	event.SetTimestamp(pcommon.NewTimestampFromTime(e.When()))
	for _, a := range attributes {
		require.NoError(t, put(event.Attributes(), string(a.Key), a.Value.AsInterface()))
	}
	r.arriving(when, func() { r.AddTraces(td) })
}
