package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/cases"
	"github.com/agentcontinuity/otelcol-continuity/testdata"
)

// offline is the command without a project, reading the given input.
func offline(in string) (*app, *bytes.Buffer) {
	var out bytes.Buffer
	at := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	return &app{
		in: strings.NewReader(in), out: &out, err: io.Discard, dir: ".",
		now: func() time.Time { return at }, getenv: func(string) string { return "" },
	}, &out
}

// FuzzFiles: whatever a file holds, the commands that read files end, and none of
// them prints a word that would let somebody act.
func FuzzFiles(f *testing.F) {
	f.Add(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1773478860000000000","eventName":"continuity.snapshot","attributes":[{"key":"session.id","value":{"stringValue":"s"}}]}]}]}]}`)
	f.Add(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"continuity.boundary","attributes":[{"key":"continuity.state","value":{"stringValue":"preserved"}}],"events":[{"name":"continuity.alert"}]}]}]}]}`)
	f.Add(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"eventName":"continuity.boundary"},{"eventName":"continuity.alert"}]}]}]}`)
	f.Add(`{"name":"continuity.approval","time":"2026-03-14T09:00:00Z","attributes":{"session.id":"s","continuity.approval.ref":"C-1"}}`)
	for _, folder := range []string{testdata.Six, testdata.Recorded} {
		all, err := cases.LoadAll(testdata.Cases, folder)
		require.NoError(f, err)
		require.NotEmpty(f, all)
		entries, err := testdata.Cases.ReadDir(folder)
		require.NoError(f, err)
		for _, e := range entries {
			text, err := testdata.Cases.ReadFile(folder + "/" + e.Name())
			require.NoError(f, err)
			f.Add(string(text))
		}
	}
	const key = "kGqqRu5uukj/vxZ1+BSdAdHzCAdgMpb7DL7YB0rXJyg="
	f.Fuzz(func(t *testing.T, text string) {
		for _, args := range [][]string{
			{"replay", "-"},
			{"replay", "-", "--json"},
			{"verify", "receipts", "-"},
			{"verify", "receipts", "-", "--json"},
			{"verify", "approval", "-", "--public-key", key},
		} {
			a, out := offline(text)
			run(t.Context(), a, args)
			for _, word := range grants {
				if !strings.Contains(text, word) {
					assert.NotContains(t, out.String(), word, args)
				}
			}
		}
	})
}

// grants are words by which an output would let somebody act.
var grants = []string{"authorized", "authorised", "permitted", "allowed", "granted"}

// TestNothingGrants: no command of approvals and of the laboratory prints such a
// word, whatever comes out of it.
func TestNothingGrants(t *testing.T) {
	for _, args := range [][]string{
		{"replay"},
		{"replay", "--json"},
		{"inspect"},
		{"inspect", "--json"},
		{"inspect", "--tamper-summary"},
		{"inspect", "--side-effect-status", "side_effect_unknown"},
		{"inspect", "--approval-status", "approved", "--json"},
		{"replay", "--help"},
		{"inspect", "--help"},
		{"verify", "--help"},
		{"verify", "approval", "--help"},
		{"verify", "receipts", "--help"},
		{"approve", "--help"},
		{"revoke", "--help"},
		{"keygen", "--help"},
	} {
		a, out := offline("")
		require.Zero(t, run(t.Context(), a, args), args)
		require.NotEmpty(t, out.String(), args)
		for _, word := range grants {
			assert.NotContains(t, strings.ToLower(out.String()), word, args)
		}
	}
}
