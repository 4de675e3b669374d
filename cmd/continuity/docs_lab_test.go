package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
)

// part is the first group of an expression in a page of docs.
func part(t *testing.T, page, expression string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + page)
	require.NoError(t, err)
	found := regexp.MustCompile(expression).FindStringSubmatch(string(text))
	require.NotNil(t, found, "%s has no %s", page, expression)
	return found[1]
}

// The approval in docs/approvals.md is signed by the key beside it, over the bytes
// that it shows.
func TestApprovalOfTheDocs(t *testing.T) {
	printed := part(t, "approvals.md", "(?s)```json\n(.*?)```")
	public := part(t, "approvals.md", `approvals: \{public_keys: \{team-2026: "(.*?)"\}\}`)
	assert.Equal(t, public, part(t, "approvals.md", `--public-key team-2026=(\S+)`))
	a, out := offline(printed)
	require.Zero(t, run(t.Context(), a, []string{"verify", "approval", "-", "--public-key", "team-2026=" + public}), out)
	assert.Contains(t, out.String(), "CHG-17\tacceptance_test\t8f14e45f\tapproved\tteam-2026\tvalid\t2026-03-14T11:00:00Z")

	var e struct{ Attributes map[string]string }
	require.NoError(t, json.Unmarshal([]byte(printed), &e))
	signature, err := base64.StdEncoding.DecodeString(e.Attributes["continuity.approval.signature"])
	require.NoError(t, err)
	key, err := approval.ParsePublicKey([]byte(public))
	require.NoError(t, err)
	signed := part(t, "approvals.md", "(?s)over these bytes:\n\n```\n(.*?)\n```")
	assert.True(t, ed25519.Verify(key, []byte(signed), signature))

	changed := strings.Replace(printed, "CHG-17", "CHG-18", 1)
	a, out = offline(changed)
	assert.NotZero(t, run(t.Context(), a, []string{"verify", "approval", "-", "--public-key", public}), out)
}

// The table in docs/replay.md is what is printed.
func TestReplayOfTheDocs(t *testing.T) {
	want := part(t, "replay.md", "(?s)<!-- replay:begin -->\n```\n(.*?)```\n<!-- replay:end -->")
	a, out := offline("")
	a.getenv = func(name string) string { return map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}[name] }
	require.Zero(t, run(t.Context(), a, []string{"replay", "--six"}))
	table, _, _ := strings.Cut(out.String(), "\n\n")
	assert.Equal(t, want, table+"\n")
}
