package boundary_test

import (
	"bytes"
	"crypto/ed25519"
	"strconv"
	"strings"
	"testing"

	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

var teamKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))

func signedOnly(c *boundary.Config) {
	c.PublicKeys = map[string]ed25519.PublicKey{"team": teamKey.Public().(ed25519.PublicKey)}
}

func signed(e *boundary.Event) {
	message, err := approval.Payload(e.Approval)
	if err != nil {
		panic(err)
	}
	e.Approval.Signature = ed25519.Sign(teamKey, message)
}

func forAllAgents(e *boundary.Event) { e.Key.Agent, e.Approval.Agent = "", "" }

func snapshotFailed(e *boundary.Event) { e.SnapshotFailed = true }

func unconfirming(c *boundary.Config) {
	p := c.Runtimes["claude_code"]
	p.Confirm = false
	c.Runtimes["claude_code"] = p
}

func lazy(c *boundary.Config) { c.Runtimes["lazy"] = boundary.Profile{StartsWithActivity: true} }

func acts(at float64, session string, mods ...tweak) attackStep {
	return eventAt(at, session, boundary.Activity, "", mods)
}

// TestThreatVerdicts are rows of docs/security.md: what comes of a threat, to the
// last receipt. A row whose name begins with "not covered: " is an attack that
// succeeds, by what a verdict can be made of. It is kept so that the page stays true.
func TestThreatVerdicts(t *testing.T) {
	for _, row := range threats {
		t.Run(row.name, func(t *testing.T) {
			got := strings.Join(row.run(), "\n")
			var want []string
			for line := range strings.Lines(row.want) {
				if line = strings.TrimSpace(line); line != "" {
					want = append(want, line)
				}
			}
			if got != strings.Join(want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
			}
		})
	}
}

// One look that answers many boundaries is one receipt for each: the sender chooses
// their number, so there is a bound.
func TestReceiptsOfOneLookAreBounded(t *testing.T) {
	row := attackRow{until: 6, steps: append(append(
		[]attackStep{snapAt(0, "a", "scope=S0")},
		repeated(1000, func(i int) attackStep {
			return compactedAt(0.1+float64(i)/1000, "a", boundary.Completed, withID(strconv.Itoa(i)))
		})...), lookAt(5, "a", "scope=S1"))}
	if n := len(row.run()); n > 65 {
		t.Errorf("%d receipts of one look", n)
	}
}

