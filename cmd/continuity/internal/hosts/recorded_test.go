package hosts

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recording is one payload of testdata/<host>/*.hooks.jsonl. The files called
// "documented" and "constructed" are made from a host's documentation; "plugin" is
// what integrations/opencode sends; all others are recorded and reduced.
type recording struct {
	Event   string          `json:"event"`
	Payload json.RawMessage `json:"payload"`
}

func recordings(t testing.TB, file string) []recording {
	f, err := os.Open(file)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	var all []recording
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var r recording
		require.NoError(t, json.Unmarshal(lines.Bytes(), &r))
		r.Event = strings.TrimPrefix(r.Event, "event:")
		all = append(all, r)
	}
	require.NoError(t, lines.Err())
	return all
}

func noEnv(string) string { return "" }

func files(t testing.TB) []string {
	all, err := filepath.Glob("testdata/*/*.hooks.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

// line is an event as the golden files have it. Empty is left out.
func line(e Event) string {
	text := fmt.Sprintf("%s: %s", e.Name, e.Action)
	for _, field := range [][2]string{
		{"host", e.Host},
		{"session", e.SessionAttribute + "=" + e.Session},
		{"agent", e.Agent},
		{"runtime", e.Runtime},
		{"previous", e.Previous},
		{"trigger", e.Trigger},
		{"outcome", string(e.Outcome)},
		{"summary", e.SummarySHA256},
		{"activity", e.Activity},
		{"output", []string{"", "text", "context"}[e.Output]},
		{"ids", strings.Join(e.IDs, ",")},
		{"unique", map[bool]string{true: "yes"}[e.Unique]},
	} {
		if field[1] != "" {
			text += " " + field[0] + " " + field[1]
		}
	}
	return text
}

// TestRecorded: each payload gives the event of the golden file beside it.
// CONTINUITY_UPDATE_GOLDEN=1 writes the files anew.
func TestRecorded(t *testing.T) {
	for _, file := range files(t) {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(file, "testdata/"), ".hooks.jsonl"), func(t *testing.T) {
			host, ok := Find(filepath.Base(filepath.Dir(file)))
			require.True(t, ok)
			var got strings.Builder
			for _, r := range recordings(t, file) {
				e, err := host.Read(r.Payload, Options{Event: eventName(host, r)}, noEnv)
				require.NoError(t, err)
				if e.Action == Nothing && e.Activity == "" {
					continue
				}
				got.WriteString(line(e) + "\n")
			}
			golden := strings.TrimSuffix(file, ".hooks.jsonl") + ".want.txt"
			if os.Getenv("CONTINUITY_UPDATE_GOLDEN") != "" {
				require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got.String())
		})
	}
}

// eventName names an event only where the host's payload does not.
func eventName(h *Host, r recording) string {
	var p map[string]any
	if json.Unmarshal(r.Payload, &p) == nil && first(p, h.Event) != "" {
		return ""
	}
	return r.Event
}

// A row that no sample shows is a guess that no test would miss.
func TestEveryRowIsShown(t *testing.T) {
	shown := map[*Row]bool{}
	for _, file := range files(t) {
		host, _ := Find(filepath.Base(filepath.Dir(file)))
		for _, r := range recordings(t, file) {
			var p map[string]any
			require.NoError(t, json.Unmarshal(r.Payload, &p))
			name := eventName(host, r)
			if name == "" {
				name = first(p, host.Event)
			}
			if row := host.row(p, name, Options{EveryTurn: true}); row != nil {
				shown[row] = true
			}
		}
	}
	shared := map[*Row]string{} // Claude Code's rows are those of others too
	for i := range all {
		for j := range all[i].Rows {
			row := &all[i].Rows[j]
			if !shown[row] {
				shared[row] = all[i].Name
			}
		}
	}
	for row, host := range shared {
		t.Errorf("%s: no sample shows %s %v", host, row.Event, row.If)
	}
}

// A recording must not carry what people or machines are called, nor what anybody
// wrote.
func TestRecordingsAreReduced(t *testing.T) {
	words := []string{
		"PROMPT", "SUMMARY", "INSTRUCTIONS", "MESSAGE", "TEXT", "TITLE", "ERROR", "OUTPUT", "COMMAND", "CONTENT", "MODEL",
		"/PROJECT", "/TRANSCRIPT", "/FILE",
	}
	for _, file := range files(t) {
		for _, r := range recordings(t, file) {
			var payload any
			require.NoError(t, json.Unmarshal(r.Payload, &payload))
			walk(payload, "", func(key, value string) {
				switch key {
				case "prompt", "compact_summary", "summary", "custom_instructions", "last_assistant_message", "message", "text", "title",
					"cwd", "directory", "workspace_roots", "transcript_path", "file_path", "path", "agent_transcript_path", "error", "command", "prompt_response", "llmContent":
					assert.True(t, value == "" || slices.Contains(words, value), "%s: %s", file, value)
				default:
					assert.NotContains(t, value, "/", "%s: %s", file, key)
					assert.NotContains(t, value, "@", "%s: %s", file, key)
					assert.LessOrEqual(t, len(value), 40, "%s: %s", file, key)
				}
			})
		}
	}
}

func walk(value any, key string, visit func(key, value string)) {
	switch v := value.(type) {
	case map[string]any:
		for k, inner := range v {
			walk(inner, k, visit)
		}
	case []any:
		for _, inner := range v {
			walk(inner, key, visit)
		}
	case string:
		visit(key, v)
	}
}
