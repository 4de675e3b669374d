package ledger

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newSpool(t *testing.T) *Spool {
	t.Helper()
	return OpenSpool(filepath.Join(t.TempDir(), "state", "spool"))
}

func pending(t *testing.T, s *Spool) []string {
	t.Helper()
	names, err := s.Pending()
	require.NoError(t, err)
	return names
}

func TestSpool(t *testing.T) {
	s := newSpool(t)
	assert.Empty(t, pending(t, s))
	require.NoError(t, s.Put(at.Add(time.Second), "second", []byte("2")))
	require.NoError(t, s.Put(at, "../../first", []byte("1")))
	require.NoError(t, s.Put(at, "../../first", []byte("1")), "the same event again")
	names := pending(t, s)
	require.Len(t, names, 2)

	first, err := s.Claim(names[0])
	require.NoError(t, err)
	assert.Equal(t, "1", string(first.Event), "oldest first")
	_, err = s.Claim(names[0])
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, first.Release())
	first, err = s.Claim(names[0])
	require.NoError(t, err)
	require.NoError(t, first.Remove())
	_, err = s.Claim(names[0])
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.Equal(t, names[1:], pending(t, s))
}

func TestSpoolIsBounded(t *testing.T) {
	s := newSpool(t)
	s.max = 2
	for i := range 2 {
		require.NoError(t, s.Put(at, strconv.Itoa(i), []byte("x")))
	}
	require.ErrorIs(t, s.Put(at.Add(-time.Hour), "new", nil), ErrFull, "what is there stays")
	require.NoError(t, s.Put(at, "1", []byte("x")), "it is there already")
	require.ErrorIs(t, s.Put(at, "large", make([]byte, MaxEvent+1)), ErrTooLarge)
	assert.Len(t, pending(t, s), 2)
}

// A process that waits for an event that another has sent must not send it again.
func TestClaimOfWhatIsGone(t *testing.T) {
	s := newSpool(t)
	require.NoError(t, s.Put(at, "x", []byte("x")))
	name := pending(t, s)[0]
	path := filepath.Join(s.Dir(), name)
	opened, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, opened.Close()) }()
	c, err := s.Claim(name)
	require.NoError(t, err)
	require.NoError(t, c.Remove())
	_, err = claim(opened, path)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, s.Put(at, "x", []byte("x")))
	_, err = claim(opened, path)
	require.ErrorIs(t, err, fs.ErrNotExist, "another file of the same name")
}

func TestRefused(t *testing.T) {
	s := newSpool(t)
	for i := range MaxRefused + 1 {
		require.NoError(t, s.Put(at.Add(time.Duration(i)), "x", []byte(strconv.Itoa(i))))
	}
	for _, name := range pending(t, s) {
		c, err := s.Claim(name)
		require.NoError(t, err)
		require.NoError(t, c.Refuse())
		require.NoError(t, s.Note(Note{Time: at, Event: "continuity.snapshot", EventID: "x", Reason: "no"}))
	}
	assert.Empty(t, pending(t, s))
	refused, err := s.Refused()
	require.NoError(t, err)
	assert.Len(t, refused, MaxRefused, "bounded")
	notes, err := s.Notes()
	require.NoError(t, err)
	assert.Len(t, notes, MaxRefused+1, "and all of them are counted")
	assert.Equal(t, Note{Time: at, Event: "continuity.snapshot", EventID: "x", Reason: "no"}, notes[0])

	require.NoError(t, s.Readmit())
	names := pending(t, s)
	require.Len(t, names, MaxRefused)
	c, err := s.Claim(names[1])
	require.NoError(t, err)
	assert.Equal(t, "1", string(c.Event))
	require.NoError(t, c.Release())
	require.NoError(t, s.Readmit())
}

func TestNotes(t *testing.T) {
	s := newSpool(t)
	notes, err := s.Notes()
	require.NoError(t, err)
	assert.Empty(t, notes)
	require.NoError(t, os.MkdirAll(s.Dir(), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir(), notesFile), []byte(`{"torn`), 0o600))
	require.NoError(t, s.Note(Note{EventID: "x"}))
	notes, err = s.Notes()
	require.NoError(t, err)
	assert.Len(t, notes, 1)
}

// What a kill left half-written is no event, and goes after a while.
func TestLeftovers(t *testing.T) {
	s := newSpool(t)
	require.NoError(t, os.MkdirAll(s.Dir(), 0o700))
	old, young := filepath.Join(s.Dir(), "1.tmp"), filepath.Join(s.Dir(), "2.tmp")
	for _, path := range []string{old, young} {
		require.NoError(t, os.WriteFile(path, []byte("half"), 0o600))
	}
	yesterday := time.Now().Add(-24 * time.Hour)
	require.NoError(t, os.Chtimes(old, yesterday, yesterday))
	require.NoError(t, s.Put(at, "x", []byte("x")))
	assert.Len(t, pending(t, s), 1)
	assert.NoFileExists(t, old)
	assert.FileExists(t, young, "another process may be writing it")
}

// Several processes send at the same time: each event is sent by one of them.
func TestConcurrentClaims(t *testing.T) {
	s := newSpool(t)
	const events = 200
	for i := range events {
		require.NoError(t, s.Put(at.Add(time.Duration(i)), "x", []byte("x")))
	}
	var all []string
	processes := make([]*process, 4)
	for i := range processes {
		processes[i] = start(t, "drain", s.Dir(), "")
	}
	for _, p := range processes {
		all = append(all, p.rest()...)
		require.NoError(t, p.Wait())
	}
	seen := map[string]bool{}
	for _, name := range all {
		assert.False(t, seen[name], "sent twice")
		assert.True(t, strings.HasSuffix(name, suffix))
		seen[name] = true
	}
	assert.Len(t, seen, events)
	assert.Empty(t, pending(t, s))
}
