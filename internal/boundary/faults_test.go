package boundary_test

import (
	"strings"
	"testing"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// TestFaults are attacks that won: no line of a row's output may contain what it
// denies, and one must contain what it needs. It needs attacks_test.go.
func TestFaults(t *testing.T) {
	for _, row := range faults {
		t.Run(row.name, func(t *testing.T) {
			lines := row.run()
			got := strings.Join(lines, "\n")
			for _, d := range strings.Split(row.deny, ";") {
				if d != "" && strings.Contains(got, d) {
					t.Errorf("denied: %q", d)
				}
			}
			if !strings.Contains(got, row.need) {
				t.Errorf("missing: %q", row.need)
			}
			if t.Failed() {
				t.Log("\n" + got)
			}
		})
	}
}

type faultRow struct {
	atkRow
	deny, need string
}

var faults = []faultRow{
	{atkRow{
		name: "F1 link: a defect of the same name is forgotten", until: 300, state: "b",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(5, "a", "scope=S1"),
			atkSnap(10, "b", "scope=S1"),
			atkLook(15, "b", "scope=S2"),
			atkStarts(20, "b", atkPrev("a")),
			atkSnap(30, "b", "scope=S2"),
			atkLook(35, "b", "scope=S1"),
		},
	}, "35 b r1 preserved/match preserved;state preserved", ""},
	{atkRow{
		name: "F1b link: an envelope's defect is forgotten", until: 300, state: "b",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0", atkEnv()),
			atkLook(5, "a", "scope=S0", atkEnv("tenant_id=X")),
			atkSnap(10, "b", "scope=S0", atkEnv("tenant_id=X")),
			atkLook(15, "b", "scope=S0", atkEnv("tenant_id=X", "policy_version=2")),
			atkStarts(20, "b", atkPrev("a")),
			atkSnap(30, "b", "scope=S0", atkEnv("tenant_id=X")),
			atkLook(35, "b", "scope=S0", atkEnv("tenant_id=X")),
		},
	}, "resolved;state preserved", ""},
	{atkRow{
		name: "F1c link: a repeated link in a cycle moves the defect away", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(1, "a", "scope=S1"),
			atkStarts(2, "b", atkPrev("a")),
			atkStarts(3, "a", atkPrev("b")),
			atkStarts(4, "b", atkPrev("a")),
			atkSnap(10, "a", "scope=S1"),
			atkLook(12, "a", "scope=S1"),
		},
	}, "12 a r1 preserved/match preserved", ""},
	{atkRow{
		name: "F1d link: an approval is used twice", until: 300, state: "b",
		steps: []atkStep{
			atkApproves(0, "a", "scope S0>S1 r1"),
			atkSnap(1, "a", "scope=S0"),
			atkLook(2, "a", "scope=S1"),
			atkApproves(3, "b", "scope S0>S1 r1"),
			atkStarts(5, "b", atkPrev("a")),
			atkSnap(6, "b", "scope=S0"),
			atkLook(7, "b", "scope=S1"),
		},
	}, "7 b r1 approved_change", ""},
	{atkRow{
		name: "F2 a healthy look from a fast clock hides a conflict", until: 400, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(5, "a", "scope=S0", atkSeen(240)),
			atkSnap(100, "a", "scope=S0"),
			atkLook(105, "a", "scope=S1"),
			atkSnap(300, "a", "scope=S1"),
			atkLook(305, "a", "scope=S1"),
		},
	}, "305 a r1 preserved/match preserved;state preserved", "!decision_conflicting:firing"},
	{atkRow{
		name: "F2b an envelope from a fast clock hides a changed tenant", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0", atkEnv()),
			atkLook(5, "a", "scope=S0", atkEnv(), atkSeen(240)),
			atkSnap(100, "a", "scope=S0", atkEnv()),
			atkLook(105, "a", "scope=S0", atkEnv("tenant_id=EVIL")),
			atkSnap(200, "a", "scope=S0", atkEnv("tenant_id=EVIL")),
			atkLook(205, "a", "scope=S0", atkEnv("tenant_id=EVIL")),
		},
	}, "205 a r1 preserved/match preserved;state preserved", "!decision_conflicting:firing"},
	{atkRow{
		name: "F2c an envelope from a fast clock hides an unresolved effect", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "", atkEnv("side_effect_status=applied")),
			atkLook(5, "a", "", atkEnv("side_effect_status=applied"), atkSeen(240)),
			atkSnap(100, "a", "", atkEnv("side_effect_status=applied")),
			atkLook(105, "a", "", atkEnv("side_effect_status=side_effect_unknown")),
			atkSnap(200, "a", "scope=S1"),
			atkLook(205, "a", "scope=S1"),
		},
	}, "state preserved", "!reconciliation_required:firing"},
	{atkRow{
		name: "F3 a look from before the end of the compaction", until: 55, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(5, "a", "scope=S0", atkSeen(240)),
			atkDone(50, "a", boundary.Completed),
		},
	}, "state preserved", "observed_too_early"},
	{atkRow{
		name: "F3b a look from before a later snapshot of the open boundary", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0 target=T0"),
			atkLook(5, "a", "scope=S0", atkPartial, atkSeen(240)),
			atkSnap(20, "a", "scope=S0 target=T0"),
			atkLook(25, "a", "target=T0", atkPartial),
		},
	}, "25 a r2 preserved/match preserved", ""},
	{atkRow{
		name: "F3c a look that was received before the snapshot happened", until: 300, state: "a",
		steps: []atkStep{
			atkLook(5, "a", "scope=S0", atkTimed(600), atkSeen(600)),
			atkSnap(5.5, "a", "scope=S0"),
		},
	}, "5.5 a r1 preserved", ""},
	{atkRow{
		name: "F4 a cut snapshot's silence retires a full baseline", until: 100, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0 target=T0"),
			atkSnap(1, "a", "target=T0", atkCut),
			atkLook(5, "a", "target=T0"),
			atkSnap(10, "a", "target=T0"),
			atkLook(12, "a", "target=T0"),
		},
	}, "12 a r1 preserved/match preserved;state preserved", ""},
	{atkRow{
		name: "F5 a refusal is cleared by an older boundary's revision", until: 30, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0", atkBid("x")),
			atkLook(5, "a", "scope=S0", atkBid("x")),
			atkSnap(10, "a", "scope=S0", atkBid("y")),
			atkRefuses(12, "a", atkBid("y")),
			atkLook(20, "a", "scope=S0", atkBid("x"), atkSeen(6), atkTimed(6)),
		},
	}, "21 a r2 preserved/match preserved;!decision_conflicting:resolved", ""},
	{atkRow{
		name: "F5b a refusal is cleared while an envelope is owed", until: 30, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0", atkBid("x"), atkEnv()),
			atkRefuses(5, "a", atkBid("x")),
			atkSnap(10, "a", "scope=S0", atkBid("y")),
			atkLook(12, "a", "scope=S0", atkBid("y")),
		},
	}, "!decision_conflicting:resolved", ""},
	{atkRow{
		name: "F5c a refusal is cleared by an envelope without baseline", until: 300, state: "a",
		steps: []atkStep{
			atkRefuses(5, "a"),
			atkLook(100, "a", "", atkEnv()),
		},
	}, "!decision_conflicting:resolved", ""},
	{atkRow{
		name: "F5d a refusal is cleared by an ambiguous envelope", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "", atkEnv("policy_version=1")),
			atkSnap(1, "a", "", atkEnv("policy_version=2")),
			atkRefuses(5, "a"),
			atkLook(10, "a", "", atkEnv("policy_version=2")),
		},
	}, "!decision_conflicting:resolved", ""},
	{atkRow{
		name: "F6 a mismatch of the summary is cleared by leaving it out", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0", atkEnv()),
			atkDone(5, "a", boundary.Completed, atkEnv("summary_sha256=sha256:"+strings.Repeat("ab", 32))),
			atkLook(14, "a", "scope=S0", atkEnv("summary_sha256=sha256:"+strings.Repeat("cd", 32))),
			atkSnap(20, "a", "scope=S0", atkEnv()),
			atkLook(25, "a", "scope=S0", atkEnv()),
		},
	}, "!decision_conflicting:resolved;state preserved", ""},
	{atkRow{
		name: "F6b an effect is resolved by another action's envelope", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "", atkEnv("idempotency_key=K1", "side_effect_status=not_executed")),
			atkLook(5, "a", "", atkEnv("idempotency_key=K1", "side_effect_status=side_effect_unknown")),
			atkSnap(20, "a", "", atkEnv("idempotency_key=K2", "side_effect_status=applied")),
			atkLook(25, "a", "", atkEnv("idempotency_key=K2", "side_effect_status=applied")),
		},
	}, "!reconciliation_required:resolved;state preserved", ""},
	{atkRow{
		name: "F6c an effect is resolved within the whole second that showed it", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "", atkEnv("side_effect_status=side_effect_unknown")),
			atkLook(5, "a", "", atkEnv("side_effect_status=side_effect_unknown"), atkWhole(5)),
			atkLook(6, "a", "", atkEnv("side_effect_status=applied"), atkSeen(5.4)),
		},
	}, "!reconciliation_required:resolved", ""},
	{atkRow{
		name: "F6d the older of two original envelopes is forgotten", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "", atkEnv("policy_version=1")),
			atkSnap(1, "a", "", atkEnv("policy_version=2")),
			atkLook(5, "a", "", atkEnv("policy_version=3")),
			atkLook(10, "a", "", atkEnv("policy_version=2")),
			atkSnap(20, "a", "", atkEnv("policy_version=2")),
			atkLook(25, "a", "", atkEnv("policy_version=2")),
		},
	}, "!decision_conflicting:resolved;state preserved", ""},
	{atkRow{
		name: "F7 a snapshot that joins its completion is cancelled by a later attempt", until: 300, state: "a",
		steps: []atkStep{
			atkDone(10, "a", boundary.Completed),
			atkSnap(11, "a", "scope=S0", atkTimed(9), atkSeen(9)),
			atkDone(20, "a", boundary.Failed),
			atkLook(130, "a", "scope=S1"),
		},
	}, "", "changed_without_approval"},
	{atkRow{
		name: "F8 a boundary id used again uses its approval again", until: 300, state: "a",
		steps: []atkStep{
			atkApproves(0, "a", "scope S0>S1 r1"),
			atkSnap(1, "a", "scope=S0", atkBid("x")),
			atkLook(5, "a", "scope=S1", atkBid("x")),
			atkSnap(100, "a", "scope=S0", atkBid("x")),
			atkLook(105, "a", "scope=S1", atkBid("x")),
		},
	}, "105 a r1 approved_change", ""},
	{atkRow{
		name: "F9 a missing look is resolved by a stored file", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(5, "a", "scope=S0", atkBadName),
			atkLook(200, "a", "target=T0@record"),
		},
	}, "!post_observation_missing:resolved", ""},
	{atkRow{
		name: "F9b a missing look is resolved by an empty one", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkLook(5, "a", "scope=S0", atkBadName),
			atkLook(70, "a", "", atkPartial, atkCut),
		},
	}, "!post_observation_missing:resolved;71 a r3 preserved", ""},
	{atkRow{
		name: "F10 a late revision of an older boundary heals the session", until: 30, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0", atkBid("x")),
			atkLook(5, "a", "scope=S0", atkBid("x")),
			atkSnap(10, "a", "scope=!digest_malformed", atkBid("y")),
			atkLook(12, "a", "scope=S0", atkBid("y")),
			atkLook(20, "a", "scope=S0", atkBid("x"), atkTimed(6), atkSeen(6)),
		},
	}, "state preserved", ""},
	{atkRow{
		name: "F11 an envelope that was lost for want of room is not said", until: 300, state: "a",
		cfg: func(c *boundary.Config) { c.Limits.Candidates = 2 },
		steps: []atkStep{
			atkSnap(0, "a", "", atkEnv("id=0")),
			atkSnap(1, "a", "", atkEnv("id=1", "policy_version=2")),
			atkSnap(2, "a", "", atkEnv("id=2")),
			atkLook(20, "a", "", atkEnv()),
		},
	}, "20 a r1 preserved/match preserved", "capacity"},
	{atkRow{
		name: "F12 what was parked under another id never alarms", until: 500, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0", atkBid("x")),
			atkEnds(5, "a"),
			atkSnap(100, "a", "scope=S0", atkBid("y")),
			atkLook(105, "a", "scope=S0", atkBid("y")),
		},
	}, "", "!post_observation_missing:firing"},
	{atkRow{
		name: "F13 a late snapshot whose completion came is called unconfirmed", until: 300, state: "a",
		steps: []atkStep{
			atkDone(10, "a", boundary.Completed, atkRuntime("claude_code")),
			atkLook(12, "a", "scope=S0", atkPartial, atkRuntime("claude_code")),
			atkSnap(13, "a", "scope=S0 target=T0", atkTimed(9), atkSeen(9), atkRuntime("claude_code")),
		},
	}, "compaction_unconfirmed", "!post_observation_missing:firing"},
	{atkRow{
		name: "F14 the main agent's completion alarms for a sub-agent", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a/x", "scope=S0"),
			atkLook(2, "a/x", "scope=S0"),
			atkSnap(10, "a", "scope=S0"),
			atkDone(12, "a", boundary.Completed),
			atkLook(13, "a", "scope=S0"),
		},
	}, "!post_observation_missing:firing", ""},
	{atkRow{
		name: "F15 leftovers of an ended session arm its window", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0 target=T0"),
			atkEnds(5, "a"),
			atkLook(6, "a", "scope=S0", atkPartial, atkTimed(4), atkSeen(4)),
		},
	}, "!post_observation_missing:firing", ""},
	{atkRow{
		name: "F16 a look in time but shown long after hides a compaction", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "scope=S0"),
			atkDone(2, "a", boundary.Completed),
			atkLook(50, "a", "scope=S0", atkSeen(5), atkTimed(50)),
			atkDone(55, "a", boundary.Completed, atkTimed(30)),
		},
	}, "", "no_observation"},
	{atkRow{
		name: "F17 nothing but optional decisions gives no reason", until: 300, state: "a",
		steps: []atkStep{
			atkSnap(0, "a", "mine=S0", atkOptional),
			atkLook(5, "a", "mine=S0"),
		},
	}, "5 a r1 unverified/ ", ""},
	{atkRow{
		name: "F18 an approval that answered beside rubbish is not used up", until: 300, state: "a",
		steps: []atkStep{
			atkApproves(0, "a", "scope S0>S1 r1"),
			atkSnap(1, "a", "scope=!digest_malformed"),
			atkSnap(2, "a", "scope=S0"),
			atkLook(5, "a", "scope=S1"),
			atkSnap(10, "a", "scope=S0"),
			atkLook(15, "a", "scope=S1"),
		},
	}, "15 a r1 approved_change", ""},
	{atkRow{
		name: "F19 required_invariants do not make an optional debt required", until: 300, state: "a",
		cfg: func(c *boundary.Config) { c.RequiredInvariants = []string{"mine"} },
		steps: []atkStep{
			atkSnap(0, "a", "mine=S0", atkOptional, atkBid("x")),
			atkSnap(100, "a", "mine=S0", atkOptional, atkBid("y")),
			atkLook(105, "a", "mine=S0", atkBid("y")),
		},
	}, "105 a r1 preserved/match preserved;!post_observation_missing:resolved;state preserved", ""},
	{atkRow{
		name: "F20 an approval of a retracted answer stays used up", until: 300, state: "a",
		steps: []atkStep{
			atkApproves(0, "a", "scope S0>S1 r1"),
			atkSnap(1, "a", "scope=S0"),
			atkLook(5, "a", "scope=S1"),
			atkDone(20, "a", boundary.Completed),
			atkSnap(100, "a", "scope=S0"),
			atkLook(105, "a", "scope=S1"),
		},
	}, "approval_reused", ""},
	{atkRow{
		name: "F21 one change seen by one look at two boundaries needs two approvals", until: 300, state: "a",
		steps: []atkStep{
			atkApproves(0, "a", "scope S0>S1 r1"),
			atkSnap(1, "a", "scope=S0", atkBid("x")),
			atkSnap(2, "a", "scope=S0", atkBid("y")),
			atkLook(5, "a", "scope=S1"),
		},
	}, "approval_reused", ""},
	{atkRow{name: "F22 weak looks push out the sufficient one", until: 200, state: "a", steps: append([]atkStep{atkSnap(0, "a", "scope=S0 target=T0"), atkLook(1, "a", "scope=S0", atkPartial)}, atkMany(70, func(i int) atkStep { return atkLook(2+float64(i)/10, "a", "", atkPartial) })...)}, "scope=unverified/observation_empty", ""},
	{atkRow{name: "F23 folded snapshots forget how many they were", until: 200, state: "a", steps: append(atkMany(70, func(i int) atkStep { return atkSnap(float64(i)/10, "a", "scope=S0") }), atkMany(69, func(i int) atkStep { return atkDone(8+float64(i)/10, "a", boundary.Cancelled) })...)}, "", "!post_observation_missing:firing"},
}

func atkMany(n int, f func(i int) atkStep) (out []atkStep) {
	for i := range n {
		out = append(out, f(i))
	}
	return out
}
