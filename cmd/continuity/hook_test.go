package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/hosts"
)

const hostsData = "internal/hosts/testdata"

type hookPayload struct {
	Received string          `json:"received_unix_ns"`
	Event    string          `json:"event"`
	Payload  json.RawMessage `json:"payload"`
}

func hookPayloads(t testing.TB, file string) []hookPayload {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var all []hookPayload
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		var p hookPayload
		require.NoError(t, json.Unmarshal(lines.Bytes(), &p))
		all = append(all, p)
	}
	return all
}

// play feeds a recorded run to the hook, as the host did.
func (w *hookWorld) play(t *testing.T, file string, args ...string) {
	t.Helper()
	host := filepath.Base(filepath.Dir(file))
	for _, p := range hookPayloads(t, file) {
		ns, err := strconv.ParseInt(p.Received, 10, 64)
		require.NoError(t, err)
		w.at = time.Unix(0, ns).UTC()
		all := append([]string{host}, args...)
		if name := strings.TrimPrefix(p.Event, "event:"); host == "opencode" {
			all = append(all, "--event", name)
		}
		w.hook(t, string(p.Payload), all...)
	}
}

// TestHookRecorded: recorded payloads in, the right OTLP out, and not one byte on
// standard output. CONTINUITY_UPDATE_GOLDEN=1 writes the golden files anew.
func TestHookRecorded(t *testing.T) {
	for _, run := range []string{
		"claude-code/A-manual-ok", "claude-code/J-auto", "claude-code/C-fail500", "claude-code/E-noop-fresh", "claude-code/P-fork",
		"codex/A-manual-ok", "codex/L-midturn", "gemini-cli/B-manual-ok", "opencode/g-auto", "opencode/i-fork", "opencode/plugin",
		"cursor/documented", "qwen-code/documented", "generic/constructed",
	} {
		t.Run(run, func(t *testing.T) {
			c := newHookCollector(t)
			w := newHookWorld(t, c.URL)
			w.do(t, "decide", "scope", "github.com/acme/payments")
			w.do(t, "decide", "constraint.push", "forbidden")
			w.play(t, filepath.Join(hostsData, run+".hooks.jsonl"))
			w.silent(t)
			var got strings.Builder
			for _, r := range c.records(t) {
				got.WriteString(recordLine(r))
			}
			golden := filepath.Join("testdata", "hook", strings.ReplaceAll(run, "/", "-")+".txt")
			if os.Getenv("CONTINUITY_UPDATE_GOLDEN") != "" {
				require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o750))
				require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got.String())
		})
	}
}

// All recorded runs, with every option that does not ask: silent, and no two events
// taken for one.
func TestHookIsSilent(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(hostsData, "*", "*.hooks.jsonl"))
	require.NoError(t, err)
	for _, file := range files {
		c := newHookCollector(t)
		w := newHookWorld(t, c.URL)
		w.play(t, file, "--activity", "--every-turn")
		w.silent(t)
		ids := map[string]bool{}
		for _, r := range c.records(t) {
			id := r.EventName() + attrText(r, "continuity.event.id")
			// opencode tries a compaction again within milliseconds. Only its plugin says
			// that one failed in between, which these recordings do not have.
			assert.True(t, !ids[id] || strings.Contains(file, "opencode"), "%s: %s", file, id)
			ids[id] = true
		}
		c.Close()
	}
}

// With --ask standard output is one question after each compaction, in the form
// that the host reads, and nothing else.
func TestHookAsks(t *testing.T) {
	for run, form := range map[string]string{
		"claude-code/J-auto": "context", "codex/J-auto": "context", "qwen-code/documented": "context",
		"opencode/g-auto": "text", "gemini-cli/B-manual-ok": "", "cursor/documented": "",
	} {
		t.Run(run, func(t *testing.T) {
			c := newHookCollector(t)
			w := newHookWorld(t, c.URL)
			file := filepath.Join(hostsData, run+".hooks.jsonl")
			host, _ := hosts.Find(filepath.Dir(run))
			for _, p := range hookPayloads(t, file) {
				w.out.Reset()
				name := strings.TrimPrefix(p.Event, "event:")
				w.at = w.at.Add(time.Second)
				w.hook(t, string(p.Payload), host.Name, "--ask", "--event", name)
				e, err := host.Read(p.Payload, hosts.Options{Event: name}, w.getenv)
				require.NoError(t, err)
				text := w.out.String()
				if e.Output == hosts.Silent {
					require.Empty(t, text, name)
					continue
				}
				require.NotEmpty(t, form, name)
				if form == "context" {
					var output struct {
						Hook struct {
							Event   string `json:"hookEventName"`
							Context string `json:"additionalContext"`
						} `json:"hookSpecificOutput"`
					}
					require.NoError(t, json.Unmarshal([]byte(text), &output))
					require.Equal(t, "SessionStart", output.Hook.Event)
					text = output.Hook.Context
				}
				require.Contains(t, text, "session_id: "+e.Session)
				require.Contains(t, text, "restate_decisions")
				require.NotContains(t, text, "SUMMARY")
			}
			assert.Empty(t, w.err.Bytes())
		})
	}
}

