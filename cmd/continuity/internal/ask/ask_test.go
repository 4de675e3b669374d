package ask

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

func choices(values ...string) []Choice {
	all := make([]Choice, len(values))
	for i, v := range values {
		all[i] = Choice{Value: v}
	}
	return all
}

var catalogue = []Topic{
	{Name: "scope", Kind: continuity.ID},
	{Name: "target", Kind: continuity.ID},
	{Name: "acceptance_test", Kind: continuity.Command},
	{Name: "approval_boundary", Kind: continuity.Set, Choices: choices("deploy", "migrate", "spend")},
	{Name: "constraint.push", Kind: continuity.Choice, Choices: []Choice{{"forbidden", []string{"not allowed"}}, {"ask_first", []string{"needs approval"}}, {"allowed", nil}}},
	{Name: "constraint.network", Kind: continuity.Choice, Choices: choices("forbidden", "ask_first", "allowed")},
}

// The question is the same whatever was decided: for catalogued names also whether
// anything was. Only names of the project's own, and a kind other than the
// catalogue's, show through.
func TestQuestionRevealsNothing(t *testing.T) {
	names := []string{"scope", "target", "acceptance_test", "approval_boundary", "constraint.push", "constraint.network", "constraint.secret_thing"}
	nothing := Text("s", "", Questions(Topics(catalogue, nil), 7))
	rapid.Check(t, func(r *rapid.T) {
		var inForce []Topic
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, len(names), rapid.ID).Draw(r, "in force") {
			kind := continuity.Kind("")
			if strings.HasPrefix(name, "constraint.") {
				kind = rapid.SampledFrom(continuity.Kinds).Draw(r, "kind")
			}
			inForce = append(inForce, Topic{Name: name, Kind: kind})
		}
		require.Equal(r, nothing, Text("s", "", Questions(Topics(catalogue, inForce), 7)))
	})
	assert.NotContains(t, nothing, "secret_thing")
	for _, q := range Questions(Topics(catalogue, nil), 7) {
		assert.Contains(t, nothing, q.Name)
		for _, c := range q.Choices {
			assert.Contains(t, q.Options, c.Value)
		}
	}
}

func TestOwnNames(t *testing.T) {
	topics := Topics(catalogue, []Topic{{Name: "release_train", Kind: continuity.ID}, {Name: "scope", Kind: continuity.Prose}})
	text := Text("s", "", Questions(topics, 1))
	assert.Contains(t, text, "- release_train: as it was decided")
	topics = Topics(catalogue, []Topic{{Name: "approval_boundary", Kind: continuity.Prose}})
	assert.Contains(t, Text("s", "", Questions(topics, 1)), "- approval_boundary (what needs a human's yes first): as it was decided")
	assert.Equal(t, continuity.Set, catalogue[3].Kind, "the catalogue is left alone")
}

// Each list has all answers once and "not decided", in an order that the catalogue
// does not give away.
func TestShuffle(t *testing.T) {
	orders := map[string]int{}
	for seed := range uint64(400) {
		for _, q := range Questions(Topics(catalogue, nil), seed) {
			if q.Name != "constraint.network" {
				continue
			}
			sorted := slices.Sorted(slices.Values(q.Options))
			require.Equal(t, []string{"allowed", "ask_first", "forbidden", NotDecided}, sorted)
			orders[strings.Join(q.Options, ",")]++
		}
	}
	assert.Len(t, orders, 24, "every order comes up")
	assert.Equal(t, Questions(catalogue, 3), Questions(catalogue, 3))
	reversed := slices.Clone(catalogue)
	slices.Reverse(reversed[5].Choices)
	a, b := Questions(catalogue[5:], 3), Questions(reversed[5:], 3)
	assert.Equal(t, a[0].Options, b[0].Options, "the catalogue's order does not matter")
}

func TestSeed(t *testing.T) {
	assert.NotEqual(t, Seed("ab", "c"), Seed("a", "bc"))
	assert.Equal(t, Seed("a"), Seed("a"))
}

