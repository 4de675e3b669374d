package digest

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// The vectors of testdata/canonical/v1.json are run by package continuity. Here is
// what holds for every text.

// anyText draws texts with much of what canonical form v1 is about.
func anyText() *rapid.Generator[string] {
	part := rapid.OneOf(
		rapid.SampledFrom([]string{"\n", "\r", "\r\n", " ", "\t", "é", "e\u0301", "q\u0307\u0323", "한", "m²", "ﬁ", "\u00a0", "\u2028", "\ufeff", "\x00", "none", "-", "A"}),
		rapid.StringN(0, 3, -1),
	)
	return rapid.Map(rapid.SliceOfN(part, 0, 12), func(parts []string) string { return strings.Join(parts, "") })
}

func TestTextProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		canonical, err := Text(text)
		for name, other := range map[string]string{
			"NFD":          norm.NFD.String(text),
			"last newline": text + "\n",
			"last blanks":  text + " \t\r\n \n",
			"CRLF":         strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n"),
		} {
			same, sameErr := Text(other)
			require.ErrorIs(t, sameErr, err, name)
			require.Equal(t, string(canonical), string(same), name)
		}
		if err != nil {
			require.ErrorIs(t, err, ErrPlaceholder)
			return
		}
		again, err := Text(string(canonical))
		require.NoError(t, err)
		require.Equal(t, string(canonical), string(again), "canonical text is its own canonical form")

		indented, err := Text("  " + text)
		require.NoError(t, err)
		if strings.TrimLeft(string(canonical), "\n") == string(canonical) {
			require.NotEqual(t, string(canonical), string(indented), "indentation says something")
		}
	})
}

// TestManyCombiningMarks: package norm would put a joiner among them, which is
// not NFC and would make two texts one.
func TestManyCombiningMarks(t *testing.T) {
	few := "e" + strings.Repeat("\u0301", 30)
	canonical, err := Text(few)
	require.NoError(t, err)
	assert.Equal(t, norm.NFC.String(few), string(canonical))

	many := few + "\u0301"
	_, err = Text(many)
	require.ErrorIs(t, err, ErrNotText)
	_, err = JSON([]byte(`["` + many + `"]`))
	require.ErrorIs(t, err, ErrNotText)
	_, err = JSON([]byte(`{"` + many + `":1}`))
	require.ErrorIs(t, err, ErrNotText)

	joined, err := Text(few + graphemeJoiner + "\u0301")
	require.NoError(t, err, "a joiner of the text's own is text")
	assert.Contains(t, string(joined), graphemeJoiner)
}

func TestLargeText(t *testing.T) {
	line := strings.Repeat("x", 99) + " \r\n"
	canonical, err := Text(strings.Repeat(line, 100_000))
	require.NoError(t, err)
	assert.Len(t, canonical, 100*100_000-1)

	_, err = Text(strings.Repeat(" \n", 1_000_000))
	require.ErrorIs(t, err, ErrPlaceholder)
}

// TestEveryPlaceholderIsRefused: what has no digest here is what the reader takes
// for the digest of nothing.
func TestEveryPlaceholderIsRefused(t *testing.T) {
	for _, p := range placeholders {
		for _, text := range spellings(p) {
			for _, form := range []string{text, " " + text + "\n", `"` + text + `"`} {
				_, err := Text(form)
				require.ErrorIs(t, err, ErrPlaceholder, "%q", form)
			}
			_, err := JSON([]byte(`"` + text + `"`))
			require.ErrorIs(t, err, ErrPlaceholder, "%q", text)
		}
	}
}

func TestOfIsWhatOtherToolsPrint(t *testing.T) {
	assert.Equal(t, "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", Of([]byte("abc"), nil).String())
	assert.Equal(t, "hmac-sha256:5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
		Of([]byte("what do ya want for nothing?"), []byte("Jefe")).String(), "RFC 4231, case 2")
}

// FuzzText: whatever has a canonical form is valid, in NFC, and its own.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "main", "a \r\nb\n", "e\u0301", "\xff", "none", "\ufeff", "q\u0307\u0323 \t", "m²", "\r\r\n", "e" + strings.Repeat("\u0301", 40), `""`, "{}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		canonical, err := Text(text)
		if err != nil {
			require.Nil(t, canonical)
			return
		}
		require.True(t, utf8.Valid(canonical))
		require.True(t, norm.NFC.IsNormal(canonical))
		require.NotContains(t, string(canonical), "\r")
		require.NotContains(t, string(canonical), " \n")
		require.NotContains(t, string(canonical), "\t\n")
		require.NotEmpty(t, strings.TrimRight(string(canonical[len(canonical)-1:]), " \t\n"))
		require.False(t, IsPlaceholder(text))
		again, err := Text(string(canonical))
		require.NoError(t, err)
		require.Equal(t, string(canonical), string(again))
		_, fault := Parse(Of(canonical, nil).String())
		require.Equal(t, OK, fault)
	})
}
