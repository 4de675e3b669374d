package hosts

import (
	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

func is(place string, values ...string) []Condition { return []Condition{{place, values}} }

// claudeRows are the events of Claude Code, whose hooks Qwen Code took over.
// SessionStart comes before PostCompact, and PostCompact after success only.
// PreCompact also comes where nothing is compacted in the end.
var claudeRows = []Row{
	{Event: "PreCompact", If: is("trigger", "manual"), Action: Snapshot, Activity: WaitingHuman},
	{Event: "PreCompact", Action: Snapshot, Activity: Working},
	{Event: "PostCompact", If: is("trigger", "manual"), Action: Completion, Outcome: continuity.Completed, Summary: "compact_summary", Activity: WaitingHuman},
	{Event: "PostCompact", Action: Completion, Outcome: continuity.Completed, Summary: "compact_summary", Activity: Working},
	{Event: "SessionStart", If: is("source", "compact"), Action: Start, Output: Context},
	{Event: "SessionStart", Action: Start},
	{Event: "SessionEnd", Action: End},
	{Event: "UserPromptSubmit", Activity: Working},
	{Event: "PreToolUse", Activity: Working},
	{Event: "PostToolUse", Activity: Working},
	{Event: "PermissionRequest", Activity: WaitingHuman},
	{Event: "Notification", If: is("notification_type", "permission_prompt", "idle_prompt", "elicitation_dialog"), Activity: WaitingHuman},
	{Event: "Stop", Activity: WaitingHuman},
}

var cwd = []string{"cwd"}

// all are the hosts.
var all = []Host{
	{
		Name: "claude-code", Runtime: "claude_code", SessionAttribute: semconv.SessionID,
		Event: []string{"hook_event_name"}, Dir: cwd, Session: []string{"session_id"}, Agent: []string{"agent_id"},
		Environment: []string{"CLAUDE_CODE_SESSION_ID"},
		Trigger:     []string{"trigger"}, Turn: []string{"prompt_id", "source"},
		Rows: claudeRows,
	},
	{
		// Its compactions end with PostCompact only where they succeeded.
		// SessionStart comes after it, for manual ones with the next prompt.
		Name: "codex", Runtime: "codex_cli", SessionAttribute: semconv.PlainConversationID,
		Event: []string{"hook_event_name"}, Dir: cwd, Session: []string{"session_id"}, Agent: []string{"agent_id"},
		Trigger: []string{"trigger"}, Turn: []string{"turn_id", "source"},
		Rows: claudeRows,
	},
	{
		// PreCompress comes with every turn, and nothing says afterwards whether
		// anything was compressed: it is no boundary.
		Name: "gemini-cli", Runtime: "gemini_cli", SessionAttribute: semconv.SessionID,
		Event: []string{"hook_event_name"}, Dir: cwd, Session: []string{"session_id"},
		Environment: []string{"GEMINI_SESSION_ID"},
		Trigger:     []string{"trigger"}, Turn: []string{"timestamp", "source"},
		Rows: []Row{
			{Event: "PreCompress", Needs: EveryTurn, Action: Snapshot, Activity: Working},
			{Event: "SessionStart", Action: Start},
			{Event: "SessionEnd", Action: End},
			{Event: "BeforeAgent", Activity: Working},
			{Event: "BeforeTool", Activity: Working},
			{Event: "AfterTool", Activity: Working},
			{Event: "Notification", If: is("notification_type", "ToolPermission"), Activity: WaitingHuman},
			{Event: "AfterAgent", Activity: WaitingHuman},
		},
	},
	{
		// From its documentation: no recording of it exists.
		Name: "qwen-code", Runtime: "qwen_code", SessionAttribute: semconv.SessionID,
		Event: []string{"hook_event_name"}, Dir: cwd, Session: []string{"session_id"}, Agent: []string{"agent_id"},
		Trigger: []string{"trigger"}, Turn: []string{"prompt_id", "timestamp", "source"},
		Rows: claudeRows,
	},
	{
		// From its documentation: no recording of it exists. Nothing comes after a
		// compaction, and its generation_id is that of the user's message.
		Name: "cursor", Runtime: "cursor", SessionAttribute: semconv.ConversationID,
		Event: []string{"hook_event_name"}, Dir: []string{"workspace_roots.0"}, Session: []string{"conversation_id", "session_id"},
		Trigger: []string{"trigger"}, Turn: []string{"generation_id"},
		Rows: []Row{
			{Event: "preCompact", If: is("trigger", "manual"), Action: Snapshot, Activity: WaitingHuman},
			{Event: "preCompact", Action: Snapshot, Activity: Working},
			{Event: "sessionStart", Action: Start},
			{Event: "sessionEnd", Action: End},
			{Event: "beforeSubmitPrompt", Activity: Working},
			{Event: "postToolUse", Activity: Working},
			{Event: "stop", Activity: WaitingHuman},
		},
	},
	{
		// Its plugin names the event, and adds trigger, compaction_id and compacting.
		// The part "compaction" is no boundary: a fork sends old ones again. One part
		// can have several attempts, each with a snapshot of its own.
		Name: "opencode", Runtime: "opencode", SessionAttribute: semconv.SessionID,
		Event: []string{"hook_event_name", "type"}, Dir: cwd,
		Session: []string{"properties.sessionID", "input.sessionID", "sessionID"},
		Trigger: []string{"trigger"}, Unique: []string{"id"}, Turn: []string{"compaction_id"},
		Rows: []Row{
			{Event: "experimental.session.compacting", If: is("trigger", "manual"), Action: Snapshot, Activity: WaitingHuman},
			{Event: "experimental.session.compacting", Action: Snapshot, Activity: Working},
			{Event: "session.compacted", Action: Completion, Outcome: continuity.Completed, Output: Text},
			{Event: "session.error", If: is("compacting", "true"), Action: Completion, Outcome: continuity.Failed},
			{Event: "session.created", Action: Start},
			{Event: "session.deleted", Action: End},
			{Event: "chat.message", Activity: Working},
			{Event: "session.idle", Activity: WaitingHuman},
		},
	},
	{
		// For any other host: whoever wires it writes the payload.
		Name: "generic", SessionAttribute: semconv.ConversationID,
		Event: []string{"event"}, Dir: cwd, Session: []string{"session_id"}, Agent: []string{"agent_id"},
		Previous: []string{"previous_session_id"},
		Trigger:  []string{"trigger"}, Outcome: []string{"outcome"}, Unique: []string{"id"}, Turn: []string{"turn_id"},
		Rows: []Row{
			{Event: "before_compaction", Action: Snapshot},
			{Event: "after_compaction", Action: Completion, Summary: "summary", Output: Text},
			{Event: "session_start", If: is("source", "compact"), Action: Start, Output: Text},
			{Event: "session_start", Action: Start},
			{Event: "session_end", Action: End},
			{Event: Working, Activity: Working},
			{Event: WaitingHuman, Activity: WaitingHuman},
		},
	},
}
