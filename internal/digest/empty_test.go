package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// emptySHA256 is the SHA-256 of nothing, as every tool prints it.
const emptySHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func unhex(t *testing.T, text string) (sum [32]byte) {
	raw, err := hex.DecodeString(text)
	require.NoError(t, err)
	require.Len(t, raw, len(sum))
	return [32]byte(raw)
}

func sha(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// placeholders are those of canonical form v1, and the empty forms of JSON.
var placeholders = []string{"", "none", "(none)", "n/a", "null", "unknown", "tbd", "-", "{}", "[]"}

// spellings gives text in every case of its letters.
func spellings(text string) []string {
	out := make([]string, 0, 1<<len(text))
	for mask := range 1 << len(text) {
		b := []byte(text)
		for i := range b {
			if mask>>i&1 == 1 {
				b[i] = strings.ToUpper(text)[i]
			}
		}
		out = append(out, string(b))
	}
	return out
}

func TestDigestOfAPlaceholderIsEmpty(t *testing.T) {
	require.Equal(t, emptySHA256, sha(""))
	for _, p := range placeholders {
		for _, text := range spellings(p) {
			for _, form := range []string{text, `"` + text + `"`, text + "\n", `"` + text + `"` + "\n"} {
				for _, written := range []string{"sha256:" + sha(form), " SHA256:" + strings.ToUpper(sha(form)) + "\n"} {
					d, fault := Parse(written)
					require.Equal(t, Empty, fault, "of %q", form)
					require.Equal(t, Digest{}, d, "of %q", form)
				}
			}
		}
	}
}

// TestDigestOfATextIsAValue: what looks like a placeholder but says something is
// a decision.
func TestDigestOfATextIsAValue(t *testing.T) {
	for _, text := range []string{
		"main", "none of the above", "nothing", "not applicable", "unknown host", "0", "false", "--", "nil", "no", "x",
		`{"a":1}`, `["none"]`, "{}{}", "tbd: ask", "none\nand more", "(none", "n / a",
	} {
		d, fault := Parse("sha256:" + sha(text))
		assert.Equal(t, OK, fault, "of %q", text)
		assert.Equal(t, Digest{Alg: SHA256, Sum: sha256.Sum256([]byte(text))}, d)
	}
}

// TestKeyedDigestIsNeverEmpty: nobody can tell without the key.
func TestKeyedDigestIsNeverEmpty(t *testing.T) {
	d, fault := Parse("hmac-sha256:" + emptySHA256)
	assert.Equal(t, OK, fault)
	assert.Equal(t, HMACSHA256, d.Alg)
}

func TestIsPlaceholder(t *testing.T) {
	for _, p := range placeholders[:8] {
		for _, text := range spellings(p) {
			assert.True(t, IsPlaceholder(text), "%q", text)
			assert.True(t, IsPlaceholder(" \t"+text+"\n"), "%q", text)
		}
	}
	for _, text := range []string{"main", "none of the above", "null and void", "0", "false", "--", "()", "n.a.", "no"} {
		assert.False(t, IsPlaceholder(text), "%q", text)
	}
}
