package hosts

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

func read(t *testing.T, host, payload string, o Options, env map[string]string) (Event, error) {
	t.Helper()
	h, ok := Find(host)
	require.True(t, ok)
	return h.Read([]byte(payload), o, func(name string) string { return env[name] })
}

func TestSession(t *testing.T) {
	env := map[string]string{"CLAUDE_CODE_SESSION_ID": "from-env", "GEMINI_SESSION_ID": "gemini-env"}
	for name, c := range map[string]struct{ host, payload, want string }{
		"payload goes before environment": {"claude-code", `{"hook_event_name":"SessionEnd","session_id":"s"}`, "s"},
		"environment":                     {"claude-code", `{"hook_event_name":"SessionEnd"}`, "from-env"},
		"names nobody":                    {"claude-code", `{"hook_event_name":"SessionEnd","session_id":"unknown"}`, "from-env"},
		"undefined":                       {"claude-code", `{"hook_event_name":"SessionEnd","session_id":"undefined"}`, "from-env"},
		"zeros":                           {"claude-code", `{"hook_event_name":"SessionEnd","session_id":"00000000-0000-0000-0000-000000000000"}`, "from-env"},
		"no string":                       {"claude-code", `{"hook_event_name":"SessionEnd","session_id":7}`, "from-env"},
		"an object":                       {"claude-code", `{"hook_event_name":"SessionEnd","session_id":{"a":1}}`, "from-env"},
		"too long":                        {"claude-code", `{"hook_event_name":"SessionEnd","session_id":"` + strings.Repeat("x", 257) + `"}`, "from-env"},
		"no UTF-8":                        {"claude-code", "{\"hook_event_name\":\"SessionEnd\",\"session_id\":\"\xff\"}", "from-env"},
		"two lines":                       {"claude-code", `{"hook_event_name":"SessionEnd","session_id":"a\nb"}`, "from-env"},
		"blanks around it":                {"claude-code", `{"hook_event_name":"SessionEnd","session_id":" s\n"}`, "s"},
		"another host's environment":      {"codex", `{"hook_event_name":"SessionEnd"}`, ""},
		"gemini":                          {"gemini-cli", `{"hook_event_name":"SessionEnd"}`, "gemini-env"},
		"second place":                    {"cursor", `{"hook_event_name":"sessionEnd","conversation_id":"","session_id":"s"}`, "s"},
		"inside":                          {"opencode", `{"hook_event_name":"experimental.session.compacting","input":{"sessionID":"ses_1"}}`, "ses_1"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := read(t, c.host, c.payload, Options{}, env)
			require.NoError(t, err)
			assert.Equal(t, c.want, e.Session)
			assert.NotEqual(t, Nothing, e.Action)
		})
	}
}

func TestPayloadThatIsNone(t *testing.T) {
	for _, payload := range []string{"", "null", "[]", "7", `"PreCompact"`, "{", "{}}", "\x00", "not json", `{"a":1}{"b":2}`} {
		_, err := read(t, "claude-code", payload, Options{}, nil)
		require.ErrorIs(t, err, ErrPayload, payload)
		assert.Equal(t, ErrPayload.Error(), err.Error(), "the error quotes nothing")
	}
	e, err := read(t, "claude-code", "{}", Options{}, nil)
	require.NoError(t, err)
	assert.Equal(t, Nothing, e.Action)
}

func TestEventIsNamedOutside(t *testing.T) {
	e, err := read(t, "opencode", `{"input":{"sessionID":"s"}}`, Options{Event: "experimental.session.compacting"}, nil)
	require.NoError(t, err)
	assert.Equal(t, Snapshot, e.Action)
	e, err = read(t, "claude-code", `{"hook_event_name":"precompact","session_id":"s"}`, Options{}, nil)
	require.NoError(t, err)
	assert.Equal(t, Nothing, e.Action, "names are as the host writes them")
}

// Gemini's event of every turn is no boundary, unless somebody wants it to be.
func TestEveryTurn(t *testing.T) {
	payload := `{"hook_event_name":"PreCompress","session_id":"s","trigger":"auto"}`
	e, err := read(t, "gemini-cli", payload, Options{}, nil)
	require.NoError(t, err)
	assert.Equal(t, Nothing, e.Action)
	assert.Empty(t, e.Activity)
	e, err = read(t, "gemini-cli", payload, Options{EveryTurn: true}, nil)
	require.NoError(t, err)
	assert.Equal(t, Snapshot, e.Action)
}

func TestOverrides(t *testing.T) {
	o := Options{SessionAttribute: "session.id", Runtime: "my_agent"}
	e, err := read(t, "generic", `{"event":"before_compaction","session_id":"s"}`, o, nil)
	require.NoError(t, err)
	assert.Equal(t, "session.id", e.SessionAttribute)
	assert.Equal(t, "my_agent", e.Runtime)
}

// Where nothing was compacted, nothing is asked.
func TestOutput(t *testing.T) {
	for outcome, want := range map[string]Output{"": Text, "completed": Text, "unknown": Text, "failed": Silent, "cancelled": Silent, "no_op": Silent} {
		e, err := read(t, "generic", `{"event":"after_compaction","session_id":"s","outcome":"`+outcome+`"}`, Options{}, nil)
		require.NoError(t, err)
		assert.Equal(t, want, e.Output, outcome)
	}
}

// A summary gives its digest and nothing else, also where it is empty.
func TestSummary(t *testing.T) {
	e, err := read(t, "claude-code", `{"hook_event_name":"PostCompact","session_id":"s","compact_summary":""}`, Options{}, nil)
	require.NoError(t, err)
	assert.Equal(t, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", e.SummarySHA256)
	e, err = read(t, "codex", `{"hook_event_name":"PostCompact","session_id":"s"}`, Options{}, nil)
	require.NoError(t, err)
	assert.Empty(t, e.SummarySHA256)
}

func TestNames(t *testing.T) {
	assert.Equal(t, []string{"claude-code", "codex", "gemini-cli", "qwen-code", "cursor", "opencode", "generic"}, Names())
	_, ok := Find("claude")
	assert.False(t, ok)
	for i := range all {
		h := &all[i]
		// What it sends must be something that an event can carry.
		_, err := continuity.SessionEnd{Common: continuity.Common{Session: continuity.Session{ID: "s", Attribute: h.SessionAttribute, Runtime: h.Runtime}}}.Attributes()
		require.NoError(t, err, h.Name)
	}
}

func FuzzRead(f *testing.F) {
	for _, file := range files(f) {
		for _, r := range recordings(f, file) {
			f.Add([]byte(r.Payload), r.Event)
		}
	}
	f.Add([]byte(`{"hook_event_name":["PreCompact"],"session_id":{"x":[[[]]]}}`), "")
	f.Fuzz(func(t *testing.T, payload []byte, event string) {
		for i := range all {
			e, err := all[i].Read(payload, Options{Event: event, EveryTurn: true}, noEnv)
			if err != nil {
				require.ErrorIs(t, err, ErrPayload)
				continue
			}
			require.True(t, json.Valid(payload))
			require.LessOrEqual(t, len(e.Session), maxID)
			require.Contains(t, []string{"", "auto", "manual", "other"}, e.Trigger)
			require.Contains(t, []string{"", Working, WaitingHuman}, e.Activity)
			require.Contains(t, []continuity.Outcome{"", continuity.Completed, continuity.Unknown, continuity.Failed, continuity.Cancelled, continuity.NoOp}, e.Outcome)
			require.True(t, e.SummarySHA256 == "" || len(e.SummarySHA256) == len("sha256:")+64)
		}
	})
}