var threats = []attackRow{
	{
		name: "approval: chain with a gap", until: 300, state: "a",
		cfg: signedOnly,
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r1", signed),
			approvesAt(0.1, "a", "scope S2>S3 r2", signed),
			snapAt(1, "a", "scope=S0"),
			lookAt(5, "a", "scope=S3"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "approval: chain with an unsigned link", until: 300, state: "a",
		cfg: signedOnly,
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r1", signed),
			approvesAt(0.1, "a", "scope S1>S2 r2"),
			snapAt(1, "a", "scope=S0"),
			lookAt(5, "a", "scope=S2"),
		},
		want: `
			5 a r1 conflicting/approval_unsigned conflicting scope=conflicting/approval_unsigned !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "approval: forged revocation", until: 300, state: "a",
		cfg: signedOnly,
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r1", signed),
			approvesAt(0.1, "a", "scope S0>S1 r1", withdrawn),
			snapAt(1, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
		},
		want: `
			5 a r1 conflicting/approval_revoked conflicting scope=conflicting/approval_revoked !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "not covered: approval: of one agent, sent again for all", until: 300, state: "a/y",
		cfg: signedOnly,
		steps: []attackStep{
			approvesAt(0, "a/x", "scope S0>S1 r1", signed),
			approvesAt(0.1, "a/x", "scope S0>S1 r1", signed, forAllAgents),
			snapAt(1, "a/y", "scope=S0"),
			lookAt(5, "a/y", "scope=S1"),
		},
		want: `
			5 a/y r1 approved_change/approved_transition approved_change scope=approved_change/approved_transition
			state approved_change
		`,
	},
	{
		name: "not covered: approval: used again once its session is forgotten", until: 8000,
		cfg: signedOnly,
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r1", signed),
			snapAt(1, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
			approvesAt(4000, "a", "scope S0>S1 r1", signed),
			snapAt(4001, "a", "scope=S0"),
			lookAt(4005, "a", "scope=S1"),
		},
		want: `
			5 a r1 approved_change/approved_transition approved_change scope=approved_change/approved_transition
			4005 a r1 approved_change/approved_transition approved_change scope=approved_change/approved_transition
		`,
	},
	{
		name: "approval: used again once its session is forgotten, but expired", until: 8000,
		cfg: signedOnly,
		steps: []attackStep{
			approvesAt(0, "a", "scope S0>S1 r1", expires(600), signed),
			snapAt(1, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
			approvesAt(4000, "a", "scope S0>S1 r1", expires(600), signed),
			snapAt(4001, "a", "scope=S0"),
			lookAt(4005, "a", "scope=S1"),
		},
		want: `
			5 a r1 approved_change/approved_transition approved_change scope=approved_change/approved_transition
			4005 a r1 conflicting/approval_expired conflicting scope=conflicting/approval_expired !decision_conflicting:firing
		`,
	},
	{
		name: "replay: an old snapshot and look after a loss", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0", withFingerprint(1)),
			lookAt(5, "a", "scope=S0", withFingerprint(2)),
			snapAt(10, "a", "scope=S0"),
			lookAt(15, "a", "scope=S1"),
			snapAt(20, "a", "scope=S0", withFingerprint(1), happened(0), seen(0)),
			lookAt(21, "a", "scope=S0", withFingerprint(2), happened(5), seen(5)),
		},
		want: `
			5 a r1 preserved/match preserved scope=preserved/match
			15 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "replay: an old look that is not remembered any more", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "a", "scope=S0"),
			snapAt(10, "a", "scope=S0"),
			lookAt(15, "a", "scope=S1"),
			snapAt(20, "a", "scope=S0", withFingerprint(1), happened(0), seen(0)),
			lookAt(21, "a", "scope=S0", withFingerprint(2), happened(5), seen(5)),
		},
		want: `
			5 a r1 preserved/match preserved scope=preserved/match
			15 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			20 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval
			state conflicting
		`,
	},
	{
		name: "not covered: replay: a whole session once it is forgotten", until: 8000,
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			lookAt(5, "a", "scope=S0"),
			snapAt(4000, "a", "scope=S0", happened(0), seen(0)),
			lookAt(4001, "a", "scope=S0", happened(5), seen(5)),
		},
		want: `
			5 a r1 preserved/match preserved scope=preserved/match
			4001 a r1 preserved/match preserved scope=preserved/match
		`,
	},
	{
		name: "not covered: snapshot: made to match before anybody looked", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			snapAt(3, "a", "scope=S1"),
			lookAt(5, "a", "scope=S1"),
			snapAt(10, "a", "scope=S1"),
			lookAt(15, "a", "scope=S1"),
		},
		want: `
			5 a r1 unverified/ambiguous unverified scope=unverified/ambiguous
			15 a r1 preserved/match preserved scope=preserved/match
			state preserved
		`,
	},
	{
		name: "not covered: snapshot: made to match after a false no_op", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			compactedAt(3, "a", boundary.NoOp),
			snapAt(4, "a", "scope=S1"),
			lookAt(5, "a", "scope=S1"),
		},
		want: `
			5 a r1 preserved/match preserved scope=preserved/match
			state preserved
		`,
	},
	{
		name: "snapshot: failed, beside a real one", until: 300, state: "a",
		steps: []attackStep{
			snapAt(0, "a", "scope=S0"),
			snapAt(1, "a", "", snapshotFailed),
			lookAt(5, "a", "scope=S1"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "not covered: snapshot: failed, instead of a real one", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "", snapshotFailed),
			lookAt(5, "a", "scope=S1"),
		},
		want: `
			5 a r1 unverified/evidence_missing unverified scope=unverified/evidence_missing
			state unverified
		`,
	},
	{
		name: "snapshot: a core name marked as not required", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0 constraint.c0=C0", optional),
			lookAt(5, "a", "scope=S1 constraint.c0=C0"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval constraint.c0=preserved/match !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "not covered: snapshot: an own name marked as not required", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0 mine=M0", optional),
			lookAt(5, "a", "scope=S0 mine=M1"),
		},
		want: `
			5 a r1 preserved/match preserved scope=preserved/match mine=conflicting/changed_without_approval
			state preserved
		`,
	},
	{
		name: "snapshot: an own name marked as not required, but configured", until: 300, state: "a",
		cfg: func(c *boundary.Config) { c.RequiredInvariants = []string{"mine"} },
		steps: []attackStep{
			snapAt(1, "a", "scope=S0 mine=M0", optional),
			lookAt(5, "a", "scope=S0 mine=M1"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=preserved/match mine=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "snapshot: marked as text", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0", textual),
			lookAt(5, "a", "scope=S1"),
		},
		want: `
			5 a r1 unverified/restatement_differs unverified scope=unverified/restatement_differs
			61 a r2 unverified/restatement_differs unverified scope=unverified/restatement_differs !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "snapshot: dated ahead", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0", happened(3600)),
			lookAt(5, "a", "scope=S0"),
		},
		want: `
			5 a r1 unverified/not_fresh unverified scope=unverified/not_fresh
			61 a r2 unverified/not_fresh unverified scope=unverified/not_fresh !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "observation: partial, to hide a loss", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0 target=T0"),
			lookAt(5, "a", "scope=S0", partial),
		},
		want: `
			5 a r1 unverified/observation_incomplete unverified scope=preserved/match target=unverified/observation_incomplete
			61 a r2 unverified/observation_incomplete unverified scope=preserved/match target=unverified/observation_incomplete !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "not covered: observation: dated ahead", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0"),
			lookAt(5, "a", "scope=S0", seen(240)),
			lookAt(10, "a", "scope=S1"),
		},
		want: `
			5 a r1 preserved/match preserved scope=preserved/match
			state preserved
		`,
	},
	{
		name: "observation: dated ahead, and the next boundary", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0"),
			lookAt(5, "a", "scope=S0", happened(80000), seen(80000)),
			snapAt(100, "a", "scope=S0"),
			lookAt(110, "a", "scope=S1"),
		},
		want: `
			5 a r1 preserved/match preserved scope=preserved/match
			110 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "not covered: observation: copied from the snapshot", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0 constraint.c0=C0"),
			lookAt(5, "a", "scope=S0 constraint.c0=C0"),
		},
		want: `
			5 a r1 preserved/match preserved scope=preserved/match constraint.c0=preserved/match
			state preserved
		`,
	},
	{
		name: "observation: claims to be the environment", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0 constraint.c0=C0"),
			lookAt(5, "a", "scope=S0@environment constraint.c0=C0@environment"),
		},
		want: `
			5 a r1 unverified/source_not_accepted unverified scope=preserved/match constraint.c0=unverified/source_not_accepted
			61 a r2 unverified/source_not_accepted unverified scope=preserved/match constraint.c0=unverified/source_not_accepted !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "not covered: observation: claims to be a human", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "constraint.c0=C0"),
			lookAt(5, "a", "constraint.c0=C0@human"),
		},
		want: `
			5 a r1 preserved/match preserved constraint.c0=preserved/match
			state preserved
		`,
	},
	{
		name: "observation: of another agent of the session", until: 300, state: "a/x",
		steps: []attackStep{
			snapAt(1, "a/x", "scope=S0"),
			lookAt(5, "a/y", "scope=S0"),
		},
		want: `
			6 a/y r1 unverified/no_baseline unverified scope=unverified/no_baseline
			61 a/x r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "not covered: observation: its event id taken in advance", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0"),
			lookAt(4, "a", "scope=S0", withFingerprint(7)),
			lookAt(5, "a", "scope=S1", withFingerprint(7)),
		},
		want: `
			4 a r1 preserved/match preserved scope=preserved/match
			state preserved
		`,
	},
	{
		name: "not covered: silence: session end before the deadline", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0"),
			endsAt(2, "a"),
		},
		want: `
			2 a r1 unverified/session_ended unverified scope=unverified/session_ended
			state unverified
		`,
	},
	{
		name: "silence: session end after a loss", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0"),
			lookAt(2, "a", "scope=S1"),
			endsAt(3, "a"),
		},
		want: `
			2 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "not covered: silence: false no_op before the deadline", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0"),
			compactedAt(2, "a", boundary.NoOp),
		},
		want: `
			state
		`,
	},
	{
		name: "not covered: silence: false failure before the deadline", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0"),
			compactedAt(2, "a", boundary.Failed),
		},
		want: `
			2 a r1 unverified/compaction_failed unverified
			state
		`,
	},
	{
		name: "not covered: silence: false no_op after the deadline", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0"),
			compactedAt(100, "a", boundary.NoOp, happened(2)),
		},
		want: `
			61 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			100 a r2 unverified/post_observation_missing unverified !post_observation_missing:resolved
			state
		`,
	},
	{
		name: "silence: false no_op after a loss", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
			compactedAt(6, "a", boundary.NoOp, happened(4)),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			state conflicting
		`,
	},
	{
		name: "not covered: silence: runtime chosen for confirm", until: 300, state: "a",
		steps: []attackStep{
			compactedAt(0, "z", boundary.Completed, ofRuntime("claude_code")),
			snapAt(1, "a", "scope=S0", ofRuntime("claude_code")),
		},
		want: `
			60 z r1 unverified/no_observation unverified
			61 a r1 unverified/compaction_unconfirmed unverified scope=unverified/compaction_unconfirmed
			state unverified
		`,
	},
	{
		name: "silence: runtime chosen for confirm, which is off", until: 300, state: "a",
		cfg: unconfirming,
		steps: []attackStep{
			compactedAt(0, "z", boundary.Completed, ofRuntime("claude_code")),
			snapAt(1, "a", "scope=S0", ofRuntime("claude_code")),
		},
		want: `
			60 z r1 unverified/no_observation unverified
			61 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "silence: runtime chosen for confirm, with decision_unverified on", until: 300, state: "a",
		cfg: func(c *boundary.Config) { c.Alerts[boundary.AlertDecisionUnverified] = true },
		steps: []attackStep{
			compactedAt(0, "z", boundary.Completed, ofRuntime("claude_code")),
			snapAt(1, "a", "scope=S0", ofRuntime("claude_code")),
		},
		want: `
			60 z r1 unverified/no_observation unverified
			61 a r1 unverified/compaction_unconfirmed unverified scope=unverified/compaction_unconfirmed !decision_unverified:firing
			state unverified
		`,
	},
	{
		name: "not covered: silence: runtime chosen that waits for activity", until: 300, state: "a",
		cfg: lazy,
		steps: []attackStep{
			snapAt(0, "a", "scope=S0", ofRuntime("lazy")),
			acts(1, "a", ofRuntime("lazy")),
			compactedAt(2, "a", boundary.Completed, ofRuntime("lazy")),
		},
		want: `
			state unverified
		`,
	},
	{
		name: "not covered: link: takes the state of another session", until: 300, state: "victim",
		steps: []attackStep{
			snapAt(1, "victim", "scope=S0"),
			startsAt(2, "thief", continuing("victim")),
			lookAt(5, "victim", "scope=S0"),
		},
		want: `
			6 victim r1 unverified/no_baseline unverified scope=unverified/no_baseline
			61 thief r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "not covered: link: moves a loss away", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
			startsAt(6, "b", continuing("a")),
			snapAt(10, "a", "scope=S1"),
			lookAt(15, "a", "scope=S1"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			15 a r1 preserved/match preserved scope=preserved/match
			state preserved
		`,
	},
	{
		name: "link: to a new id after a loss", until: 300, state: "b",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0"),
			lookAt(5, "a", "scope=S1"),
			startsAt(6, "b", continuing("a")),
			snapAt(10, "b", "scope=S1"),
			lookAt(15, "b", "scope=S1"),
		},
		want: `
			5 a r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval !decision_conflicting:firing
			15 b r1 conflicting/changed_without_approval conflicting scope=conflicting/changed_without_approval
			state conflicting
		`,
	},
	{
		name: "boundary id: the same in two sessions", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0", withID("x")),
			snapAt(2, "b", "scope=S1", withID("x")),
			lookAt(5, "b", "scope=S1", withID("x")),
		},
		want: `
			5 b r1 preserved/match preserved scope=preserved/match
			61 a r1 unverified/post_observation_missing unverified scope=unverified/post_observation_missing !post_observation_missing:firing
			state unverified
		`,
	},
	{
		name: "not covered: boundary id: of another agent of the session", until: 300, state: "a/x",
		steps: []attackStep{
			snapAt(1, "a/x", "scope=S0", withID("x")),
			lookAt(5, "a/y", "scope=S0", withID("x")),
		},
		want: `
			5 a/x r1 preserved/match preserved scope=preserved/match
			state preserved
		`,
	},
	{
		name: "not covered: refusal: forged", until: 300, state: "a",
		steps: []attackStep{
			snapAt(1, "a", "scope=S0"),
			refusesAt(2, "a"),
			lookAt(5, "a", "scope=S0"),
		},
		want: `
			2 a r1 conflicting/continuity_validation_failed conflicting -=conflicting/continuity_validation_failed !decision_conflicting:firing
			6 a r2 conflicting/continuity_validation_failed conflicting scope=preserved/match -=conflicting/continuity_validation_failed
			state conflicting
		`,
	},
}
