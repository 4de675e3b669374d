package config

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

// example is a line of the template that is commented out, and no sentence.
var example = regexp.MustCompile(`^(headers|timeout|compression|signal|runtime|resource|ledger|catalogue|kinds|observe|probes):|^  +(- name|command|match|timeout|charge_card|log_personal_data):`)

func newConfig(t *testing.T) *Config {
	t.Helper()
	c, err := Load(project(t, "catalogue: {personal_data: [never, masked]}\nkinds: {release: choice}"), env(t))
	require.NoError(t, err)
	return c
}

func TestKind(t *testing.T) {
	c := newConfig(t)
	for name, kind := range map[string]string{
		"scope": KindID, "target": KindID, "acceptance_test": KindCommand, "approval_boundary": KindSet,
		"constraint.push": KindChoice, "anything": KindID, "release": KindChoice,
	} {
		assert.Equal(t, kind, c.Kind(name), name)
	}
}

func TestSameDigest(t *testing.T) {
	c := newConfig(t)
	for _, row := range []struct{ name, kind, a, b string }{
		{"scope", KindID, "git@github.com:acme/payments.git", "https://github.com/acme/payments"},
		{"acceptance_test", KindCommand, "go  test './...'", `go test "./..."`},
		{"approval_boundary", KindSet, "deploy, Force Push", "force-push,deploy"},
		{"constraint.push", KindChoice, "Ask first", "ask_first"},
		{"release", KindChoice, "Blue", "blue"},
		{"x", KindJSON, `{"a":1,"b":2}`, `{ "b": 2, "a": 1 }`},
		{"x", KindText, "a \r\n", "a"},
	} {
		a, err := c.Digest(continuity.Digester{}, row.name, row.kind, row.a)
		require.NoError(t, err, row.name)
		b, err := c.Digest(continuity.Digester{}, row.name, row.kind, row.b)
		require.NoError(t, err, row.name)
		assert.Equal(t, a, b, row.name)
	}
}

func TestRefused(t *testing.T) {
	c := newConfig(t)
	for _, row := range []struct{ name, kind, value, want string }{
		{"Scope", KindID, "secret", "a decision is called"},
		{"scope", "kind", "secret", "kind must be one of"},
		{"scope", KindID, "", "placeholder"},
		{"scope", KindID, " N/A ", "placeholder"},
		{"scope", KindText, "tbd", "placeholder"},
		{"constraint.push", KindChoice, "none", "placeholder"},
		{"target", KindID, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "placeholder"},
		{"x", KindJSON, "null", "placeholder"},
		{"x", KindJSON, `{"secret":1,"secret":2}`, "no canonical form"},
		{"scope", KindID, "the secret repository", "a name has no blanks; for a sentence, decide it with --as text"},
		{"acceptance_test", KindCommand, `echo "secret`, "not one that a POSIX shell"},
		{"constraint.push", KindChoice, "never do it, secret", "it must be one of forbidden, ask_first, allowed"},
		{"constraint.personal_data", KindChoice, "forbidden", "it must be one of never, masked"},
		{"constraint.no_push", KindChoice, "forbidden", `"no_push" is not in the catalogue: say constraint.push`},
		{"constraint.secret_thing", KindChoice, "forbidden", "add it under catalogue in continuity.yaml"},
		{"approval_boundary", KindSet, "deploy, secret", "it must be some, with commas between them, of change_api"},
		{"scope", KindText, "\xff", "not valid UTF-8"},
	} {
		_, err := c.Digest(continuity.Digester{}, row.name, row.kind, row.value)
		require.ErrorContains(t, err, row.want, row.name)
		if row.name != "constraint.secret_thing" {
			assert.NotContains(t, err.Error(), "secret,")
			assert.NotContains(t, err.Error(), "the secret")
		}
	}
	for _, prose := range []string{"constraint.push", "constraint.no_push", "approval_boundary"} {
		_, err := c.Digest(continuity.Digester{}, prose, KindText, "never push, not even once")
		require.NoError(t, err, "prose is fine where it is said to be prose")
	}
}
