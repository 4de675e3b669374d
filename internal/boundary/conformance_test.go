package boundary_test

import (
	"slices"
	"testing"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// The conformance cases, as far as they can be told as events, in the text form
// of history_test.go: on the core and on the model.
func TestConformance(t *testing.T) {
	machines := []struct {
		name string
		make func(*boundary.Config) machine
	}{
		{"model", func(c *boundary.Config) machine { return newModel(c) }},
		{"core", func(c *boundary.Config) machine { return newCore(c) }},
	}
	for _, m := range machines {
		t.Run(m.name, func(t *testing.T) {
			for _, row := range slices.Concat(conformance, agentCases) {
				t.Run(row.name, func(t *testing.T) {
					h := parseHistory(row.text)
					h.check(t, h.run(m.make(&h.cfg)))
				})
			}
		})
	}
}

var conformance = []struct{ name, text string }{
	{"six.kept_exactly_1", `
		0 s1 snapshot base target=- constraint.c0=-
		0.3 s1 observation base target=- constraint.c0=-
		> s1 preserved/match coverage=observed
	`},
	{"six.kept_exactly_2", `
		0 s1 snapshot base target=- constraint.c0=-
		0.3 s1 observation base scope=S0@environment target=- acceptance_test=Q0@environment constraint.c0=-
		> s1 preserved/match coverage=observed
	`},
	{"six.approved_acceptance_test", `
		0 s1 snapshot base target=- constraint.c0=-
		0.1 s1 approval acceptance_test Q0>Q1
		0.3 s1 observation base target=- acceptance_test=Q1 constraint.c0=-
		> s1 approved_change/approved_transition coverage=observed
	`},
	{"six.lost_approval_boundary", `
		0 s1 snapshot base target=- constraint.c0=-
		0.3 s1 observation base approval_boundary=- target=- constraint.c0=-
		> s1 dropped/missing_after coverage=observed alerts=decision_dropped:firing
	`},
	{"six.scope_changed", `
		0 s1 snapshot base target=- constraint.c0=-
		0.3 s1 observation base scope=S9 target=- constraint.c0=-
		> s1 conflicting/changed_without_approval coverage=observed alerts=decision_conflicting:firing
	`},
	{"six.test_repeated_without_new_observation", `
		0 s1 snapshot base target=- constraint.c0=-
		0.3 s1 observation base target=- acceptance_test=Q0~same constraint.c0=-
		> s1 unverified/not_fresh
		> s1 unverified/not_fresh rev=2 alerts=post_observation_missing:firing
	`},
	{"states.two_defects_authority_first", `
		0 s1 snapshot base
		0.3 s1 observation base approval_boundary=- acceptance_test=Q0~same
		> s1 dropped/missing_after @approval_boundary=dropped/missing_after @acceptance_test=unverified/not_fresh @scope=preserved/match alerts=decision_dropped:firing action=pause_and_restore
	`},
	{"states.conflict_outranks_drop", `
		0 s1 snapshot base
		0.3 s1 observation base scope=S9 acceptance_test=-
		> s1 conflicting/changed_without_approval @acceptance_test=dropped alerts=decision_conflicting:firing,decision_dropped:firing action=hold_and_ask actions=hold_and_ask,pause_and_restore
	`},
	{"states.one_of_two_constraints_lost", `
		0 s1 snapshot base constraint.c1=C1 constraint.c2=C2
		0.3 s1 observation base constraint.c1=C1
		> s1 dropped/missing_after @constraint.c2=dropped/missing_after @constraint.c1=preserved/match alerts=decision_dropped:firing
	`},
	{"states.partial_observation_is_not_a_drop", `
		0 s1 snapshot base
		0.3 s1 observation base target=- partial
		> s1 unverified/observation_incomplete @target=unverified/observation_incomplete
		> s1 unverified/observation_incomplete @target=unverified/observation_incomplete rev=2 alerts=post_observation_missing:firing
	`},
	{"states.attributes_lost_by_the_sdk", `
		0 s1 snapshot base
		0.3 s1 observation base target=- dropped
		> s1 unverified/observation_incomplete
		> s1 unverified/observation_incomplete rev=2 alerts=post_observation_missing:firing
	`},
	{"states.evidence_merges_while_the_window_is_open", `
		0 s1 snapshot base
		0.3 s1 observation base target=- partial
		0.8 s1 observation target=T0 partial
		> s1 unverified/observation_incomplete
		> s1 preserved/match rev=2
	`},
	{"states.a_probe_does_not_disarm_the_window", `
		0 s1 snapshot base
		0.3 s1 observation base src=environment
		> s1 unverified/source_not_accepted @target=preserved/match @approval_boundary=unverified/source_not_accepted
		> s1 unverified/source_not_accepted @target=preserved/match @approval_boundary=unverified/source_not_accepted rev=2 alerts=post_observation_missing:firing
	`},
	{"states.honest_rewording_is_no_conflict", `
		0 s1 snapshot base scope=S0%text
		0.3 s1 observation base scope=the_payments_repository
		> s1 unverified/restatement_differs @scope=unverified/restatement_differs
		> s1 unverified/restatement_differs @scope=unverified/restatement_differs rev=2 alerts=post_observation_missing:firing
	`},
	{"states.reworded_by_the_world_is_a_conflict", `
		0 s1 snapshot base target=T0%text
		0.3 s1 observation base target=T9@environment
		> s1 conflicting/changed_without_approval alerts=decision_conflicting:firing
	`},
	{"states.event_level_source_and_time", `
		0 s1 snapshot base
		0.3 s1 observation base src=agent obs=0 evobs=0
		> s1 preserved/match coverage=observed
	`},
	{"states.snapshot_could_not_be_taken", `
		0 s1 snapshot failed
		0.3 s1 observation base
		> s1 unverified/evidence_missing
	`},
	{"states.none_before_silence_after", `
		0 s1 snapshot base constraint.c1=none
		0.3 s1 observation base
		> s1 preserved/match @constraint.c1=preserved/match
	`},
	{"states.explicitly_none_after", `
		0 s1 snapshot base
		0.3 s1 observation base constraint.c0=none
		> s1 dropped/missing_after @constraint.c0=dropped/missing_after alerts=decision_dropped:firing
	`},
	{"states.agreed_none", `
		0 s1 snapshot base constraint.c1=none
		0.3 s1 observation base constraint.c1=none
		> s1 preserved/match @constraint.c1=preserved/match
	`},
	{"states.addition_against_explicit_none", `
		0 s1 snapshot base constraint.c1=none
		0.3 s1 observation base constraint.c1=C1
		> s1 conflicting/unapproved_addition alerts=decision_conflicting:firing
	`},
	{"states.addition_without_baseline", `
		0 s1 snapshot base
		0.3 s1 observation base constraint.c1=C1
		> s1 unverified/no_baseline @constraint.c1=unverified/no_baseline @scope=preserved/match
	`},
	{"states.read_back_from_a_file", `
		0 s1 snapshot base
		0.3 s1 observation base src=record
		> s1 unverified/source_not_accepted action=reobserve
		> s1 unverified/source_not_accepted rev=2 alerts=post_observation_missing:firing action=reobserve
	`},
	{"states.no_source", `
		0 s1 snapshot base
		0.3 s1 observation base scope=S0@
		> s1 unverified/source_missing @scope=unverified/source_missing
		> s1 unverified/source_missing @scope=unverified/source_missing rev=2 alerts=post_observation_missing:firing
	`},
	{"states.no_observation_time", `
		0 s1 snapshot base
		0.3 s1 observation base scope=S0~no
		> s1 unverified/not_fresh @scope=unverified/not_fresh
		> s1 unverified/not_fresh @scope=unverified/not_fresh rev=2 alerts=post_observation_missing:firing
	`},
	{"states.iso_time", `
		0 s1 snapshot base scope=S0~old
		0.3 s1 observation base scope=S0~0
		> s1 preserved/match
	`},
	{"states.time_without_zone", `
		0 s1 snapshot base
		0.3 s1 observation base scope=S0~no
		> s1 unverified/not_fresh @scope=unverified/not_fresh
		> s1 unverified/not_fresh @scope=unverified/not_fresh rev=2 alerts=post_observation_missing:firing
	`},
	{"states.empty_observation", `
		0 s1 snapshot base
		0.3 s1 observation
		> s1 unverified/observation_empty @scope=unverified/observation_empty
		> s1 unverified/observation_empty @scope=unverified/observation_empty rev=2 alerts=post_observation_missing:firing
	`},
	{"states.empty_snapshot", `
		0 s1 snapshot
		0.3 s1 observation base
		> s1 unverified/no_baseline
	`},
	{"states.optional_invariant_lost", `
		0 s1 snapshot base note=N1%optional
		0.3 s1 observation base
		> s1 preserved/match @note=dropped/missing_after
	`},
	{"states.required_invariant_never_recorded", `
		config required=scope,budget
		0 s1 snapshot base
		0.3 s1 observation base
		> s1 unverified/no_baseline @budget=unverified/no_baseline
	`},
	{"pairing.observation_never_arrives", `
		0 s1 snapshot base
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing action=reobserve
	`},
	{"pairing.compaction_alone_never_alerts", `
		0 s1 snapshot base
		0.3 s1 observation base
		> s1 preserved/match
	`},
	{"pairing.late_observation_resolves", `
		0 s1 snapshot base
		3 s1 observation base
		until 5
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
		> s1 preserved/match late rev=2 alerts=post_observation_missing:resolved
	`},
	{"pairing.late_observation_with_a_loss", `
		0 s1 snapshot base
		3 s1 observation base scope=-
		until 5
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
		> s1 dropped/missing_after late alerts=post_observation_missing:resolved,decision_dropped:firing
	`},
	{"pairing.duplicate_delivery", `
		0 s1 snapshot base dup=d1
		0.1 s1 snapshot base dup=d1
		0.3 s1 observation base dup=d3
		0.5 s1 observation base dup=d3
		> s1 preserved/match
	`},
	{"pairing.snapshot_redelivered_after_the_verdict", `
		0 s1 snapshot base dup=e-1
		0.3 s1 observation base
		0.6 s1 snapshot base dup=e-1
		> s1 preserved/match
	`},
	{"pairing.observation_before_snapshot", `
		0 s1 observation base
		0.2 s1 snapshot base event=-1
		> s1 preserved/match
	`},
	{"pairing.one_batch_in_reverse", `
		0 s1 observation base event=0.2
		0 s1 snapshot base event=-1
		> s1 preserved/match
	`},
	{"pairing.observation_without_snapshot", `
		0 s1 observation base
		> s1 unverified/no_baseline
	`},
	{"pairing.second_snapshot_supersedes", `
		0 s1 snapshot base
		0.4 s1 snapshot base
		0.8 s1 observation base
		> s1 preserved/match
	`},
	{"pairing.retries_keep_the_first_deadline", `
		0 s1 snapshot base
		0.7 s1 snapshot base
		1.4 s1 snapshot base
		1.8 s1 snapshot base
		until 3.4
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
	`},
	{"pairing.two_candidates_that_differ", `
		0 s1 snapshot base target=TA
		0.2 s1 snapshot base target=TB
		0.5 s1 observation base target=TB
		> s1 unverified/ambiguous @target=unverified/ambiguous @scope=preserved/match
	`},
	{"pairing.ids_pair_in_any_order", `
		0 s1 snapshot base target=TA id=b1
		0.1 s1 snapshot base target=TB id=b2
		0.3 s1 observation base target=TB id=b2
		0.5 s1 observation base target=TA id=b1
		> s1 preserved/match id=b2
		> s1 preserved/match id=b1
	`},
	{"pairing.compaction_failed", `
		0 s1 snapshot base
		0.3 s1 completion failed
		> s1 unverified/compaction_failed
	`},
	{"pairing.compaction_cancelled", `
		0 s1 snapshot base
		0.3 s1 completion cancelled
	`},
	{"pairing.compaction_no_op", `
		0 s1 snapshot base
		0.3 s1 completion no_op
	`},
	{"pairing.completion_then_observation", `
		0 s1 snapshot base
		0.2 s1 completion completed
		0.5 s1 observation base
		> s1 preserved/match outcome=completed
	`},
	{"pairing.completion_only", `
		0 s1 completion completed
		> s1 unverified/no_observation coverage=boundary
	`},
	{"pairing.session_ends", `
		0 s1 snapshot base
		0.3 s1 end
		> s1 unverified/session_ended
	`},
	{"pairing.session_ends_and_resumes", `
		0 s1 snapshot base
		0.3 s1 end
		0.8 s1 start
		until 4.5
		> s1 unverified/session_ended
		> s1 unverified/post_observation_missing rev=2 alerts=post_observation_missing:firing
	`},
	{"pairing.session_ends_and_is_observed", `
		0 s1 snapshot base
		0.3 s1 end
		1 s1 observation base
		> s1 unverified/session_ended
		> s1 preserved/match rev=2
	`},
	{"pairing.unconfirmed_compaction_is_no_alarm", `
		0 s2 completion runtime=claude_code
		0.2 s1 snapshot base runtime=claude_code
		> s1 unverified/compaction_unconfirmed runtime=claude_code coverage=baseline
		> s2 unverified/no_observation
	`},
	{"pairing.never_confirms_so_it_counts", `
		0 s1 snapshot base runtime=claude_code
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
	`},
	{"pairing.confirmed_and_silent", `
		0 s1 snapshot base runtime=claude_code
		0.3 s1 completion
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
	`},
	{"pairing.the_window_starts_with_the_completion", `
		0 s1 snapshot base
		1.2 s1 completion
		2.8 s1 observation base
		until 5
		> s1 preserved/match
	`},
	{"pairing.hand_over_by_boundary_id", `
		0 s1/planner snapshot base id=h1
		0.3 s1/builder observation base id=h1
		> s1 preserved/match id=h1
	`},
	{"pairing.long_loss_is_not_laundered", `
		0 s1 snapshot base constraint.c2=C2
		0.3 s1 observation base
		0.6 s1 snapshot base
		0.9 s1 observation base
		1.2 s1 snapshot base constraint.c2=C2
		1.5 s1 observation base constraint.c2=C2
		> s1 dropped/missing_after state=dropped alerts=decision_dropped:firing
		> s1 preserved/match state=dropped
		> s1 preserved/match state=preserved alerts=decision_dropped:resolved
	`},
	{"pairing.restored_by_reobservation", `
		0 s1 snapshot base
		0.3 s1 observation base constraint.c0=-
		0.8 s1 observation base
		> s1 dropped/missing_after state=dropped alerts=decision_dropped:firing
		> s1 preserved/match state=preserved rev=2 alerts=decision_dropped:resolved
	`},
	{"pairing.unverified_resolves_nothing", `
		0 s1 snapshot base
		0.3 s1 observation base constraint.c0=-
		0.6 s1 snapshot base
		0.9 s1 observation base src=record
		> s1 dropped/missing_after state=dropped alerts=decision_dropped:firing
		> s1 unverified/source_not_accepted state=dropped
		> s1 unverified/source_not_accepted state=dropped rev=2 alerts=post_observation_missing:firing
	`},
	{"pairing.window_per_runtime", `
		config slow=4s
		0 s1 snapshot base runtime=slow
		2.6 s1 observation base
		until 5
		> s1 preserved/match
	`},
	{"holes.unobserved_baseline_stays_owed", `
		0 s1 snapshot base constraint.c2=C2
		2.6 s1 snapshot base
		3 s1 observation base
		until 6.5
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
		> s1 unverified/ambiguous @constraint.c2=unverified/ambiguous @scope=preserved/match
	`},
	{"holes.cancelled_second_keeps_the_first", `
		0 s1 snapshot base constraint.c2=C2
		0.3 s1 snapshot base
		0.4 s1 completion cancelled
		0.8 s1 observation base
		> s1 dropped/missing_after @constraint.c2=dropped/missing_after alerts=decision_dropped:firing
	`},
	{"holes.snapshot_from_the_summary", `
		0 s1 completion event=-3
		0.4 s1 snapshot base constraint.c0=-
		0.8 s1 observation base constraint.c0=-
		> s1 unverified/no_baseline coverage=boundary
		> s1 preserved/match
	`},
	{"holes.observed_before_it_was_over", `
		0 s1 snapshot base
		0.2 s1 observation base
		1.6 s1 completion
		until 6
		> s1 preserved/match
		> s1 unverified/observed_too_early rev=2
		> s1 unverified/observed_too_early rev=3 alerts=post_observation_missing:firing
	`},
	{"holes.observed_in_the_future", `
		0 s1 snapshot base
		0.3 s1 observation base obs=far
		> s1 unverified/not_fresh
		> s1 unverified/not_fresh rev=2 alerts=post_observation_missing:firing
	`},
	{"holes.cut_on_both_sides", `
		0 s1 snapshot base constraint.c0=- dropped
		0.3 s1 observation base constraint.c0=- dropped
		> s1 unverified/snapshot_truncated
	`},
	{"holes.digest_of_a_placeholder", `
		0 s1 snapshot base scope=!digest_empty
		0.3 s1 observation base scope=!digest_empty
		> s1 unverified/digest_empty @scope=unverified/digest_empty
	`},
	{"holes.none_everywhere", `
		0 s1 snapshot scope=none approval_boundary=none
		0.3 s1 observation scope=none approval_boundary=none
		> s1 unverified/evidence_missing
	`},
	{"holes.weak_after_strong", `
		0 s1 snapshot base
		0.3 s1 observation base
		0.8 s1 observation base src=environment
		> s1 preserved/match
	`},
	{"holes.stale_look_is_no_conflict", `
		0 s1 snapshot base scope=P2
		0.3 s1 observation base scope=P1~old
		> s1 unverified/not_fresh @scope=unverified/not_fresh
		> s1 unverified/not_fresh @scope=unverified/not_fresh rev=2 alerts=post_observation_missing:firing
	`},
	{"holes.envelope_not_shown", `
		0 s1 snapshot base env0
		0.3 s1 observation base
		> s1 unverified/envelope_not_observed
		> s1 unverified/envelope_not_observed rev=2 alerts=post_observation_missing:firing
	`},
	{"holes.flushed_after_the_end", `
		0 s1 snapshot base
		0.3 s1 end
		0.6 s1 completion
		> s1 unverified/session_ended
	`},
	{"holes.the_gate_knows_no_agent", `
		0 s1/sub snapshot base
		0.1 s1 approval scope S0>S1
		0.3 s1/sub observation base scope=S1
		> s1 approved_change/approved_transition
	`},
	{"holes.approved_expiry_unreadable", `
		0 s1 snapshot base
		0.1 s1 approval scope S0>S1 expires=bad
		0.3 s1 observation base scope=S1
		> s1 conflicting/approval_expired alerts=decision_conflicting:firing
	`},
	{"holes.ids_that_differ", `
		0 s1 snapshot base id=b1
		0.3 s1 observation base id=b2
		> s1 unverified/no_baseline id=b2
		> s1 unverified/post_observation_missing id=b1 alerts=post_observation_missing:firing
	`},
	{"holes.absence_needs_an_accepted_source", `
		0 s1 snapshot base
		0.3 s1 observation base approval_boundary=- constraint.c0=- src=environment
		> s1 unverified/observation_incomplete @approval_boundary=unverified/observation_incomplete @target=preserved/match
		> s1 unverified/observation_incomplete @approval_boundary=unverified/observation_incomplete @target=preserved/match rev=2 alerts=post_observation_missing:firing
	`},
	{"holes.marker_beside_a_producer", `
		0 s1 snapshot
		0.1 s1 snapshot base
		0.4 s1 observation base
		> s1 preserved/match
	`},
	{"holes.bare_marker_does_not_resolve", `
		0 s1 snapshot base
		3 s1 observation
		until 5.5
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
		> s1 unverified/observation_empty rev=2
	`},
	{"holes.seen_before_it_was_over_arrives_late", `
		0 s1 snapshot base event=-9
		0.3 s1 completion
		0.8 s1 observation base obs=-5
		> s1 unverified/observed_too_early
		> s1 unverified/observed_too_early rev=2 alerts=post_observation_missing:firing
	`},
	{"holes.a_probe_does_not_clear_what_the_agent_showed", `
		0 s1 snapshot base
		0.3 s1 observation base target=T9
		0.8 s1 observation target=T0 src=environment partial
		until 5
		> s1 conflicting/changed_without_approval state=conflicting alerts=decision_conflicting:firing
	`},
	{"holes.older_look_arrives_last", `
		0 s1 snapshot base obs=-300 event=-9
		0.3 s1 observation base
		0.8 s1 observation base scope=S9 obs=-5
		until 4.5
		> s1 preserved/match
	`},
	{"holes.fires_again_after_it_was_resolved", `
		0 s1 snapshot base
		0.3 s1 observation base constraint.c0=-
		0.9 s1 observation base
		1.6 s1 observation base constraint.c0=-
		until 4.5
		> s1 dropped/missing_after state=dropped alerts=decision_dropped:firing
		> s1 preserved/match state=preserved rev=2 alerts=decision_dropped:resolved
		> s1 dropped/missing_after state=dropped rev=3 alerts=decision_dropped:firing
	`},
	{"holes.changed_while_nobody_looked", `
		0 s1 snapshot base
		0.3 s1 observation base
		0.7 s1 snapshot base target=T7 constraint.c0=-
		1 s1 observation base target=T7 constraint.c0=-
		> s1 preserved/match
		> s1 preserved/match since=constraint.c0,target
	`},
	{"approvals.exact_pair", `
		0 s1 snapshot base
		0.1 s1 approval scope S0>S1
		0.3 s1 observation base scope=S1
		> s1 approved_change/approved_transition action=continue_with_audit
	`},
	{"approvals.before_the_snapshot", `
		0 s1 approval scope S0>S1
		0.2 s1 snapshot base
		0.5 s1 observation base scope=S1
		> s1 approved_change/approved_transition
	`},
	{"approvals.other_pair", `
		0 s1 snapshot base
		0.1 s1 approval scope S0>S2
		0.3 s1 observation base scope=S1
		> s1 conflicting/changed_without_approval alerts=decision_conflicting:firing
	`},
	{"approvals.reverse_direction", `
		0 s1 snapshot base
		0.1 s1 approval scope S1>S0
		0.3 s1 observation base scope=S1
		> s1 conflicting/changed_without_approval alerts=decision_conflicting:firing
	`},
	{"approvals.other_invariant", `
		0 s1 snapshot base
		0.1 s1 approval target S0>S1
		0.3 s1 observation base scope=S1
		> s1 conflicting/changed_without_approval alerts=decision_conflicting:firing
	`},
	{"approvals.other_session", `
		0 s1 snapshot base
		0.1 s2 approval scope S0>S1
		0.3 s1 observation base scope=S1
		> s1 conflicting/changed_without_approval alerts=decision_conflicting:firing
	`},
	{"approvals.from_the_summary", `
		0 s1 snapshot base
		0.1 s1 approval scope S0>S1 dependent
		0.3 s1 observation base scope=S1
		> s1 conflicting/approval_not_independent alerts=decision_conflicting:firing
	`},
	{"approvals.from_the_agent", `
		0 s1 snapshot base
		0.1 s1 approval scope S0>S1 dependent
		0.3 s1 observation base scope=S1
		> s1 conflicting/approval_not_independent alerts=decision_conflicting:firing
	`},
	{"approvals.expired", `
		0 s1 snapshot base
		0.1 s1 approval scope S0>S1 expires=-3600
		0.3 s1 observation base scope=S1
		> s1 conflicting/approval_expired alerts=decision_conflicting:firing
	`},
	{"approvals.revoked_later", `
		0 s1 snapshot base
		0.1 s1 approval scope S0>S1 ref=apr-7
		0.2 s1 approval scope S0>S1 ref=apr-7 revoked
		0.3 s1 observation base scope=S1
		> s1 conflicting/approval_revoked alerts=decision_conflicting:firing
	`},
	{"approvals.chain", `
		0 s1 snapshot base
		0.1 s1 approval scope S0>S1
		0.15 s1 approval scope S1>S2
		0.3 s1 observation base scope=S2
		> s1 approved_change/approved_transition
	`},
	{"approvals.not_fresh", `
		0 s1 snapshot base
		0.1 s1 approval scope S0>S1
		0.3 s1 observation base scope=S1~no
		> s1 unverified/not_fresh
		> s1 unverified/not_fresh rev=2 alerts=post_observation_missing:firing
	`},
	{"approvals.approved_removal", `
		0 s1 snapshot base
		0.1 s1 approval constraint.c0 C0>none
		0.3 s1 observation base constraint.c0=-
		> s1 approved_change/approved_removal
	`},
	{"approvals.approved_addition", `
		0 s1 snapshot base constraint.c1=none
		0.1 s1 approval constraint.c1 none>C1
		0.3 s1 observation base constraint.c1=C1
		> s1 approved_change/approved_addition
	`},
	{"approvals.widened_scope_and_other_target", `
		0 s1 snapshot base
		0.1 s1 approval scope S0>S1
		0.3 s1 observation base scope=S1 target=T9
		> s1 conflicting/changed_without_approval @scope=approved_change/approved_transition @target=conflicting/changed_without_approval alerts=decision_conflicting:firing
	`},
	{"approvals.given_after_the_verdict", `
		0 s1 snapshot base
		0.3 s1 observation base scope=S1
		0.8 s1 approval scope S0>S1
		> s1 conflicting/changed_without_approval state=conflicting alerts=decision_conflicting:firing
		> s1 conflicting/approved_after state=approved_change rev=2 alerts=decision_conflicting:resolved
	`},
	{"approvals.used_once", `
		0 s1 snapshot base
		0.1 s1 approval scope S0>S1
		0.3 s1 observation base scope=S1
		0.6 s1 snapshot base
		0.9 s1 observation base scope=S1
		> s1 approved_change/approved_transition
		> s1 conflicting/approval_reused alerts=decision_conflicting:firing
	`},
	{"digests.upper_case_hex", `
		0 s1 snapshot base target=X
		0.3 s1 observation base target=X
		> s1 preserved/match @target=preserved/match
	`},
	{"digests.surrounding_blanks", `
		0 s1 snapshot base target=X
		0.3 s1 observation base target=X
		> s1 preserved/match @target=preserved/match
	`},
	{"digests.no_prefix", `
		0 s1 snapshot base target=X
		0.3 s1 observation base target=!digest_malformed
		> s1 unverified/digest_malformed @target=unverified/digest_malformed
		> s1 unverified/digest_malformed @target=unverified/digest_malformed rev=2 alerts=post_observation_missing:firing
	`},
	{"digests.base64", `
		0 s1 snapshot base target=X
		0.3 s1 observation base target=!digest_malformed
		> s1 unverified/digest_malformed @target=unverified/digest_malformed
		> s1 unverified/digest_malformed @target=unverified/digest_malformed rev=2 alerts=post_observation_missing:firing
	`},
	{"digests.not_hex", `
		0 s1 snapshot base target=X
		0.3 s1 observation base target=!digest_malformed
		> s1 unverified/digest_malformed @target=unverified/digest_malformed
		> s1 unverified/digest_malformed @target=unverified/digest_malformed rev=2 alerts=post_observation_missing:firing
	`},
	{"digests.truncated", `
		0 s1 snapshot base target=X
		0.3 s1 observation base target=!digest_malformed
		> s1 unverified/digest_malformed @target=unverified/digest_malformed
		> s1 unverified/digest_malformed @target=unverified/digest_malformed rev=2 alerts=post_observation_missing:firing
	`},
	{"digests.other_algorithm", `
		0 s1 snapshot base target=X
		0.3 s1 observation base target=h:b
		> s1 unverified/digest_incomparable @target=unverified/digest_incomparable
	`},
	{"digests.empty", `
		0 s1 snapshot base target=X
		0.3 s1 observation base target=!digest_malformed
		> s1 unverified/digest_malformed @target=unverified/digest_malformed
		> s1 unverified/digest_malformed @target=unverified/digest_malformed rev=2 alerts=post_observation_missing:firing
	`},
	{"digests.both_truncated_equal", `
		0 s1 snapshot base target=!digest_malformed
		0.3 s1 observation base target=!digest_malformed
		> s1 unverified/digest_malformed
	`},
	{"digests.other_normalizer", `
		0 s1 snapshot base
		0.3 s1 observation base target=T9 form=v2
		> s1 unverified/digest_incomparable @target=unverified/digest_incomparable
	`},
	{"digests.other_key", `
		0 s1 snapshot base target=h:a key=k1
		0.3 s1 observation base target=h:b key=k2
		> s1 unverified/digest_incomparable @target=unverified/digest_incomparable
	`},
	{"digests.digest_is_a_map", `
		0 s1 snapshot base
		0.3 s1 observation base target=!attribute_type
		0 s2 snapshot base
		0.3 s2 observation base
		> s1 unverified/attribute_type @target=unverified/attribute_type
		> s1 unverified/attribute_type @target=unverified/attribute_type rev=2 alerts=post_observation_missing:firing
		> s2 preserved/match
	`},
	{"digests.raw_value_never_passes", `
		0 s1 snapshot base target=!raw_value_rejected
		0.3 s1 observation base target=!raw_value_rejected
		> s1 unverified/raw_value_rejected @target=unverified/raw_value_rejected
	`},
	{"digests.secret_in_the_digest_field", `
		0 s1 snapshot base
		0.3 s1 observation base target=!digest_malformed
		> s1 unverified/digest_malformed
		> s1 unverified/digest_malformed rev=2 alerts=post_observation_missing:firing
	`},
	{"envelope.all_equal", `
		0 s1 snapshot base env
		0.3 s1 observation base env
		> s1 preserved validation=reauthorization_required/continuity_validated
	`},
	{"envelope.tampered_summary", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.summary_sha256=c
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/summary_digest_mismatch
	`},
	{"envelope.policy_drift", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.policy_version=policy-v5
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/policy_version_changed
	`},
	{"envelope.unknown_effect", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.side_effect_status=side_effect_unknown
		> s1 unverified alerts=reconciliation_required:firing validation=blocked_on_reconciliation/unknown_side_effect
	`},
	{"envelope.partial_effect", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.side_effect_status=partial_side_effect
		> s1 unverified alerts=reconciliation_required:firing validation=blocked_on_reconciliation/partial_side_effect
	`},
	{"envelope.effect_reconciled", `
		0 s1 snapshot base env env.side_effect_status=side_effect_unknown
		0.3 s1 observation base env env.side_effect_status=applied
		> s1 preserved validation=reauthorization_required/continuity_validated
	`},
	{"envelope.field_missing", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.policy_version=
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/envelope_field_missing
	`},
	{"envelope.unresolved_effect_is_sticky", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.side_effect_status=side_effect_unknown
		0.6 s1 snapshot base
		0.9 s1 observation base
		> s1 unverified state=unverified alerts=reconciliation_required:firing actions=reconcile status=blocked_on_reconciliation
		> s1 preserved/match state=unverified
	`},
	{"envelope.summary_digest_on_the_completion", `
		0 s1 snapshot base env env.summary_sha256=
		0.15 s1 completion env.summary_sha256=b
		0.3 s1 observation base env env.summary_sha256=c
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/summary_digest_mismatch
	`},
	{"envelope.unknown_effect_on_both_sides", `
		0 s1 snapshot base env env.side_effect_status=side_effect_unknown
		0.3 s1 observation base env env.side_effect_status=side_effect_unknown
		> s1 unverified alerts=reconciliation_required:firing validation=blocked_on_reconciliation/unknown_side_effect
	`},
	{"envelope.effect_outranks_drift", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.policy_version=policy-v5 env.side_effect_status=side_effect_unknown
		> s1 conflicting alerts=decision_conflicting:firing,reconciliation_required:firing validation=blocked_on_reconciliation/unknown_side_effect
	`},
	{"envelope.old_effect_names", `
		0 s1 snapshot base env env.side_effect_status=not_started
		0.3 s1 observation base env
		> s1 preserved validation=reauthorization_required/continuity_validated
	`},
	{"envelope.tenant_mismatch", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.tenant_id=tenant-x
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/tenant_mismatch
	`},
	{"envelope.principal_mismatch", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.principal_id=user-1
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/principal_mismatch
	`},
	{"envelope.delegated_principal_changed", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.delegated_principal_id=user-9
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/delegated_principal_changed
	`},
	{"envelope.capability_changed", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.capability_name=delete_ticket
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/capability_changed
	`},
	{"envelope.capability_version_changed", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.capability_version=create-ticket-v4
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/capability_version_changed
	`},
	{"envelope.approval_binding_changed", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.approval_id=apr-018
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/approval_binding_changed
	`},
	{"envelope.action_digest_changed", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.action_digest=sha256:dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/action_digest_changed
	`},
	{"envelope.side_effect_status_changed", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.side_effect_status=applied
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/side_effect_status_changed
	`},
	{"envelope.checkpoint_changed", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.checkpoint_ref=checkpoint:7
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/checkpoint_changed
	`},
	{"envelope.obligation_lost", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.pending_obligations=
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/obligation_lost
	`},
	{"envelope.budget_increased", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.budget_remaining=9
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/budget_increased
	`},
	{"envelope.approval_revoked", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.approval_status=revoked
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/approval_revoked
	`},
	{"envelope.approval_not_active", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.approval_status=pending
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/approval_not_active
	`},
	{"envelope.approval_expired", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.approval_expires_at=2026-01-01T00:00:00Z
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/approval_expired
	`},
	{"envelope.source_range_changed", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.source_event_last=event-0001
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/source_range_changed
	`},
	{"envelope.schema_version_unsupported", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.schema_version=continuity-envelope/v9
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/schema_version_unsupported
	`},
	{"envelope.reauthorization_not_required", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.requires_reauthorization=false
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/reauthorization_not_required
	`},
	{"envelope.authorization_mode_changed", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.authorization_mode=platform_owned
		> s1 conflicting alerts=decision_conflicting:firing validation=continuity_validation_failed/authorization_mode_changed
	`},
	{"envelope.obligation_resolved", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.pending_obligations= env.resolved_obligations=reconcile_ticket_write
		> s1 preserved validation=reauthorization_required/continuity_validated
	`},
	{"envelope.budget_spent", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.budget_remaining=3
		> s1 preserved validation=reauthorization_required/continuity_validated
	`},
	{"envelope.envelope_clean_invariant_lost", `
		0 s1 snapshot base env
		0.3 s1 observation base approval_boundary=- env
		> s1 dropped alerts=decision_dropped:firing validation=continuity_validation_failed/decision_dropped
	`},
	{"envelope.runtime_refused", `
		0 s1 snapshot base env
		0.3 s1 invalid status=blocked_on_reconciliation reason=unknown_side_effect
		> s1 unverified alerts=reconciliation_required:firing validation=blocked_on_reconciliation/unknown_side_effect
	`},
	{"envelope.all_findings_listed", `
		0 s1 snapshot base env
		0.3 s1 observation base env env.tenant_id=t2 env.policy_version=policy-v5
		> s1 conflicting alerts=decision_conflicting:firing findings=tenant_mismatch,policy_version_changed vreason=tenant_mismatch
	`},
	{"identity.id_moves_with_a_link", `
		0 s1 snapshot base
		0.3 s2 observation base prev=s1
		> s2 preserved/match
	`},
	{"identity.id_moves_by_session_start", `
		0 s1 snapshot base
		0.2 s2 start prev=s1
		0.4 s2 observation base
		> s2 preserved/match
	`},
	{"identity.id_moves_without_a_link", `
		0 s1 snapshot base
		0.3 s2 observation base
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
		> s2 unverified/no_baseline
	`},
	{"identity.agents_of_one_session", `
		0 s1 snapshot base target=TA
		0.1 s1/sub snapshot base target=TB
		0.3 s1/sub observation base target=TB
		0.5 s1 observation base target=TA
		> s1 preserved/match
		> s1 preserved/match
	`},
	{"identity.same_id_on_two_hosts", `
		0 h1|s1 snapshot base
		0.3 h2|s1 observation base
		> s1 unverified/no_baseline
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
	`},
	{"identity.tenants_do_not_meet", `
		0 a|s1 snapshot base
		0.3 b|s1 observation base
		> s1 unverified/no_baseline
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
	`},
	{"transport.event_time_zero", `
		0 s1 snapshot base event=zero
		0.3 s1 observation base event=zero
		> s1 preserved/match
	`},
	{"transport.milliseconds_in_a_nanosecond_field", `
		0 s1 snapshot base event=ms
		0.3 s1 observation base
		> s1 preserved/match
	`},
	{"transport.long_and_odd_names", `
		0 s1 snapshot base badname
		0.3 s1 observation base
		> s1 unverified/name_invalid @scope=preserved/match
	`},
	{"transport.too_many_invariants", `
		0 s1 snapshot base toomany
		0.3 s1 observation base toomany
		> s1 unverified/*
	`},
	{"transport.session_mode_marks_later_work", `
		0 s1 activity
		0.1 s1 snapshot base
		0.2 s1 activity
		0.4 s1 observation base scope=S9
		0.6 s1 activity
		0.6 s2 activity
		> s1 conflicting/changed_without_approval alerts=decision_conflicting:firing
	`},
}
