package continuity_test

import (
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

// What each kind makes of single values is in testdata/canonical/v1.json. Here is
// what holds for all values.

// TestCanonicalOfTextualKindsIsFinal: of what is a text already, the canonical form
// is itself.
func TestCanonicalOfTextualKindsIsFinal(t *testing.T) {
	parts := []string{
		"https://", "ssh://git@", "git@", "http://", "GitHub.com", "github.com", "git.example.com", ":", ":22", ":443", "/", "//", "./", "../", ".", "..",
		"acme", "payments", ".git", "refs/heads/", "refs/", "origin/", "main", "#1", "?x", " ", "\n", "-", "_", "A", "é", "none",
	}
	for _, kind := range []continuity.Kind{continuity.ID, continuity.Choice, continuity.Prose} {
		t.Run(string(kind), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				value := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 8).Draw(t, "parts"), "")
				canonical, err := continuity.Canonical(kind, value)
				if err != nil {
					require.ErrorIs(t, err, continuity.ErrPlaceholder)
					return
				}
				again, err := continuity.Canonical(kind, string(canonical))
				require.NoError(t, err)
				require.Equal(t, string(canonical), string(again))
			})
		})
	}
}

// TestIDKeepsTheNames: what is cut off never holds a part of the path, so that no
// two repositories, branches or paths become one.
func TestIDKeepsTheNames(t *testing.T) {
	word := rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9_-]{0,5}`)
	rapid.Check(t, func(t *rapid.T) {
		path := strings.Join(rapid.SliceOfN(word, 2, 5).Draw(t, "path"), "/")
		host := strings.ToLower(word.Draw(t, "host")) + ".example.com"
		for _, spelling := range []string{"https://" + host + "/" + path, "ssh://git@" + host + "/" + path + ".git", "git@" + host + ":" + path + "/", host + "/" + path} {
			canonical, err := continuity.Canonical(continuity.ID, spelling)
			require.NoError(t, err)
			require.Equal(t, host+"/"+path, string(canonical))
		}
		for _, spelling := range []string{path, "refs/heads/" + path, "./" + path, path + "/"} {
			canonical, err := continuity.Canonical(continuity.ID, spelling)
			require.NoError(t, err)
			require.Equal(t, path, string(canonical))
		}
	})
}

// TestCommandOfQuotedWords: however words are quoted, they are these words.
func TestCommandOfQuotedWords(t *testing.T) {
	quotings := []func(string) string{
		func(w string) string { return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'" },
		func(w string) string {
			return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(w) + `"`
		},
		func(w string) string {
			var out strings.Builder
			for _, r := range w {
				out.WriteString(`\` + string(r))
			}
			return out.String()
		},
	}
	word := rapid.StringOfN(rapid.SampledFrom([]rune(`ab0-=/.,:*?[]{}~!#$&|;<>()^%@"'`+"` \té\\")), 1, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		words := append([]string{"run"}, rapid.SliceOfN(word, 0, 5).Draw(t, "words")...)
		quoted := make([]string, len(words))
		for i, w := range words {
			quoted[i] = rapid.SampledFrom(quotings).Draw(t, "quoting")(w)
		}
		canonical, err := continuity.Canonical(continuity.Command, strings.Join(quoted, rapid.SampledFrom([]string{" ", "  ", "\t", " \\\n "}).Draw(t, "blank")))
		require.NoError(t, err)
		var got []string
		require.NoError(t, json.Unmarshal(canonical, &got))
		require.Equal(t, words, got)
	})
}

// TestPlainCommandsAreWhatAShellSees: where the canonical form is words alone, bash
// sees these words, so that nothing that it would act on is taken for text.
func TestPlainCommandsAreWhatAShellSees(t *testing.T) {
	bash := interpreter(t, "bash")
	random := rand.New(rand.NewPCG(1, 2)) // the same lines in every run
	parts := []string{"a", "b", "=", "/", ".", "-", "é", " ", " ", "'", "'", `"`, `"`, `\`, "$", "*", "?", "[", "]", "{", "}", ",", "~", "!", "#", "`", "&", "|", ";", "<", ">", "(", ")", "%", "^"}
	var script strings.Builder
	script.WriteString("shopt -s nullglob extglob\n") // a pattern that was overlooked vanishes
	var want [][]string
	for range 20_000 {
		line := "x"
		for range 1 + random.IntN(7) {
			line += parts[random.IntN(len(parts))]
		}
		canonical, err := continuity.Canonical(continuity.Command, line)
		if err != nil {
			continue
		}
		var words []string
		if json.Unmarshal(canonical, &words) != nil {
			continue // there is {"sh": …} in it
		}
		script.WriteString("printf '%s\\0' " + line + "\nprintf '\\1'\n")
		want = append(want, words)
	}
	require.Greater(t, len(want), 1000)
	run := exec.CommandContext(t.Context(), bash, "--norc", "-s")
	run.Stdin, run.Env, run.Dir = strings.NewReader(script.String()), []string{"LC_ALL=C.UTF-8", "HOME=/home"}, t.TempDir()
	out, err := run.Output()
	require.NoError(t, err)
	got := strings.Split(strings.TrimSuffix(string(out), "\x01"), "\x01")
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i], strings.Split(strings.TrimSuffix(got[i], "\x00"), "\x00"))
	}
}

