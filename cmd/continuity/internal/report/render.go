package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"
	"strings"
)

//go:embed page
var page embed.FS

// Marker begins every page: the command replaces no other file.
const Marker = "<!doctype html>\n<!-- continuity report -->\n"

// scripts are joined into one, in this order.
var scripts = []string{"model.js", "marks.js", "row.js", "list.js", "filter.js", "panel.js", "main.js"}

// Render writes a model as one page that needs nothing else. What comes from the
// input is in a block of JSON, and the page's script puts it into the page as text
// only. The page may run no other script than its own, and load nothing.
func Render(w io.Writer, m *Model) error {
	data, err := json.Marshal(m) // <, > and & are escaped in it
	if err != nil {
		return err
	}
	tmpl, err := template.ParseFS(page, "page/page.html")
	if err != nil {
		return err
	}
	style, err := page.ReadFile("page/page.css")
	if err != nil {
		return err
	}
	words, err := words()
	if err != nil {
		return err
	}
	var script strings.Builder
	script.WriteString("\"use strict\";\n(() => {\n")
	for _, name := range scripts {
		part, err := page.ReadFile("page/" + name)
		if err != nil {
			return err
		}
		script.Write(part)
	}
	script.WriteString("})();\n")
	_, err = io.WriteString(w, Marker)
	if err != nil {
		return err
	}
	// All that is given a type here is the command's own, but for data, which is
	// JSON.
	return tmpl.Execute(w, map[string]any{
		"Title": m.Title, "Style": template.CSS(style), "Script": template.JS(script.String()),
		"Data": template.JS(data), "Words": template.JS(words),
		"StyleHash": hashOf(string(style)), "ScriptHash": hashOf(script.String()),
	})
}

// words are what values of closed sets mean. They are those of docs/attributes.md.
func words() ([]byte, error) {
	text, err := page.ReadFile("page/words.json")
	if err != nil {
		return nil, err
	}
	var compact, escaped bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return nil, err
	}
	json.HTMLEscape(&escaped, compact.Bytes())
	return escaped.Bytes(), nil
}

// hashOf is how a content security policy names a script or style.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
