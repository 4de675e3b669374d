package signal

import (
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// recognizers map what agents emit by themselves onto the kinds of events. Such
// telemetry carries no digests: it says that a compaction took place and how it
// ended, not what survived.
//
// To add an agent, add
//
//  1. a row for each signal of it that tells of a boundary, and
//  2. a recorded sample of that signal, reduced to what matters and free of
//     user ids, paths and prompts, in testdata/agents/<agent>/, with a .want.json
//     beside it that lists the events expected of it.
//
// The test of this package reads all samples and fails for a row that none of
// them shows. A row states only what was seen; an outcome that the agent does
// not report is left out, which makes it unknown.
var recognizers = []recognizer{
	{
		// A log record once the compaction is over, however it ended. Its body
		// is its name; all its values are strings.
		runtime:  "claude_code",
		form:     LogRecord,
		name:     "claude_code.compaction",
		kind:     boundary.Completion,
		sessions: []string{semconv.SessionID},
		trigger:  "trigger",
		outcomes: []outcomeRule{
			{boundary.Completed, []condition{is("success", "true")}},
			{boundary.NoOp, []condition{is("success", "false"), is("error", "Not enough messages to compact.")}},
			{boundary.NoOp, []condition{is("success", "false"), is("error", "too_few_groups")}},
			{boundary.Cancelled, []condition{is("success", "false"), startsWith("error", "skipped:")}},
			{boundary.Failed, []condition{is("success", "false")}},
		},
	},
}
