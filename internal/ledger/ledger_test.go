package ledger

import (
	"encoding/json"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAppendAndRead(t *testing.T) {
	l := newLedger(t)
	entries, bad, err := l.Read()
	require.NoError(t, err)
	assert.Empty(t, entries)
	assert.Empty(t, bad)

	first := Entry{
		V: 1, Time: at, Name: "scope", Digest: "hmac-sha256:" + strings.Repeat("0", 64), KeyID: "k", Kind: "text", Comparison: "text",
		Revision: "3", ApprovalRef: "CHG-1", Session: "s", Value: "a\nb",
	}
	second := Entry{V: 1, Time: at, Name: "target", Digest: "none"}
	require.NoError(t, l.Append(first))
	require.NoError(t, l.Append(second))
	entries, bad, err = l.Read()
	require.NoError(t, err)
	assert.Equal(t, []Entry{first, second}, entries)
	assert.Empty(t, bad)
	if runtime.GOOS != "windows" {
		info, err := os.Stat(l.Path())
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "nobody else may read it")
	}
}

func TestAppendRefuses(t *testing.T) {
	for name, change := range map[string]func(*Entry){
		"no name":            func(e *Entry) { e.Name = "" },
		"a bad name":         func(e *Entry) { e.Name = "Scope" },
		"no time":            func(e *Entry) { e.Time = time.Time{} },
		"a value":            func(e *Entry) { e.Digest = "main" },
		"nothing's digest":   func(e *Entry) { e.Digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		"keyed, without key": func(e *Entry) { e.Digest = "hmac-sha256:" + strings.Repeat("0", 64) },
		"a comparison":       func(e *Entry) { e.Comparison = "fuzzy" },
		"too long":           func(e *Entry) { e.Value = strings.Repeat("x", MaxLine) },
	} {
		t.Run(name, func(t *testing.T) {
			l, e := newLedger(t), entry("scope")
			change(&e)
			require.Error(t, l.Append(e))
			_, err := os.Stat(l.Path())
			assert.ErrorIs(t, err, os.ErrNotExist, "nothing may be written")
		})
	}
}

// A kill in the middle of a write costs the line that was being written, and
// nothing else.
func TestTornLine(t *testing.T) {
	l := newLedger(t)
	require.NoError(t, l.Append(entry("scope")))
	whole, err := os.ReadFile(l.Path())
	require.NoError(t, err)
	line := strings.Replace(string(whole), "scope", "target", 1)
	for cut := 1; cut < len(line); cut++ {
		write(t, l, string(whole)+line[:cut])
		entries, bad, err := l.Read()
		require.NoError(t, err)
		// Only the end of the line may be missing: then it says all that it should.
		complete := cut == len(line)-1
		assert.Len(t, entries, map[bool]int{false: 1, true: 2}[complete], "cut at %d", cut)
		assert.Len(t, bad, map[bool]int{false: 1, true: 0}[complete], "cut at %d", cut)

		require.NoError(t, l.Append(entry("acceptance_test")))
		entries, _, err = l.Read()
		require.NoError(t, err)
		assert.Equal(t, "acceptance_test", entries[len(entries)-1].Name, "cut at %d", cut)
		assert.Len(t, entries, map[bool]int{false: 2, true: 3}[complete], "cut at %d", cut)
	}
}

func TestBadLines(t *testing.T) {
	l := newLedger(t)
	good, err := json.Marshal(Entry{V: 1, Time: at, Name: "scope", Digest: "none"})
	require.NoError(t, err)
	for name, line := range map[string]string{
		"no JSON":           `secret`,
		"two values":        string(good) + string(good),
		"a list":            `["secret"]`,
		"a later version":   strings.Replace(string(good), `"v":1`, `"v":2`, 1),
		"a value as digest": strings.Replace(string(good), `"none"`, `"secret"`, 1),
		"too long":          `{"value":"` + strings.Repeat("x", MaxLine) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			write(t, l, line+"\n\n"+string(good)+"\n")
			entries, bad, err := l.Read()
			require.NoError(t, err)
			assert.Len(t, entries, 1)
			require.Len(t, bad, 1)
			assert.Equal(t, 1, bad[0].Line)
			assert.NotContains(t, bad[0].Err.Error(), "secret", "an error must not cite what may be a value")
		})
	}
	require.NoError(t, os.Remove(l.Path()))
	require.NoError(t, os.Mkdir(l.Path(), 0o700))
	_, err = l.InForce("")
	require.Error(t, err)
	require.Error(t, l.Append(entry("scope")))
}

// A ledger that cannot be read in time is an error, which a snapshot tells of. To
// read on would be worse.
func TestNoLedgerThatCannotEnd(t *testing.T) {
	l := newLedger(t)
	require.NoError(t, l.Append(entry("scope")))
	require.NoError(t, os.Truncate(l.Path(), MaxSize+1))
	_, _, err := l.Read()
	require.ErrorIs(t, err, errSize)
	require.ErrorIs(t, l.Append(entry("target")), errSize)
	require.NoError(t, os.Truncate(l.Path(), MaxSize-100))
	_, bad, err := l.Read()
	require.NoError(t, err)
	assert.Len(t, bad, 1)
	require.ErrorIs(t, l.Append(entry("target")), errSize, "it must be readable afterwards")
}

