package signal

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

const (
	conversationID = "gen_ai.conversation.id"
	sessionID      = "session.id"
)

func TestSessionLookup(t *testing.T) {
	for name, c := range map[string]struct {
		x    telemetry
		want string // "" is session_missing
	}{
		"nowhere":                         {telemetry{enclosing: []kv{{"x", "y"}}}, ""},
		"event":                           {telemetry{attrs: []kv{session}, enclosing: []kv{}}, "s1"},
		"span or record":                  {telemetry{enclosing: []kv{session}}, "s1"},
		"scope":                           {telemetry{enclosing: []kv{}, scope: []kv{session}}, "s1"},
		"resource":                        {telemetry{enclosing: []kv{}, resource: []kv{session}}, "s1"},
		"nearer beats better":             {telemetry{attrs: []kv{{"conversation.id", "near"}}, enclosing: []kv{}, scope: []kv{{conversationID, "far"}}, resource: []kv{{conversationID, "farther"}}}, "near"},
		"scope before resource":           {telemetry{enclosing: []kv{}, scope: []kv{{sessionID, "a"}}, resource: []kv{{conversationID, "b"}}}, "a"},
		"order of the list":               {telemetry{enclosing: []kv{{"conversation.id", "c"}, {sessionID, "b"}, {conversationID, "a"}}}, "a"},
		"nobody, next attribute":          {telemetry{enclosing: []kv{{conversationID, "unknown"}, {sessionID, "b"}}}, "b"},
		"nobody, next place":              {telemetry{enclosing: []kv{{conversationID, ""}, {sessionID, " "}}, resource: []kv{{conversationID, "a"}}}, "a"},
		"first of two names nobody":       {telemetry{enclosing: []kv{{sessionID, "null"}, {sessionID, "b"}}}, "b"},
		"first of two counts":             {telemetry{enclosing: []kv{{sessionID, "a"}, {sessionID, "b"}}}, "a"},
		"blanks":                          {telemetry{enclosing: []kv{{sessionID, "  s1\n"}}}, "s1"},
		"number":                          {telemetry{enclosing: []kv{{sessionID, 7}}}, ""},
		"number, next place":              {telemetry{enclosing: []kv{{sessionID, 7}}, resource: []kv{{sessionID, "a"}}}, "a"},
		"bool":                            {telemetry{enclosing: []kv{{sessionID, true}}}, ""},
		"empty value":                     {telemetry{enclosing: []kv{{sessionID, nil}}}, ""},
		"list":                            {telemetry{enclosing: []kv{{sessionID, []any{"a"}}}}, ""},
		"another attribute":               {telemetry{enclosing: []kv{{"thread.id", "a"}}}, ""},
		"names nobody in any of the case": {telemetry{enclosing: []kv{{sessionID, "UNDEFINED"}}, resource: []kv{{sessionID, "N/A"}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inBothForms(t, func(t *testing.T, form Form) {
				c.x.name = snapshot
				b := c.x.as(t, form)
				items := b.items(NewReader(DefaultConfig()))
				require.Len(t, items, 1)
				assert.Equal(t, boundary.Snapshot, items[0].Kind)
				if c.want == "" {
					assert.Nil(t, items[0].Event)
					assert.Equal(t, classify.SessionMissing, items[0].Reason)
					return
				}
				assert.Empty(t, items[0].Reason)
				assert.Equal(t, c.want, items[0].Event.Key.Session)
			})
		})
	}
}

func TestInvalidUTF8NamesNobody(t *testing.T) {
	td := ptrace.NewTraces()
	span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.Events().AppendEmpty().SetName(snapshot)
	span.Attributes().PutStr(conversationID, "a\xff")
	span.Attributes().PutStr(sessionID, "b")
	items := batch{traces: td}.items(NewReader(DefaultConfig()))
	assert.Equal(t, "b", items[0].Event.Key.Session)
	assert.Equal(t, []boundary.Attr{{Key: sessionID, Value: "b"}}, items[0].Event.Identity)
}

func TestAgentIsTheEventsOwn(t *testing.T) {
	inBothForms(t, func(t *testing.T, form Form) {
		e := readOne(t, form, telemetry{name: snapshot, resource: []kv{{"gen_ai.agent.id", "far"}}, scope: []kv{{"agent_id", "far"}}})
		assert.Empty(t, e.Key.Agent)
		e = readOne(t, form, telemetry{name: snapshot, enclosing: []kv{session, {"agent_id", "b"}, {"gen_ai.agent.id", " a "}}})
		assert.Equal(t, "a", e.Key.Agent)
		e = readOne(t, form, telemetry{name: snapshot, enclosing: []kv{session, {"agent_id", "b"}, {"gen_ai.agent.id", "none"}}})
		assert.Equal(t, "b", e.Key.Agent)
		e = readOne(t, form, telemetry{name: snapshot, attrs: []kv{{"agent_id", "a"}}, enclosing: []kv{session, {"agent_id", "b"}}})
		assert.Equal(t, "a", e.Key.Agent)
	})
}

func TestIdentityIsEverythingThatNamesSomebody(t *testing.T) {
	inBothForms(t, func(t *testing.T, form Form) {
		e := readOne(t, form, telemetry{
			name: snapshot, attrs: []kv{{sessionID, " s1 "}, {"agent_id", "a"}},
			enclosing: []kv{{"conversation.id", 7}, {"gen_ai.agent.id", "unknown"}},
			resource:  []kv{{sessionID, "far"}, {conversationID, "c1"}, {"agent_id", "far"}},
		})
		assert.Equal(t, "s1", e.Key.Session)
		assert.Equal(t, []boundary.Attr{{Key: conversationID, Value: "c1"}, {Key: sessionID, Value: " s1 "}, {Key: "agent_id", Value: "a"}}, e.Identity)
	})
	cfg := DefaultConfig()
	cfg.RedactAttributes = []string{sessionID}
	x := telemetry{name: snapshot, enclosing: []kv{session, {"conversation.id", "c"}}}
	e := x.as(t, LogRecord).items(NewReader(cfg))[0].Event
	assert.Equal(t, "s1", e.Key.Session, "what is redacted is still read")
	assert.Equal(t, []boundary.Attr{{Key: "conversation.id", Value: "c"}}, e.Identity)
}

func TestLongIDsStayDistinct(t *testing.T) {
	long := strings.Repeat("é", 5000)
	a := readOne(t, LogRecord, telemetry{name: snapshot, enclosing: []kv{{sessionID, long + "a"}, {"agent_id", long + "a"}}})
	b := readOne(t, LogRecord, telemetry{name: snapshot, enclosing: []kv{{sessionID, long + "b"}, {"agent_id", long + "b"}}})
	assert.NotEqual(t, a.Key.SessionKey, b.Key.SessionKey)
	assert.NotEqual(t, a.Key.Agent, b.Key.Agent)
	for _, text := range []string{a.Key.Session, a.Key.Agent, a.Identity[0].Value.(string), a.Identity[1].Value.(string)} {
		assert.LessOrEqual(t, len(text), 256)
		assert.True(t, utf8.ValidString(text))
	}
}

func TestPrevious(t *testing.T) {
	for _, c := range []struct {
		x    telemetry
		want string
	}{
		{telemetry{}, ""},
		{telemetry{attrs: []kv{{"session.previous_id", " s0 "}}}, "s0"},
		{telemetry{enclosing: []kv{session, {"session.previous_id", "s0"}}}, "s0"},
		{telemetry{resource: []kv{{"session.previous_id", "s0"}}}, "s0"},
		{telemetry{attrs: []kv{{"session.previous_id", "null"}}}, ""},
		{telemetry{attrs: []kv{{"session.previous_id", 7}}}, ""},
		{telemetry{attrs: []kv{{"session.previous_id", "s1"}}}, ""}, // no session continues itself
	} {
		inBothForms(t, func(t *testing.T, form Form) {
			x := c.x
			x.name = "session.start"
			assert.Equal(t, c.want, readOne(t, form, x).Previous)
		})
	}
}

func TestScopeOfTheKey(t *testing.T) {
	cfg := DefaultConfig()
	cfg.ScopeAttributes = []string{"host.id", "port"}
	r := NewReader(cfg)
	read := func(tenant []string, resource []kv) boundary.Key {
		x := telemetry{name: snapshot, enclosing: []kv{session}, resource: resource}
		return x.as(t, SpanEvent).items(r, tenant...)[0].Event.Key
	}
	keys := map[boundary.Key]bool{}
	for _, tenant := range [][]string{nil, {"a"}, {"b"}, {"a", "b"}} {
		for _, resource := range [][]kv{nil, {{"host.id", "h1"}}, {{"host.id", "h2"}}, {{"port", 1}}, {{"port", 2}}, {{"host.id", strings.Repeat("h", 999)}}} {
			keys[read(tenant, resource)] = true
		}
	}
	assert.Len(t, keys, 24)
	assert.Equal(t, boundary.JoinScope([]string{"a"}, []string{"h1", "7"}), read([]string{"a"}, []kv{{"host.id", "h1"}, {"port", 7}}).Scope)
	assert.Empty(t, NewReader(DefaultConfig()).Scope(pcommon.NewMap(), nil))
}

// TestKeyOfPlainTelemetry: what annotates later work finds the state that the
// events made.
func TestKeyOfPlainTelemetry(t *testing.T) {
	cfg := DefaultConfig()
	cfg.ScopeAttributes = []string{"host.id"}
	r := NewReader(cfg)
	for _, x := range []telemetry{
		{name: snapshot, enclosing: []kv{{sessionID, " s1 "}, {"agent_id", "a"}}, resource: []kv{{"host.id", "h1"}}},
		{name: snapshot, enclosing: []kv{{sessionID, strings.Repeat("s", 300)}}},
		{name: snapshot, enclosing: []kv{{sessionID, "none"}}, scope: []kv{{"conversation.id", "c"}}},
		{name: snapshot, enclosing: []kv{}, resource: []kv{{sessionID, "r"}, {"agent_id", "not own"}}},
	} {
		b := x.as(t, SpanEvent)
		item := b.items(r, "tenant")[0]
		resource := b.traces.ResourceSpans().At(0)
		scope := resource.ScopeSpans().At(0)
		key, ok := r.Key(scope.Spans().At(0).Attributes(), scope.Scope().Attributes(), resource.Resource().Attributes(), []string{"tenant"})
		assert.True(t, ok)
		assert.Equal(t, item.Event.Key, key)
	}
	_, ok := r.Key(pcommon.NewMap(), pcommon.NewMap(), pcommon.NewMap(), nil)
	assert.False(t, ok)
}

func TestResourceIsCopied(t *testing.T) {
	resource := []kv{
		{"service.name", "agent"},
		{"service.name", "twice"},
		{"service.instance.id", strings.Repeat("x", 300)},
		{"host.id", 7},
		{"k8s.pod", true},
		{"deployment.environment.name", "prod"},
		{"host.load", 0.5},
		{"host.list", []any{"a"}},
		{"process.command_line", "secret"},
		{"services", "x"},
		{"service." + strings.Repeat("n", 300), "x"},
		{"host.secret", "x"},
	}
	cfg := DefaultConfig()
	cfg.RedactAttributes = []string{"host.secret"}
	x := telemetry{name: snapshot, enclosing: []kv{session}, resource: resource}
	inBothForms(t, func(t *testing.T, form Form) {
		e := x.as(t, form).items(NewReader(cfg))[0].Event
		assert.Equal(t, []boundary.Attr{
			{Key: "service.name", Value: "agent"},
			{Key: "service.instance.id", Value: strings.Repeat("x", 256)},
			{Key: "host.id", Value: int64(7)},
			{Key: "k8s.pod", Value: true},
			{Key: "deployment.environment.name", Value: "prod"},
		}, e.Resource)
	})
	many := []kv{}
	for i := range 200 {
		many = append(many, kv{fmt.Sprintf("k8s.label.%d", i), "x"})
	}
	assert.Len(t, readOne(t, LogRecord, telemetry{name: snapshot, resource: many}).Resource, 64)
}
