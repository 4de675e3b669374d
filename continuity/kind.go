package continuity

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// Kind says what a decision's value is, and so which spellings of it are one.
// docs/canonical.md has the table. No kind ever makes two different decisions
// equal: where two spellings may mean two things, they stay two.
type Kind string

// The kinds.
const (
	// ID names a thing: a repository, a branch, a relative path, a ticket.
	ID Kind = "id"
	// Command is a command line of a POSIX shell.
	Command Kind = "command"
	// Set is a list whose order means nothing, split at commas and newlines.
	Set Kind = "set"
	// Choice is one word of a closed set, in any case of letters.
	Choice Kind = "choice"
	// Prose is text in somebody's words: canonical text.
	Prose Kind = "text"
)

// Kinds are all kinds.
var Kinds = []Kind{ID, Command, Set, Choice, Prose}

// Errors of a value of a kind.
var (
	// ErrKind: there is no such kind.
	ErrKind = errors.New("there is no such kind of decision: it must be id, command, set, choice or text")
	// ErrCommand: the value is no command line of a POSIX shell.
	ErrCommand = errors.New("the command is not one that a POSIX shell could read")
)

// Canonical returns the bytes that are digested of a value of a kind. It fails
// with [ErrKind], [ErrPlaceholder], [ErrNotText] or [ErrCommand]. No error holds
// any of the value.
func Canonical(kind Kind, value string) ([]byte, error) {
	if !slices.Contains(Kinds, kind) {
		return nil, ErrKind
	}
	// Each value is text first: no kind tells CRLF from LF, or NFD from NFC.
	text, err := digest.Text(value)
	if err != nil {
		return nil, err
	}
	switch kind {
	case ID:
		return digest.Text(canonicalID(string(text)))
	case Command:
		return canonicalCommand(value)
	case Set:
		return canonicalSet(string(text))
	case Choice:
		return digest.Text(canonicalChoice(string(text)))
	default: // Prose
		return text, nil
	}
}

// Of digests a value of a kind: see [Canonical].
func (d Digester) Of(kind Kind, value string) (Digest, error) { return d.of(Canonical(kind, value)) }

// blanks are what is trimmed, in every language the same.
const blanks = " \t\n"

func canonicalSet(text string) ([]byte, error) {
	var items []string
	for item := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		if item = strings.Trim(item, blanks); item != "" {
			items = append(items, item)
		}
	}
	slices.Sort(items)
	items = slices.Compact(items)
	if !slices.ContainsFunc(items, saysSomething) {
		return nil, ErrPlaceholder
	}
	return canonicalJSON(items)
}

func saysSomething(word string) bool {
	_, err := digest.Text(word)
	return err == nil
}

func canonicalChoice(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(blanks, r) }), "_")
	return lowerASCII(strings.ReplaceAll(text, "-", "_"))
}

// lowerASCII folds ASCII letters only. The cases of others depend on the language,
// and some fold into ASCII: a host of its own would become another.
func lowerASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r - 'A' + 'a'
		}
		return r
	}, text)
}

func canonicalJSON(value any) ([]byte, error) {
	document, err := json.Marshal(value)
	if err != nil {
		return nil, ErrNotText
	}
	return digest.JSON(norm.NFC.Bytes(document))
}
