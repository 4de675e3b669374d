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
//     beside it that lists the events expected of it. A sample that was written
//     from documentation has `constructed` in its name.
//
// The test of this package reads all samples and fails for a row that none of
// them shows. A row states only what was seen or is documented; an outcome that
// the agent does not report is left out, which makes it unknown. What only begins
// a compaction has no row: without decisions it would ask for an observation that
// nobody promised.
var recognizers = []Row{
	// Claude Code: a log record once the compaction is over, however it ended. Its
	// body is its name; all its values are strings.
	{
		Runtime:      "claude_code",
		Form:         LogRecord,
		Name:         "claude_code.compaction",
		Kind:         boundary.Completion,
		Sessions:     []string{semconv.SessionID},
		Trigger:      "trigger",
		TokensBefore: "pre_tokens",
		TokensAfter:  "post_tokens",
		Outcomes: []OutcomeRule{
			{boundary.Completed, []Condition{is("success", "true")}},
			{boundary.NoOp, []Condition{is("success", "false"), is("error", "Not enough messages to compact.", "too_few_groups")}},
			{boundary.Cancelled, []Condition{is("success", "false"), startsWith("error", "skipped:")}},
			{boundary.Failed, []Condition{is("success", "false")}},
		},
	},
	// Typing /compact is a prompt too: it is no work that needs a decision.
	{
		Runtime:  "claude_code",
		Form:     LogRecord,
		Name:     "claude_code.user_prompt",
		When:     []Condition{{"command_name", Absent, nil}},
		Kind:     boundary.Activity,
		Sessions: []string{semconv.SessionID},
	},
	{
		Runtime:  "claude_code",
		Form:     LogRecord,
		Name:     "claude_code.tool_result",
		Kind:     boundary.Activity,
		Sessions: []string{semconv.SessionID},
		Writes:   []Condition{is("tool_name", "Bash", "Edit", "MultiEdit", "NotebookEdit", "Write")},
	},

	// Codex: a span around the compaction, the same whether it succeeded or not.
	// Its thread.id is a number of the process, and no session.
	{
		Runtime:  "codex_cli",
		Form:     Span,
		Name:     "codex.compaction",
		Kind:     boundary.Completion,
		Sessions: []string{semconv.PlainConversationID},
	},
	{
		Runtime:  "codex_cli",
		Form:     LogRecord,
		Name:     "codex.user_prompt",
		Kind:     boundary.Activity,
		Sessions: []string{semconv.PlainConversationID},
	},
	{
		Runtime:  "codex_cli",
		Form:     LogRecord,
		Name:     "codex.tool_result",
		Kind:     boundary.Activity,
		Sessions: []string{semconv.PlainConversationID},
		Writes:   []Condition{is("tool_name", "apply_patch", "exec_command", "local_shell", "shell", "shell_command")},
	},

	// Gemini CLI: a result that is larger than what it replaces is thrown away. After
	// /clear the session id on the resource is stale, that on the record is not.
	{
		Runtime:      "gemini_cli",
		Form:         LogRecord,
		Name:         "gemini_cli.chat_compression",
		Kind:         boundary.Completion,
		Sessions:     []string{semconv.SessionID},
		TokensBefore: "tokens_before",
		TokensAfter:  "tokens_after",
		Outcomes:     chatCompression,
	},
	{
		Runtime:  "gemini_cli",
		Form:     LogRecord,
		Name:     "gemini_cli.user_prompt",
		Kind:     boundary.Activity,
		Sessions: []string{semconv.SessionID},
	},
	{
		Runtime:  "gemini_cli",
		Form:     LogRecord,
		Name:     "gemini_cli.tool_call",
		Kind:     boundary.Activity,
		Sessions: []string{semconv.SessionID},
		Writes:   geminiWrites,
	},

	// Qwen Code descends from Gemini CLI.
	{
		Runtime:      "qwen_code",
		Form:         LogRecord,
		Name:         "qwen-code.chat_compression",
		Kind:         boundary.Completion,
		Sessions:     []string{semconv.SessionID},
		TokensBefore: "tokens_before",
		TokensAfter:  "tokens_after",
		Outcomes:     chatCompression,
	},
	{
		Runtime:  "qwen_code",
		Form:     LogRecord,
		Name:     "qwen-code.user_prompt",
		Kind:     boundary.Activity,
		Sessions: []string{semconv.SessionID},
	},
	{
		Runtime:  "qwen_code",
		Form:     LogRecord,
		Name:     "qwen-code.tool_call",
		Kind:     boundary.Activity,
		Sessions: []string{semconv.SessionID},
		Writes:   geminiWrites,
	},

	// GitHub Copilot CLI: an event on a span that may hold both ends.
	{
		Runtime:  "copilot_cli",
		Form:     SpanEvent,
		Name:     "github.copilot.session.compaction_complete",
		Kind:     boundary.Completion,
		Sessions: []string{semconv.ConversationID},
		Outcomes: []OutcomeRule{
			{boundary.Completed, []Condition{is("github.copilot.success", "true")}},
			{boundary.Failed, []Condition{is("github.copilot.success", "false")}},
		},
	},

	{
		Runtime:  "cline",
		Form:     LogRecord,
		Name:     "task.compaction_executed",
		Scope:    "cline",
		Kind:     boundary.Completion,
		Sessions: []string{"ulid"},
		Outcomes: []OutcomeRule{{boundary.Completed, nil}},
	},
	{
		Runtime:  "cline",
		Form:     LogRecord,
		Name:     "task.compaction_skipped",
		Scope:    "cline",
		Kind:     boundary.Completion,
		Sessions: []string{"ulid"},
		Outcomes: []OutcomeRule{{boundary.NoOp, nil}},
	},

	// Google ADK: a span around the attempt. Without a resulting event the model
	// declined, and nothing was replaced.
	{
		Runtime:  "google_adk",
		Form:     Span,
		Name:     "compact_events" + anything,
		Kind:     boundary.Completion,
		Sessions: []string{semconv.ConversationID},
		Outcomes: []OutcomeRule{
			{boundary.Failed, []Condition{{Test: Failed}}},
			{boundary.NoOp, []Condition{{"gen_ai.compaction.result_event_id", Absent, nil}}},
			{boundary.Completed, nil},
		},
	},

	// opencode: the span names no session, so nothing can be paired with it; it is
	// said on the span and counted. Its status does not tell a refused request from
	// a compaction.
	{
		Runtime:  "opencode",
		Form:     Span,
		Name:     "SessionCompaction.process",
		Resource: service("opencode"),
		Kind:     boundary.Completion,
		Sessions: []string{semconv.SessionID},
		Outcomes: []OutcomeRule{{boundary.Failed, []Condition{{Test: Failed}}}},
	},

	// The semantic conventions: a call after a compaction says that the context was
	// compacted. It is the same compaction at every call, so the row is off by
	// default: it may count one compaction more than once.
	{
		Runtime:  "gen_ai",
		Form:     Span,
		When:     []Condition{is("gen_ai.conversation.compacted", "true")},
		Kind:     boundary.Completion,
		Sessions: []string{semconv.ConversationID},
		Outcomes: []OutcomeRule{{boundary.Completed, nil}},
		Off:      true,
	},
}

// chatCompression are the outcomes that Gemini CLI and its descendants report.
var chatCompression = []OutcomeRule{
	{boundary.NoOp, []Condition{{"tokens_after", AtLeast, []string{"tokens_before"}}}},
	{boundary.Completed, []Condition{{"tokens_before", AtLeast, []string{"tokens_after"}}}},
}

var geminiWrites = []Condition{is("function_name", "edit", "replace", "run_shell_command", "write_file")}
