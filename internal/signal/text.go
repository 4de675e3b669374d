package signal

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// Limits of copied text, in bytes.
const (
	maxText   = 256 // what can be emitted
	maxOpaque = 512 // what is only compared or signed
)

// bounded copies text that is passed on: valid UTF-8, at most limit bytes, cut
// between runes. Long texts with the same beginning become equal.
func bounded(text string, limit int) string {
	text = strings.ToValidUTF8(cut(text, limit), string(utf8.RuneError))
	return strings.Clone(cut(text, limit))
}

// distinct copies text that is compared: valid UTF-8, at most limit bytes, and
// different texts stay different. What does not fit, or is not UTF-8, ends in
// the SHA-256 of the whole.
func distinct(text string, limit int) string {
	if fits(text, limit) {
		return strings.Clone(text)
	}
	sum := sha256.Sum256([]byte(text))
	tail := "~" + hex.EncodeToString(sum[:])
	return bounded(text, limit-len(tail)) + tail
}

func fits(text string, limit int) bool { return len(text) <= limit && utf8.ValidString(text) }

func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// nobody are the texts that producers write where they know no id. A constant
// would merge everybody into one session.
var nobody = [...]string{"unknown", "null", "undefined", "none", "n/a"}

// longestNobody is the length of the longest of them, however its letters are
// written: most ids are longer.
const longestNobody = len("undefined")

const zeroUUID = "00000000-0000-0000-0000-000000000000"

// trimID returns text without the blanks around it and whether it names
// somebody.
func trimID(text string) (string, bool) {
	text = strings.TrimSpace(text)
	switch len(text) {
	case 0:
		return "", false
	case len(zeroUUID):
		return text, text != zeroUUID && utf8.ValidString(text)
	case len(zeroUUID) - 4: // the UUID without its dashes
		return text, strings.Trim(text, "0") != "" && utf8.ValidString(text)
	}
	if len(text) <= longestNobody {
		for _, n := range nobody {
			if strings.EqualFold(text, n) {
				return "", false
			}
		}
	}
	return text, utf8.ValidString(text)
}
