// Package ask asks an agent after a compaction what is in force, without telling
// it the answer, and reads what it says.
//
// What is asked depends on the project's catalogue and on the names of decisions
// alone, never on what was decided: whoever guesses learns nothing from it. A
// constraint is asked for by name only where the catalogue lists it, since the
// name of a constraint gives it away; any other must come from the agent.
package ask

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// The answers that are none of the catalogue's.
const (
	// NotDecided states that there is no such decision. It is on every list.
	NotDecided = "not decided"
	// DontKnow states nothing.
	DontKnow = "I don't know"
)

// Topic is one name that can be asked for.
type Topic struct {
	Name string
	Kind continuity.Kind
	// Choices are all answers of a choice, decoys included.
	Choices []Choice
	// About says in the project's words what is asked for.
	About string
}

// Choice is one answer and its other spellings.
type Choice struct {
	Value    string
	Synonyms []string
}

// abouts say what the names mean that every project has.
var abouts = map[string]string{
	classify.Scope:            "where you may work, such as a repository",
	classify.Target:           "what you work on, such as a branch or ticket",
	classify.AcceptanceTest:   "the command that decides whether it is done",
	classify.ApprovalBoundary: "what needs a human's yes first",
}

// Topics are what is asked for: the catalogue, and names of the project's own that
// are in force. Constraints are as the catalogue has them, whatever was recorded;
// those beyond it are left out. Other names are asked for as they were recorded: as
// prose, say.
func Topics(catalogue, inForce []Topic) []Topic {
	topics := slices.Clone(catalogue)
	for i := range topics {
		t := &topics[i]
		if t.About == "" {
			t.About = abouts[t.Name]
		}
	}
	for _, own := range inForce {
		if classify.Family(own.Name) == classify.Constraint {
			continue
		}
		t := find(topics, own.Name)
		switch {
		case t == nil:
			topics = append(topics, Topic{Name: own.Name, Kind: own.Kind})
		case own.Kind != "" && own.Kind != t.Kind:
			t.Kind, t.Choices = own.Kind, nil // recorded as prose, say
		}
	}
	slices.SortFunc(topics, func(a, b Topic) int { return classify.CompareNames(a.Name, b.Name) })
	return topics
}

func find(topics []Topic, name string) *Topic {
	i := slices.IndexFunc(topics, func(t Topic) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &topics[i]
}

// Question asks for one name.
type Question struct {
	Topic
	// Options are the answers of a choice, or the items of a set, as they are shown:
	// all of them, in an order that the seed gives. Empty for an open question.
	Options []string
}

// Seed makes the order of options from what names the question, so that asking
// again shows the same list.
func Seed(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return h.Sum64()
}

// Questions asks for each topic.
func Questions(topics []Topic, seed uint64) []Question {
	questions := make([]Question, len(topics))
	for i, t := range topics {
		questions[i] = Question{Topic: t}
		if t.Kind != continuity.Choice && t.Kind != continuity.Set || len(t.Choices) == 0 {
			continue
		}
		options := []string{NotDecided}
		for _, c := range t.Choices {
			options = append(options, c.Value)
		}
		slices.Sort(options) // the catalogue's order may say something
		order := rand.New(rand.NewPCG(seed, Seed(t.Name)))
		order.Shuffle(len(options), func(a, b int) { options[a], options[b] = options[b], options[a] })
		questions[i].Options = options
	}
	return questions
}

// write writes a question as one line of a list.
func (q *Question) write(b *strings.Builder) {
	fmt.Fprintf(b, "- %s", q.Name)
	if q.About != "" {
		fmt.Fprintf(b, " (%s)", q.About)
	}
	switch {
	case len(q.Options) > 0 && q.Kind == continuity.Set:
		fmt.Fprintf(b, ": all that apply, separated by commas, of [%s]", strings.Join(q.Options, " | "))
	case len(q.Options) > 0:
		fmt.Fprintf(b, ": one of [%s]", strings.Join(q.Options, " | "))
	case q.Kind == continuity.Set:
		b.WriteString(": the whole list, separated by commas")
	default:
		b.WriteString(": as it was decided, exactly")
	}
	b.WriteByte('\n')
}

const intro = `Your context was compacted. Before you go on, restate which decisions are in force in this session.
Answer from your own context only: open no file, run no command and ask nobody to find an answer.

session_id: %s
`

const rules = `
Answer "` + NotDecided + `" where nothing was decided, and "` + DontKnow + `" where you cannot tell: do not guess.
For most names nothing may have been decided, and lists hold answers that never were in force.
If you remember any other decision or constraint in force, add it under its own name.
`

const how = `
Call the tool restate_decisions of the MCP server "continuity" with this session_id and an answer for each name.
`

const without = `If there is no such tool, run this: NAME='VALUE' for what you know, --none NAME where nothing was decided, and --unknown
NAME where you cannot tell. Only if you leave names of the list out, add --partial.
continuity observe --source agent --session '%s' scope='...' --none target --unknown acceptance_test
`

const after = `Nobody will tell you whether an answer is right. Then go on with your work.
`

// plain is an id that a shell reads as it is written.
var plain = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:@-]*$`)

// Text is the whole question as the agent reads it.
func Text(session, agent string, questions []Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, intro, session)
	if agent != "" {
		fmt.Fprintf(&b, "agent_id: %s\n", agent)
	}
	b.WriteString("\n")
	for i := range questions {
		questions[i].write(&b)
	}
	b.WriteString(rules)
	b.WriteString(how)
	if plain.MatchString(session) && agent == "" {
		fmt.Fprintf(&b, without, session)
	}
	b.WriteString(after)
	return b.String()
}

// Retry asks once more for what could not be read.
func Retry(questions []Question) string {
	var b strings.Builder
	b.WriteString("Some answers could not be read. Call restate_decisions once more with these names only:\n\n")
	for i := range questions {
		questions[i].write(&b)
	}
	b.WriteString("\nUse an answer of the list as it is written there, or \"" + DontKnow + "\".\n")
	return b.String()
}
