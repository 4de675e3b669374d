package lab_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/lab"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/replay"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

const (
	clean   = "reauthorization_required"
	failed  = "continuity_validation_failed"
	blocked = "blocked_on_reconciliation"
)

func scenario(change func(*lab.Scenario)) lab.Scenario {
	s := lab.Default()
	s.Now = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	s.TraceID, s.SessionID = "0af7651916cd43dd8448eb211c80319c", "ticket-1"
	change(&s)
	return s
}

var scenarios = []struct {
	name           string
	change         func(*lab.Scenario)
	status, reason string
}{
	{"clean", func(*lab.Scenario) {}, clean, "continuity_validated"},
	{"another summary", func(s *lab.Scenario) { s.Summary = "Something else." }, clean, "continuity_validated"},
	{"an empty summary", func(s *lab.Scenario) { s.Summary = "" }, clean, "continuity_validated"},
	{"another policy, the same after", func(s *lab.Scenario) { s.PolicyVersion = "policy-v9" }, clean, "continuity_validated"},
	{"the same policy, said twice", func(s *lab.Scenario) { s.CurrentPolicyVersion = "policy-v4" }, clean, "continuity_validated"},
	{"applied", func(s *lab.Scenario) { s.SideEffectStatus = "applied" }, clean, "continuity_validated"},
	{"not executed, older word", func(s *lab.Scenario) { s.SideEffectStatus = "not_started" }, clean, "continuity_validated"},
	{"applied, older word", func(s *lab.Scenario) { s.SideEffectStatus = "side_effect_committed" }, clean, "continuity_validated"},
	{"tampered summary", func(s *lab.Scenario) { s.TamperSummary = true }, failed, "summary_digest_mismatch"},
	{"tampered empty summary", func(s *lab.Scenario) { s.Summary, s.TamperSummary = "", true }, failed, "summary_digest_mismatch"},
	{"changed policy", func(s *lab.Scenario) { s.CurrentPolicyVersion = "policy-v5" }, failed, "policy_version_changed"},
	{"both policies given", func(s *lab.Scenario) { s.PolicyVersion, s.CurrentPolicyVersion = "a", "b" }, failed, "policy_version_changed"},
	{"revoked", func(s *lab.Scenario) { s.ApprovalStatus = "revoked" }, failed, "approval_revoked"},
	{"pending", func(s *lab.Scenario) { s.ApprovalStatus = "pending" }, failed, "approval_not_active"},
	{"rejected", func(s *lab.Scenario) { s.ApprovalStatus = "rejected" }, failed, "approval_not_active"},
	{"expired", func(s *lab.Scenario) { s.ApprovalStatus = "expired" }, failed, "approval_not_active"},
	{"unknown effect", func(s *lab.Scenario) { s.SideEffectStatus = "side_effect_unknown" }, blocked, "unknown_side_effect"},
	{"partial effect", func(s *lab.Scenario) { s.SideEffectStatus = "partial_side_effect" }, blocked, "partial_side_effect"},
	{"unknown effect, changed policy", func(s *lab.Scenario) {
		s.SideEffectStatus, s.CurrentPolicyVersion = "side_effect_unknown", "policy-v5"
	}, blocked, "unknown_side_effect"},
	{"unknown effect, tampered summary", func(s *lab.Scenario) {
		s.SideEffectStatus, s.TamperSummary = "side_effect_unknown", true
	}, failed, "summary_digest_mismatch"},
	{"all at once", func(s *lab.Scenario) {
		s.TamperSummary, s.CurrentPolicyVersion, s.ApprovalStatus, s.SideEffectStatus = true, "policy-v5", "revoked", "partial_side_effect"
	}, failed, "summary_digest_mismatch"},
}

