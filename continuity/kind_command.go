package continuity

import (
	"bytes"
	"strings"

	"golang.org/x/text/unicode/norm"
	"mvdan.cc/sh/v3/syntax"
)

// maxCommand is longer than any command line that decides something.
const maxCommand = 64 << 10

// canonicalCommand reads a command line and returns it as a JSON array. Words
// are strings without their quotes. What the shell would act on is {"sh":
// source}: operators, and words with something to expand, so that '*.go' and
// *.go stay two. Nothing is expanded.
func canonicalCommand(value string) ([]byte, error) {
	value = norm.NFC.String(strings.ReplaceAll(value, "\r\n", "\n"))
	if len(value) > maxCommand || strings.ContainsAny(value, "\x00\r") {
		return nil, ErrCommand
	}
	if doubtfulComment(value) {
		return nil, ErrCommand
	}
	// The parser's errors quote the source.
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(value), "")
	if err != nil {
		return nil, ErrCommand
	}
	var t tokens
	if !t.statements(file.Stmts) {
		// A loop, function, here-document or the like: the printer brings its
		// blanks into one form.
		source, ok := printed(file)
		if !ok {
			return nil, ErrCommand
		}
		t = tokens{sh(source)}
	}
	if len(t) == 0 {
		return nil, ErrPlaceholder // a comment alone
	}
	if word, ok := t[0].(string); ok && len(t) == 1 && !saysSomething(word) {
		return nil, ErrPlaceholder
	}
	return canonicalJSON(t)
}

// doubtfulComment reports whether the parser takes for a comment what is none for
// the shell: a comment ends with its line, also where a backslash stands at its end,
// and a # begins one only where a word would begin. To leave it out would make one of
// two commands.
func doubtfulComment(value string) (found bool) {
	if !strings.Contains(value, "#") {
		return false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(value), "")
	if err != nil {
		return false // it is refused anyway
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		if comment, is := node.(*syntax.Comment); is {
			before := value[:comment.Pos().Offset()]
			for strings.HasSuffix(before, "\\\n") {
				before = strings.TrimSuffix(before, "\\\n")
			}
			starts := before == "" || strings.IndexByte(" \t\n;&|(", before[len(before)-1]) >= 0
			found = found || !starts || strings.HasSuffix(comment.Text, "\\\n")
		}
		return true
	})
	return found
}

// tokens are the parts of a command line: strings, and maps for source.
type tokens []any

func sh(source string) map[string]string { return map[string]string{"sh": source} }

// statements adds commands in a row. It reports false where one is more than
// words, operators and redirections.
func (t *tokens) statements(all []*syntax.Stmt) bool {
	for i, s := range all {
		if i > 0 && !all[i-1].Background {
			*t = append(*t, sh(";"))
		}
		if !t.statement(s) {
			return false
		}
	}
	return true
}

func (t *tokens) statement(s *syntax.Stmt) bool {
	if s.Negated {
		*t = append(*t, sh("!"))
	}
	switch command := s.Cmd.(type) {
	case *syntax.CallExpr:
		if !t.call(command) {
			return false
		}
	case *syntax.BinaryCmd:
		if len(s.Redirs) > 0 || !t.statement(command.X) {
			return false
		}
		*t = append(*t, sh(command.Op.String()))
		if !t.statement(command.Y) {
			return false
		}
	default:
		return false
	}
	for _, r := range s.Redirs {
		if r.Hdoc != nil || r.Word == nil {
			return false
		}
		operator := r.Op.String()
		if r.N != nil {
			operator = r.N.Value + operator
		}
		*t = append(*t, sh(operator))
		if !t.word(r.Word) {
			return false
		}
	}
	if s.Background {
		*t = append(*t, sh("&"))
	}
	return !s.Coprocess && !s.Disown
}

// call adds assignments and words. An assignment is {"sh": "X="} and its value:
// "X=1" in quotes is the name of a program.
func (t *tokens) call(c *syntax.CallExpr) bool {
	for _, a := range c.Assigns {
		if a.Append || a.Naked || a.Index != nil || a.Array != nil || a.Name == nil {
			return false
		}
		*t = append(*t, sh(a.Name.Value+"="))
		if a.Value == nil {
			*t = append(*t, "")
		} else if !t.word(a.Value) {
			return false
		}
	}
	for _, w := range c.Args {
		if !t.word(w) {
			return false
		}
	}
	return true
}

func (t *tokens) word(w *syntax.Word) bool {
	if text, ok := literal(w); ok {
		*t = append(*t, text)
		return true
	}
	source, ok := printed(w)
	*t = append(*t, sh(source))
	return ok
}

func printed(node syntax.Node) (string, bool) {
	var out bytes.Buffer
	err := syntax.NewPrinter().Print(&out, node)
	return strings.TrimRight(out.String(), "\n"), err == nil
}

// literal is a word without its quotes, where the shell would expand nothing.
func literal(w *syntax.Word) (string, bool) {
	var out strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if !unquoted(&out, part.Value) {
				return "", false
			}
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", false
			}
			out.WriteString(part.Value)
		case *syntax.DblQuoted:
			if part.Dollar || !doubleQuoted(&out, part.Parts) {
				return "", false
			}
		default:
			return "", false
		}
	}
	return out.String(), true
}

// unquoted writes text that stands outside of quotes, without its backslashes.
func unquoted(out *strings.Builder, text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '*', '?', '[', '{', '~': // globs, braces, homes
			return false
		case '\\':
			if i++; i == len(text) {
				return false
			}
			if text[i] == '\n' {
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return true
}

// doubleQuoted writes text between double quotes, where a backslash is one
// unless something special follows.
func doubleQuoted(out *strings.Builder, parts []syntax.WordPart) bool {
	for _, part := range parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return false
		}
		for i := 0; i < len(lit.Value); i++ {
			if lit.Value[i] == '\\' && i+1 < len(lit.Value) && strings.IndexByte("$`\"\\\n", lit.Value[i+1]) >= 0 {
				if i++; lit.Value[i] == '\n' {
					continue
				}
			}
			out.WriteByte(lit.Value[i])
		}
	}
	return true
}
