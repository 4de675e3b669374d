package config

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

// env is an environment with folders of its own.
func env(t *testing.T, pairs ...string) func(string) string {
	t.Helper()
	home := t.TempDir()
	variables := map[string]string{"HOME": home, "APPDATA": home, "LOCALAPPDATA": home}
	for i := 0; i < len(pairs); i += 2 {
		variables[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return variables[name] }
}

func project(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o600))
	return dir
}

func TestDefaults(t *testing.T) {
	dir := t.TempDir()
	c, err := Load(dir, env(t))
	require.NoError(t, err)
	require.ErrorIs(t, c.Need(), ErrNoFile)
	assert.Equal(t, dir, c.Dir)
	assert.Equal(t, DefaultEndpoint, c.Endpoint)
	assert.Equal(t, DefaultTimeout, c.Timeout)
	assert.Equal(t, Logs, c.Signal)
	assert.Equal(t, map[string]string{"service.name": "continuity"}, c.Resource)
	assert.False(t, c.Values)
	assert.Empty(t, c.Source)
	d, err := c.Digester()
	require.NoError(t, err)
	assert.Equal(t, continuity.Digester{}, d)
}

func TestAllKeys(t *testing.T) {
	dir := project(t, `
endpoint: https://collector.example.com/otlp/
headers: {x-scope-orgid: team-a}
timeout: 2s
compression: gzip
signal: traces
resource: {service.name: agent, host.id: h}
session: {attribute: session.id, agent: a, runtime: my_agent}
key: {id: payments-1}
ledger: {values: true}
observe: {source: human}
invariants: [scope, constraint.charge]
kinds: {release: text}
catalogue: {charge: , personal_data: [never, masked]}
probes:
  - name: target
    command: [git, rev-parse]
  - {name: release, command: [cat, x], match: 'a(b)', kind: id, timeout: 3s}
`)
	below := filepath.Join(dir, "a", "b")
	require.NoError(t, os.MkdirAll(below, 0o700))
	c, err := Load(below, env(t, EnvSession, " s ", EnvTraceParent, "00-x", "OTEL_SERVICE_NAME", "other", "OTEL_RESOURCE_ATTRIBUTES", "a=b%20c,d"))
	require.NoError(t, err)
	require.NoError(t, c.Need())
	assert.Equal(t, dir, c.Dir, "it is found upwards")
	assert.Equal(t, "https://collector.example.com/otlp", c.Endpoint)
	assert.Equal(t, FileName, c.EndpointBy)
	assert.Equal(t, map[string]string{"x-scope-orgid": "team-a"}, c.Headers)
	assert.Equal(t, 2*time.Second, c.Timeout)
	assert.True(t, c.Gzip)
	assert.Equal(t, Traces, c.Signal)
	assert.Equal(t, map[string]string{"service.name": "agent", "host.id": "h", "a": "b c"}, c.Resource)
	assert.Equal(t, continuity.Session{ID: "s", Attribute: "session.id", Agent: "a", Runtime: "my_agent"}, c.Session)
	assert.Equal(t, "00-x", c.TraceParent)
	assert.Equal(t, "payments-1", c.KeyID)
	assert.True(t, c.Values)
	assert.Equal(t, continuity.Human, c.Source)
	assert.Equal(t, []string{"scope", "constraint.charge"}, c.Invariants)
	assert.Equal(t, "text", c.Kind("release"))
	assert.Equal(t, []string{Forbidden, AskFirst, Allowed}, c.Choices("constraint.charge"))
	assert.Equal(t, []string{"never", "masked"}, c.Choices("constraint.personal_data"))
	assert.Equal(t, []Probe{
		{Name: "target", Command: []string{"git", "rev-parse"}, Timeout: DefaultProbeTimeout},
		{Name: "release", Command: []string{"cat", "x"}, Match: "a(b)", Kind: "id", Timeout: 3 * time.Second},
	}, c.Probes)
	assert.False(t, strings.HasPrefix(c.State, dir), "what is decided is not where the agent works")
	assert.False(t, strings.HasPrefix(c.KeyFile(), dir), "and the key neither")
}