func TestScenarios(t *testing.T) {
	for _, c := range scenarios {
		t.Run(c.name, func(t *testing.T) {
			s := scenario(c.change)
			o, err := lab.Run(s)
			require.NoError(t, err)
			assert.Equal(t, c.status, o.Status)
			assert.Equal(t, c.reason, o.Reason)
			assert.True(t, o.RequiresReauthorization)
			second := "continuity_validation_failed"
			if c.status == clean {
				second = "context_rehydration"
				assert.Empty(t, o.Findings)
			} else {
				assert.Equal(t, c.reason, o.Findings[0])
			}
			assert.Equal(t, []string{"context_compaction", second}, o.EventTypes)
			require.Len(t, o.Events, 2)
			for i, e := range o.Events {
				assert.Equal(t, o.EventTypes[i], e.Name)
				assert.Equal(t, s.TraceID, e.TraceID)
				assert.Equal(t, "ticket-1", e.Attributes["gen_ai.conversation.id"])
			}
			again, err := lab.Run(s)
			require.NoError(t, err)
			assert.Equal(t, o, again)
			withoutGrants(t, o)
			theCoreAgrees(t, o)
		})
	}
}

// grants are words that would let somebody act. "approved" is a fact of the
// envelope, and no verdict.
var grants = []string{`"authorized`, `"authorised`, "permitted", "allowed", "granted", `authorized":`}

func withoutGrants(t *testing.T, o *lab.Outcome) {
	t.Helper()
	text, err := json.Marshal(o)
	require.NoError(t, err)
	for _, word := range grants {
		assert.NotContains(t, string(text), word)
		assert.NotContains(t, o.Explain(), word)
	}
	assert.NotContains(t, string(text), "customer cannot sign in", "only the digest of the summary is shown")
}

// theCoreAgrees sends the events through the core: the whole processor says what
// the laboratory does.
func theCoreAgrees(t *testing.T, o *lab.Outcome) {
	t.Helper()
	r := replay.New(replay.Options{})
	for _, e := range o.Events {
		logs, err := e.Logs()
		require.NoError(t, err)
		r.AddLogs(logs)
	}
	result := r.Run()
	require.Len(t, result.Sessions, 1)
	require.Len(t, result.Sessions[0].Boundaries, 1)
	v := result.Sessions[0].Boundaries[0].Last().Validation
	assert.Equal(t, o.Status, string(v.Status))
	assert.Equal(t, o.Reason, string(v.Reason))
}

func TestGolden(t *testing.T) {
	for _, name := range []string{"clean", "tampered summary", "changed policy", "unknown effect"} {
		t.Run(name, func(t *testing.T) {
			var s lab.Scenario
			for _, c := range scenarios {
				if c.name == name {
					s = scenario(c.change)
				}
			}
			o, err := lab.Run(s)
			require.NoError(t, err)
			got, err := json.MarshalIndent(o, "", "  ")
			require.NoError(t, err)
			file := filepath.Join("testdata", strings.ReplaceAll(name, " ", "_")+".json")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(file, append(got, '\n'), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(want), string(got)+"\n")
		})
	}
}

func TestRefused(t *testing.T) {
	for name, change := range map[string]func(*lab.Scenario){
		"approval":         func(s *lab.Scenario) { s.ApprovalStatus = "yes" },
		"effect":           func(s *lab.Scenario) { s.SideEffectStatus = "" },
		"policy":           func(s *lab.Scenario) { s.PolicyVersion = "" },
		"session":          func(s *lab.Scenario) { s.SessionID = "" },
		"trace":            func(s *lab.Scenario) { s.TraceID = "" },
		"too long":         func(s *lab.Scenario) { s.CurrentPolicyVersion = strings.Repeat("x", 257) },
		"no text":          func(s *lab.Scenario) { s.SessionID = "\xff" },
		"current approval": func(s *lab.Scenario) { s.ApprovalStatus = "authorized" },
	} {
		_, err := lab.Run(scenario(change))
		assert.Error(t, err, name)
	}
}

// What can be said is what the checks know.
func TestStatuses(t *testing.T) {
	for _, status := range lab.ApprovalStatuses {
		_, err := lab.Run(scenario(func(s *lab.Scenario) { s.ApprovalStatus = status }))
		assert.NoError(t, err, status)
	}
	for _, status := range lab.SideEffectStatuses {
		_, err := lab.Run(scenario(func(s *lab.Scenario) { s.SideEffectStatus = status }))
		assert.NoError(t, err, status)
	}
}
