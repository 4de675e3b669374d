// Package term prints for people and for pipes: a table with colors on a
// terminal, plain fields that a script can cut when piped, and JSON on demand.
// What it prints has no control characters of others in it.
package term

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Style is how a text looks on a terminal. Nothing may be said by color alone.
type Style uint8

// The styles.
const (
	Plain Style = iota
	Bold
	Dim
	Good // it is well
	Warn // look at it
	Bad  // it is not well
)

var codes = [...]string{Plain: "", Bold: "1", Dim: "2", Good: "32", Warn: "33", Bad: "31"}

// Printer writes to one output.
type Printer struct {
	w               io.Writer
	terminal, color bool
}

// New makes a printer. It treats the output as a terminal if it is one, or if
// CLICOLOR_FORCE is set and not 0. NO_COLOR and TERM=dumb turn colors off.
func New(w io.Writer, getenv func(string) string) *Printer {
	p := &Printer{w: w}
	if file, ok := w.(*os.File); ok {
		info, err := file.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	if force := getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		p.terminal = true
	}
	p.color = p.terminal && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	return p
}

// Terminal reports whether a person reads it.
func (p *Printer) Terminal() bool { return p.terminal }

// Style returns a text in a style, or as it is where there are no colors.
func (p *Printer) Style(s Style, text string) string {
	if !p.color || s == Plain || text == "" {
		return text
	}
	return "\x1b[" + codes[s] + "m" + text + "\x1b[0m"
}

// Line prints one line. Arguments that come from outside go through [Clean]
// first.
func (p *Printer) Line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

// Note prints a line that only a person needs: nothing when piped.
func (p *Printer) Note(format string, args ...any) {
	if p.terminal {
		p.Line("%s", p.Style(Dim, fmt.Sprintf(format, args...)))
	}
}

// JSON prints a value as indented JSON. What could steer a terminal is escaped, also
// where JSON would let it stand.
func (p *Printer) JSON(v any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return err
	}
	var out strings.Builder
	for _, r := range text.String() {
		if r == '\n' || !steers(r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&out, "\\u%04x", unit)
		}
	}
	_, err := io.WriteString(p.w, out.String())
	return err
}

// Cell is one field of a table.
type Cell struct {
	Text  string
	Style Style
}

// Text is a cell without style.
func Text(text string) Cell { return Cell{Text: text} }

// Styled is a cell with a style.
func Styled(s Style, text string) Cell { return Cell{Text: text, Style: s} }

// Table prints rows: on a terminal aligned below a header, else one line a row,
// fields separated by tabs, without a header. Empty fields are "-" on a terminal.
func (p *Printer) Table(header []string, rows [][]Cell) {
	if !p.terminal {
		for _, row := range rows {
			fields := make([]string, len(row))
			for i, c := range row {
				fields[i] = Clean(c.Text)
			}
			fmt.Fprintln(p.w, strings.Join(fields, "\t"))
		}
		return
	}
	top := make([]Cell, len(header))
	for i, h := range header {
		top[i] = Styled(Bold, h)
	}
	all := append([][]Cell{top}, rows...)
	widths := make([]int, len(header))
	for _, row := range all {
		for i := range min(len(row), len(widths)) {
			widths[i] = max(widths[i], utf8.RuneCountInString(shown(row[i])))
		}
	}
	for _, row := range all {
		var line strings.Builder
		for i := range min(len(row), len(widths)) {
			text := shown(row[i])
			line.WriteString(p.Style(row[i].Style, text))
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)+2))
			}
		}
		fmt.Fprintln(p.w, strings.TrimRight(line.String(), " "))
	}
}

func shown(c Cell) string {
	if c.Text == "" {
		return "-"
	}
	return Clean(c.Text)
}

// Clean replaces what could steer a terminal or break a line: control characters,
// and format characters that reorder or hide text.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || steers(r) {
			return '\uFFFD'
		}
		return r
	}, text)
}

// CleanLines is Clean for a text of several lines.
func CleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Clean(strings.ReplaceAll(line, "\t", " "))
	}
	return strings.Join(lines, "\n")
}

func steers(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}
