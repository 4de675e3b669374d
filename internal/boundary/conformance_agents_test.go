package boundary_test

// agentCases are what is replayed of real agents, as it is read from their
// telemetry, and in which orders the parts of one compaction may arrive.
var agentCases = []struct{ name, text string }{
	{"agents.claude_manual", `
		0 s1 completion completed runtime=claude_code
		> s1 unverified/no_observation outcome=completed runtime=claude_code coverage=boundary
	`},
	{"agents.claude_two_sessions", `
		0 s1 completion completed runtime=claude_code
		0.2 s1 completion completed runtime=claude_code
		0.2 s1 end
		0.5 s2 completion completed runtime=claude_code
		> s1 unverified/session_ended outcome=completed superseded=1
		> s2 unverified/no_observation outcome=completed superseded=0
	`},
	{"agents.claude_failed", `
		0 s1 completion failed runtime=claude_code
	`},
	{"agents.claude_no_op", `
		0 s1 completion no_op runtime=claude_code
	`},
	{"agents.claude_blocked", `
		0 s1 completion cancelled runtime=claude_code
	`},
	{"agents.claude_auto", `
		0 s1 completion no_op runtime=claude_code
		0.2 s1 completion completed runtime=claude_code
		0.4 s1 completion completed runtime=claude_code
		> s1 unverified/no_observation outcome=completed superseded=1
	`},
	{"agents.codex_manual_twice", `
		0 s1 completion unknown runtime=codex_cli
		1.9 s1 completion unknown runtime=codex_cli
		> s1 unverified/no_observation outcome=unknown superseded=1 runtime=codex_cli
	`},
	{"agents.codex_resumed", `
		0 s1 completion unknown runtime=codex_cli
		0.1 s1 start
		> s1 unverified/no_observation superseded=0
	`},
	{"agents.claude_with_producer", `
		0 s1 snapshot base
		0.3 s1 completion completed runtime=claude_code
		0.8 s1 observation base
		> s1 preserved/match outcome=completed runtime=claude_code
	`},
	{"agents.claude_with_producer_loss", `
		0 s1 snapshot base
		0.3 s1 completion completed runtime=claude_code
		0.8 s1 observation base approval_boundary=-
		> s1 dropped/missing_after outcome=completed runtime=claude_code alerts=decision_dropped:firing
	`},
	{"agents.told_by_hook_and_telemetry", `
		0 s1 snapshot base runtime=claude_code
		0.1 s1 start
		0.1 s1 completion completed runtime=claude_code
		0.5 s1 observation base
		1.5 s1 completion completed runtime=claude_code event=-1.39
		> s1 preserved/match outcome=completed
	`},
	{"agents.completion_and_look_overtake_the_snapshot", `
		0.6 s1 completion completed runtime=claude_code event=-0.5
		0.7 s1 observation base event=-0.1
		0.9 s1 snapshot base event=-0.9
		> s1 preserved/match outcome=completed
	`},
	{"agents.completion_and_look_and_no_snapshot", `
		0.1 s1 completion completed runtime=claude_code
		0.7 s1 observation base
		> s1 unverified/no_baseline outcome=completed
	`},
	{"agents.unanswered_completion_comes_in_twice", `
		0 s1 snapshot base runtime=codex_cli
		0.1 s1 completion completed runtime=codex_cli
		1.5 s1 completion unknown runtime=codex_cli event=-1.39
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
	`},
	{"agents.work_from_before_starts_no_window", `
		config lazy=
		0 s9 activity runtime=lazy
		0.1 s1 snapshot base runtime=lazy
		0.5 s1 completion completed runtime=lazy
		0.8 s1 activity runtime=lazy event=-0.5
		until 9
	`},
	{"agents.work_starts_the_window", `
		config lazy=
		0 s9 activity runtime=lazy
		0.1 s1 snapshot base runtime=lazy
		0.5 s1 completion completed runtime=lazy
		3 s1 activity runtime=lazy
		4 s1 observation base
		> s1 preserved/match outcome=completed
	`},
	{"agents.an_end_ahead_of_the_clock_waits_for_no_work", `
		config lazy=
		0 s9 activity runtime=lazy
		0.1 s1 snapshot base runtime=lazy
		0.5 s1 completion completed runtime=lazy event=3600
		0.8 s1 activity runtime=lazy
		until 9
		> s1 unverified/post_observation_missing alerts=post_observation_missing:firing
	`},
}