// A hook that is wired twice, in a plugin and in the settings say, sends the same
// event, which the processor takes once.
func TestHookWiredTwice(t *testing.T) {
	c := newHookCollector(t)
	w := newHookWorld(t, c.URL)
	pre := `{"hook_event_name":"PreCompact","session_id":"s","prompt_id":"p","trigger":"auto"}`
	post := `{"hook_event_name":"PostCompact","session_id":"s","prompt_id":"p","trigger":"auto"}`
	for _, payload := range []string{pre, pre, post, post, pre, pre} {
		w.hook(t, payload, "claude-code")
		w.at = w.at.Add(30 * time.Millisecond)
	}
	records := c.records(t)
	require.Len(t, records, 6)
	var ids []string
	for _, r := range records {
		ids = append(ids, attrText(r, "continuity.event.id"))
	}
	assert.Equal(t, []string{ids[0], ids[0], ids[2], ids[2], ids[4], ids[4]}, ids)
	assert.NotEqual(t, ids[0], ids[4], "two compactions of one turn are two")
	assert.Equal(t, c.requests()[0], c.requests()[1], "to the byte")
}

// Two hooks of one event ask once; each compaction is asked for.
func TestHookAsksOnce(t *testing.T) {
	c := newHookCollector(t)
	w := newHookWorld(t, c.URL)
	start := `{"hook_event_name":"SessionStart","session_id":"s","prompt_id":"p","source":"compact"}`
	for i, asks := range []bool{false, true, false, true} {
		w.out.Reset()
		args := []string{"claude-code", "--ask"}
		if i == 0 {
			args = args[:1] // one that is wired without --ask asks nobody
		}
		if i == 3 {
			w.at = w.at.Add(time.Minute)
		}
		w.at = w.at.Add(30 * time.Millisecond)
		w.hook(t, start, args...)
		assert.Equal(t, asks, w.out.Len() > 0, "run %d", i)
	}
}

// Whatever is wrong, the host notices nothing.
func TestHookNeverDisturbs(t *testing.T) {
	good := `{"hook_event_name":"PreCompact","session_id":"s","trigger":"auto"}`
	for name, c := range map[string]struct {
		payload string
		args    []string
		spoil   func(t *testing.T, w *hookWorld)
		sent    int
	}{
		"no JSON":            {payload: "PreCompact", args: []string{"claude-code"}},
		"no payload":         {payload: "", args: []string{"claude-code"}},
		"a list":             {payload: "[]", args: []string{"claude-code"}},
		"unknown event":      {payload: `{"hook_event_name":"Dream","session_id":"s"}`, args: []string{"claude-code", "--ask"}},
		"no session":         {payload: `{"hook_event_name":"PreCompact"}`, args: []string{"codex"}},
		"unknown host":       {payload: good, args: []string{"clod"}},
		"no host":            {payload: good},
		"two hosts":          {payload: good, args: []string{"claude-code", "codex"}},
		"unknown flag":       {payload: good, args: []string{"claude-code", "--loud"}},
		"a flag's bad value": {payload: good, args: []string{"claude-code", "--ask=perhaps"}},
		"bad attribute":      {payload: good, args: []string{"claude-code", "--session-attribute", "x"}},
		"no configuration": {payload: good, args: []string{"claude-code", "--ask"}, spoil: func(t *testing.T, w *hookWorld) {
			require.NoError(t, os.Remove(filepath.Join(w.dir, "continuity.yaml")))
		}},
		"bad configuration": {payload: good, args: []string{"claude-code"}, spoil: func(t *testing.T, w *hookWorld) {
			require.NoError(t, os.WriteFile(filepath.Join(w.dir, "continuity.yaml"), []byte("endpoint: [\n"), 0o600))
		}},
		"a key that is not there": {payload: good, args: []string{"claude-code"}, sent: 1, spoil: func(t *testing.T, w *hookWorld) {
			require.NoError(t, os.WriteFile(filepath.Join(w.dir, "continuity.yaml"), []byte("key: {id: gone}\n"), 0o600))
		}},
		"nowhere to write": {payload: good, args: []string{"claude-code"}, sent: 1, spoil: func(t *testing.T, w *hookWorld) {
			require.NoError(t, os.WriteFile(w.state, nil, 0o400))
		}},
		"the ledger is a folder": {payload: good, args: []string{"claude-code"}, sent: 1, spoil: func(t *testing.T, w *hookWorld) {
			require.NoError(t, os.MkdirAll(filepath.Join(w.state, "ledger.jsonl"), 0o700))
		}},
		"the spool is a file": {payload: good, args: []string{"claude-code"}, sent: 1, spoil: func(t *testing.T, w *hookWorld) {
			require.NoError(t, os.MkdirAll(w.state, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(w.state, "spool"), nil, 0o600))
		}},
		"nobody listens": {payload: good, args: []string{"claude-code"}, spoil: func(_ *testing.T, w *hookWorld) { w.endpoint = "http://127.0.0.1:1" }},
	} {
		t.Run(name, func(t *testing.T) {
			collector := newHookCollector(t)
			w := newHookWorld(t, collector.URL)
			if c.spoil != nil {
				c.spoil(t, w)
			}
			w.hook(t, c.payload, c.args...)
			w.silent(t)
			assert.Len(t, collector.requests(), c.sent)
		})
	}
}

