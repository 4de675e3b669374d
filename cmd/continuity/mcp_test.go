package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

// mcpClient is an agent that talks to the server of a project.
type mcpClient struct {
	*mcp.ClientSession
	w *hookWorld
	c *hookCollector
}

func newMCPClient(t *testing.T) *mcpClient {
	t.Helper()
	c := newHookCollector(t)
	w := newHookWorld(t, c.URL)
	return &mcpClient{connectMCP(t, w), w, c}
}

func connectMCP(t *testing.T, w *hookWorld) *mcp.ClientSession {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	server, err := w.app().mcpServer().Connect(t.Context(), ours, nil)
	require.NoError(t, err)
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), theirs, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, client.Close())
		assert.NoError(t, server.Wait())
	})
	return client
}

// call returns what a tool says, and whether that is an error.
func (c *mcpClient) call(t *testing.T, tool string, arguments map[string]any) (string, bool) {
	t.Helper()
	result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(t, err)
	require.Len(t, result.Content, 1)
	return result.Content[0].(*mcp.TextContent).Text, result.IsError
}

func answers(pairs ...string) []map[string]any {
	var all []map[string]any
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, map[string]any{"name": pairs[i], "value": pairs[i+1]})
	}
	return all
}

func (c *mcpClient) restate(t *testing.T, pairs ...string) string {
	t.Helper()
	c.w.at = c.w.at.Add(time.Second)
	text, failed := c.call(t, "restate_decisions", map[string]any{"session_id": "s", "answers": answers(pairs...)})
	require.False(t, failed, text)
	return text
}

// compact plays the hooks of one compaction.
func (c *mcpClient) compact(t *testing.T) {
	t.Helper()
	for _, payload := range []string{
		`{"hook_event_name":"PreCompact","session_id":"s","prompt_id":"p","trigger":"auto"}`,
		`{"hook_event_name":"SessionStart","session_id":"s","prompt_id":"p","source":"compact"}`,
		`{"hook_event_name":"PostCompact","session_id":"s","prompt_id":"p","trigger":"auto","compact_summary":"x"}`,
	} {
		c.w.at = c.w.at.Add(time.Second)
		c.w.hook(t, payload, "claude-code", "--ask")
	}
}

func (c *mcpClient) observations(t *testing.T) []plog.LogRecord {
	t.Helper()
	return slices.DeleteFunc(c.c.records(t), func(r plog.LogRecord) bool { return r.EventName() != "continuity.observation" })
}

const (
	thanks      = "Thank you. Go on with your work."
	digestOf    = "continuity.invariant.digest."
	choicesOf   = "continuity.invariant.choices."
	coverageKey = "continuity.observation.coverage"
)

func plainDigest(t *testing.T, kind continuity.Kind, value string) string {
	t.Helper()
	d, err := continuity.Digester{}.Of(kind, value)
	require.NoError(t, err)
	return string(d)
}

func TestMCPTools(t *testing.T) {
	c := newMCPClient(t)
	tools, err := c.ListTools(t.Context(), nil)
	require.NoError(t, err)
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
	}
	assert.Equal(t, []string{"record_decision", "restate_decisions"}, names)
}

func TestMCPRecord(t *testing.T) {
	c := newMCPClient(t)
	for _, arguments := range []map[string]any{
		{"name": "scope", "value": "github.com/acme/payments"},
		{"name": "constraint.push", "value": "Forbidden"},
		{"name": "target", "none": true},
	} {
		text, failed := c.call(t, "record_decision", arguments)
		assert.False(t, failed, text)
		assert.Equal(t, "Recorded.", text)
	}
	c.w.hook(t, preCompact, "claude-code")
	records := c.c.records(t)
	require.Len(t, records, 1)
	assert.Equal(t, plainDigest(t, continuity.ID, "github.com/acme/payments"), attrText(records[0], digestOf+"scope"))
	assert.Equal(t, plainDigest(t, continuity.Choice, "forbidden"), attrText(records[0], digestOf+"constraint.push"))
	assert.Equal(t, "none", attrText(records[0], digestOf+"target"))
	for _, arguments := range []map[string]any{
		{"name": "scope"},
		{"name": "scope", "value": "x", "none": true},
		{"name": "No Name", "value": "x"},
		{"name": "constraint.push", "value": "whatever"},
		{"name": "scope", "value": "x", "session_id": "invented"},
		{"name": "scope", "value": strings.Repeat("x", maxValue+1)},
	} {
		text, failed := c.call(t, "record_decision", arguments)
		assert.True(t, failed, "%v: %s", arguments, text)
	}
}

