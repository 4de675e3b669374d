package digest

import (
	"crypto/sha256"
	"strings"
	"sync"
)

// Placeholders are texts that producers write where they know nothing. In
// canonical form v1 they are not stated, so their digest is never evidence.
var Placeholders = []string{"", "none", "(none)", "n/a", "null", "unknown", "tbd", "-"}

// IsPlaceholder reports whether text, in any case of letters and between
// blanks, says nothing.
func IsPlaceholder(text string) bool {
	text = strings.TrimSpace(text)
	for _, p := range Placeholders {
		if strings.EqualFold(text, p) {
			return true
		}
	}
	return false
}

func isEmpty(sum [32]byte) bool {
	_, found := emptySums()[sum]
	return found
}

// emptySums holds the SHA-256 of every spelling of nothing: bare, as a JSON
// string, and with the newline that shell tools leave behind.
var emptySums = sync.OnceValue(func() map[[32]byte]struct{} {
	texts := []string{"{}", "[]"}
	for _, p := range Placeholders {
		texts = append(texts, caseVariants(p)...)
	}
	sums := make(map[[32]byte]struct{}, 4*len(texts))
	for _, t := range texts {
		for _, form := range []string{t, `"` + t + `"`, t + "\n", `"` + t + `"` + "\n"} {
			sums[sha256.Sum256([]byte(form))] = struct{}{}
		}
	}
	return sums
})

// caseVariants lists text in all cases of its letters: 2^n for n letters.
func caseVariants(text string) []string {
	out := []string{""}
	for _, r := range text {
		lower, upper := strings.ToLower(string(r)), strings.ToUpper(string(r))
		next := make([]string, 0, 2*len(out))
		for _, head := range out {
			next = append(next, head+lower)
			if upper != lower {
				next = append(next, head+upper)
			}
		}
		out = next
	}
	return out
}