func TestText(t *testing.T) {
	text := Text("session-1", "", Questions(catalogue, 1))
	assert.Contains(t, text, "session_id: session-1\n")
	assert.Contains(t, text, "continuity observe --source agent --session 'session-1'")
	assert.Contains(t, text, "--unknown\nNAME where you cannot tell")
	assert.NotContains(t, Text("a'; rm -rf ~ '", "", nil), "continuity observe", "no command line is made of what a shell would act on")
	assert.Contains(t, Text("s", "reviewer", nil), "agent_id: reviewer\n")
}

func readOne(name, answer string) Reading {
	return Read(Questions(Topics(catalogue, nil), 1), nil, []Answer{{name, answer}})
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct{ name, answer, want string }{
		{"constraint.push", "forbidden", "forbidden"},
		{"constraint.push", " `Forbidden`. ", "forbidden"},
		{"constraint.push", "**ask first**", "ask_first"},
		{"constraint.push", "Ask-First", "ask_first"},
		{"constraint.push", "not allowed", "forbidden"},
		{"constraint.push", "needs approval", "ask_first"},
		{"constraint.push", "not decided", "none"},
		{"constraint.push", "Not decided.", "none"},
		{"constraint.push", "none", "none"},
		{"constraint.push", "I don't know", "unknown"},
		{"constraint.push", "I don’t know.", "unknown"},
		{"constraint.push", "", "unknown"},
		{"constraint.push", "n/a", "unknown"},
		{"constraint.push", "you must not push", "unread"},
		{"constraint.push", "forbidden or allowed", "unread"},
		{"constraint.push", "forbidden, I think", "unread"},
		{"constraint.network", "not allowed", "unread"},
		{"approval_boundary", "deploy, migrate", "deploy, migrate"},
		{"approval_boundary", "- Migrate\n- `deploy`\n", "migrate, deploy"},
		{"approval_boundary", "deploy and migrate", "unread"},
		{"approval_boundary", "deploy, make coffee", "unread"},
		{"approval_boundary", "none", "none"},
		{"scope", "github.com/acme/payments", "github.com/acme/payments"},
		{"scope", "`github.com/acme/payments`", "github.com/acme/payments"},
		{"scope", "unknown", "unknown"},
		{"scope", "nothing was decided", "none"},
		{"acceptance_test", "`go test ./...`", "go test ./..."},
		{"acceptance_test", `go test -run "A B"`, `go test -run "A B"`},
		{"acceptance_test", "go test 'oops", "unread"},
		{" Scope ", "main", "main"},
	} {
		r := readOne(c.name, c.answer)
		got := "?"
		switch {
		case len(r.Unread) == 1:
			got = "unread"
		case len(r.Unknown) == 1:
			got = "unknown"
		case len(r.Stated) == 1 && r.Stated[0].None:
			got = "none"
		case len(r.Stated) == 1:
			got = r.Stated[0].Value
		}
		assert.Equal(t, c.want, got, "%s: %q", c.name, c.answer)
		assert.Len(t, r.Unanswered, len(catalogue)-1)
	}
}

func TestChoicesAreCounted(t *testing.T) {
	assert.Equal(t, 4, readOne("constraint.push", "allowed").Stated[0].Choices, "three and not decided")
	assert.Equal(t, 4, readOne("constraint.push", "not decided").Stated[0].Choices)
	assert.Zero(t, readOne("scope", "main").Stated[0].Choices)
	assert.Zero(t, readOne("approval_boundary", "deploy").Stated[0].Choices)
}

// Who says two things has said nothing; who says one twice has said it.
func TestTwoAnswersForOneName(t *testing.T) {
	questions := Questions(Topics(catalogue, nil), 1)
	r := Read(questions, nil, []Answer{{"constraint.push", "allowed"}, {"constraint.push", "forbidden"}})
	assert.Empty(t, r.Stated)
	assert.Len(t, r.Unread, 1)
	r = Read(questions, nil, []Answer{{"constraint.push", "Forbidden"}, {"constraint.push", "not allowed"}})
	assert.Len(t, r.Stated, 1)
}

