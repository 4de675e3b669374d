// Command gen writes the Grafana dashboards: go run ./deploy/grafana/gen
// [folder]. They are code, so that a query that stands in several panels is
// written once and a change can be read.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . ..

func main() {
	dir := "deploy/grafana"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	for name, d := range dashboards() {
		text, err := encode(d)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
}

// dashboards are all of them, by file name.
func dashboards() map[string]*dashboard {
	return map[string]*dashboard{
		"continuity-first-week.json": firstWeek(),
		"continuity.json":            operating(),
	}
}

func encode(d *dashboard) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	err := e.Encode(d)
	return b.Bytes(), err
}
