package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/hosts"
)

const integrations = "../../integrations"

// hookWiring is what the files of the hosts have in common.
type hookWiring struct {
	Hooks map[string][]struct {
		Command string // Cursor
		Timeout int
		Hooks   []struct {
			Type, Command string
			Timeout       int
		}
	}
	MCPServers map[string]struct {
		Command string
		Args    []string
	}
}

// TestIntegrations: each file is JSON, calls the hook of its host for events that
// mean something there, asks where the host listens, and gives the hook the time
// that it needs.
func TestIntegrations(t *testing.T) {
	for file, c := range map[string]struct {
		host   string
		second int // in the host's unit of time
	}{
		"claude-code/hooks/hooks.json": {"claude-code", 1},
		"claude-code/settings.json":    {"claude-code", 1},
		"codex/hooks.json":             {"codex", 1},
		"gemini-cli/settings.json":     {"gemini-cli", 1000},
		"qwen-code/settings.json":      {"qwen-code", 1000},
		"cursor/hooks.json":            {"cursor", 1},
	} {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(integrations, file))
			require.NoError(t, err)
			var w hookWiring
			require.NoError(t, json.Unmarshal(text, &w))
			host, ok := hosts.Find(c.host)
			require.True(t, ok)
			acting := map[string]bool{}
			for _, row := range host.Rows {
				if row.Action != hosts.Nothing && row.Needs == hosts.Always {
					acting[row.Event] = true
				}
			}
			for event, groups := range w.Hooks {
				assert.True(t, acting[event], "%s does nothing", event)
				delete(acting, event)
				for _, g := range groups {
					commands := g.Hooks
					if g.Command != "" {
						commands = append(commands, struct {
							Type, Command string
							Timeout       int
						}{"command", g.Command, g.Timeout})
					}
					require.Len(t, commands, 1)
					assert.Equal(t, "command", commands[0].Type)
					assert.Greater(t, commands[0].Timeout, 2*c.second)
					assert.LessOrEqual(t, commands[0].Timeout, 10*c.second)
					asks := slices.ContainsFunc(host.Rows, func(r hosts.Row) bool { return r.Event == event && r.Output != hosts.Silent })
					want := "continuity hook " + c.host
					if asks {
						want += " --ask"
					}
					assert.Equal(t, want, commands[0].Command)
				}
			}
			assert.Empty(t, acting, "events that nothing is wired to")
		})
	}
}

func TestIntegrationsOfMCP(t *testing.T) {
	for _, file := range []string{"claude-code/.mcp.json", "gemini-cli/settings.json", "qwen-code/settings.json", "cursor/mcp.json"} {
		text, err := os.ReadFile(filepath.Join(integrations, file))
		require.NoError(t, err)
		var w hookWiring
		require.NoError(t, json.Unmarshal(text, &w), file)
		assert.Equal(t, "continuity", w.MCPServers["continuity"].Command, file)
		assert.Equal(t, []string{"mcp"}, w.MCPServers["continuity"].Args, file)
	}
	require.NoError(t, filepath.WalkDir(integrations, func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".json" {
			return err
		}
		text, err := os.ReadFile(path)
		assert.True(t, json.Valid(text), path)
		return err
	}))
}

var eventName = regexp.MustCompile("`([A-Za-z_.]+)`")

// Each host's page speaks of every event that does something there.
func TestAgentPages(t *testing.T) {
	index, err := os.ReadFile("../../docs/agents/README.md")
	require.NoError(t, err)
	for _, name := range hosts.Names() {
		assert.Contains(t, string(index), "("+name+".md)")
		page, err := os.ReadFile("../../docs/agents/" + name + ".md")
		require.NoError(t, err)
		host, _ := hosts.Find(name)
		named := map[string]bool{}
		for _, m := range eventName.FindAllStringSubmatch(string(page), -1) {
			named[m[1]] = true
		}
		for _, row := range host.Rows {
			if row.Action != hosts.Nothing || name != "codex" { // whose activity is that of Claude Code
				assert.True(t, named[row.Event], "%s: %s", name, row.Event)
			}
		}
		assert.Contains(t, string(page), "| before |")
		assert.Contains(t, string(page), "| after |")
		assert.Contains(t, string(page), "| never |")
		assert.Contains(t, string(page), "| cannot tell |")
	}
}

// opencodeRun plays opencode: a compaction that fails, one that does not, and an
// error of another kind.
const opencodeRun = `
import { Continuity } from "./continuity.mjs"
const asked = []
const plugin = await Continuity({ client: { session: { prompt: async (p) => asked.push(p) } }, directory: process.argv[2] })
const sessionID = "ses_1"
const event = (type, id, properties) => plugin.event({ event: { type, id, properties } })
const compacting = plugin["experimental.session.compacting"]
await event("session.created", "evt_1", { sessionID, info: { id: sessionID, title: "secret" } })
await event("message.part.updated", "evt_2", { sessionID, part: { type: "compaction", auto: true, sessionID, messageID: "msg_1" } })
await event("message.part.updated", "evt_3", { sessionID, part: { type: "text", text: "secret", sessionID, messageID: "msg_1" } })
await compacting({ sessionID }, { context: ["secret"] })
await event("session.error", "evt_4", { sessionID, error: { name: "secret" } })
await compacting({ sessionID }, { context: [] })
await event("session.compacted", "evt_5", { sessionID })
await event("session.error", "evt_6", { sessionID, error: { name: "secret" } })
await event("session.deleted", "evt_7", { info: { id: sessionID } })
console.log(JSON.stringify(asked))
`

func TestOpencodePlugin(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	plugin, err := os.ReadFile(filepath.Join(integrations, "opencode", "continuity.js"))
	require.NoError(t, err)
	dir := commandDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "continuity.mjs"), plugin, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.mjs"), []byte(opencodeRun), 0o600))

	c := newHookCollector(t)
	w := newHookWorld(t, c.URL)
	cmd := exec.CommandContext(t.Context(), node, "run.mjs", w.dir)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + dir, "HOME=" + dir, "CONTINUITY_STATE=" + w.state, "CONTINUITY_ENDPOINT=" + c.URL}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))

	var got []string
	for _, r := range c.records(t) {
		got = append(got, strings.Join(strings.Fields(r.EventName()+" "+attrText(r, "continuity.compaction.outcome")+" "+attrText(r, "continuity.compaction.trigger")), " "))
	}
	assert.Equal(t, []string{
		"session.start", "continuity.snapshot auto", "continuity.compaction failed auto",
		"continuity.snapshot auto", "continuity.compaction completed auto", "session.end",
	}, got)
	var asked []struct {
		Path struct{ ID string }
		Body struct {
			NoReply bool
			Parts   []struct{ Type, Text string }
		}
	}
	require.NoError(t, json.Unmarshal(out, &asked))
	require.Len(t, asked, 1)
	assert.Equal(t, "ses_1", asked[0].Path.ID)
	assert.True(t, asked[0].Body.NoReply)
	assert.Contains(t, asked[0].Body.Parts[0].Text, "session_id: ses_1")
	for _, body := range c.requests() {
		assert.NotContains(t, string(body), "secret")
	}
}