// What an agent remembers by itself counts, whether or not anybody asked.
func TestVolunteered(t *testing.T) {
	questions := Questions(Topics(catalogue, nil), 1)
	own := []Topic{{Name: "constraint.secret_thing", Kind: continuity.Prose}}
	r := Read(questions, own, []Answer{{"constraint.secret_thing", "never mention it"}, {"No Name!", "x"}, {"constraint.unheard", "a/b"}})
	assert.Equal(t, []Statement{
		{Name: "constraint.secret_thing", Kind: continuity.Prose, Value: "never mention it"},
		{Name: "constraint.unheard", Kind: continuity.ID, Value: "a/b"},
	}, r.Stated)
}

// Nothing that an agent says of names that nobody asked for has it asked again,
// whatever is in force: it could find out by that what is.
func TestNoRetryTellsWhatIsInForce(t *testing.T) {
	questions := Questions(Topics(catalogue, nil), 1)
	for _, kind := range append([]continuity.Kind{"", "json"}, continuity.Kinds...) {
		for _, value := range []string{"a b", ",", "./none", "it's", "{", "x", "-_-", "I don't know"} {
			r := Read(questions, []Topic{{Name: "constraint.secret_thing", Kind: kind}}, []Answer{{"constraint.secret_thing", value}})
			assert.Empty(t, r.Unread, "%s: %q", kind, value)
		}
	}
}

// A word that means one choice and is another one is that other one.
func TestSynonymIsAChoiceToo(t *testing.T) {
	topics := []Topic{{Name: "constraint.data", Kind: continuity.Choice, Choices: []Choice{{"forbidden", []string{"never"}}, {"never", nil}}}}
	for _, answer := range []string{"never", "forbidden"} {
		r := Read(Questions(topics, 1), nil, []Answer{{"constraint.data", answer}})
		require.Len(t, r.Stated, 1)
		assert.Equal(t, answer, r.Stated[0].Value)
	}
}

func TestDocument(t *testing.T) {
	questions := Questions(Topics(nil, []Topic{{Name: "limits", Kind: "json"}}), 1)
	for answer, want := range map[string]string{`{"b": 1}`: `{"b": 1}`, "`[1, 2]`": "[1, 2]"} {
		r := Read(questions, nil, []Answer{{"limits", answer}})
		require.Len(t, r.Stated, 1)
		assert.Equal(t, want, r.Stated[0].Value)
	}
	assert.Len(t, Read(questions, nil, []Answer{{"limits", "{"}}).Unread, 1)
}

func TestRetry(t *testing.T) {
	text := Retry(readOne("constraint.push", "you must not push").Unread)
	assert.Contains(t, text, "- constraint.push: one of [")
	assert.NotContains(t, text, "scope")
}

// Whatever an agent says, each name ends in one place, and a choice is one of the
// list.
func TestReadAnything(t *testing.T) {
	questions := Questions(Topics(catalogue, nil), 1)
	rapid.Check(t, func(r *rapid.T) {
		answers := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) Answer {
			return Answer{
				rapid.OneOf(rapid.SampledFrom([]string{"scope", "constraint.push", "approval_boundary", "other"}), rapid.String()).Draw(r, "name"),
				rapid.OneOf(rapid.SampledFrom([]string{"forbidden", "not decided", "I don't know", "deploy", "", "''"}), rapid.String()).Draw(r, "value"),
			}
		}), 0, 8).Draw(r, "answers")
		reading := Read(questions, nil, answers)
		seen := map[string]int{}
		for _, s := range reading.Stated {
			seen[s.Name]++
			if s.Name == "constraint.push" && !s.None {
				require.Contains(r, []string{"forbidden", "ask_first", "allowed"}, s.Value)
			}
		}
		for _, names := range [][]string{reading.Unknown, reading.Unanswered} {
			for _, name := range names {
				seen[name]++
			}
		}
		for _, q := range reading.Unread {
			seen[q.Name]++
		}
		for _, q := range questions {
			require.Equal(r, 1, seen[q.Name], q.Name)
		}
		for name, n := range seen {
			require.Equal(r, 1, n, name)
		}
	})
}
