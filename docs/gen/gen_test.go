package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
	"github.com/agentcontinuity/otelcol-continuity/internal/signal"
)

func TestPageIsUpToDate(t *testing.T) {
	text, err := os.ReadFile("../attributes.md")
	require.NoError(t, err)
	assert.Equal(t, page(), string(text), "docs/attributes.md differs from its tables: make generate")
}

// Each constant of type Reason has a meaning, once; one text that is two
// constants has two.
func TestEveryReasonHasAMeaning(t *testing.T) {
	var described []string
	for _, g := range reasonGroups {
		for _, r := range g.reasons {
			described = append(described, string(r.value))
			assert.NotEmpty(t, r.text, r.value)
		}
	}
	assert.ElementsMatch(t, constantsOf(t, "../../internal/classify", "Reason"), described)
}

func TestEveryValidationStatusHasAMeaning(t *testing.T) {
	want := slices.DeleteFunc(constantsOf(t, "../../internal/classify", "ValidationStatus"), func(s string) bool { return s == "" })
	assert.Equal(t, want, texts(validationStatuses, func(s classify.ValidationStatus) string { return string(s) }))
}

// constantsOf parses a package and returns the values of its constants of a
// string type, in the order of their declaration.
func constantsOf(t *testing.T, dir, typeName string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		if e.IsDir() || len(e.Name()) < 4 || e.Name()[len(e.Name())-3:] != ".go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), dir+"/"+e.Name(), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			constants, ok := decl.(*ast.GenDecl)
			if !ok || constants.Tok != token.CONST {
				continue
			}
			for _, spec := range constants.Specs {
				value := spec.(*ast.ValueSpec)
				if name, ok := value.Type.(*ast.Ident); !ok || name.Name != typeName {
					continue
				}
				for _, v := range value.Values {
					literal, ok := v.(*ast.BasicLit)
					require.True(t, ok, "%s: a constant that is no literal", e.Name())
					text, err := strconv.Unquote(literal.Value)
					require.NoError(t, err)
					out = append(out, text)
				}
			}
		}
	}
	require.NotEmpty(t, out)
	return out
}

// The closed sets are those of the code, in its order.
func TestSetsAreComplete(t *testing.T) {
	assert.Equal(t, classify.States, values(states))
	assert.Equal(t, classify.AllActions, values(actions))
	assert.Equal(t, boundary.AlertKinds, values(alertKinds))
	assert.Equal(t, boundary.AlertStatuses, values(alertStatuses))
	assert.Equal(t, boundary.Coverages, values(coverages))
	assert.Equal(t, boundary.Outcomes, values(outcomes))
	assert.Equal(t, boundary.Kinds, values(kinds))
	assert.Equal(t, []classify.Source{classify.Agent, classify.Environment, classify.Human, classify.Record}, values(sources))
	assert.Equal(t, classify.FieldNames[:], texts(fields, func(f classify.Field) string { return classify.FieldNames[f] }))
	assert.Equal(t, classify.ListFieldNames[:], texts(listFields, func(f classify.ListField) string { return classify.ListFieldNames[f] }))
}

// The envelope's reasons stand in the order in which they are checked.
func TestEnvelopeReasonsAreInOrder(t *testing.T) {
	for _, g := range reasonGroups {
		if g.title == "Reasons of the envelope" {
			assert.Equal(t, classify.EnvelopeReasons, values(g.reasons))
			return
		}
	}
	t.Fatal("no reasons of the envelope")
}

// The names of events are those that are read by default, kind by kind.
func TestEventsAreTheDefaults(t *testing.T) {
	for kind, names := range signal.DefaultEvents() {
		var listed []string
		for _, e := range semconv.Events {
			if e.Kind == kind.String() {
				listed = append(listed, e.Name)
			}
		}
		assert.Equal(t, names, listed, kind.String())
	}
}

// What people read explains every reason, action and alert; of the envelope's
// checks it explains the groups, and attributes.md lists them.
func TestSemanticsLeaveNothingOut(t *testing.T) {
	text, err := os.ReadFile("../semantics.md")
	require.NoError(t, err)
	mention := func(word string) { assert.Contains(t, string(text), "`"+word+"`") }
	for _, g := range reasonGroups[:3] {
		for _, r := range g.reasons {
			mention(string(r.value))
		}
	}
	for _, s := range classify.States {
		mention(s.String())
	}
	for _, a := range classify.AllActions {
		mention(a.String())
	}
	for _, k := range boundary.AlertKinds {
		mention(k.String())
	}
	for _, s := range validationStatuses {
		mention(string(s.value))
	}
}

func values[T any](set []meaning[T]) []T {
	out := make([]T, len(set))
	for i, m := range set {
		out[i] = m.value
	}
	return out
}

func texts[T any](set []meaning[T], text func(T) string) []string {
	out := make([]string, len(set))
	for i, m := range set {
		out[i] = text(m.value)
	}
	return out
}
