package signal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// TestMay: what is looked at first keeps nothing away that has a meaning.
func TestMay(t *testing.T) {
	var n names
	assert.False(t, n.may(""))
	assert.False(t, n.may("a"))
	long := strings.Repeat("x", 3*lastLength)
	for _, name := range []string{"a", "context_compaction", long} {
		n.add(name, meaning{native: boundary.Snapshot})
		assert.True(t, n.may(name))
	}
	assert.False(t, n.may("context_compactiox"), "another last byte")
	assert.False(t, n.may("Xontext_compaction"), "another first byte")
	assert.False(t, n.may("context_compactions"), "another length")
	assert.False(t, n.may(""))

	n.addRow(&Row{Name: "compact *"})
	for _, name := range []string{"compact x", "compact " + long} {
		assert.True(t, n.may(name))
		assert.Len(t, n.underHead(name), 1)
	}
	assert.False(t, n.may("compact"))
	assert.Empty(t, n.underHead("compacting x"))

	n.addRow(&Row{})
	for _, name := range []string{"", "b", long + "y"} {
		assert.True(t, n.may(name), "a row for every name")
	}
}
