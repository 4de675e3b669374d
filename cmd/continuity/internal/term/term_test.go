package term

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func printer(pairs ...string) (*Printer, *bytes.Buffer) {
	variables := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		variables[pairs[i]] = pairs[i+1]
	}
	out := &bytes.Buffer{}
	return New(out, func(name string) string { return variables[name] }), out
}

func TestTerminal(t *testing.T) {
	for name, c := range map[string]struct {
		env             []string
		terminal, color bool
	}{
		"piped":            {nil, false, false},
		"forced":           {[]string{"CLICOLOR_FORCE", "1"}, true, true},
		"not forced":       {[]string{"CLICOLOR_FORCE", "0"}, false, false},
		"without color":    {[]string{"CLICOLOR_FORCE", "1", "NO_COLOR", "1"}, true, false},
		"a dumb terminal":  {[]string{"CLICOLOR_FORCE", "1", "TERM", "dumb"}, true, false},
		"color in a pipe?": {[]string{"NO_COLOR", ""}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := printer(c.env...)
			assert.Equal(t, c.terminal, p.Terminal())
			assert.Equal(t, c.color, p.Style(Bad, "x") != "x")
			assert.Equal(t, "x", p.Style(Plain, "x"))
			assert.Empty(t, p.Style(Bad, ""))
		})
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	assert.False(t, New(file, func(string) string { return "" }).Terminal(), "a file is read by a program")
	require.NoError(t, file.Close())
}

func TestTable(t *testing.T) {
	header := []string{"NAME", "STATE", "WHY"}
	rows := [][]Cell{
		{Styled(Bold, "scope"), Styled(Good, "ok"), Text("")},
		{Text("é\tx"), Styled(Bad, "failed"), Text("a\nb\x1b[31m")},
	}
	p, out := printer()
	p.Table(header, rows)
	assert.Equal(t, "scope\tok\t\né\ufffdx\tfailed\ta\ufffdb\ufffd[31m\n", out.String(), "a field has no tab, and a row no line end")

	p, out = printer("CLICOLOR_FORCE", "1", "NO_COLOR", "1")
	p.Table(header, rows)
	assert.Equal(t, strings.Join([]string{
		"NAME   STATE   WHY",
		"scope  ok      -",
		"é\ufffdx    failed  a\ufffdb\ufffd[31m",
		"",
	}, "\n"), out.String())

	p, out = printer("CLICOLOR_FORCE", "1")
	p.Table(header, rows[:1])
	assert.Equal(t, "\x1b[1mNAME\x1b[0m   \x1b[1mSTATE\x1b[0m  \x1b[1mWHY\x1b[0m\n\x1b[1mscope\x1b[0m  \x1b[32mok\x1b[0m     -\n", out.String())
}

func TestLines(t *testing.T) {
	p, out := printer()
	p.Line("%d", 1)
	p.Note("for people")
	require.NoError(t, p.JSON(map[string]string{"a": "<b>"}))
	assert.Equal(t, "1\n{\n  \"a\": \"<b>\"\n}\n", out.String())
	p, out = printer("CLICOLOR_FORCE", "1")
	p.Note("for people")
	assert.Equal(t, "\x1b[2mfor people\x1b[0m\n", out.String())
}

// JSON says what was said, and steers no terminal: neither by the control characters
// that JSON escapes itself, nor by those that it lets stand.
func TestJSONSteersNothing(t *testing.T) {
	want := "\x1b[31m \u009b31m \x7f \u202e \u2028 \U000e0041 \ufffd\n\té"
	p, out := printer()
	require.NoError(t, p.JSON([]string{want}))
	assert.Equal(t, CleanLines(out.String()), out.String())
	var got []string
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	assert.Equal(t, []string{want}, got)
}

func TestCleanLines(t *testing.T) {
	assert.Equal(t, "a b\nc\ufffd[1m\ufffd", CleanLines("a\tb\nc\x1b[1m\r"))
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"plain äöü 漢字":    "plain äöü 漢字",
		"\x1b]0;title\a":  "\ufffd]0;title\ufffd",
		"right\u202eleft": "right\ufffdleft",
		"zero\u200bwidth": "zero\ufffdwidth",
		"line\u2028end":   "line\ufffdend",
		"bad\xff":         "bad\ufffd",
	} {
		assert.Equal(t, want, Clean(text))
	}
}