// What does not fit is told without what was said.
func TestMCPMisfits(t *testing.T) {
	c := newMCPClient(t)
	for tool, arguments := range map[string]map[string]any{
		"record_decision":   {"name": "scope", "value": []string{"secret"}},
		"restate_decisions": {"session_id": "s", "answers": map[string]any{"scope": []string{"secret"}}},
	} {
		text, failed := c.call(t, tool, arguments)
		assert.True(t, failed)
		assert.Contains(t, text, `a list of {"name": ..., "value": ...}`)
		assert.NotContains(t, text, "secret")
	}
	for _, arguments := range []map[string]any{{"name": "constraint.push", "value": "perhaps"}, {"name": "constraint.dance", "value": "forbidden"}, {"name": "scope", "value": "tbd"}} {
		text, failed := c.call(t, "record_decision", arguments)
		assert.True(t, failed)
		assert.NotContains(t, text, "--", "a tool has no flags")
	}
}

func TestMCPRestate(t *testing.T) {
	c := newMCPClient(t)
	c.w.do(t, "decide", "scope", "github.com/acme/payments")
	c.w.do(t, "decide", "constraint.push", "forbidden")
	c.w.do(t, "decide", "constraint.deploy", "ask_first")
	c.compact(t)
	question, failed := c.call(t, "restate_decisions", map[string]any{"session_id": "s"})
	require.False(t, failed)
	assert.Contains(t, question, "- constraint.push: one of [")

	said := c.restate(t, "scope", "`github.com/acme/payments`", "constraint.push", "not allowed", "constraint.deploy", "I don't know",
		"target", "not decided", "constraint.merge", "not decided")
	assert.Equal(t, thanks, said)
	require.Len(t, c.observations(t), 1)
	o := c.observations(t)[0]
	assert.Equal(t, "agent", attrText(o, "continuity.source"))
	assert.Equal(t, "s", attrText(o, "session.id"))
	assert.Equal(t, "claude_code", attrText(o, "continuity.runtime"))
	assert.Equal(t, plainDigest(t, continuity.ID, "github.com/acme/payments"), attrText(o, digestOf+"scope"))
	assert.Equal(t, plainDigest(t, continuity.Choice, "forbidden"), attrText(o, digestOf+"constraint.push"))
	assert.Equal(t, "4", attrText(o, choicesOf+"constraint.push"), "three answers and not decided")
	assert.Empty(t, attrText(o, choicesOf+"scope"))
	assert.Empty(t, attrText(o, digestOf+"constraint.deploy"), "I don't know states nothing")
	assert.Empty(t, attrText(o, digestOf+"target"), "nothing is in force, and nothing is what it says")
	assert.Empty(t, attrText(o, coverageKey), "all that is in force was answered")
	assert.Equal(t, "working", attrText(o, "agent.activity.state"))
	// The look is later than the compaction's end, else it would not count.
	records := c.c.records(t)
	assert.Greater(t, o.Timestamp(), records[2].Timestamp())
}

