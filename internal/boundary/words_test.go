package boundary

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

type roomy struct{}

func (roomy) TakeSession() bool               { return true }
func (roomy) GiveSession()                    {}
func (roomy) Weigh(int)                       {}
func (roomy) Room(int, int) bool              { return true }
func (roomy) Saw(string, string, Habit)       {}
func (roomy) Seen(string, string, Habit) bool { return false }

// TestWordsAreForgotten: who wakes or is looked at leaves behind what others hold,
// and no more.
func TestWordsAreForgotten(t *testing.T) {
	cfg := DefaultConfig()
	c := New(&cfg, roomy{})
	now := time.Unix(1_800_000_000, 0)
	for _, id := range []string{"a", "b"} {
		c.Observe(now, &Event{
			Kind: Snapshot, Key: Key{SessionKey: SessionKey{Scope: "tenant", Session: id}}, Runtime: "r", Time: classify.At(now),
			Statements: []Statement{{Name: "scope"}, {Name: "mine." + id}}, Resource: []Attr{{"service.name", "x"}, {"n", int64(1)}},
		})
	}
	c.Rest()
	w := &c.slots.words
	shared := len(w.index)
	for range 2 {
		s := c.glance(c.slots.find(SessionKey{"tenant", "a"}))
		assert.Equal(t, []Attr{{"service.name", "x"}, {"n", int64(1)}}, s.agents[0].bounds[0].resource)
		assert.Len(t, w.index, shared, "it rests still")
	}
	c.session(SessionKey{"tenant", "a"})
	assert.Len(t, w.index, shared-1, "its own name")
	c.session(SessionKey{"tenant", "b"})
	assert.Empty(t, w.index)
	assert.Len(t, w.free, len(w.list))
}

// TestSqueeze: what comes back is what was squeezed, and perhaps zeros behind it.
func TestSqueeze(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytesOf := rapid.SliceOf(rapid.OneOf(rapid.Just(byte(0)), rapid.Just(byte(0)), rapid.Byte()))
		packed := append(bytesOf.Draw(t, "head"), make([]byte, rapid.IntRange(0, 5000).Draw(t, "zeros"))...)
		packed = append(packed, bytesOf.Draw(t, "tail")...)
		back := unsqueeze(nil, squeeze(nil, packed))
		assert.True(t, bytes.HasPrefix(back, packed))
		assert.Less(t, len(back), len(packed)+8)
		assert.Empty(t, bytes.Trim(back[len(packed):], "\x00"))
	})
}
