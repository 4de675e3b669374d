package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/hosts"
)

const canary = "canary"

// poison puts canaries into all texts of a payload but those that say what it is,
// and adds some that no host sends.
func poison(r *rapid.T, value any, key string) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, inner := range v {
			out[k] = poison(r, inner, k)
		}
		for range rapid.IntRange(0, 2).Draw(r, "extra") {
			extra := rapid.SampledFrom([]string{"summary", "compact_summary", "prompt", "transcript", "outcome", "id", "source", "message", canary}).Draw(r, "key")
			if _, there := out[extra]; !there {
				out[extra] = rapid.SampledFrom([]any{canary, []any{canary, map[string]any{canary: canary}}, map[string]any{"a": map[string]any{"b": canary}}}).Draw(r, "value")
			}
		}
		return out
	case []any:
		return append(v, canary)
	case string:
		switch key {
		case "hook_event_name", "type", "event", "session_id", "conversation_id", "sessionID", "agent_id", "previous_session_id", "source", "notification_type":
			return v
		}
		return canary + rapid.StringN(0, 8, -1).Draw(r, "text")
	default:
		return v
	}
}

// TestHookHygiene: of a payload nothing leaves the process but ids and closed words,
// and nothing else is kept on the disk either.
func TestHookHygiene(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(hostsData, "*", "*.hooks.jsonl"))
	require.NoError(t, err)
	type sample struct {
		host, event string
		payload     map[string]any
	}
	var samples []sample
	for _, file := range files {
		host, _ := hosts.Find(filepath.Base(filepath.Dir(file)))
		for _, p := range hookPayloads(t, file) {
			name := strings.TrimPrefix(p.Event, "event:")
			e, err := host.Read(p.Payload, hosts.Options{Event: name, EveryTurn: true}, func(string) string { return "" })
			require.NoError(t, err)
			if e.Action == hosts.Nothing && e.Activity == "" {
				continue
			}
			var payload map[string]any
			require.NoError(t, json.Unmarshal(p.Payload, &payload))
			samples = append(samples, sample{host.Name, name, payload})
		}
	}
	c := newHookCollector(t)
	w := newHookWorld(t, c.URL)
	w.env["CONTINUITY_DEBUG"] = "1"
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.SampledFrom(samples).Draw(r, "sample")
		poisoned, err := json.Marshal(poison(r, s.payload, ""))
		require.NoError(r, err)
		before := len(c.requests())
		w.hook(t, string(poisoned), s.host, "--event", s.event, "--ask", "--activity", "--every-turn")
		requests := c.requests()[before:]
		require.Len(r, requests, 1)
		require.NotContains(r, string(requests[0]), canary)
		require.NotContains(r, w.out.String(), canary)
		require.NotContains(r, w.err.String(), canary)
	})
	require.NoError(t, filepath.WalkDir(w.state, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		assert.NotContains(t, string(text), canary, path)
		return err
	}))
}
