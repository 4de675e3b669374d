package continuity

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// Digest is a decision's digest in text form: `sha256:` or `hmac-sha256:` and 64
// lower-case hex digits, or [None].
type Digest string

// None states that there is explicitly no such decision. It differs from a
// decision that is not stated.
const None Digest = digest.NoneText

// Normalizer names the canonical form that this package digests.
const Normalizer = digest.DefaultNormalizer

// Errors of a value that has no digest. They hold nothing of the value.
var (
	// ErrPlaceholder: the value is "", "none", "n/a", "unknown" or the like. State
	// [None], or nothing.
	ErrPlaceholder = digest.ErrPlaceholder
	// ErrNotText: the value is not valid UTF-8, or has more than 30 combining marks
	// in a row.
	ErrNotText = digest.ErrNotText
	// ErrJSON: the JSON is malformed, holds a key twice, or holds a number that
	// would be rounded to an integer.
	ErrJSON = digest.ErrJSON
	// ErrPath: the path cannot be made real and absolute.
	ErrPath = errors.New("the path cannot be resolved")
)

// MinKeySize is the least size of a key for [Keyed], in bytes.
const MinKeySize = 16

// Digester makes digests by canonical form v1. The zero value makes plain
// SHA-256 digests.
type Digester struct {
	keyID string
	key   []byte
}

// Keyed returns a digester that makes HMAC-SHA-256 digests. Use one whenever a
// value can be guessed: who has a plain digest can try all likely values. The
// key stays outside the agent's context; its id, which must not be empty, goes
// along with the digests.
func Keyed(keyID string, key []byte) (Digester, error) {
	if keyID == "" {
		return Digester{}, errors.New("continuity: a key needs an id: digests of different keys are told apart by it")
	}
	if len(key) < MinKeySize {
		return Digester{}, fmt.Errorf("continuity: key %q has %d bytes: at least %d are needed", keyID, len(key), MinKeySize)
	}
	return Digester{keyID: keyID, key: append([]byte(nil), key...)}, nil
}

// KeyID is the id of the digester's key, "" for plain digests. It belongs on
// every event that carries the digests.
func (d Digester) KeyID() string { return d.keyID }

func (d Digester) of(canonical []byte, err error) (Digest, error) {
	if err != nil {
		return "", err
	}
	return Digest(digest.Of(canonical, d.key).String()), nil
}

// Text digests text: NFC, LF line ends, no trailing blanks or newlines. It fails
// with [ErrPlaceholder] or [ErrNotText].
func (d Digester) Text(text string) (Digest, error) { return d.of(digest.Text(text)) }

// JSON digests one JSON document by RFC 8785, strings in NFC. It fails with
// [ErrJSON], [ErrNotText] or [ErrPlaceholder].
func (d Digester) JSON(document []byte) (Digest, error) { return d.of(digest.JSON(document)) }

// Value digests what [json.Marshal] makes of a value; see [Digester.JSON]. Note
// that it writes invalid UTF-8 in strings as U+FFFD.
func (d Digester) Value(value any) (Digest, error) {
	document, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("%w: a %T cannot be written as JSON", ErrJSON, value)
	}
	return d.JSON(document)
}

// Path digests a path of this machine after making it real and absolute:
// symbolic links are followed. It fails with [ErrPath] where nothing is there.
func (d Digester) Path(path string) (Digest, error) {
	if _, err := digest.Text(path); err != nil {
		return "", err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", ErrPath
	}
	resolved, err := filepath.EvalSymlinks(absolute)
	var of *fs.PathError
	switch {
	case errors.As(err, &of):
		return "", fmt.Errorf("%w: %w", ErrPath, of.Err) // without the path
	case err != nil:
		return "", ErrPath
	}
	return d.Text(resolved)
}
