package classify

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestValidName(t *testing.T) {
	long := strings.Repeat("x", 64)
	for name, want := range map[string]bool{
		"scope": true, "approval_boundary": true, "target": true, "acceptance_test": true,
		"constraint.no_push": true, "constraint.no-push": true, "constraint.1": true, "constraint.0_-": true, "constraint": true,
		"a": true, "a1": true, "a_": true, "budget": true, "team.rule": true,
		long: true, long + "." + long: true, "a." + long: true,

		"": false, " ": false, ".": false, "_a": false, "1a": false, "-a": false, "A": false, "Scope": false, "SCOPE": false,
		"no-push": false, "scope ": false, " scope": false, "scope\n": false, "\nscope": false, "a b": false, "a/b": false,
		"constraint.": false, ".no_push": false, "constraint..a": false, "constraint.a.b": false, "constraint._a": false,
		"constraint.-a": false, "constraint.A": false, "constraint.a b": false, "constraint.a\n": false, "constraint.é": false,
		long + "x": false, "a." + long + "x": false, "größe": false, "scope\x00": false, "scope\xff": false, "ſcope": false,
		"*": false, "constraint.*": false, "${scope}": false, "<script>": false,
	} {
		assert.Equal(t, want, ValidName(name), "%q", name)
	}
}

// validName reads the form of the contract letter by letter.
func validName(name string) bool {
	const lower, digit = "abcdefghijklmnopqrstuvwxyz", "0123456789"
	part := func(text, first, rest string) bool {
		return text != "" && len(text) <= 64 && strings.Contains(first, text[:1]) && strings.Trim(text[1:], rest) == ""
	}
	family, id, two := strings.Cut(name, ".")
	return part(family, lower, lower+digit+"_") && (!two || part(id, lower+digit, lower+digit+"_-"))
}

func FuzzValidName(f *testing.F) {
	for _, seed := range []string{"", "scope", "constraint.no-push", "constraint.", "a.b.c", "A", "a\n", strings.Repeat("a", 65), "é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) { require.Equal(t, validName(name), ValidName(name), "%q", name) })
}

// TestAuthority: what a human reserved outranks what the agent works on.
func TestAuthority(t *testing.T) {
	order := []string{"approval_boundary", "scope", "constraint.a", "constraint.b", "target", "acceptance_test", "a", "b.c", "zeal", ""}
	for i, a := range order {
		for j, b := range order {
			got := CompareNames(a, b)
			assert.Equal(t, i < j, got < 0, "%q before %q", a, b)
			assert.Equal(t, i == j, got == 0, "%q is %q", a, b)
		}
	}
}

// TestNamesAreOrdered: what sorts by it must be a strict order, and no two names
// are the same.
func TestNamesAreOrdered(t *testing.T) {
	name := rapid.OneOf(
		rapid.SampledFrom([]string{"", "approval_boundary", "scope", "constraint", "constraint.a", "constraint.b", "target", "acceptance_test", "a", "scope.a"}),
		rapid.StringMatching(`[a-z][a-z0-9_]{0,3}(\.[a-z0-9]{1,3})?`),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := name.Draw(t, "a"), name.Draw(t, "b"), name.Draw(t, "c")
		require.Zero(t, CompareNames(a, a))
		require.Equal(t, CompareNames(a, b), -CompareNames(b, a))
		require.Equal(t, a == b, CompareNames(a, b) == 0)
		if CompareNames(a, b) < 0 && CompareNames(b, c) < 0 {
			require.Negative(t, CompareNames(a, c))
		}
	})
}

func TestMayBeOptional(t *testing.T) {
	for name, want := range map[string]bool{
		"scope": false, "approval_boundary": false, "target": false, "acceptance_test": false,
		"constraint.no_push": false, "constraint.1": false,
		"note": true, "budget": true, "team.rule": true, "constraints": true, "my_scope": true, "targets.a": true,
	} {
		assert.Equal(t, want, MayBeOptional(name), name)
	}
}

func TestFamily(t *testing.T) {
	for name, want := range map[string]string{"constraint.no_push": "constraint", "scope": "scope", "a.b.c": "a", "": ""} {
		assert.Equal(t, want, Family(name))
	}
}
