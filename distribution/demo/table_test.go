package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/cases"
)

func TestTable(t *testing.T) {
	tab := table{head: []string{"CASE", "EVENTS", "CONTINUITY", "REASON"}}
	tab.rows = append(tab.rows, row{[]string{"kept", "healthy", "preserved", "match"}, "preserved"})
	tab.gap()
	tab.rows = append(tab.rows, row{[]string{"scope – changed", "healthy", "conflicting", "changed_without_approval"}, "conflicting"})
	var plain, coloured strings.Builder
	tab.write(&plain, false)
	tab.write(&coloured, true)
	assert.Equal(t, strings.Join([]string{
		"  CASE             EVENTS   CONTINUITY   REASON",
		"  kept             healthy  preserved    match",
		"",
		"  scope – changed  healthy  conflicting  changed_without_approval",
		"",
	}, "\n"), plain.String())
	assert.Contains(t, coloured.String(), "\x1b[32mpreserved\x1b[0m")
	assert.Contains(t, coloured.String(), "\x1b[1;31mconflicting\x1b[0m")
	escapes := regexp.MustCompile("\x1b\\[[0-9;]*m")
	assert.Equal(t, plain.String(), escapes.ReplaceAllString(coloured.String(), ""), "colour moves a column")
}

func TestColourOnATerminalOnly(t *testing.T) {
	terminal, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a character device, as a terminal is
	require.NoError(t, err)
	defer func() { _ = terminal.Close() }()
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm-256color")
	assert.True(t, bool(painterFor(terminal)))
	assert.False(t, bool(painterFor(&bytes.Buffer{})))
	t.Setenv("TERM", "dumb")
	assert.False(t, bool(painterFor(terminal)))
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("NO_COLOR", "1")
	assert.False(t, bool(painterFor(terminal)))
}

// reportOf makes the report of one session that was judged.
func reportOf(differs ...string) *report {
	c := &cases.Case{Name: "scope_changed", Title: "scope changed", Want: cases.Want{EventRule: cases.RuleHealthy}}
	return &report{
		options: &options{out: "build/demo"},
		outcome: &outcome{receipts: 1, alerts: 1},
		hint:    "do this",
		six: []*result{{Case: c, eventRule: cases.RuleHealthy, differs: differs, receipts: []*cases.Receipt{{
			State: "conflicting", Reason: "changed_without_approval", Action: "hold_and_ask",
			Sentence: "It is so.", Alerts: []string{"decision_conflicting:firing"},
		}}}},
	}
}

func TestText(t *testing.T) {
	var out strings.Builder
	require.NoError(t, reportOf().writeText(&out, false))
	text := out.String()
	assert.Contains(t, text, "  scope changed  healthy  conflicting  changed_without_approval  hold_and_ask  decision_conflicting\n")
	assert.Contains(t, text, "All 1 verdicts are as expected.")
	assert.Contains(t, text, "Receipts: build/demo/receipts.jsonl (1 receipts, 1 alerts;")
	assert.Contains(t, text, "  It is so.\n")
	assert.Contains(t, text, "1. do this;")
}

func TestTextOfWhatDiffers(t *testing.T) {
	var out strings.Builder
	r := reportOf(`receipt 1: state is "preserved", expected "conflicting"`)
	require.NoError(t, r.writeText(&out, false))
	assert.False(t, r.ok())
	assert.Contains(t, out.String(), "  ! scope changed")
	assert.Contains(t, out.String(), "Not as expected:\n  scope changed: receipt 1: state is \"preserved\", expected \"conflicting\"\n")
	assert.NotContains(t, out.String(), "as expected.\n\nReceipts")
}

func TestJSON(t *testing.T) {
	var out strings.Builder
	require.NoError(t, reportOf("it differs").writeJSON(&out))
	assert.JSONEq(t, `{
		"ok": false, "window": "3s", "receipts": "build/demo/receipts.jsonl", "problems": ["scope changed: it differs"],
		"cases": [{
			"name": "scope_changed", "title": "scope changed", "about": "", "session": "demo-scope_changed",
			"event_rule": "healthy", "state": "conflicting", "reason": "changed_without_approval", "action": "hold_and_ask",
			"alerts": ["decision_conflicting"], "receipts": 1, "ok": false
		}]
	}`, out.String())
}
