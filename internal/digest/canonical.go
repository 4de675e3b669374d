package digest

import (
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Errors of canonical form v1: the value cannot be stated. Neither these nor what
// wraps them holds any of the value.
var (
	// ErrPlaceholder is a value that says nothing, as "" or "n/a".
	ErrPlaceholder = errors.New("the value is a placeholder, which states nothing")
	// ErrNotText is text that is not valid UTF-8, or that has more than 30
	// combining marks in a row.
	ErrNotText = errors.New("the value is not valid UTF-8 text")
	// ErrJSON is JSON that has no canonical form: malformed, with a key twice, or
	// with a number that would be rounded.
	ErrJSON = errors.New("the JSON has no canonical form")
)

// Text returns text in canonical form v1: Unicode NFC, LF line ends, no spaces
// and tabs at the end of a line, no newlines at the end of the text. All else
// stays: leading and inner blanks, other blanks of Unicode, a byte order mark. It
// fails with ErrPlaceholder or ErrNotText.
func Text(text string) ([]byte, error) {
	text, err := nfc(text)
	if err != nil {
		return nil, err
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	var out strings.Builder
	out.Grow(len(text))
	for line := range strings.SplitAfterSeq(text, "\n") {
		content, ended := strings.CutSuffix(line, "\n")
		out.WriteString(strings.TrimRight(content, " \t"))
		if ended {
			out.WriteByte('\n')
		}
	}
	text = strings.TrimRight(out.String(), "\n")
	if emptyText(text) {
		return nil, ErrPlaceholder
	}
	return []byte(text), nil
}

// emptyText reports whether text says nothing, as text or as the JSON that it may
// be: a reader sees the digest alone and could not tell.
func emptyText(text string) bool {
	text = strings.TrimSpace(text)
	if len(text) > 1 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	return emptyValue(text)
}

func emptyValue(text string) bool {
	text = strings.TrimSpace(text)
	return text == "{}" || text == "[]" || IsPlaceholder(text)
}

// graphemeJoiner is what package norm puts into more than 30 combining marks in a
// row. That is a format for streams, and not NFC.
const graphemeJoiner = "\u034f"

func nfc(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", ErrNotText
	}
	out := norm.NFC.String(text)
	if strings.Count(out, graphemeJoiner) != strings.Count(text, graphemeJoiner) {
		return "", ErrNotText
	}
	return out, nil
}