func TestEndpoint(t *testing.T) {
	const file = "endpoint: http://file:1\nheaders: {from: file}"
	for name, c := range map[string]struct {
		text    string
		env     []string
		want    string
		headers map[string]string
	}{
		"the file":                       {file, nil, "http://file:1", map[string]string{"from": "file"}},
		"the environment goes before it": {file, []string{EnvEndpoint, "http://env:1/"}, "http://env:1", map[string]string{}},
		"OpenTelemetry's does not":       {file, []string{EnvOTLPEndpoint, "http://otel:1"}, "http://file:1", map[string]string{"from": "file"}},
		"OpenTelemetry's is a fallback":  {"", []string{EnvOTLPEndpoint, "http://otel:1", EnvOTLPHeaders, "a=b%20c, d=e"}, "http://otel:1", map[string]string{"a": "b c", "d": "e"}},
		"but not for gRPC":               {"", []string{EnvOTLPEndpoint, "http://otel:1", EnvOTLPHeaders, "a=b", EnvOTLPProtocol, "grpc"}, DefaultEndpoint, map[string]string{}},
		"headers of the environment":     {"", []string{EnvEndpoint, "http://env:1", EnvHeaders, "a=b"}, "http://env:1", map[string]string{"a": "b"}},
		// A repository could else have a token sent to wherever it likes.
		"headers do not go where a file says": {file, []string{EnvHeaders, "token=secret", EnvOTLPHeaders, "token=secret"}, "http://file:1", map[string]string{"from": "file"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Load(project(t, c.text), env(t, c.env...))
			require.NoError(t, err)
			assert.Equal(t, c.want, got.Endpoint)
			assert.True(t, maps.Equal(c.headers, got.Headers), "%v", got.Headers)
		})
	}
	for _, bad := range [][]string{
		{EnvEndpoint, "secret"},
		{EnvEndpoint, "http://x:1", EnvHeaders, "token secret"},
		{EnvEndpoint, "http://x:1", EnvHeaders, "a=%zz"},
		{EnvEndpoint, "http://x:1", EnvHeaders, "a b=c"},
		// Not in the form that is asked for: the secret is where a name should be.
		{EnvEndpoint, "http://x:1", EnvHeaders, "Authorization: Bearer secret"},
		{EnvEndpoint, "http://x:1", EnvHeaders, "Authorization: Bearer secret=="},
		{EnvEndpoint, "http://x:1", EnvHeaders, "secret=%zz"},
	} {
		_, err := Load(t.TempDir(), env(t, bad...))
		require.Error(t, err)
		assert.NotContains(t, strings.ToLower(err.Error()), "secret")
	}
}

// The file may be a stranger's, and a hook has no time for a long one.
func TestLongFile(t *testing.T) {
	_, err := Load(project(t, strings.Repeat("# x\n", maxFile/4)+"\n"), env(t))
	require.ErrorContains(t, err, "continuity.yaml has more than")
	_, err = Load(project(t, strings.Repeat("# x\n", maxFile/4)), env(t))
	require.NoError(t, err)
}

func TestFolders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("other folders")
	}
	dir := project(t, "key: {id: k}")
	c, err := Load(dir, env(t, "HOME", "/h"))
	require.NoError(t, err)
	assert.Equal(t, "/h/.config/continuity/keys/k.key", c.KeyFile())
	assert.Equal(t, "/h/.local/state/continuity", filepath.Dir(c.State))
	c, err = Load(dir, env(t, "XDG_CONFIG_HOME", "/c", "XDG_STATE_HOME", "/s"))
	require.NoError(t, err)
	assert.Equal(t, "/c/continuity/keys/k.key", c.KeyFile())
	assert.Equal(t, "/s/continuity", filepath.Dir(c.State))
	assert.Equal(t, filepath.Join(c.State, "ledger.jsonl"), c.Ledger().Path())
	c, err = Load(dir, env(t, EnvState, "/mine"))
	require.NoError(t, err)
	assert.Equal(t, "/mine", c.State)

	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	assert.Equal(t, projectID(dir), projectID(link), "one folder is one project, whatever it is called")
	assert.NotEqual(t, projectID(filepath.Join(dir, "a")), projectID(filepath.Join(link, "b", "a")))
}

func TestKey(t *testing.T) {
	c, err := Load(project(t, "key: {id: k}"), env(t))
	require.NoError(t, err)
	_, err = c.Digester()
	require.ErrorIs(t, err, ErrNoKey)
	made, err := MakeKey(c.KeyFile())
	require.NoError(t, err)
	assert.True(t, made)
	d, err := c.Digester()
	require.NoError(t, err)
	assert.Equal(t, "k", d.KeyID())
	if runtime.GOOS != "windows" {
		info, err := os.Stat(c.KeyFile())
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	before, err := d.Text("x")
	require.NoError(t, err)
	made, err = MakeKey(c.KeyFile())
	require.NoError(t, err)
	assert.False(t, made, "a key is never replaced")
	d, err = c.Digester()
	require.NoError(t, err)
	after, err := d.Text("x")
	require.NoError(t, err)
	assert.Equal(t, before, after)

	for _, bad := range []string{"", "00", "secret key that is long enough to be one, but no hex"} {
		require.NoError(t, os.WriteFile(c.KeyFile(), []byte(bad), 0o600))
		_, err = c.Digester()
		require.ErrorContains(t, err, "does not hold a key")
		assert.NotContains(t, err.Error(), "secret")
	}
}

func TestProbesAreAllowedAsTheyAre(t *testing.T) {
	get := env(t)
	dir := project(t, "probes: [{name: target, command: [git, rev-parse]}]")
	load := func() *Config {
		c, err := Load(dir, get)
		require.NoError(t, err)
		return c
	}
	allowed := func(c *Config) bool {
		ok, err := c.ProbesAllowed()
		require.NoError(t, err)
		return ok
	}
	assert.False(t, allowed(load()))
	require.NoError(t, load().AllowProbes())
	assert.True(t, allowed(load()))
	require.NoError(t, os.WriteFile(filepath.Join(dir, FileName), []byte("probes: [{name: target, command: [echo, main]}]"), 0o600))
	assert.False(t, allowed(load()), "somebody changed them")
}
