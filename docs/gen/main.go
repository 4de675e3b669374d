// Command gen writes docs/attributes.md from the tables of internal/semconv and
// the closed sets of internal/classify and internal/boundary.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	file := flag.String("o", "docs/attributes.md", "the file to write")
	flag.Parse()
	if err := os.WriteFile(*file, []byte(page()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
