package continuityprocessor

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

func TestLoadConfig(t *testing.T) {
	conf, err := confmaptest.LoadConf(filepath.Join("testdata", "config.yaml"))
	require.NoError(t, err)
	storage := component.MustNewIDWithName("file_storage", "state")
	for name, want := range map[string]*Config{
		"continuity": defaultConfig(),
		"continuity/all": defaultConfig(func(c *Config) {
			c.Window, c.ReorderGrace, c.Retention, c.SessionTTL = 20*time.Minute, 5*time.Second, 2*time.Hour, 48*time.Hour
			c.SessionAttributes, c.AgentAttributes = []string{"my.session"}, []string{"my.agent"}
			c.ScopeAttributes, c.MetadataKeys = []string{"host.id"}, []string{"X-Scope-OrgID"}
			c.RequiredInvariants = []string{"scope", "approval_boundary", "constraint.no_push"}
			c.Annotate = AnnotateSession
			c.Events.Snapshot, c.Events.Activity = []string{"pre.compact"}, []string{"agent.turn"}
			c.Runtimes["claude_code"] = RuntimeConfig{Starts: StartsActivity, Window: 30 * time.Minute}
			c.Runtimes["my_agent"] = RuntimeConfig{Enabled: true, Starts: StartsCompaction, Window: 2 * time.Minute}
			c.Evidence.Sources = []string{"agent"}
			c.Evidence.SourcesByInvariant["approval_boundary"] = []string{"human"}
			c.Evidence.SourcesByInvariant["target"] = []string{"environment"}
			c.Approvals.PublicKeys = map[string]string{"team-2026": "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="}
			c.Alerts.Kinds = []string{"decision_dropped", "instrumentation_gap"}
			c.Receipts.ErrorStatus = true
			c.Redact.Attributes = []string{"user.email"}
			c.Limits = LimitsConfig{Sessions: 10, Invariants: 64, Approvals: 1}
			c.Storage, c.StartupGrace, c.OnStorageError = &storage, new(time.Duration), StorageErrorRefuse
		}),
		"continuity/window_of_a_known_runtime": defaultConfig(func(c *Config) {
			c.Runtimes["codex_cli"] = RuntimeConfig{Enabled: true, Starts: StartsCompaction, Confirm: true, Window: time.Hour}
		}),
		"continuity/runtime_without_settings": defaultConfig(func(c *Config) {
			c.Runtimes["my_agent"] = RuntimeConfig{Enabled: true, Starts: StartsCompaction}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			sub, err := conf.Sub(name)
			require.NoError(t, err)
			cfg := NewFactory().CreateDefaultConfig()
			require.NoError(t, sub.Unmarshal(cfg))
			require.Equal(t, want, cfg)
			require.NoError(t, confmap.Validate(cfg))
		})
	}
}

func TestDefaultsAreThoseOfTheCore(t *testing.T) {
	core, err := defaultConfig().core()
	require.NoError(t, err)
	want := boundary.DefaultConfig()
	want.PublicKeys, want.RequiredInvariants = core.PublicKeys, core.RequiredInvariants // nil and empty
	require.Empty(t, core.PublicKeys)
	require.Empty(t, core.RequiredInvariants)
	require.Equal(t, &want, core)
}

func TestUnknownKeysAreRefused(t *testing.T) {
	for _, in := range []map[string]any{
		{"windows": "5m"},
		{"events": map[string]any{"snapshoot": []string{"x"}}},
		{"runtimes": map[string]any{"claude_code": map[string]any{"confirmed": true}}},
		{"limits": map[string]any{"session": 1}},
		{"runtimes": map[string]any{"claude_code": "on"}},
	} {
		require.Error(t, confmap.NewFromStringMap(in).Unmarshal(createDefaultConfig()), "%v", in)
	}
}