// A panic is caught, wherever it comes from.
func TestHookPanics(t *testing.T) {
	w := newHookWorld(t, "http://127.0.0.1:1")
	w.in = strings.NewReader(`{"hook_event_name":"PreCompact","session_id":"s"}`)
	a := w.app()
	a.now = func() time.Time { panic("canary") }
	w.env["CONTINUITY_DEBUG"] = "1"
	assert.Zero(t, run(t.Context(), a, []string{"hook", "claude-code"}))
	assert.Empty(t, w.out.Bytes())
	assert.NotContains(t, w.err.String(), "canary")
	assert.Contains(t, w.err.String(), "panic")
}

// A ledger that cannot be read is said, not passed over.
func TestHookFailedSnapshot(t *testing.T) {
	c := newHookCollector(t)
	w := newHookWorld(t, c.URL)
	require.NoError(t, os.MkdirAll(filepath.Join(w.state, "ledger.jsonl"), 0o700))
	w.hook(t, `{"hook_event_name":"PreCompact","session_id":"s"}`, "claude-code")
	require.Len(t, c.records(t), 1)
	assert.Equal(t, "failed", attrText(c.records(t)[0], "continuity.snapshot.status"))
}

// The project can also be where the host says that it is.
func TestHookFindsTheProject(t *testing.T) {
	c := newHookCollector(t)
	w := newHookWorld(t, c.URL)
	project := w.dir
	w.dir = t.TempDir()
	w.hook(t, `{"hook_event_name":"preCompact","conversation_id":"s","workspace_roots":["`+project+`"]}`, "cursor")
	w.hook(t, `{"hook_event_name":"preCompact","conversation_id":"s","workspace_roots":["relative"]}`, "cursor")
	assert.Len(t, c.records(t), 1)
}

// The last place for a session id is the project's own.
func TestHookSessionOfTheEnvironment(t *testing.T) {
	c := newHookCollector(t)
	w := newHookWorld(t, c.URL)
	w.env["CONTINUITY_SESSION"] = "from-continuity"
	w.env["CLAUDE_CODE_SESSION_ID"] = "from-claude"
	w.hook(t, `{"hook_event_name":"SessionEnd"}`, "codex")
	w.hook(t, `{"hook_event_name":"SessionEnd"}`, "claude-code")
	w.hook(t, `{"hook_event_name":"SessionEnd","session_id":"s"}`, "claude-code")
	records := c.records(t)
	require.Len(t, records, 3)
	assert.Equal(t, "from-continuity", attrText(records[0], "conversation.id"))
	assert.Equal(t, "from-claude", attrText(records[1], "session.id"))
	assert.Equal(t, "s", attrText(records[2], "session.id"))
}

// Activity is sent on demand only, and is no event of continuity.
func TestHookActivity(t *testing.T) {
	c := newHookCollector(t)
	w := newHookWorld(t, c.URL)
	stop := `{"hook_event_name":"Stop","session_id":"s","last_assistant_message":"done"}`
	w.hook(t, stop, "claude-code")
	assert.Empty(t, c.requests())
	w.hook(t, stop, "claude-code", "--activity")
	records := c.records(t)
	require.Len(t, records, 1)
	assert.Equal(t, "agent.activity", records[0].EventName())
	assert.Equal(t, "waiting_human", attrText(records[0], "agent.activity.state"))
	w.silent(t)
}
