// Package continuity_test checks the house as a whole.
package continuity_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/agentcontinuity/otelcol-continuity"

// floors are the units of the house, top to bottom. A package imports packages of
// lower floors and of its own unit, nothing else of this module.
var floors = [][]string{
	{"cmd", "processor", "distribution"},
	{"continuity", "internal/signal", "internal/receipt", "internal/ledger", "internal/cases"},
	{"internal/boundary"},
	{"internal/classify"},
	{"internal/approval"},
	{"internal/digest"},
	{"internal/semconv", "testdata"},
}

// The core is pure: what it says depends on its arguments alone.
var (
	core          = []string{"internal/boundary", "internal/classify", "internal/approval", "internal/digest"}
	notInTheCore  = []string{"go.opentelemetry.io", "go.uber.org/zap", "log", "sync"}
	clock         = []string{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"}
	onceInDigests = "sync.OnceValue"
)

// place is the unit that a folder belongs to and its floor, counted from the top;
// -1 where it has none.
func place(dir string) (unit string, floor int) {
	for i, units := range floors {
		for _, u := range units {
			if under(dir, u) {
				return u, i
			}
		}
	}
	return dir, -1
}

// under reports whether a path is parent or lies below it.
func under(p, parent string) bool { return p == parent || strings.HasPrefix(p, parent+"/") }

// violations are what a source file of a folder may not do. A program stands on
// the top floor wherever it lies, since nothing can import it.
func violations(dir string, file *ast.File) []string {
	unit, floor := place(dir)
	if file.Name.Name == "main" && floor != 0 {
		return importViolations(dir, 0, file)
	}
	if floor < 0 {
		return []string{dir + " has no floor: give it one in floors"}
	}
	found := importViolations(unit, floor, file)
	if slices.Contains(core, unit) {
		found = append(found, impurities(unit, file)...)
	}
	return found
}

func importViolations(unit string, floor int, file *ast.File) []string {
	var found []string
	for _, spec := range file.Imports {
		imported := importPath(spec)
		if !under(imported, module) {
			continue
		}
		other, height := place(strings.TrimPrefix(strings.TrimPrefix(imported, module), "/"))
		if other != unit && height <= floor {
			found = append(found, fmt.Sprintf("%s imports %s, which is no lower floor", unit, imported))
		}
	}
	return found
}

func impurities(unit string, file *ast.File) []string {
	var found []string
	names := map[string]string{} // of packages in this file, to their paths
	for _, spec := range file.Imports {
		imported := importPath(spec)
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imported
		if name == "." {
			found = append(found, fmt.Sprintf("%s imports %s without a name", unit, imported))
		}
		for _, forbidden := range notInTheCore {
			if under(imported, forbidden) && (unit != "internal/digest" || imported != "sync") {
				found = append(found, fmt.Sprintf("%s imports %s", unit, imported))
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, unit+" starts a goroutine")
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			switch used := names[x.Name] + "." + n.Sel.Name; {
			case names[x.Name] == "time" && slices.Contains(clock, n.Sel.Name):
				found = append(found, fmt.Sprintf("%s looks at a clock: %s", unit, used))
			case names[x.Name] == "sync" && used != onceInDigests:
				found = append(found, fmt.Sprintf("%s locks: %s", unit, used))
			}
		}
		return true
	})
	return found
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic(err) // the parser accepted it
	}
	return p
}

func TestFloors(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir():
			if p != "." && (strings.ContainsAny(name[:1], "._") || name == "testdata" || isModule(p)) {
				return filepath.SkipDir
			}
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			dir := filepath.ToSlash(filepath.Dir(p))
			if unit, _ := place(dir); file.Name.Name != "main" {
				seen[unit] = true
			}
			for _, v := range violations(dir, file) {
				t.Errorf("%s: %s", p, v)
			}
		}
		return nil
	})
	require.NoError(t, err)
	for _, unit := range append(core, "internal/semconv", "internal/signal", "internal/receipt", "processor") {
		assert.True(t, seen[unit], "%s was not looked at", unit)
	}
}

