package continuity_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testsOf lists the tests of all packages of this module, each with the texts that
// stand in its package's test files: rows of tables are among them.
func testsOf(t *testing.T) map[string][]map[string]bool {
	t.Helper()
	texts, names := map[string]map[string]bool{}, map[string][]string{}
	require.NoError(t, filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir():
			if p != "." && (strings.ContainsAny(name[:1], "._") || name == "testdata" || isModule(p)) {
				return filepath.SkipDir
			}
		case strings.HasSuffix(name, "_test.go"):
			file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			dir := filepath.Dir(p)
			if texts[dir] == nil {
				texts[dir] = map[string]bool{}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					names[dir] = append(names[dir], n.Name.Name)
				case *ast.BasicLit:
					if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
						texts[dir][text] = true
					}
				}
				return true
			})
		}
		return nil
	}))
	tests := map[string][]map[string]bool{}
	for dir, all := range names {
		for _, name := range all {
			tests[name] = append(tests[name], texts[dir])
		}
	}
	return tests
}

var (
	namedTest  = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)(?:/([^`]+))?`")
	threatRows = map[string]*regexp.Regexp{
		"processor/continuityprocessor/security_test.go": regexp.MustCompile(`(?m)^\t\{"([^"]+)", func\(t \*testing\.T, f form\) \{$`),
		"internal/boundary/security_test.go":             regexp.MustCompile(`(?m)^\t\tname: "([^"]+)"`),
	}
)

// TestThreatModelNamesTests keeps docs/security.md true: every test and row that it
// names exists, every row of the threats is in it, and each line that is not covered
// says so by the rows that it names.
func TestThreatModelNamesTests(t *testing.T) {
	content, err := os.ReadFile("docs/security.md")
	require.NoError(t, err)
	page, tests := string(content), testsOf(t)
	named := map[string]bool{}
	for _, m := range namedTest.FindAllStringSubmatch(page, -1) {
		test, row := m[1], m[2]
		named[row] = true
		assert.NotEmpty(t, tests[test], "%s does not exist", test)
		assert.True(t, row == "" || slices.ContainsFunc(tests[test], func(texts map[string]bool) bool { return texts[row] }),
			"%s has no row %q", test, row)
	}
	require.Greater(t, len(named), 80)
	for path, pattern := range threatRows {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		rows := pattern.FindAllStringSubmatch(string(source), -1)
		require.Greater(t, len(rows), 30, path)
		for _, row := range rows {
			assert.True(t, named[row[1]], "docs/security.md does not name %q", row[1])
		}
	}
	for line := range strings.Lines(page) {
		cells := strings.Split(line, " | ")
		if len(cells) != 4 || !strings.HasPrefix(line, "| ") || strings.Contains(line, "shown by") {
			continue
		}
		admits := strings.Contains(strings.ToLower(cells[2]), "**not covered**")
		if strings.Contains(cells[3], "not covered: ") {
			assert.True(t, admits, "the line does not say that it is not covered: %s", line)
		}
		if strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(cells[3]), "|")) == "–" {
			assert.True(t, admits, "neither a test nor an admission: %s", line)
		}
	}
}

// TestDefaultListensOnLoopback: nothing of the default configuration can be reached
// from another machine unless somebody says so.
func TestDefaultListensOnLoopback(t *testing.T) {
	content, err := os.ReadFile("distribution/config.yaml")
	require.NoError(t, err)
	listens := 0
	for line := range strings.Lines(string(content)) {
		line, _, _ = strings.Cut(line, "#")
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "endpoint":
			listens++
			assert.Regexp(t, `^\$\{env:[A-Z_]+:-127\.0\.0\.1:\d+\}$`, strings.TrimSpace(value))
		case "host":
			listens++
			assert.Equal(t, "127.0.0.1", strings.TrimSpace(value))
		case "extensions":
			assert.Equal(t, "[healthcheckv2]", strings.TrimSpace(value), "what is switched on is listed in docs/security.md")
		}
	}
	assert.Equal(t, 4, listens, "OTLP twice, health, metrics")
}
