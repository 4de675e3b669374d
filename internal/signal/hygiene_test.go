package signal

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// secrets is every place where a raw value can stand; "hunter2" must not pass.
func secrets() []kv {
	return []kv{
		{"compact_summary", "hunter2"},
		{"custom_instructions", []any{"hunter2"}},
		{"transcript_path", "/home/hunter2"},
		{"prompt", []kv{{"text", "hunter2"}}},
		{"prompt", "hunter2 again"},
		{"my.secret", "hunter2"},
		{inv + "value.scope", "hunter2"},
		{inv + "value.scope", "hunter2"},
		{inv + "value.Bad Name", "hunter2"},
		{inv + "value.", "hunter2"},
		{dig + "scope", "hunter2"},
		{dig + "scope", []any{"hunter2"}},
		{dig + "target", []kv{{"hunter2", "hunter2"}}},
		{dig + "Bad Name", "hunter2"},
		{dig + "", "hunter2"},
		{env + "summary_sha256", "hunter2"},
		{apr + "from", "hunter2"},
		{apr + "to", []byte("hunter2")},
	}
}

func TestRawValuesNeverPass(t *testing.T) {
	cfg := DefaultConfig()
	cfg.RedactAttributes = []string{"my.secret"}
	r := NewReader(cfg)
	kept := []kv{{"kept", "kept-1"}, {dig + "acceptance_test", sum("a")}, {env + "action_digest", "opaque-1"}, {env + "id", "id-1"}}
	names := []string{
		snapshot, look, "continuity_validation_failed", "continuity.compaction", "continuity.approval", "session.end", "session.start",
	}
	for _, name := range names {
		for _, ids := range [][]kv{{session}, {}} { // also without a session
			inBothForms(t, func(t *testing.T, form Form) {
				x := telemetry{name: name, attrs: append(secrets(), kept...), enclosing: append(secrets(), ids...)}
				b := x.as(t, form)
				items := b.items(r)
				require.Len(t, items, 1)
				left := b.text(t)
				assert.NotContains(t, left, "hunter2", name)
				for _, text := range []string{"kept-1", sum("a"), "opaque-1", "id-1"} {
					assert.Contains(t, left, text)
				}
				for key, value := range items[0].Attributes.All() {
					if key == dig+"scope" || key == dig+"Bad Name" || key == apr+"from" || key == env+"summary_sha256" {
						assert.Equal(t, "[redacted]", value.AsString(), key)
					}
				}
				assert.Len(t, b.items(r), 1, "what is clean can be read again")
			})
		}
	}
}

func TestUnrecognisedTelemetryIsNeverTouched(t *testing.T) {
	inBothForms(t, func(t *testing.T, form Form) {
		x := telemetry{name: "something.else", attrs: secrets(), enclosing: append(secrets(), session), body: "hunter2"}
		b := x.as(t, form)
		before := b.text(t)
		assert.Empty(t, b.items(NewReader(DefaultConfig())))
		assert.Equal(t, before, b.text(t))
	})
}

func TestWellFormedDigestsStay(t *testing.T) {
	const void = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	attrs := []kv{{dig + "scope", " SHA256:" + sum("A")[7:]}, {dig + "target", "none"}, {dig + "note", void}, {dig + "scope", "hmac-" + sum("b")}}
	x := telemetry{name: look, attrs: attrs, enclosing: []kv{session}}
	b := x.as(t, SpanEvent)
	before := b.text(t)
	b.items(NewReader(DefaultConfig()))
	assert.Equal(t, before, b.text(t))
	// A well-formed digest under another name may still be anything.
	x.attrs = []kv{{dig + "Bad", sum("a")}}
	assert.Equal(t, "[redacted]", x.as(t, SpanEvent).items(NewReader(DefaultConfig()))[0].Attributes.AsRaw()[dig+"Bad"])
}

func TestBodies(t *testing.T) {
	read := func(body any) string {
		x := telemetry{eventName: look, body: body, enclosing: []kv{session}}
		b := x.as(t, LogRecord)
		require.Len(t, b.items(NewReader(DefaultConfig())), 1)
		return b.text(t)
	}
	left := read([]kv{{"prompt", "hunter2"}, {"kept", "kept-1"}, {"deeper", []any{[]kv{{"compact_summary", "hunter2"}, {inv + "value.scope", "hunter2"}, {"kept", "kept-2"}}}}})
	assert.NotContains(t, left, "hunter2")
	assert.Contains(t, left, "kept-1")
	assert.Contains(t, left, "kept-2")
	assert.Contains(t, read(look), look)
	assert.Contains(t, read("a sentence about it"), "a sentence about it")
}

func TestDeepBodiesEndSomewhere(t *testing.T) {
	ld := plog.NewLogs()
	record := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	record.SetEventName(look)
	inner := record.Body().SetEmptyMap()
	for range 5000 {
		inner.PutStr("prompt", "hunter2")
		inner = inner.PutEmptySlice("deeper").AppendEmpty().SetEmptyMap()
	}
	assert.Len(t, batch{logs: ld, isLogs: true}.items(NewReader(DefaultConfig())), 1)
	assert.Zero(t, strings.Count(record.Body().AsString(), "hunter2"))
	assert.Equal(t, pcommon.ValueTypeMap, record.Body().Type())
}

func TestNestedRawValuesNeverPass(t *testing.T) {
	td := ptrace.NewTraces()
	span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.Attributes().PutStr("session.id", "s")
	span.Attributes().PutEmptyMap("ctx").PutStr("prompt", "hunter2")
	event := span.Events().AppendEmpty()
	event.SetName("context_compaction")
	event.Attributes().PutEmptySlice("list").AppendEmpty().SetEmptyMap().PutStr("compact_summary", "hunter2")
	NewReader(DefaultConfig()).Traces(td, nil, time.Now(), func(Item) {})
	raw, err := (&ptrace.JSONMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), "hunter2")
}