func TestInForce(t *testing.T) {
	e := func(name, session, digest string) Entry { return Entry{Name: name, Session: session, Digest: digest} }
	for name, c := range map[string]struct {
		entries []Entry
		session string
		want    []Entry
	}{
		"none":                    {nil, "s", []Entry{}},
		"the latest":              {[]Entry{e("scope", "", "1"), e("scope", "", "2")}, "", []Entry{e("scope", "", "2")}},
		"the session's":           {[]Entry{e("scope", "s", "1"), e("scope", "", "2")}, "s", []Entry{e("scope", "s", "1")}},
		"not another session's":   {[]Entry{e("scope", "s", "1"), e("scope", "", "2")}, "t", []Entry{e("scope", "", "2")}},
		"no session":              {[]Entry{e("scope", "s", "1")}, "", []Entry{}},
		"withdrawn":               {[]Entry{e("scope", "", "1"), e("scope", "", "")}, "s", []Entry{}},
		"withdrawn for a session": {[]Entry{e("scope", "", "1"), e("scope", "s", "2"), e("scope", "s", "")}, "s", []Entry{e("scope", "", "1")}},
		"decided again":           {[]Entry{e("scope", "", "1"), e("scope", "", ""), e("scope", "", "3")}, "", []Entry{e("scope", "", "3")}},
		"by authority": {
			[]Entry{e("x", "", "1"), e("target", "", "1"), e("constraint.a", "", "1"), e("scope", "", "1"), e("approval_boundary", "", "1")},
			"",
			[]Entry{e("approval_boundary", "", "1"), e("scope", "", "1"), e("constraint.a", "", "1"), e("target", "", "1"), e("x", "", "1")},
		},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, inForce(c.entries, c.session)) })
	}
}

// Whatever is written in whatever order, what is in force is the last word of the
// session, else of the project.
func TestInForceModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Entry {
			return Entry{
				Name:    rapid.SampledFrom([]string{"scope", "target", "x"}).Draw(t, "name"),
				Session: rapid.SampledFrom([]string{"", "s", "t"}).Draw(t, "session"),
				Digest:  rapid.SampledFrom([]string{"", "none", digestOf("a"), digestOf("b")}).Draw(t, "digest"),
			}
		}), 0, 20).Draw(t, "entries")
		want := map[string]Entry{}
		for _, session := range []string{"", "s"} { // the session's word goes over the project's
			last := map[string]Entry{}
			for _, e := range entries {
				if e.Session == session {
					last[e.Name] = e
				}
			}
			for name, e := range last {
				if !e.Withdraws() {
					want[name] = e
				}
			}
		}
		got := map[string]Entry{}
		for _, e := range inForce(entries, "s") {
			got[e.Name] = e
		}
		assert.Equal(t, want, got)
	})
}

// Several processes append at the same time: no line is lost, mixed with another,
// or out of its process's order.
func TestConcurrentProcesses(t *testing.T) {
	l := newLedger(t)
	names := []string{"a", "b", "c", "d"}
	processes := make([]*process, len(names))
	for i, name := range names {
		processes[i] = start(t, "append", l.Path(), name)
	}
	for _, p := range processes {
		assert.Len(t, p.rest(), appendsEach)
		require.NoError(t, p.Wait())
	}
	entries, bad, err := l.Read()
	require.NoError(t, err)
	assert.Empty(t, bad)
	next := map[string]int{}
	for _, e := range entries {
		assert.Equal(t, strconv.Itoa(next[e.Name]), e.Revision)
		next[e.Name]++
	}
	for _, name := range names {
		assert.Equal(t, appendsEach, next[name])
	}
}

// What Append has returned for is there after a kill.
func TestKill(t *testing.T) {
	l := newLedger(t)
	p := start(t, "append forever", l.Path(), "scope")
	said := 0
	for said < 20 && p.lines.Scan() {
		said++
	}
	require.NoError(t, p.Process.Kill())
	said += len(p.rest())
	require.Error(t, p.Wait())
	entries, _, err := l.Read()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(entries), said)
	require.NoError(t, l.Append(entry("target")), "the lock went with the process")
}

func TestLockIsWaitedFor(t *testing.T) {
	l := newLedger(t)
	require.NoError(t, l.Append(entry("scope")))
	holder, err := os.OpenFile(l.Path(), os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, tryLock(holder))
	other, err := os.OpenFile(l.Path(), os.O_RDWR, 0)
	require.NoError(t, err)
	require.ErrorIs(t, tryLock(other), ErrBusy)
	_, err = openLocked(l.Path(), 1)
	require.ErrorIs(t, err, ErrBusy, "not forever")
	done := make(chan error, 1)
	go func() { done <- l.Append(entry("target")) }()
	require.NoError(t, holder.Close())
	require.NoError(t, other.Close())
	require.NoError(t, <-done)
}

func FuzzLines(f *testing.F) {
	good, err := json.Marshal(Entry{V: 1, Time: at, Name: "scope", Digest: digestOf("a"), Kind: "id"})
	require.NoError(f, err)
	f.Add([]byte{})
	f.Add(good)
	f.Add(append(good, '\n'))
	f.Add(good[:len(good)/2])
	f.Add([]byte("null\n{}\n[]\n\"\"\n\x00\xff\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		before, bad := parse(text)
		for i := range before {
			if err := before[i].check(); err != nil {
				t.Fatalf("an entry was read that could not be written: %v", err)
			}
		}
		assert.LessOrEqual(t, len(before)+len(bad), strings.Count(string(text), "\n")+1)
		// As Append has it, on no disk, which would be slow.
		line, err := json.Marshal(Entry{V: 1, Time: at, Name: "target", Digest: "none"})
		require.NoError(t, err)
		if len(text) > 0 && text[len(text)-1] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
		after, _ := parse(append(slices.Clone(text), line...))
		require.Len(t, after, len(before)+1, "whatever stands before, an entry that is appended is read, and costs no other")
	})
}
