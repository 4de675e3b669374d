package approval

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// link reads "a>b" or "a>b!fault" into an entry of the book: an approval of scope
// from a to b that has the fault.
func addLink(t require.TestingT, b *Book, text string) {
	pair, fault, _ := strings.Cut(text, "!")
	from, to, ok := strings.Cut(pair, ">")
	require.True(t, ok, text)
	a := given(func(a *Approval) { a.Ref, a.From, a.To = fmt.Sprintf("apr-%d", len(b.Entries)), of(from), of(to) })
	usedBy := ""
	switch fault {
	case "", "revoked":
	case "expired":
		a.ExpiresAt = "2026-03-04T11:00:00Z"
	case "not independent":
		a.Independent = false
	case "reused":
		usedBy = "b-0"
	case "own":
		usedBy = "b-1"
	case "not yet valid":
		a.ApprovedAt = "2026-03-05T12:00:00Z"
	default:
		require.Fail(t, "no such fault", text)
	}
	require.True(t, b.Add(a, nil, plenty))
	b.Entries[len(b.Entries)-1].UsedBy = usedBy
	if fault == "revoked" {
		revoke(a)
		require.True(t, b.Add(a, nil, plenty))
	}
}

func chain(t *testing.T, links ...string) *Book {
	t.Helper()
	b := &Book{}
	for _, l := range links {
		addLink(t, b, l)
	}
	return b
}

func asks(from, to string) Question {
	return question(func(q *Question) { q.From, q.To = of(from), of(to) })
}

// path names the links of an answer.
func path(a Answer) string {
	var out []string
	for _, e := range a.Path {
		for _, from := range []string{"a", "b", "c", "d", "none"} {
			for _, to := range []string{"a", "b", "c", "d", "none"} {
				if e.From == of(from) && e.To == of(to) {
					out = append(out, from+">"+to)
				}
			}
		}
	}
	return strings.Join(out, " ")
}

func TestChain(t *testing.T) {
	for name, c := range map[string]struct {
		links    []string
		from, to string
		want     string // the links that cover, the fault, or "nothing"
	}{
		"one link":              {[]string{"a>b"}, "a", "b", "a>b"},
		"two links":             {[]string{"a>b", "b>c"}, "a", "c", "a>b b>c"},
		"two links, backwards":  {[]string{"b>c", "a>b"}, "a", "c", "a>b b>c"},
		"three links":           {[]string{"c>d", "a>b", "b>c"}, "a", "d", "a>b b>c c>d"},
		"part of a chain":       {[]string{"a>b", "b>c", "c>d"}, "b", "c", "b>c"},
		"a gap":                 {[]string{"a>b", "c>d"}, "a", "d", "nothing"},
		"no beginning":          {[]string{"b>c", "c>d"}, "a", "d", "nothing"},
		"no end":                {[]string{"a>b", "b>c"}, "a", "d", "nothing"},
		"against the direction": {[]string{"a>b", "b>c"}, "c", "a", "nothing"},
		"one link turned round": {[]string{"a>b", "c>b"}, "a", "c", "nothing"},
		"there and back":        {[]string{"a>b", "b>a"}, "a", "c", "nothing"},
		"through a cycle":       {[]string{"a>b", "b>a", "b>c"}, "a", "c", "a>b b>c"},
		"past a cycle":          {[]string{"a>b", "b>c", "c>b", "c>d"}, "a", "d", "a>b b>c c>d"},
		"a link to itself":      {[]string{"a>a"}, "a", "b", "nothing"},
		"past one to itself":    {[]string{"a>a", "b>b", "a>b"}, "a", "b", "a>b"},
		"nothing changed":       {[]string{"a>b", "b>a"}, "a", "a", "nothing"},
		"removed and added":     {[]string{"a>none", "none>b"}, "a", "b", "a>none none>b"},
		"added and changed":     {[]string{"none>a", "a>b"}, "none", "b", "none>a a>b"},
		"changed and removed":   {[]string{"a>b", "b>none"}, "a", "none", "a>b b>none"},

		"faulty link first":            {[]string{"a>b!expired", "b>c"}, "a", "c", "expired"},
		"faulty link in the middle":    {[]string{"a>b", "b>c!revoked", "c>d"}, "a", "d", "revoked"},
		"faulty link last":             {[]string{"a>b", "b>c!not independent"}, "a", "c", "not independent"},
		"used link":                    {[]string{"a>b", "b>c!reused"}, "a", "c", "reused"},
		"link not yet valid":           {[]string{"a>b!not yet valid", "b>c"}, "a", "c", "not yet valid"},
		"own link":                     {[]string{"a>b!own", "b>c"}, "a", "c", "a>b b>c"},
		"parallel, the second valid":   {[]string{"a>b!expired", "a>b"}, "a", "b", "a>b"},
		"parallel, the first valid":    {[]string{"a>b", "a>b!expired"}, "a", "b", "a>b"},
		"parallel in the middle":       {[]string{"a>b", "b>c!reused", "b>c", "c>d"}, "a", "d", "a>b b>c c>d"},
		"parallel, both faulty":        {[]string{"a>b!reused", "a>b!expired", "a>b!revoked"}, "a", "b", "expired"},
		"parallel, in another order":   {[]string{"a>b!expired", "a>b!revoked", "a>b!reused"}, "a", "b", "expired"},
		"faulty, but a valid way":      {[]string{"a>d!expired", "a>b", "b>c", "c>d"}, "a", "d", "a>b b>c c>d"},
		"faulty shortcut":              {[]string{"a>b", "b>c", "c>d", "b>d!revoked"}, "a", "d", "a>b b>c c>d"},
		"faulty way past a cycle":      {[]string{"a>b", "b>a", "b>c!revoked"}, "a", "c", "revoked"},
		"cycle does not mend the link": {[]string{"a>b!expired", "b>c", "c>b"}, "a", "b", "expired"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := chain(t, c.links...).Ask(asks(c.from, c.to))
			if answer.Covers() {
				assert.Equal(t, c.want, path(answer))
			} else {
				assert.Equal(t, c.want, says(answer))
				assert.Empty(t, answer.Path)
			}
		})
	}
}