// Answers can be a map, too.
func TestMCPRestateMap(t *testing.T) {
	c := newMCPClient(t)
	c.w.do(t, "decide", "scope", "github.com/acme/payments")
	c.w.do(t, "decide", "constraint.push", "forbidden")
	c.compact(t)
	said, failed := c.call(t, "restate_decisions", map[string]any{"session_id": "s", "answers": map[string]any{
		"scope": "github.com/acme/payments", "constraint.push": "I don't know",
	}})
	assert.False(t, failed)
	assert.Equal(t, thanks, said)
	require.Len(t, c.observations(t), 1)
	o := c.observations(t)[0]
	assert.Equal(t, plainDigest(t, continuity.ID, "github.com/acme/payments"), attrText(o, digestOf+"scope"))
	assert.Empty(t, attrText(o, digestOf+"constraint.push"))
	assert.Empty(t, attrText(o, coverageKey))

	said, failed = c.call(t, "restate_decisions", map[string]any{"session_id": "s", "answers": map[string]any{}})
	assert.False(t, failed)
	assert.Contains(t, said, "- scope", "without answers it is asked")

	var l answerList
	require.NoError(t, json.Unmarshal([]byte(`{"target": "a", "scope": "b"}`), &l))
	assert.Equal(t, answerList{{"scope", "b"}, {"target", "a"}}, l)
	for _, no := range []string{`"x"`, `7`, `{"scope": ["x"]}`, `[["scope", "x"]]`} {
		assert.Error(t, json.Unmarshal([]byte(no), &l), no)
	}
}

// What is not known and was decided to be none is not stated by a complete look.
func TestMCPUnknownNone(t *testing.T) {
	c := newMCPClient(t)
	c.w.do(t, "decide", "scope", "github.com/acme/payments")
	c.w.do(t, "decide", "target", "--none")
	c.compact(t)
	c.restate(t, "scope", "github.com/acme/payments", "target", "I don't know")
	assert.Equal(t, "partial", attrText(c.observations(t)[0], coverageKey))
}

// What a tool answers never depends on what is in force.
func TestMCPTellsNothing(t *testing.T) {
	said := map[string]bool{}
	for _, decided := range []string{"forbidden", "allowed", ""} {
		c := newMCPClient(t)
		if decided != "" {
			c.w.do(t, "decide", "constraint.push", decided)
			c.w.do(t, "decide", "scope", "github.com/acme/"+decided)
		}
		c.compact(t)
		question, _ := c.call(t, "restate_decisions", map[string]any{"session_id": "s"})
		first := c.restate(t, "constraint.push", "forbidden", "scope", "github.com/acme/forbidden")
		second := c.restate(t, "constraint.push", "no idea what you mean", "scope", "x")
		said[question+first+second] = true
	}
	assert.Len(t, said, 1)
}

// Nor do agents that nobody can be, names that nobody asked for, and decisions of
// another kind than the catalogue's.
func TestMCPTellsNothingByRefusing(t *testing.T) {
	said := map[string]bool{}
	for _, decided := range [][]string{nil, {"target", "main"}, {"constraint.push", `["x"]`, "--as", "json"}, {"constraint.naming", "x", "--as", "text"}} {
		c := newMCPClient(t)
		if decided != nil {
			c.w.do(t, append([]string{"decide"}, decided...)...)
		}
		c.compact(t)
		var all strings.Builder
		for _, agent := range []string{"unknown", " ", "reviewer"} {
			text, _ := c.call(t, "restate_decisions", map[string]any{"session_id": "s", "agent_id": agent, "answers": answers("target", "not decided")})
			all.WriteString(text)
		}
		all.WriteString(c.restate(t, "constraint.push", "forbidden"))
		all.WriteString(c.restate(t, "constraint.naming", "./none"))
		said[all.String()] = true
	}
	assert.Len(t, said, 1, "%v", said)
}

// Where keys are is nothing for an agent.
func TestMCPDoesNotSayWhereTheKeyIs(t *testing.T) {
	c := newMCPClient(t)
	require.NoError(t, os.WriteFile(filepath.Join(c.w.dir, "continuity.yaml"), []byte("key: {id: k}\n"), 0o600))
	text, failed := c.call(t, "record_decision", map[string]any{"name": "scope", "value": "x"})
	assert.True(t, failed)
	assert.NotContains(t, text, "k.key")
}

