package report_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/report"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// summary says in lines what a model holds.
func summary(m *report.Model) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	when := func(us int64) string {
		if us < 0 {
			return "none"
		}
		return time.UnixMicro(m.Base + us).UTC().Format("15:04:05")
	}
	state := func(n int) string {
		if n < 0 {
			return "?"
		}
		return m.States[n]
	}
	for _, row := range m.Rows {
		line("%s %s, %s", row.Session, row.Runtime, state(row.State))
		for _, b := range row.Boundaries {
			for _, r := range b.Revisions {
				alerts := ""
				for _, a := range r.Alerts {
					alerts += " " + a.Kind + ":" + a.Status
				}
				line("  %d %s from %s, %s %s (%s) %s%s", r.Number, when(r.At), when(r.Opened), state(r.Boundary), r.Reason, state(r.State), r.Form, alerts)
			}
		}
		for _, l := range row.Losses {
			line("  lost: %s %s in lane %d, %s to %s, %s", l.Kind, l.Name, l.Lane, when(l.From), when(l.To), l.End)
		}
		for _, e := range row.Events {
			if e.Kind == "approval" {
				line("  approval %s of %s by %s", e.Ref, e.Invariant, e.Approver)
			}
		}
	}
	return out.String()
}

func TestTale(t *testing.T) {
	assert.Equal(t, `checkout-refactor opencode, preserved
  1 09:07:30 from 09:06:00, preserved match (preserved) both
  1 09:20:00 from 09:18:00, dropped missing_after (dropped) both decision_dropped:firing
  1 09:31:00 from 09:30:00, preserved match (dropped) both
  2 09:44:10 from 09:30:00, preserved match (preserved) both decision_dropped:resolved
  1 09:51:00 from 09:50:00, preserved match (preserved) both
  lost: decision_dropped approval_boundary in lane 0, 09:20:00 to 09:44:10, restored
  lost: decision_dropped constraint.push in lane 1, 09:20:00 to 09:31:00, restored
billing-export , conflicting
  1 09:12:00 from 09:10:00, conflicting changed_without_approval (conflicting) both decision_conflicting:firing
  1 09:27:00 from 09:25:00, conflicting changed_without_approval (conflicting) both decision_dropped:firing
  lost: decision_conflicting scope in lane 0, 09:12:00 to none, 
  lost: decision_dropped acceptance_test in lane 1, 09:27:00 to none, 
docs-site , preserved
  1 09:11:00 from 09:09:00, approved_change approved_transition (approved_change) both
  1 09:23:00 from 09:22:00, preserved match (preserved) both
  approval CHG-17 of acceptance_test by release-desk
nightly-upgrade , unverified
  1 09:14:00 from 09:12:00, unverified source_not_accepted (unverified) both
  2 09:27:30 from 09:12:00, unverified source_not_accepted (unverified) both post_observation_missing:firing
  lost: post_observation_missing  in lane 0, 09:27:30 to none, 
ticket-4411 , preserved
  1 09:06:30 from 09:05:00, unverified unknown_side_effect (unverified) both reconciliation_required:firing
  2 09:19:10 from 09:05:00, preserved match (preserved) both reconciliation_required:resolved
  lost: reconciliation_required  in lane 0, 09:06:30 to 09:19:10, resolved
`, sorted(tale().read(t)))
}

// sorted is a summary with the sessions in the order of the story.
func sorted(m *report.Model) string {
	order := map[string]int{"checkout-refactor": 0, "billing-export": 1, "docs-site": 2, "nightly-upgrade": 3, "ticket-4411": 4}
	rows := make([]*report.Row, len(m.Rows))
	for _, row := range m.Rows {
		rows[order[row.Session]] = row
	}
	m.Rows = rows
	return summary(m)
}

// The page's script reads the model by these names.
func TestGoldenModel(t *testing.T) {
	s := newStory()
	s.span("ticket", "chat", 4, 4.5).Status().SetCode(ptrace.StatusCodeError)
	s.snapshot("ticket", 5, "scope", "s", "target", "t")
	s.look("ticket", "agent", 6, "scope", "x", "target", "t").PutStr(semconv.InvariantApprovalRef+"scope", "CHG-1")
	m := s.read(t)
	got, err := json.MarshalIndent(m, "", " ")
	require.NoError(t, err)
	const file = "testdata/model.json"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(file, append(got, '\n'), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.JSONEq(t, string(want), string(got), "UPDATE_GOLDEN=1 writes it anew")
}

// What the page says of words is what docs/attributes.md says.
func TestWordsAreThoseOfTheDocs(t *testing.T) {
	docs, err := os.ReadFile("../../../../docs/attributes.md")
	require.NoError(t, err)
	text, err := os.ReadFile("page/words.json")
	require.NoError(t, err)
	var words map[string]map[string]string
	require.NoError(t, json.Unmarshal(text, &words))
	known := map[string]bool{}
	for _, set := range words {
		for word, meaning := range set {
			known[word] = true
			row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(word) + ` \|(?: \d+ \|)? ` + regexp.QuoteMeta(meaning) + ` \|$`)
			assert.Regexp(t, row, strings.ReplaceAll(string(docs), "`", ""), word)
		}
	}
	_, closed, found := strings.Cut(string(docs), "\n## States\n")
	require.True(t, found)
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(closed, -1) {
		if !eventKinds[row[1]] {
			assert.True(t, known[row[1]], "%s has no meaning: page/words.json", row[1])
		}
	}
}

// eventKinds are the kinds of events of the configuration, which no receipt names.
var eventKinds = map[string]bool{
	"snapshot": true, "observation": true, "validation_failed": true, "completion": true, "approval": true, "session_end": true,
	"session_start": true, "activity": true,
}