func TestValidate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		want   []string // each a part of one fault
	}{
		"defaults":      {func(*Config) {}, nil},
		"no grace":      {func(c *Config) { c.ReorderGrace = 0 }, nil},
		"no agents":     {func(c *Config) { c.AgentAttributes = nil }, nil},
		"no alerts":     {func(c *Config) { c.Alerts.Kinds = nil }, nil},
		"window zero":   {func(c *Config) { c.Window = 0 }, []string{`window: found "0s"`}},
		"window":        {func(c *Config) { c.Window = -time.Second }, []string{`window: found "-1s"`}},
		"reorder_grace": {func(c *Config) { c.ReorderGrace = -1 }, []string{`reorder_grace: found "-1ns"`}},
		"retention":     {func(c *Config) { c.Retention = time.Minute }, []string{`retention: found "1m0s": a late observation`}},
		"session_ttl":   {func(c *Config) { c.SessionTTL = time.Minute }, []string{`session_ttl: found "1m0s"`}},
		"ttl zero":      {func(c *Config) { c.Retention, c.SessionTTL = 0, 0 }, []string{`retention: found "0s"`, `session_ttl: found "0s"`}},
		"sessions":      {func(c *Config) { c.SessionAttributes = nil }, []string{`session_attributes: found "[]"`}},
		"blank":         {func(c *Config) { c.ScopeAttributes = []string{"host.id", " "} }, []string{`scope_attributes: found " "`}},
		"twice":         {func(c *Config) { c.AgentAttributes = []string{"a", "a"} }, []string{`agent_attributes: found "a": name it once`}},
		"metadata":      {func(c *Config) { c.MetadataKeys = []string{"X-Org", "x-org"} }, []string{`metadata_keys: found "x-org": name it once`}},
		"required":      {func(c *Config) { c.RequiredInvariants = []string{"Scope", "a.b.c"} }, []string{`required_invariants: found "Scope"`, `found "a.b.c"`}},
		"annotate":      {func(c *Config) { c.Annotate = "all" }, []string{`annotate: found "all": use one of boundary, session`}},
		"no events":     {func(c *Config) { c.Events.SessionEnd = nil }, []string{`events::session_end: found "[]"`}},
		"event of two": {
			func(c *Config) { c.Events.Snapshot, c.Events.Observation = []string{"x"}, []string{"y", "x"} },
			[]string{`events::observation: found "x": it is a name of events::snapshot already`},
		},
		"runtime window":  {func(c *Config) { c.Runtimes["x"] = RuntimeConfig{Window: -1, Starts: "compaction"} }, []string{`runtimes::x::window: found "-1ns"`}},
		"runtime long":    {func(c *Config) { c.Runtimes["x"] = RuntimeConfig{Window: 2 * time.Hour, Starts: "compaction"} }, []string{`runtimes::x::window: found "2h0m0s"`}},
		"runtime starts":  {func(c *Config) { c.Runtimes["x"] = RuntimeConfig{Starts: "later"} }, []string{`runtimes::x::starts: found "later"`}},
		"runtime unnamed": {func(c *Config) { c.Runtimes[""] = defaultRuntime() }, []string{`runtimes: found ""`}},
		"record":          {func(c *Config) { c.Evidence.Sources = []string{"record"} }, []string{`evidence::sources: found "record": what was read back`}},
		"source":          {func(c *Config) { c.Evidence.Sources = []string{"model"} }, []string{`evidence::sources: found "model": use one of agent, environment, human`}},
		"no source":       {func(c *Config) { c.Evidence.Sources = nil }, []string{`evidence::sources: found "[]"`}},
		"source by name": {
			func(c *Config) {
				c.Evidence.SourcesByInvariant = map[string][]string{"Constraint": {"agent"}, "target": {}}
			},
			[]string{`evidence::sources_by_invariant: found "Constraint"`, `evidence::sources_by_invariant::target: found "[]"`},
		},
		"key":            {func(c *Config) { c.Approvals.PublicKeys = map[string]string{"k": "no such file"} }, []string{`approvals::public_keys::k: neither base64`}},
		"key unnamed":    {func(c *Config) { c.Approvals.PublicKeys = map[string]string{"": testKey} }, []string{`approvals::public_keys: found ""`}},
		"startup_grace":  {func(c *Config) { grace := -time.Second; c.StartupGrace = &grace }, []string{`startup_grace: found "-1s": set 0s`}},
		"storage error":  {func(c *Config) { c.OnStorageError = "drop" }, []string{`on_storage_error: found "drop": use one of pass, refuse`}},
		"no storage":     {func(c *Config) { c.OnStorageError = StorageErrorRefuse }, []string{`on_storage_error: found "refuse": nothing is stored`}},
		"alert":          {func(c *Config) { c.Alerts.Kinds = []string{"decision_lost"} }, []string{`alerts::kinds: found "decision_lost"`}},
		"redact ours":    {func(c *Config) { c.Redact.Attributes = []string{"continuity.source"} }, []string{`redact::attributes: found "continuity.source"`}},
		"redact session": {func(c *Config) { c.Redact.Attributes = []string{"session.id"} }, []string{`redact::attributes: found "session.id"`}},
		"limits": {
			func(c *Config) { c.Limits = LimitsConfig{Sessions: 0, Invariants: 65, Approvals: -1} },
			[]string{`limits::sessions: found "0"`, `limits::invariants: found "65"`, `limits::approvals: found "-1"`},
		},
		"all at once": {
			func(c *Config) { c.Window, c.Annotate, c.Alerts.Kinds, c.Limits.Sessions = 0, "", []string{"x"}, 0 },
			[]string{"window:", "alerts::kinds:", "annotate:", "limits::sessions:"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := defaultConfig(c.change).Validate()
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			var faults interface{ Unwrap() []error }
			require.ErrorAs(t, err, &faults)
			require.Len(t, faults.Unwrap(), len(c.want), "%v", err)
			for i, part := range c.want {
				require.ErrorContains(t, faults.Unwrap()[i], part)
			}
		})
	}
}

