package signal

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// fuzzNames are the event names that a fuzzed event can have.
var fuzzNames = []string{
	snapshot, look, "continuity_validation_failed", "continuity.compaction", "continuity.approval",
	"session.end", "session.start", "claude_code.compaction", "unrelated",
}

// fuzzKeys are keys that mean something, in an order that never changes.
var fuzzKeys = func() []string {
	keys := []string{
		sessionID, conversationID, "agent_id", "session.previous_id", "continuity.runtime", "agent.activity.state",
		"compact_summary", "prompt", "my.secret", "success", "error", "trigger", "event.name", "unrelated",
	}
	for key := range fieldOf {
		keys = append(keys, key)
	}
	for prefix := range facetOf {
		for _, name := range []string{"scope", "approval_boundary", "constraint.a", "note", "Bad", ""} {
			keys = append(keys, prefix+name)
		}
	}
	slices.Sort(keys)
	return keys
}()

var fuzzTexts = []string{
	sum("a"), sum("b"), "none", "agent", "human", "partial", "failed", "text", "false", "7", "v1", "2026-11-30T12:00:00Z",
	"s1", "unknown", "approved", "revoked", "AAEC", "completed", "no_op", "", "a\xffb", "hunter2", strings.Repeat("é", 400),
}

// attrsFrom makes attributes of arbitrary bytes: some with keys and values that
// mean something, some with what the bytes hold.
func attrsFrom(data []byte) []kv {
	next := func() int {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int(b)
	}
	take := func() string {
		n := min(next(), len(data))
		text := string(data[:n])
		data = data[n:]
		return text
	}
	var value func(depth int) any
	value = func(depth int) any {
		switch op := next() % 12; {
		case op < 5:
			return fuzzTexts[next()%len(fuzzTexts)]
		case op == 5:
			return take()
		case op == 6:
			return int64(next()) << (next() % 64)
		case op == 7:
			return next()%2 == 0
		case op == 8:
			return math.Float64frombits(uint64(next()) << (next() % 64))
		case op == 9 && depth < 3:
			list := []any{}
			for range next() % 4 {
				list = append(list, value(depth+1))
			}
			return list
		case op == 10 && depth < 3:
			return []kv{{take(), value(depth + 1)}}
		default:
			return []byte(take())
		}
	}
	var attrs []kv
	for len(data) > 0 && len(attrs) < 400 {
		key := fuzzKeys[(next()<<8|next())%len(fuzzKeys)]
		if next()%8 == 0 {
			key = "continuity." + take()
		}
		if next()%8 == 0 {
			key = dig + take()
		}
		attrs = append(attrs, kv{key, value(0)})
	}
	return attrs
}

// FuzzEventAttributes: whatever an event carries, in whatever form, it is read
// without a panic into something bounded, and leaves nothing raw behind.
func FuzzEventAttributes(f *testing.F) {
	f.Add(uint8(0), uint64(occurred), []byte{})
	for i := range fuzzNames {
		seed := []byte{}
		for n := range 600 {
			seed = append(seed, byte(n*(7+i)+n/3))
		}
		f.Add(uint8(i), uint64(occurred), seed)
	}
	cfg := redacting()
	cfg.MaxInvariants = 4
	cfg.ScopeAttributes = []string{"unrelated"}
	r := NewReader(cfg)
	f.Fuzz(func(t *testing.T, name uint8, time uint64, data []byte) {
		attrs := attrsFrom(data)
		around := attrs[len(attrs)/2:]
		event := fuzzNames[int(name)%len(fuzzNames)]
		logs, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(wireLogs(event, time, attrs, around))
		require.NoError(t, err)
		traces, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(wireTraces(event, time, attrs, around))
		require.NoError(t, err)
		for _, b := range []batch{{logs: logs, isLogs: true}, {traces: traces}} {
			items := b.items(r, "tenant")
			want := 1
			if event == "unrelated" || event == "claude_code.compaction" && !b.isLogs {
				want = 0
			}
			// A record can also be named by its attribute.
			if !b.isLogs || want == 1 {
				require.Len(t, items, want)
			}
			for _, item := range items {
				checkItem(t, item, cfg.MaxInvariants)
				checkStatements(t, item, attrs)
			}
			for _, again := range b.items(r, "tenant") {
				checkItem(t, again, cfg.MaxInvariants)
			}
		}
	})
}

// redacting is the configuration that removes my.secret too.
func redacting() Config {
	cfg := DefaultConfig()
	cfg.RedactAttributes = []string{"my.secret"}
	return cfg
}

func FuzzLogsJSON(f *testing.F) {
	for _, file := range sampleFiles(f) {
		if b := loadSample(f, file); b.isLogs {
			f.Add([]byte(b.text(f)))
		}
	}
	x := telemetry{name: look, attrs: secrets(), enclosing: []kv{session}, body: []kv{{"prompt", "hunter2"}}}
	f.Add([]byte(x.as(f, LogRecord).text(f)))
	f.Add([]byte(`{"resourceLogs":[null,{"scopeLogs":[null,{"logRecords":[null,{"eventName":"session.end","attributes":[null,{}]}]}]}]}`))
	r := NewReader(redacting())
	f.Fuzz(func(t *testing.T, raw []byte) {
		logs, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(raw)
		if err != nil {
			return
		}
		checkBatch(t, r, batch{logs: logs, isLogs: true})
	})
}

func FuzzTracesJSON(f *testing.F) {
	for _, name := range fuzzNames {
		x := telemetry{name: name, attrs: append(secrets(), approvalWith().attrs...), enclosing: append(secrets(), session), resource: []kv{{"service.name", "x"}}}
		f.Add([]byte(x.as(f, SpanEvent).text(f)))
	}
	f.Add([]byte(`{"resourceSpans":[null,{"scopeSpans":[null,{"spans":[null,{"events":[null,{"name":"session.end"}]}]}]}]}`))
	r := NewReader(redacting())
	f.Fuzz(func(t *testing.T, raw []byte) {
		traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(raw)
		if err != nil {
			return
		}
		checkBatch(t, r, batch{traces: traces})
	})
}