// isModule reports whether a folder is a module of its own.
func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// TestFloorsCanFail: a check that cannot fail proves nothing.
func TestFloorsCanFail(t *testing.T) {
	own := func(dir string) string { return `"` + module + "/" + dir + `"` }
	for name, c := range map[string]struct {
		dir, source string
		want        string // "" for none
	}{
		"down":                      {"internal/boundary", "import " + own("internal/classify"), ""},
		"two floors down":           {"internal/boundary", "import " + own("internal/digest"), ""},
		"down from a part":          {"processor/continuityprocessor", "import " + own("internal/signal"), ""},
		"within a unit":             {"processor/continuityprocessor", "import " + own("processor/continuityprocessor/internal/metadata"), ""},
		"up":                        {"internal/classify", "import " + own("internal/boundary"), "no lower floor"},
		"far up":                    {"internal/digest", "import " + own("processor/continuityprocessor"), "no lower floor"},
		"up, renamed":               {"internal/digest", "import x " + own("internal/approval"), "no lower floor"},
		"sideways":                  {"internal/signal", "import " + own("internal/receipt"), "no lower floor"},
		"from the bottom":           {"internal/semconv", "import " + own("internal/digest"), "no lower floor"},
		"to the top, alike name":    {"internal/classify", "import " + own("internal/classifyextra"), "no lower floor"},
		"to no floor":               {"processor", "import " + own("internal/helpers"), "no lower floor"},
		"to the root":               {"processor", `import "` + module + `"`, "no lower floor"},
		"without a floor":           {"internal/helpers", "", "has no floor"},
		"a program below":           {"docs/gen", "main import " + own("internal/boundary"), ""},
		"a program of the top":      {"docs/gen", "main import " + own("processor/continuityprocessor"), "no lower floor"},
		"a program of its unit":     {"cmd/continuity", "main import " + own("cmd/continuity/internal/replay"), ""},
		"another module":            {"internal/semconv", `import "github.com/agentcontinuity/otelcol-continuity-tools/x"`, ""},
		"core and pdata":            {"internal/boundary", `import "go.opentelemetry.io/collector/pdata/ptrace"`, "imports go.opentelemetry.io"},
		"core and collector":        {"internal/approval", `import _ "go.opentelemetry.io/collector/component"`, "imports go.opentelemetry.io"},
		"core and zap":              {"internal/classify", `import "go.uber.org/zap"`, "imports go.uber.org/zap"},
		"core and zap's part":       {"internal/classify", `import "go.uber.org/zap/zapcore"`, "imports go.uber.org/zap"},
		"core and log":              {"internal/classify", `import "log/slog"`, "imports log/slog"},
		"core and sync":             {"internal/approval", `import "sync"`, "imports sync"},
		"core and atomic":           {"internal/digest", `import "sync/atomic"`, "imports sync/atomic"},
		"digest, once":              {"internal/digest", `import "sync"; var x = sync.OnceValue(f)`, ""},
		"digest, a lock":            {"internal/digest", `import "sync"; var x sync.Mutex`, "locks: sync.Mutex"},
		"digest, a renamed lock":    {"internal/digest", `import s "sync"; var x s.RWMutex`, "locks: sync.RWMutex"},
		"core and clock":            {"internal/boundary", `import "time"; func f() time.Time { return time.Now() }`, "clock: time.Now"},
		"core and clock, passed on": {"internal/boundary", `import "time"; var now = time.Now`, "clock: time.Now"},
		"core and renamed clock":    {"internal/boundary", `import clock "time"; var x = clock.Since(y)`, "clock: time.Since"},
		"core and nameless clock":   {"internal/boundary", `import . "time"; var now = Now()`, "without a name"},
		"core waits":                {"internal/classify", `import "time"; func f() { time.Sleep(1) }`, "clock: time.Sleep"},
		"core sets a timer":         {"internal/classify", `import "time"; func f() { <-time.After(1) }`, "clock: time.After"},
		"core asks an instant":      {"internal/classify", `import "time"; func f(t time.Time) bool { return t.After(t) }`, ""},
		"core goes":                 {"internal/boundary", `func f() { go f() }`, "starts a goroutine"},
		"core goes deep inside":     {"internal/digest", `func f() { for { func() { go func() {}() }() } }`, "starts a goroutine"},
		"others may":                {"processor", `import ("sync"; "time"); func f() { go f(); time.Sleep(1) }; var m sync.Mutex`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			source, program := strings.CutPrefix(c.source, "main ")
			if program {
				source = "package main; " + source
			} else {
				source = "package x; " + source
			}
			file, err := parser.ParseFile(token.NewFileSet(), "x.go", source, parser.SkipObjectResolution)
			require.NoError(t, err)
			found := strings.Join(violations(c.dir, file), "; ")
			if c.want == "" {
				assert.Empty(t, found)
			} else {
				assert.Contains(t, found, c.want)
			}
		})
	}
}
