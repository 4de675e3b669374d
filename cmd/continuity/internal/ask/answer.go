package ask

import (
	"bytes"
	"slices"
	"strings"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// Answer is what an agent says of one name.
type Answer struct{ Name, Value string }

// Statement is an answer that states something.
type Statement struct {
	Name string
	Kind continuity.Kind
	// Value is the answer in the catalogue's spelling, or as it was given.
	Value string
	// None: there is explicitly no such decision.
	None bool
	// Choices is from how many answers the agent could choose one; 0 where it could
	// say anything, or choose several.
	Choices int
}

// Reading is what became of the answers.
type Reading struct {
	Stated []Statement
	// Unknown are the names for which the agent says that it does not know.
	Unknown []string
	// Unread are the questions whose answers fit nothing. They are worth one retry.
	Unread []Question
	// Unanswered are the names that got no answer at all.
	Unanswered []string
}

// Read reads answers. Names that were not asked for count too: what an agent
// remembers by itself is the best evidence there is. own are the kinds of names in
// force that were not asked for.
func Read(questions []Question, own []Topic, answers []Answer) Reading {
	var r Reading
	given := map[string][]string{}
	var names []string
	for _, a := range answers {
		name := strings.ToLower(strings.TrimSpace(a.Name))
		if given[name] == nil {
			names = append(names, name)
		}
		given[name] = append(given[name], a.Value)
	}
	for i := range questions {
		q := &questions[i]
		values, answered := given[q.Name]
		if !answered {
			r.Unanswered = append(r.Unanswered, q.Name)
			continue
		}
		r.read(q, values)
	}
	for _, name := range names {
		asked := slices.ContainsFunc(questions, func(q Question) bool { return q.Name == name })
		if asked || !classify.ValidName(name) {
			continue
		}
		q := Question{Topic: Topic{Name: name, Kind: continuity.ID}}
		for _, t := range own {
			if t.Name == name && t.Kind != "" {
				q.Kind = t.Kind
			}
		}
		r.read(&q, given[name])
	}
	// Whether an answer for a name that nobody asked for can be read depends on what
	// is in force. To ask for it again would tell.
	r.Unread = slices.DeleteFunc(r.Unread, func(q Question) bool {
		return !slices.ContainsFunc(questions, func(asked Question) bool { return asked.Name == q.Name })
	})
	return r
}

// read reads the answers for one name. Several that differ are no answer.
func (r *Reading) read(q *Question, values []string) {
	var first *meaning
	for _, v := range values {
		m := q.mean(v)
		if first != nil && *first != m {
			m = meaning{}
		}
		first = &m
		if !m.understood {
			break
		}
	}
	switch {
	case !first.understood:
		r.Unread = append(r.Unread, *q)
	case first.unknown:
		r.Unknown = append(r.Unknown, q.Name)
	default:
		s := Statement{Name: q.Name, Kind: q.Kind, Value: first.value, None: first.none}
		if q.Kind == continuity.Choice {
			s.Choices = len(q.Options)
		}
		r.Stated = append(r.Stated, s)
	}
}

// meaning is what one answer says.
type meaning struct {
	understood, unknown, none bool
	value                     string
}

func (q *Question) mean(answer string) meaning {
	plain := unwrap(answer)
	if len(q.Options) > 0 {
		if value, ok := q.choose(plain); ok {
			return meaning{understood: true, value: value}
		}
	}
	switch folded := fold(plain); {
	case slices.Contains(notDecided, folded):
		return meaning{understood: true, none: true}
	case slices.Contains(dontKnow, folded):
		return meaning{understood: true, unknown: true}
	case len(q.Options) > 0:
		return meaning{}
	}
	// Of open answers, only what has a canonical form can be digested.
	if !digestible(q.Kind, plain) {
		return meaning{}
	}
	return meaning{understood: true, value: plain}
}

// document is the kind of a decision that is a JSON document.
const document = "json"

func digestible(kind continuity.Kind, value string) bool {
	var err error
	if kind == document {
		_, err = continuity.Digester{}.JSON([]byte(value))
	} else {
		_, err = continuity.Canonical(kind, value)
	}
	return err == nil
}

// choose maps an answer to the catalogue's spelling: the whole of it, or for a set
// each of its items.
func (q *Question) choose(answer string) (string, bool) {
	items := []string{answer}
	if q.Kind == continuity.Set {
		items = strings.FieldsFunc(answer, func(r rune) bool { return r == ',' || r == '\n' || r == ';' || r == '|' })
	}
	chosen := make([]string, 0, len(items))
	for _, item := range items {
		item = unwrap(strings.TrimRight(unwrap(strings.TrimLeft(item, "- \t")), ".!"))
		i := slices.IndexFunc(q.Choices, func(c Choice) bool { return alike(c.Value, item) })
		if i < 0 { // a synonym of one choice may be a choice of its own
			i = slices.IndexFunc(q.Choices, func(c Choice) bool {
				return slices.ContainsFunc(c.Synonyms, func(s string) bool { return alike(s, item) })
			})
		}
		switch {
		case i >= 0:
			chosen = append(chosen, q.Choices[i].Value)
		case item != "" || q.Kind != continuity.Set:
			return "", false
		}
	}
	return strings.Join(chosen, ", "), len(chosen) > 0
}

var (
	notDecided = folded(NotDecided, "undecided", "not decided yet", "no decision", "nothing was decided", "nothing decided",
		"none", "(none)", "no such decision", "never decided")
	dontKnow = folded(DontKnow, "I do not know", "don't know", "dont know", "I dont know", "do not know", "unknown", "not sure", "unsure",
		"no idea", "I don't remember", "I do not remember", "don't remember", "I can't recall", "cannot tell", "I cannot tell",
		"I can't tell", "not known", "n/a", "null", "tbd", "-", "?", "")
)

func folded(texts ...string) []string {
	for i, t := range texts {
		texts[i] = fold(t)
	}
	return texts
}

// fold brings phrases together that differ in case, blanks and the marks at the end
// only.
func fold(text string) string {
	text = strings.ToLower(strings.ReplaceAll(text, "’", "'"))
	return strings.Join(strings.Fields(strings.TrimRight(text, ".! \t\n")), " ")
}

// alike reports whether two spellings are one choice.
func alike(a, b string) bool {
	x, errX := continuity.Canonical(continuity.Choice, a)
	y, errY := continuity.Canonical(continuity.Choice, b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// marks are what models put around a value.
var marks = []string{"**", "`", `"`, "'", "“”"}

// unwrap takes away blanks and marks around a whole value. Marks inside stay.
func unwrap(text string) string {
	for {
		text = strings.TrimSpace(text)
		before := text
		for _, m := range marks {
			opening, closing := m, m
			if m == "“”" {
				opening, closing = "“", "”"
			}
			inner, ok := strings.CutPrefix(text, opening)
			if !ok {
				continue
			}
			if inner, ok = strings.CutSuffix(inner, closing); ok && inner != "" && !strings.Contains(inner, opening) && !strings.Contains(inner, closing) {
				text = inner
			}
		}
		if text == before {
			return text
		}
	}
}
