package main

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// table is text in columns, with the state in colour.
type table struct {
	head []string
	rows []row
}

// row is one line; one without cells is a gap.
type row struct {
	cells []string
	state string
}

// stateColumn is the column that is coloured.
const stateColumn = 2

func (t *table) gap() { t.rows = append(t.rows, row{}) }

func (t *table) write(b *strings.Builder, p painter) {
	widths := make([]int, len(t.head))
	for _, r := range append([]row{{cells: t.head}}, t.rows...) {
		for i, cell := range r.cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	line := func(cells []string, paint func(i int, text string) string) {
		var text strings.Builder
		for i, cell := range cells {
			text.WriteString("  ")
			text.WriteString(paint(i, cell))
			text.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
		}
		b.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
	line(t.head, func(_ int, text string) string { return p.paint(bold, text) })
	for _, r := range t.rows {
		line(r.cells, func(i int, text string) string {
			if i != stateColumn {
				return text
			}
			return p.paint(colourOf(r.state), text)
		})
	}
}

// painter writes in colour, or does not.
type painter bool

type colour string

// Colours, as parameters of the terminal's SGR sequence.
const (
	bold   colour = "1"
	red    colour = "1;31"
	green  colour = "32"
	yellow colour = "33"
	purple colour = "1;35"
	cyan   colour = "36"
)

func (p painter) paint(c colour, text string) string {
	if !p {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

func colourOf(state string) colour {
	switch state {
	case classify.Preserved.String():
		return green
	case classify.ApprovedChange.String():
		return cyan
	case classify.Unverified.String():
		return yellow
	case classify.Dropped.String():
		return purple
	default:
		return red
	}
}

// painterFor uses colour on a terminal only, and not where the user wants none
// (no-color.org).
func painterFor(w io.Writer) painter {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return painter(err == nil && info.Mode()&os.ModeCharDevice != 0)
}