// TestHostOfAnotherScript: only ASCII letters of a host have a case. Others would
// become ASCII, as U+0130 becomes i, and a stranger's host a known one.
func TestHostOfAnotherScript(t *testing.T) {
	known, err := continuity.Canonical(continuity.ID, "https://GitHub.com/acme/payments")
	require.NoError(t, err)
	require.Equal(t, "github.com/acme/payments", string(known))
	for _, spelling := range []string{"https://g\u0130thub.com/acme/payments", "git@g\u0130thub.com:acme/payments", "ssh://git@g\u0130thub.com/acme/payments"} {
		canonical, err := continuity.Canonical(continuity.ID, spelling)
		require.NoError(t, err)
		require.NotEqual(t, string(known), string(canonical))
	}
}

// TestCommentBeginsAWord: a # within a word is part of it, also in a substitution or
// an array, where the parser leaves it out.
func TestCommentBeginsAWord(t *testing.T) {
	for _, line := range []string{"run $(a \"b\"#c\n)", "run $(a $b#c\n)", "x=(\"a\"#b\n)", "x=($(a)#b\n)", "x=(\"a\"\\\n#b\n)", "run $('a'#\n)"} {
		_, err := continuity.Canonical(continuity.Command, line)
		require.ErrorIs(t, err, continuity.ErrCommand, line)
	}
	for _, line := range []string{"# all\nrun", "run; # all", "run # all", "run \\\n# all", "run $(# all\na)", "run \"a\"#b", "run a#b", "run '#'", "run ${#x} $# ${x#y}", "run $(a b#c)", "(run) # all"} {
		_, err := continuity.Canonical(continuity.Command, line)
		require.NoError(t, err, line)
	}
}

// TestCommentEndsWithItsLine: a backslash does not carry a comment on. What follows
// is a command of its own, and not more words of the one before.
func TestCommentEndsWithItsLine(t *testing.T) {
	for _, line := range []string{"make test # all \\\nlint", "make test #\\\nlint", "x=$(make # all \\\nlint)", "if a; then # b \\\nc; fi", "# a \\\nmake", "a=(1 # 2 \\\n3)", "case a in # b \\\nc) d ;; esac"} {
		_, err := continuity.Canonical(continuity.Command, line)
		require.ErrorIs(t, err, continuity.ErrCommand, line)
	}
	for _, line := range []string{"make test # all\nlint", "make test # all \\\\\nlint", "make '# \\\nlint'", "make \\\n test # all", "make a#\\\nlint"} {
		_, err := continuity.Canonical(continuity.Command, line)
		require.NoError(t, err, line)
	}
}

func TestSetHasNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zA-Z0-9é_-]([a-z ]{0,4}[a-z])`), 1, 8, rapid.ID[string]).Draw(t, "items")
		one, err := continuity.Canonical(continuity.Set, strings.Join(items, ","))
		require.NoError(t, err)
		other, err := continuity.Canonical(continuity.Set, " "+strings.Join(append(rapid.Permutation(items).Draw(t, "again"), items[0]), " \r\n, "))
		require.NoError(t, err)
		require.Equal(t, string(one), string(other))
		fewer, err := continuity.Canonical(continuity.Set, strings.Join(items[1:], ","))
		if err == nil {
			require.NotEqual(t, string(one), string(fewer))
		}
	})
}

func TestUnknownKind(t *testing.T) {
	for _, kind := range []continuity.Kind{"", "prose", "ID", "json", "path"} {
		_, err := continuity.Digester{}.Of(kind, "none")
		require.ErrorIs(t, err, continuity.ErrKind)
	}
}

// TestErrorsOfKindsHoldNothingOfTheValue: they are printed, logged and sent.
func TestErrorsOfKindsHoldNothingOfTheValue(t *testing.T) {
	for _, value := range []string{"hunter2 'open", "hunter2 (", "hunter2 <<EOF\n$(", "hunter2\xff", "hunter2\x00", "if hunter2", "hunter2 &&", strings.Repeat("hunter2 ", 10_000)} {
		for _, kind := range append(continuity.Kinds, "hunter2") {
			if _, err := (continuity.Digester{}).Of(kind, value); err != nil {
				assert.NotContains(t, err.Error(), "hunter2")
			}
		}
		if _, err := (continuity.Digester{}).Path("/hunter2/" + value); assert.Error(t, err) {
			assert.NotContains(t, err.Error(), "hunter2")
		}
		_, err := continuity.Digester{}.Decisions(continuity.Value{Name: "target", Kind: continuity.Command, Value: value})
		if err != nil {
			assert.NotContains(t, err.Error(), "hunter2")
		}
	}
}

// FuzzCommand: no command line makes the parser panic, and what has a canonical
// form has one that is JSON.
func FuzzCommand(f *testing.F) {
	for _, seed := range []string{"go test ./...", "a && b | c > d", "for i in a; do b; done", "echo $(x) `y` ${z}", "it's", "cat <<E\nx\nE", "a=(1 2)", "{ a; }", "$'\\n'", "((", "x[1]=2", "!"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, command string) {
		canonical, err := continuity.Canonical(continuity.Command, command)
		if err == nil {
			require.True(t, json.Valid(canonical))
		}
	})
}
