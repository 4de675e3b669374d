package digest

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// What is wrong with a document, wrapped by ErrJSON. They are constants because
// the errors of a parser quote what they met.
var (
	errSyntax    = errors.New("it is malformed")
	errDepth     = fmt.Errorf("it is nested more than %d deep", maxDepth)
	errTwice     = errors.New("an object has a key twice")
	errRounded   = errors.New("a number would be rounded to an integer, or is beyond ±2^53")
	errSurrogate = errors.New(`a \u escape is half of a character`)
)

// maxDepth bounds nesting, so that hostile input ends in an error.
const maxDepth = 1000

// JSON returns a JSON document in canonical form v1: RFC 8785 with its strings
// in NFC. A key that is there twice (after NFC), an integer beyond ±2^53 and a
// fraction that would become an integer are refused, never rounded. It fails with
// ErrJSON, ErrNotText or, for a string or null alone that says nothing and for an
// empty object or array, ErrPlaceholder.
func JSON(document []byte) ([]byte, error) {
	if !utf8.Valid(document) {
		return nil, ErrNotText
	}
	if !json.Valid(document) {
		return nil, fmt.Errorf("%w: %w", ErrJSON, errSyntax)
	}
	if halfEscaped(document) {
		return nil, fmt.Errorf("%w: %w", ErrJSON, errSurrogate)
	}
	n := normalizer{in: json.NewDecoder(bytes.NewReader(document))}
	n.in.UseNumber()
	if err := n.value(0); errors.Is(err, ErrNotText) {
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrJSON, err)
	}
	canonical, err := jcs.Transform(n.out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrJSON, errSyntax)
	}
	if saysNothing(canonical) {
		return nil, ErrPlaceholder
	}
	return canonical, nil
}

// saysNothing reports whether a canonical document is null, an empty object or
// array, or a placeholder alone.
func saysNothing(canonical []byte) bool {
	text := string(canonical)
	if text[0] == '"' && json.Unmarshal(canonical, &text) != nil {
		return true // cannot be
	}
	return emptyValue(text)
}

// halfEscaped finds a UTF-16 surrogate without its other half in a valid
// document. The decoder would make U+FFFD of all of them, and so different
// strings equal.
func halfEscaped(document []byte) bool {
	for i := bytes.IndexByte(document, '\\'); i >= 0; {
		i += 2 // backslashes are in strings only, and something follows
		if document[i-1] == 'u' {
			unit := escaped(document[i:])
			i += 4
			if utf16.IsSurrogate(unit) {
				if len(document) < i+6 || document[i] != '\\' || document[i+1] != 'u' ||
					utf16.DecodeRune(unit, escaped(document[i+2:])) == utf8.RuneError {
					return true
				}
				i += 6
			}
		}
		next := bytes.IndexByte(document[i:], '\\')
		if next < 0 {
			return false
		}
		i += next
	}
	return false
}

// escaped reads the four hex digits of an escape.
func escaped(digits []byte) rune {
	var unit [2]byte
	if _, err := hex.Decode(unit[:], digits[:4]); err != nil {
		return utf8.RuneError
	}
	return rune(binary.BigEndian.Uint16(unit[:]))
}

// normalizer copies a valid document, strings in NFC, and checks what RFC 8785
// leaves to its user.
type normalizer struct {
	in  *json.Decoder
	out bytes.Buffer
}

func (n *normalizer) value(depth int) error {
	token, err := n.in.Token()
	if err != nil {
		return errSyntax
	}
	switch token := token.(type) {
	case json.Delim:
		if depth == maxDepth {
			return errDepth
		}
		if token == '{' {
			return n.object(depth + 1)
		}
		return n.array(depth + 1)
	case json.Number:
		return n.number(token.String())
	case string:
		text, err := nfc(token)
		if err != nil {
			return err
		}
		return n.write(text)
	default: // true, false, null
		return n.write(token)
	}
}

func (n *normalizer) object(depth int) error {
	keys := map[string]struct{}{}
	n.out.WriteByte('{')
	for n.in.More() {
		token, err := n.in.Token()
		if err != nil {
			return errSyntax
		}
		key, err := nfc(token.(string)) // the decoder lets nothing else be a key
		if err != nil {
			return err
		}
		if _, found := keys[key]; found {
			return errTwice
		}
		if len(keys) > 0 {
			n.out.WriteByte(',')
		}
		keys[key] = struct{}{}
		if err := n.write(key); err != nil {
			return err
		}
		n.out.WriteByte(':')
		if err := n.value(depth); err != nil {
			return err
		}
	}
	return n.end('}')
}

func (n *normalizer) array(depth int) error {
	n.out.WriteByte('[')
	for first := true; n.in.More(); first = false {
		if !first {
			n.out.WriteByte(',')
		}
		if err := n.value(depth); err != nil {
			return err
		}
	}
	return n.end(']')
}

func (n *normalizer) end(delim byte) error {
	n.out.WriteByte(delim)
	if _, err := n.in.Token(); err != nil {
		return errSyntax
	}
	return nil
}

func (n *normalizer) write(scalar any) error {
	if err := json.NewEncoder(&n.out).Encode(scalar); err != nil {
		return errSyntax
	}
	return nil
}

// maxExact is the largest integer that every double up to it can tell from its
// neighbors: 2^53.
var maxExact = new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 53))

// maxNumber is longer than any number that means something. Longer ones cost time
// to read.
const maxNumber = 1024

// number copies a number, however it is spelled, unless RFC 8785 would give it
// the digits of another integer: 9007199254740993, 9.007199254740993e15, 1e-400.
func (n *normalizer) number(text string) error {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if strings.Trim(mantissa, "-0.") == "" {
		n.out.WriteByte('0') // with any exponent
		return nil
	}
	if len(text) > maxNumber || len(strings.TrimLeft(exponent, "+-0")) > 3 {
		return errRounded
	}
	value, ok := new(big.Rat).SetString(text)
	if !ok {
		return errSyntax
	}
	if value.IsInt() {
		if new(big.Rat).Abs(value).Cmp(maxExact) > 0 {
			return errRounded
		}
	} else if double, _ := value.Float64(); double == math.Trunc(double) {
		return errRounded
	}
	n.out.WriteString(text)
	return nil
}
