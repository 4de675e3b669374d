package sessions

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var start = time.Date(2026, 11, 30, 15, 0, 0, 0, time.UTC)

func after(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }

func TestFirstSight(t *testing.T) {
	for name, c := range map[string]struct {
		events []Seen
		want   []int // which of the events each is the same as
	}{
		"wired twice":                         {[]Seen{{At: after(0), Event: "pre"}, {At: after(40), Event: "pre"}}, []int{0, 0}},
		"wired three times":                   {[]Seen{{At: after(0), Event: "pre"}, {At: after(40), Event: "pre"}, {At: after(499), Event: "pre"}}, []int{0, 0, 0}},
		"the second started first":            {[]Seen{{At: after(40), Event: "pre"}, {At: after(0), Event: "pre"}}, []int{0, 0}},
		"two attempts of one turn":            {[]Seen{{At: after(0), Event: "pre"}, {At: after(501), Event: "pre"}}, []int{0, 1}},
		"two compactions of one turn at once": {[]Seen{{At: after(0), Event: "pre"}, {At: after(40), Event: "post"}, {At: after(130), Event: "pre"}, {At: after(170), Event: "post"}}, []int{0, 1, 2, 3}},
		"the same, wired twice": {[]Seen{
			{At: after(0), Event: "pre"},
			{At: after(9), Event: "pre"},
			{At: after(40), Event: "post"},
			{At: after(41), Event: "post"},
			{At: after(130), Event: "pre"},
			{At: after(131), Event: "pre"},
		}, []int{0, 0, 2, 2, 4, 4}},
		"two agents at once":            {[]Seen{{At: after(0), Event: "pre", Agent: "a"}, {At: after(3), Event: "pre", Agent: "b"}, {At: after(5), Event: "pre", Agent: "a"}}, []int{0, 1, 0}},
		"the host's own id, much later": {[]Seen{{At: after(0), Event: "e1", Unique: true}, {At: after(5), Event: "e2", Unique: true}, {At: after(90000), Event: "e1", Unique: true}}, []int{0, 1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			store := Open(t.TempDir())
			var added []Seen
			for i, e := range c.events {
				e.Session = "s"
				first, err := store.Add(e)
				require.NoError(t, err)
				assert.Equal(t, c.events[c.want[i]].At, first.At, "event %d", i)
				added = append(added, first)
			}
			last, known, err := store.Last("s")
			require.NoError(t, err)
			assert.True(t, known)
			assert.Equal(t, added[len(added)-1].Event, last.Event)
		})
	}
}

// Who started together sees the same first sight, in whatever order they write.
func TestTogether(t *testing.T) {
	store := Open(t.TempDir())
	firsts := make([]Seen, 8)
	var all sync.WaitGroup
	for i := range firsts {
		all.Go(func() {
			first, err := store.Add(Seen{At: after(i), Event: "pre", Session: "s"})
			assert.NoError(t, err)
			firsts[i] = first
		})
	}
	all.Wait()
	for _, first := range firsts {
		assert.Equal(t, firsts[0], first)
	}
}

// A line that is torn or strange costs itself only.
func TestDamage(t *testing.T) {
	store := Open(t.TempDir())
	_, err := store.Add(Seen{At: after(0), Event: "pre", Session: "s"})
	require.NoError(t, err)
	file, err := os.OpenFile(store.path("s"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString("null\n[]\n{\"session\":\"other\"}\n{\"at\":\"2026-11")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	first, err := store.Add(Seen{At: after(10), Event: "pre", Session: "s"})
	require.NoError(t, err)
	assert.Equal(t, after(0), first.At)
}

func TestUnknown(t *testing.T) {
	store := Open(filepath.Join(t.TempDir(), "none"))
	_, known, err := store.Last("s")
	require.NoError(t, err)
	assert.False(t, known)
	require.NoError(t, store.Prune(start))
}

func TestReadOnly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	seen := Seen{At: after(0), Event: "pre", Session: "s"}
	first, err := Open(file).Add(seen)
	require.Error(t, err)
	assert.Equal(t, seen.At, first.At, "the event still has its own time")
}

func TestPrune(t *testing.T) {
	store := Open(t.TempDir())
	for _, session := range []string{"old", "new"} {
		_, err := store.Add(Seen{At: after(0), Event: "pre", Session: session})
		require.NoError(t, err)
	}
	long := start.Add(-MaxAge - time.Hour)
	require.NoError(t, os.Chtimes(store.path("old"), long, long))
	require.NoError(t, os.Chtimes(store.path("new"), start, start))
	require.NoError(t, store.Prune(start))
	_, old, err := store.Last("old")
	require.NoError(t, err)
	_, recent, err := store.Last("new")
	require.NoError(t, err)
	assert.False(t, old)
	assert.True(t, recent)
}

// Two that are more than the window apart, or have another event between them, are
// never one.
func TestNeverMerged(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var all []Seen
		at := 0
		for i := range rapid.IntRange(1, 20).Draw(r, "n") {
			at += rapid.IntRange(0, 700).Draw(r, "gap")
			all = append(all, Seen{At: after(at), Event: rapid.SampledFrom([]string{"pre", "post"}).Draw(r, "event"), Nonce: strconv.Itoa(i)})
		}
		for i, e := range all {
			head := leader(all, e)
			require.LessOrEqual(r, e.At.Sub(head.At), Window)
			for _, between := range all[:i] {
				if between.At.After(head.At) && between.At.Before(e.At) {
					require.Equal(r, e.Event, between.Event)
				}
			}
		}
	})
}
