// Package digest reads the text form of a decision's digest and says when two
// digests can be compared at all.
package digest

import (
	"encoding/hex"
	"strings"
)

// Algorithm says how a digest was made. The zero value means that no digest
// is there.
type Algorithm uint8

// The algorithms of canonical form v1. Explicit is the literal "none": there
// is explicitly no such decision.
const (
	Absent Algorithm = iota
	Explicit
	SHA256
	HMACSHA256
)

// NoneText is the literal that states that there is no such decision.
const NoneText = "none"

var prefixes = [...]struct {
	text string
	alg  Algorithm
}{
	{"sha256:", SHA256},
	{"hmac-sha256:", HMACSHA256},
}

// String is the prefix of the algorithm's text form, without the colon.
func (a Algorithm) String() string {
	switch a {
	case Explicit:
		return NoneText
	case SHA256:
		return "sha256"
	case HMACSHA256:
		return "hmac-sha256"
	case Absent:
	}
	return "absent"
}

// Digest is one parsed digest: 32 bytes and how they were made. It is
// comparable with ==; the zero value is absent.
type Digest struct {
	Alg Algorithm
	Sum [32]byte
}

// None is the digest of a decision that explicitly does not exist.
var None = Digest{Alg: Explicit}

// IsValue reports whether d is the digest of a value, not none and not absent.
func (d Digest) IsValue() bool { return d.Alg == SHA256 || d.Alg == HMACSHA256 }

// IsNothing reports whether d states no value: none or absent. Once absence is
// proven, the two mean the same.
func (d Digest) IsNothing() bool { return !d.IsValue() }

// String is the canonical text form: lower case, "none", or "" when absent.
func (d Digest) String() string {
	switch d.Alg {
	case Explicit:
		return NoneText
	case SHA256, HMACSHA256:
		return d.Alg.String() + ":" + hex.EncodeToString(d.Sum[:])
	case Absent:
	}
	return ""
}

// Fault says why a digest text is unusable.
type Fault uint8

// The faults of a digest text.
const (
	OK Fault = iota
	Malformed
	Empty // the digest of nothing or of a placeholder
)

// Parse reads `sha256:<64 hex>`, `hmac-sha256:<64 hex>` or `none`, after
// trimming blanks and in any case of letters. A well-formed SHA-256 of nothing
// or of a placeholder is Empty: equal rubbish looks like perfect continuity.
func Parse(text string) (Digest, Fault) {
	if strings.EqualFold(strings.TrimSpace(text), NoneText) {
		return None, OK
	}
	d, ok := ParseSum(text)
	switch {
	case !ok:
		return Digest{}, Malformed
	case d.Alg == SHA256 && isEmpty(d.Sum):
		return Digest{}, Empty
	}
	return d, OK
}

// ParseSum reads a digest of anything, nothing included, but not `none`.
func ParseSum(text string) (Digest, bool) {
	text = strings.TrimSpace(text)
	for _, p := range prefixes {
		if len(text) != len(p.text)+64 || !strings.EqualFold(text[:len(p.text)], p.text) {
			continue
		}
		d := Digest{Alg: p.alg}
		if _, err := hex.Decode(d.Sum[:], []byte(text[len(p.text):])); err != nil {
			break
		}
		return d, true
	}
	return Digest{}, false
}

// Form says how the digests of one event were made: digests of different forms
// cannot be compared, whatever their bytes.
type Form struct {
	// Normalizer is the canonical form that was digested; "" means "v1".
	Normalizer string
	// KeyID names the key of keyed digests.
	KeyID string
}

// DefaultNormalizer is the canonical form of an event that names none.
const DefaultNormalizer = "v1"

func (f Form) normalizer() string {
	if f.Normalizer == "" {
		return DefaultNormalizer
	}
	return f.Normalizer
}

// Comparable reports whether equal or different bytes of a and b mean anything:
// same algorithm, same canonical form and, for keyed digests, same key.
func Comparable(a Digest, fa Form, b Digest, fb Form) bool {
	return a.Alg == b.Alg &&
		fa.normalizer() == fb.normalizer() &&
		(a.Alg != HMACSHA256 || fa.KeyID == fb.KeyID)
}
