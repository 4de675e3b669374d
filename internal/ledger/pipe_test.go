//go:build unix

package ledger

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// To open a pipe may take forever. Neither the ledger nor an event is one.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	l := Open(filepath.Join(dir, "ledger.jsonl"))
	require.NoError(t, syscall.Mkfifo(l.Path(), 0o600))
	_, err := l.InForce("")
	require.ErrorContains(t, err, "it is no regular file")

	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "1"+suffix), 0o600))
	pending, err := OpenSpool(dir).Pending()
	require.NoError(t, err)
	assert.Empty(t, pending)
}
