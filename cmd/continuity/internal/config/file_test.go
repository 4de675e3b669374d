package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each error names the key and the line, and never the value.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":          {"endpoint: http://x:1\nendpiont: secret", "continuity.yaml:2: endpiont: there is no such key"},
		"unknown key, inside":  {"session:\n  id: secret", "continuity.yaml:2: session.id: there is no such key; known are agent, attribute, runtime"},
		"unknown key, in list": {"probes:\n  - name: target\n    comand: [secret]", "continuity.yaml:3: probes[0].comand: there is no such key"},
		"a key twice":          {"timeout: 1s\ntimeout: 2s", "continuity.yaml:2: timeout: is there twice"},
		"no mapping":           {"secret", "continuity.yaml:1: the file: must be a mapping"},
		"a list for a mapping": {"session: [secret]", "continuity.yaml:1: session: must be a mapping"},
		"a text for a list":    {"invariants: secret", "continuity.yaml:1: invariants: must be a list"},
		"a list for a text":    {"endpoint: [secret]", "continuity.yaml:1: endpoint: must be a text"},
		"no boolean":           {"ledger: {values: secret}", "continuity.yaml:1: ledger.values: must be true or false"},
		"no duration":          {"timeout: secret", "continuity.yaml:1: timeout: must be a duration"},
		"no time at all":       {"timeout: 0s", "continuity.yaml:1: timeout: must be a duration"},
		"too long":             {"timeout: 2h", "timeout: must be above 0 and at most 1m0s"},
		"no YAML":              {"a: b\n\tsecret: {", "it is no YAML at line"},
		"an alias":             {"resource: {a: &x secret, b: *x}", "resource.b: must be a text"},
		"a merge":              {"session: {<<: {agent: secret}}", "merging is not supported"},
		"no URL":               {"endpoint: secret", "continuity.yaml:1: endpoint: must be a URL"},
		"a user in the URL":    {"endpoint: http://secret@x:1", "endpoint: must have no user"},
		"a bad header":         {"headers: {x: \"secret\\n\"}", "headers: \"X\" is no header"},
		"compression":          {"compression: secret", "compression: must be one of none, gzip"},
		"signal":               {"signal: secret", "signal: must be one of logs, traces"},
		"session attribute":    {"session: {attribute: secret}", "session.attribute: must be one of"},
		"source":               {"observe: {source: secret}", "observe.source: must be one of"},
		"a path as key":        {"key: {id: ../../secret}", "key.id: must be 1 to 64"},
		"a name":               {"invariants: [scope, Secret]", "continuity.yaml:1: invariants[1]: a decision is called"},
		"a kind":               {"kinds: {x: secret}", "kinds.x: must be one of"},
		"a kind's name":        {"kinds: {X: id}", "kinds: a decision is called"},
		"an action":            {"catalogue: {Push: }", "catalogue: a decision is called"},
		"an answer":            {"catalogue: {push: [No Secret]}", "catalogue.push: answers are words in lower case"},
		"a probe's name":       {"probes: [{name: X, command: [a]}]", "probes[0].name: a decision is called"},
		"a probe twice":        {"probes: [{name: x, command: [a]}, {name: x, command: [a]}]", "probes[1].name: another probe"},
		"a probe's command":    {"probes: [{name: x}]", "probes[0].command: is missing"},
		"a probe's match":      {"probes: [{name: x, command: [a], match: secret}]", "probes[0].match: must be a regular expression with one group"},
		"a probe's kind":       {"probes: [{name: x, command: [a], kind: secret}]", "probes[0].kind: must be one of"},
		"a probe's timeout":    {"probes: [{name: x, command: [a], timeout: 5m}]", "probes[0].timeout: must be above 0"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(project(t, c.text), env(t))
			require.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), "secret")
		})
	}
}

func TestTemplate(t *testing.T) {
	for _, runtimeName := range []string{"", "claude_code"} {
		text, err := Initial{Endpoint: DefaultEndpoint, Runtime: runtimeName, KeyID: NewKeyID("/a/My Project!")}.Render()
		require.NoError(t, err)
		c, err := Load(project(t, string(text)), env(t))
		require.NoError(t, err)
		assert.Equal(t, runtimeName, c.Session.Runtime)
		assert.Regexp(t, `^My-Project-[0-9a-f]{8}$`, c.KeyID)

		// All that is commented out must be right as well.
		var on []string
		for line := range strings.Lines(string(text)) {
			if plain := strings.TrimPrefix(strings.TrimSpace(line), "# "); plain != strings.TrimSpace(line) && example.MatchString(plain) {
				line = strings.Replace(line, "# ", "", 1)
			}
			on = append(on, line)
		}
		c, err = Load(project(t, strings.Join(on, "")), env(t))
		require.NoError(t, err)
		assert.Len(t, c.Probes, 2)
		assert.True(t, c.Values)
		assert.Equal(t, Traces, c.Signal)
		assert.Len(t, c.Choices("constraint.log_personal_data"), 2)
	}
	assert.Regexp(t, `^project-`, NewKeyID("/"))
}

func FuzzFile(f *testing.F) {
	text, err := Initial{Endpoint: DefaultEndpoint, KeyID: "k"}.Render()
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte("probes:\n  - name: target\n    command: [git]\n    timeout: 1s\n"))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("session: {<<: *x}\n? [a]\n: b"))
	f.Add([]byte("headers: 7\ntimeout: !!int x\nledger: {values: yes}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := parse(text)
		if err != nil {
			return
		}
		// What is accepted can be used.
		c := &Config{Catalogue: catalogue()}
		if err := c.fill(got, func(string) string { return "" }); err != nil {
			t.Fatalf("the file is right and cannot be used: %v", err)
		}
	})
}
