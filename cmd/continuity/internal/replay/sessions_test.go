package replay

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/hosts"
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

const agents = "../../../../testdata/agents"

// line is one line of testdata/agents/<agent>/sessions/*.jsonl: a hook as the host
// called it, or a signal that is recognized.
type line struct {
	At           string          `json:"at"`
	Hook         json.RawMessage `json:"hook"`
	Record, Span string
	// Untimed records have no time but that at which they were seen.
	Untimed           bool
	Failed            bool
	Trace, ID, Parent string
	Start, Service    string
	Attributes        map[string]any
}

func at(t testing.TB, text string) time.Time {
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return sessionBegin.Add(d)
}

// sessionBegin is no whole second: such a time is compared in whole seconds.
var sessionBegin = caseBegin.Add(137 * time.Millisecond)

func linesOf(t testing.TB, agent, recording string) []line {
	f, err := os.Open(filepath.Join(agents, agent, "sessions", recording+".jsonl"))
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	var all []line
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		var l line
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &l))
		all = append(all, l)
	}
	require.NoError(t, scanner.Err())
	return all
}

// arriving adds events and lets them arrive at a time that is not their own.
func (r *Replay) arriving(when time.Time, add func()) {
	n := len(r.events)
	add()
	for i := n; i < len(r.events); i++ {
		r.events[i].at = when
	}
}

// telemetry plays a signal of the agent's own.
func (r *Replay) telemetry(t testing.TB, l *line, delay time.Duration) {
	when := at(t, l.At)
	if l.Span != "" {
		td := ptrace.NewTraces()
		rs := td.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr("service.name", l.Service)
		spanOf(t, l).MoveTo(rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty())
		r.arriving(when.Add(delay), func() { r.AddTraces(td) })
		return
	}
	ld := plog.NewLogs()
	record := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	record.Body().SetStr(l.Record)
	if !l.Untimed {
		record.SetTimestamp(pcommon.NewTimestampFromTime(when))
	}
	record.SetObservedTimestamp(pcommon.NewTimestampFromTime(when))
	record.SetTraceID(traceID(t, l.Trace))
	record.SetSpanID(spanID(t, l.ID))
	require.NoError(t, record.Attributes().FromRaw(l.Attributes))
	r.arriving(when.Add(delay), func() { r.AddLogs(ld) })
}

func spanOf(t testing.TB, l *line) ptrace.Span {
	span := ptrace.NewSpan()
	span.SetName(l.Span)
	span.SetTraceID(traceID(t, l.Trace))
	span.SetSpanID(spanID(t, l.ID))
	span.SetParentSpanID(spanID(t, l.Parent))
	span.SetStartTimestamp(pcommon.NewTimestampFromTime(at(t, l.Start)))
	span.SetEndTimestamp(pcommon.NewTimestampFromTime(at(t, l.At)))
	if l.Failed {
		span.Status().SetCode(ptrace.StatusCodeError)
	}
	require.NoError(t, span.Attributes().FromRaw(l.Attributes))
	return span
}

func traceID(t testing.TB, text string) (id pcommon.TraceID) {
	_, err := hex.Decode(id[:], []byte(text))
	require.NoError(t, err)
	return id
}

func spanID(t testing.TB, text string) (id pcommon.SpanID) {
	_, err := hex.Decode(id[:], []byte(text))
	require.NoError(t, err)
	return id
}

// ends reports whether a line is the end of a process that nobody asked for but
// the end of the recording.
func (l *line) ends() bool {
	return strings.Contains(string(l.Hook), `"SessionEnd"`) && !strings.Contains(string(l.Hook), `"clear"`)
}

// play plays a recording. The agent's own telemetry arrives with a delay, as it is
// exported in batches. Left open, the session does not end with the recording.
func play(t testing.TB, agent, recording string, p *producer, delay time.Duration, leftOpen bool, change func(*boundary.Config)) *Result {
	host, ok := hosts.Find(agent)
	require.True(t, ok)
	p.host, p.asked, p.sent = host, map[string]bool{}, 0
	r := New(Options{})
	if change != nil {
		change(&r.config)
	}
	if !p.fresh {
		r.earlier(host.Runtime)
	}
	lines := linesOf(t, agent, recording)
	last := -1
	for i := range lines {
		if lines[i].Hook != nil {
			last = i
		}
	}
	for i := range lines {
		switch l := &lines[i]; {
		case l.Hook == nil:
			r.telemetry(t, l, delay)
		case leftOpen && i == last && l.ends():
		default:
			p.hook(t, r, l)
		}
	}
	return r.Run()
}

// told is what a person gets to see of a replay: the last verdict of each
// boundary, and each alert as it fired or ended.
func told(result *Result) string {
	var out []string
	for _, s := range result.Sessions {
		for _, b := range s.Boundaries {
			text := b.Last().Boundary.String() + "/" + string(b.Last().Reason)
			for i := range b.Receipts {
				for _, a := range b.Receipts[i].Alerts {
					text += " " + a.Kind.String() + ":" + a.Status.String()
				}
			}
			out = append(out, text)
		}
	}
	return strings.Join(out, ", ")
}

// earlier shows the habits of a runtime: it told of compactions and of work.
func (r *Replay) earlier(runtime string) {
	key := boundary.Key{SessionKey: boundary.SessionKey{Session: "earlier"}}
	for _, e := range []boundary.Event{
		{Kind: boundary.Completion, Outcome: boundary.NoOp, Runtime: runtime, Key: key},
		{Kind: boundary.Activity, Runtime: runtime, Key: key},
	} {
		r.events = append(r.events, event{&e, caseBegin.Add(-24 * time.Hour)})
	}
}