func TestChainOfOtherDecisionsAndAgents(t *testing.T) {
	b := &Book{}
	addLink(t, b, "a>b")
	addLink(t, b, "b>c")
	b.Entries[1].Agent = "tester"
	assert.Equal(t, "nothing", says(b.Ask(asks("a", "c"))))
	q := asks("a", "c")
	q.Agent = "tester"
	assert.Equal(t, "valid", says(b.Ask(q)))
	b.Entries[0].Invariant = "target"
	assert.Equal(t, "nothing", says(b.Ask(q)))
}

// TestChainIsUsedUp: each link of a chain is used, and is late or signed only with
// the others.
func TestChainIsUsedUp(t *testing.T) {
	b := chain(t, "a>b", "b>c", "c>d")
	b.Entries[1].Signed = true
	first := b.Ask(asks("b", "c"))
	assert.True(t, first.Signed())
	first.Use("b-1", true)

	answer := b.Ask(asks("a", "d"))
	require.True(t, answer.Covers())
	assert.True(t, answer.After(), "one came after the verdict")
	assert.False(t, answer.Signed(), "two are not")
	answer.Use("b-1", false)
	for _, l := range [][2]string{{"a", "b"}, {"b", "c"}, {"c", "d"}, {"a", "d"}} {
		q := asks(l[0], l[1])
		assert.True(t, answerTo(b, q).Covers())
		q.Boundary = "b-2"
		assert.Equal(t, "reused", says(*answerTo(b, q)))
	}
	assert.Equal(t, []bool{false, true, false}, []bool{b.Entries[0].After, b.Entries[1].After, b.Entries[2].After})
	b.Entries[0].Signed, b.Entries[2].Signed = true, true
	assert.True(t, answerTo(b, asks("a", "d")).Signed())
}

func answerTo(b *Book, q Question) *Answer {
	a := b.Ask(q)
	return &a
}

// TestChainAgainstSearch: a change is covered if and only if trying all ways finds
// one of valid links.
func TestChainAgainstSearch(t *testing.T) {
	values := []string{"a", "b", "c", "d", "none"}
	faults := []string{"", "", "", "!own", "!expired", "!revoked", "!not independent", "!reused", "!not yet valid"}
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SampledFrom(values)
		type edge struct {
			from, to string
			valid    bool
		}
		var edges []edge
		b := &Book{}
		for range rapid.IntRange(0, 12).Draw(t, "links") {
			e := edge{from: value.Draw(t, "from"), to: value.Draw(t, "to")}
			fault := rapid.SampledFrom(faults).Draw(t, "fault")
			e.valid = fault == "" || fault == "!own"
			addLink(t, b, e.from+">"+e.to+fault)
			edges = append(edges, e)
		}
		from, to := value.Draw(t, "asked from"), value.Draw(t, "asked to")

		var search func(at string, seen map[string]bool, faulty bool) bool
		search = func(at string, seen map[string]bool, faulty bool) bool {
			if at == to && at != from {
				return true
			}
			for _, e := range edges {
				if e.from == at && !seen[e.to] && (e.valid || faulty) {
					seen[e.to] = true
					found := search(e.to, seen, faulty)
					seen[e.to] = false
					if found {
						return true
					}
				}
			}
			return false
		}
		answer := b.Ask(asks(from, to))
		require.Equal(t, search(from, map[string]bool{from: true}, false), answer.Covers())
		require.Equal(t, search(from, map[string]bool{from: true}, true), answer.Fits)
		if !answer.Covers() {
			require.Empty(t, answer.Path)
			return
		}
		stand := of(from)
		for i, e := range answer.Path {
			require.Equal(t, stand, e.From, "link %d", i)
			require.NotContains(t, answer.Path[:i], e, "no link twice")
			stand = e.To
		}
		require.Equal(t, of(to), stand)
	})
}