const testKey = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="

func TestParsePublicKey(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	text := base64.StdEncoding.EncodeToString(public)
	der, err := x509.MarshalPKIXPublicKey(public)
	require.NoError(t, err)
	block := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	file := func(content string) string {
		path := filepath.Join(t.TempDir(), "key")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	for name, given := range map[string]string{
		"base64": text, "base64 with blanks": " " + text + "\n", "pem": block,
		"file of base64": file(text + "\n"), "file of pem": file("a comment\n" + block),
	} {
		key, err := parsePublicKey(given)
		require.NoError(t, err, name)
		require.True(t, public.Equal(key), name)
	}

	other, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	rsaDER, err := x509.MarshalPKIXPublicKey(&other.PublicKey)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	for name, c := range map[string]struct{ given, want string }{
		"nothing":      {"", "neither base64"},
		"short":        {base64.StdEncoding.EncodeToString(public[:31]), "neither base64"},
		"no file":      {filepath.Join(t.TempDir(), "missing"), "no such file"},
		"a folder":     {t.TempDir(), "is a directory"},
		"empty file":   {file(""), "the file holds neither"},
		"rsa":          {string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: rsaDER})), "want Ed25519"},
		"broken pem":   {string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der[:20]})), "is no public key"},
		"private":      {base64.StdEncoding.EncodeToString(private), "this is a private key"},
		"private pem":  {string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})), "this is a private key"},
		"private file": {file(base64.StdEncoding.EncodeToString(private)), "this is a private key"},
	} {
		_, err := parsePublicKey(c.given)
		require.ErrorContains(t, err, c.want, name)
		require.NotContains(t, err.Error(), base64.StdEncoding.EncodeToString(private)[:20], "a secret is not repeated")
	}
}

func TestKeyFileGoneAtCreate(t *testing.T) {
	_, err := defaultConfig(func(c *Config) { c.Approvals.PublicKeys = map[string]string{"k": "/no/such/file"} }).core()
	require.ErrorContains(t, err, "approvals::public_keys::k")
}

func TestEveryKindOfEventCanBeNamed(t *testing.T) {
	cfg := defaultConfig()
	names := cfg.Events.byKind()
	require.Len(t, names, len(boundary.Kinds))
	for _, kind := range boundary.Kinds {
		require.Contains(t, names, kind)
	}
}

func TestSourcesThatCannotCount(t *testing.T) {
	require.Zero(t, sourceSet([]string{"record", "model", ""}))
	require.Equal(t, boundary.Sources(0).With(classify.Human), sourceSet([]string{"human", "record"}))
}

func TestWarnings(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		want   int
	}{
		"defaults":             {func(*Config) {}, 0},
		"short window":         {func(c *Config) { c.Window = 5*time.Minute - 1 }, 1},
		"grace at the window":  {func(c *Config) { c.ReorderGrace = c.Window }, 1},
		"short and overtaken":  {func(c *Config) { c.Window, c.ReorderGrace = time.Second, time.Second }, 2},
		"short for one of two": {func(c *Config) { c.Runtimes["x"] = RuntimeConfig{Window: time.Minute} }, 1},
	} {
		core, logs := observer.New(zap.WarnLevel)
		defaultConfig(c.change).warn(zap.New(core))
		require.Equal(t, c.want, logs.Len(), name)
	}
}

// The table in README.md names every key.
func TestReadmeNamesEveryKey(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var check func(prefix string, of reflect.Type)
	check = func(prefix string, of reflect.Type) {
		for i := range of.NumField() {
			key := of.Field(i).Tag.Get("mapstructure")
			if key == "" {
				continue
			}
			if field := of.Field(i).Type; field.Kind() == reflect.Struct && field != reflect.TypeFor[EventsConfig]() {
				check(prefix+key+".", field)
				continue
			}
			require.Contains(t, string(readme), "`"+prefix+key+"`")
		}
	}
	check("", reflect.TypeFor[Config]())
	check("", reflect.TypeFor[EventsConfig]())
	check("", reflect.TypeFor[RuntimeConfig]())
}
