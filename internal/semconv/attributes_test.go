package semconv

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Constants that are part of other keys, or no key at all.
var partial = []string{InvariantPrefix, EnvelopePrefix, ApprovalPrefix, Redacted}

// Every constant of semconv.go is a row of a table, and every row a constant:
// nothing is read or written that the page does not list.
func TestEveryConstantIsARow(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "semconv.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var constants []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for _, v := range spec.Values {
			text, err := strconv.Unquote(v.(*ast.BasicLit).Value)
			require.NoError(t, err)
			constants = append(constants, text)
		}
		return false
	})
	rows := append([]string{}, partial...)
	for _, a := range Attributes {
		rows = append(rows, strings.TrimSuffix(a.Key, NamePlaceholder))
	}
	for _, e := range Events {
		rows = append(rows, e.Name)
	}
	assert.ElementsMatch(t, constants, rows)
}

func TestRowsAreWhole(t *testing.T) {
	keys := map[string]bool{}
	sections := map[Section]bool{}
	for _, a := range Attributes {
		assert.False(t, keys[a.Key], "%s is there twice", a.Key)
		keys[a.Key], sections[a.Section] = true, true
		assert.NotEmpty(t, a.Type, a.Key)
		assert.NotEmpty(t, a.Where, a.Key)
		assert.True(t, strings.HasSuffix(a.Meaning, "."), "%s: a meaning is a sentence", a.Key)
		assert.NotContains(t, a.Meaning, "\n", a.Key)
		assert.Equal(t, strings.HasSuffix(strings.TrimSuffix(a.Key, NamePlaceholder), "."), strings.HasSuffix(a.Key, NamePlaceholder), a.Key)
	}
	assert.Len(t, sections, len(Sections))
	for _, s := range Sections {
		assert.NotEmpty(t, s.String())
	}
	for _, e := range Events {
		assert.NotEmpty(t, e.Meaning, e.Name)
	}
}