// An answer that fits nothing is asked for once more, with the list. After that it
// is not stated, and the observation says that it is partial.
func TestMCPRetry(t *testing.T) {
	c := newMCPClient(t)
	c.w.do(t, "decide", "scope", "github.com/acme/payments")
	c.w.do(t, "decide", "constraint.push", "forbidden")
	c.compact(t)
	said := c.restate(t, "scope", "github.com/acme/payments", "constraint.push", "you must not push")
	assert.Contains(t, said, "- constraint.push: one of [")
	assert.NotContains(t, said, "scope")
	require.Len(t, c.observations(t), 1, "what could be read is sent at once")
	assert.Equal(t, "partial", attrText(c.observations(t)[0], coverageKey))

	said = c.restate(t, "constraint.push", "still not")
	assert.Equal(t, thanks, said)
	require.Len(t, c.observations(t), 2)
	assert.Equal(t, "partial", attrText(c.observations(t)[1], coverageKey))
	assert.Empty(t, attrText(c.observations(t)[1], digestOf+"constraint.push"))

	said = c.restate(t, "constraint.push", "forbidden")
	assert.Equal(t, thanks, said)
	last := c.observations(t)[2]
	assert.Empty(t, attrText(last, coverageKey), "together the answers are complete")
	assert.NotEmpty(t, attrText(last, digestOf+"scope"))
	assert.NotEmpty(t, attrText(last, digestOf+"constraint.push"))

	c.compact(t) // a new round
	assert.Contains(t, c.restate(t, "constraint.push", "hm"), "one of [")
	assert.Len(t, c.observations(t), 3, "what was said before the compaction is not said again")
}

// What an agent remembers without being asked counts too, and what was never
// decided is sent, so that it can be seen.
func TestMCPVolunteered(t *testing.T) {
	c := newMCPClient(t)
	c.w.do(t, "decide", "constraint.naming", "never say payments", "--as", "text")
	c.compact(t)
	question, _ := c.call(t, "restate_decisions", map[string]any{"session_id": "s"})
	assert.NotContains(t, question, "naming")
	c.restate(t, "constraint.naming", "never say payments", "constraint.deploy", "allowed")
	o := c.observations(t)[0]
	assert.Equal(t, plainDigest(t, continuity.Prose, "never say payments"), attrText(o, digestOf+"constraint.naming"))
	assert.NotEmpty(t, attrText(o, digestOf+"constraint.deploy"))
}

func TestMCPUnknownSession(t *testing.T) {
	c := newMCPClient(t)
	c.compact(t)
	text, failed := c.call(t, "restate_decisions", map[string]any{"session_id": "invented", "answers": answers("scope", "x")})
	assert.True(t, failed)
	assert.Contains(t, text, "session_id")
	assert.Empty(t, c.observations(t))
	c.w.env["CONTINUITY_SESSION"] = "by-hand"
	_, failed = c.call(t, "restate_decisions", map[string]any{"session_id": "by-hand"})
	assert.False(t, failed)
}

func TestMCPWithoutAProject(t *testing.T) {
	c := newMCPClient(t)
	require.NoError(t, os.Remove(filepath.Join(c.w.dir, "continuity.yaml")))
	text, failed := c.call(t, "record_decision", map[string]any{"name": "scope", "value": "x"})
	assert.True(t, failed)
	assert.Contains(t, text, "continuity.yaml")
}

// The command serves until its input ends, and ends well.
func TestMCPCommand(t *testing.T) {
	w := newHookWorld(t, "http://127.0.0.1:1")
	reader, writer := io.Pipe()
	w.in = reader
	done := make(chan int, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	go func() { done <- run(ctx, w.app(), []string{"mcp"}) }()
	_, err := io.WriteString(writer, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`+"\n")
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	assert.Zero(t, <-done)
	assert.Empty(t, w.err.String())
}
