package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/hosts"
)

// Whatever a host writes, the hook ends well and prints nothing.
func FuzzHook(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(hostsData, "*", "*.hooks.jsonl"))
	require.NoError(f, err)
	for _, file := range files {
		for _, p := range hookPayloads(f, file)[:3] {
			f.Add(string(p.Payload), filepath.Base(filepath.Dir(file)), strings.TrimPrefix(p.Event, "event:"))
		}
	}
	f.Add(`{"hook_event_name":"PreCompact","session_id":"s","agent_id":"`+strings.Repeat("a", 256)+`"}`, "claude-code", "")
	f.Fuzz(func(t *testing.T, payload, host, event string) {
		if _, ok := hosts.Find(host); !ok {
			t.Skip()
		}
		w := newHookWorld(t, "http://127.0.0.1:1")
		w.in = strings.NewReader(payload)
		require.Zero(t, run(context.Background(), w.app(), []string{"hook", host, "--event=" + event, "--activity", "--every-turn"}))
		w.silent(t)
	})
}
