package replay

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// What comes of a boundary.
const (
	kept        = "preserved/match"
	parked      = "unverified/session_ended"
	failed      = "unverified/compaction_failed"
	unconfirmed = "unverified/compaction_unconfirmed"
	telemetry   = "unverified/no_observation"
	alarm       = "unverified/post_observation_missing post_observation_missing:firing"
	nothing     = ""
	either      = "nothing, or parked where the agent's record comes after the session's end"
)

// played is a recorded session: what comes of it with a producer whose agent
// answers, and with one that only takes snapshots; as it was recorded, where the
// process ended soon, and as if it had been left open.
type played struct {
	agent, recording                  string
	answers, silent, open, openSilent string
	why                               string
}

var recordings = []played{
	{"claude-code", "A-manual-ok", kept, parked, kept, alarm, "compacted in one process, the next prompt is answered in another"},
	{"claude-code", "B-stream", kept + ", " + parked + ", " + parked, parked + ", " + parked, kept + ", " + parked + ", " + alarm, parked + ", " + alarm, "/clear ends the first session with a compaction unanswered; nobody asks anything after the last one"},
	{"claude-code", "C-fail500", failed, failed, failed, failed, "its record says that it failed: nothing is owed"},
	{"claude-code", "D-fail400", kept, parked, kept, alarm, "the second try succeeded"},
	{"claude-code", "D2-emptysummary", failed, failed, failed, failed, "an empty summary is a failure"},
	{"claude-code", "E-noop-fresh", either, either, nothing, nothing, "too short to compact, tried twice"},
	{"claude-code", "F-pre-exit2", either, either, nothing, nothing, "another hook blocked it"},
	{"claude-code", "G1-pre-json-block", either, either, nothing, nothing, "another hook blocked it"},
	{"claude-code", "G2-pre-json-continue-false", kept, parked, kept, alarm, "another hook tried to block it and could not"},
	{"claude-code", "G3-pre-json-ctx", kept, parked, kept, alarm, "another hook wrote something"},
	{"claude-code", "G4-pre-text", kept, parked, kept, alarm, "another hook wrote something"},
	{"claude-code", "G5-pre-exit1", parked, parked, alarm, alarm, "compacted, and no prompt followed"},
	{"claude-code", "H-pre-hang", kept, parked, kept, alarm, "another hook hung for six seconds"},
	{"claude-code", "I-post-exit2", kept, parked, kept, alarm, "another hook failed after it"},
	{"claude-code", "I2-start-compact-exit2", kept, parked, kept, alarm, "another hook failed at the start after it"},
	{"claude-code", "J-auto", kept + ", " + kept, parked, kept + ", " + kept, alarm, "once too small, then compacted twice: one debt, so one alert"},
	{"claude-code", "J3-auto-pre-exit2", kept, parked, kept, alarm, "blocked twice without a word, then compacted: one look answers all"},
	{"claude-code", "N-kill9", unconfirmed, unconfirmed, unconfirmed, unconfirmed, "killed while it compacted: nobody can answer"},
	{"claude-code", "N3-sigterm", parked, parked, unconfirmed, unconfirmed, "stopped while it compacted"},
	{"claude-code", "N4-sigint", parked, parked, unconfirmed, unconfirmed, "stopped while it compacted"},
	{"claude-code", "P-fork", parked, parked, alarm, alarm, "a fork is a session of its own; no prompt followed its compaction"},
	{"claude-code", "T-traceparent", parked, parked, alarm, alarm, "compacted, and no prompt followed"},

	{"codex", "A-manual-ok", kept, parked, kept, alarm, "told by hook and span; the question comes with the next prompt"},
	{"codex", "B-resume-compact", kept, parked, kept, alarm, "the same in a resumed session"},
	{"codex", "C-fail500", parked, parked, alarm, alarm, "noise if left open: it failed, and its span does not say so"},
	{"codex", "D-fail400", parked, parked, alarm, alarm, "noise if left open: it failed, and its span does not say so"},
	{"codex", "E-noop-fresh", parked, parked, alarm, alarm, "a fresh session is compacted too; no prompt followed"},
	{"codex", "E2-noop-double", parked, parked, alarm, alarm, "compacted twice, and no prompt followed"},
	{"codex", "F-pre-exit2", kept, parked, kept, alarm, "another hook tried to block it and could not"},
	{"codex", "G2-pre-json-block", parked, parked, alarm, alarm, "compacted, and no prompt followed"},
	{"codex", "G3-pre-json-ctx", parked, parked, alarm, alarm, "compacted, and no prompt followed"},
	{"codex", "G4-pre-text", parked, parked, alarm, alarm, "compacted, and no prompt followed"},
	{"codex", "G5-pre-exit1", parked, parked, alarm, alarm, "compacted, and no prompt followed"},
	{"codex", "H-pre-hang", kept, parked, kept, alarm, "another hook hung for six seconds"},
	{"codex", "I-post-exit2", kept, parked, kept, alarm, "another hook failed after it"},
	{"codex", "I2-post-json-stop", kept, parked, kept, alarm, "another hook wanted to stop after it"},
	{"codex", "J-auto", kept + ", " + kept, parked, kept + ", " + kept, alarm, "compacted before a prompt, twice"},
	{"codex", "J3-auto-pre-exit2", kept + ", " + kept, parked, kept + ", " + kept, alarm, "the same, with a hook that could not block it"},
	{"codex", "L-midturn", alarm, alarm, alarm, alarm, "seven times in one turn, of which the end was not recorded: one alert"},
	{"codex", "M-exec-1", nothing, nothing, nothing, nothing, "nothing was compacted"},
	{"codex", "M-exec-2-resume", kept, parked, kept, alarm, "compacted before it was resumed"},
	{"codex", "R2-remote-500", parked, parked, alarm, alarm, "noise if left open: it failed, and its span does not say so"},

	{"gemini-cli", "A-print", telemetry + "|" + parked, telemetry + "|" + parked, telemetry, telemetry, "no snapshot is taken: its hook comes with every turn"},
	{"gemini-cli", "B-manual-ok", telemetry + "|" + parked, telemetry + "|" + parked, telemetry, telemetry, "the same, by hand"},
	{"gemini-cli", "C-auto-ok", telemetry + "|" + parked, telemetry + "|" + parked, telemetry, telemetry, "compressed twice"},
	{"gemini-cli", "D-auto-fail400", nothing, nothing, nothing, nothing, "a failed one leaves no telemetry"},
	{"gemini-cli", "D2-auto-fail400", nothing, nothing, nothing, nothing, "a failed one leaves no telemetry"},
	{"gemini-cli", "E-auto-emptysummary", nothing, nothing, nothing, nothing, "a failed one leaves no telemetry"},
	{"gemini-cli", "F-auto-pre-exit2", telemetry + "|" + parked, telemetry + "|" + parked, telemetry, telemetry, "hooks cannot block it"},
	{"gemini-cli", "G-auto-pre-json-block", telemetry + "|" + parked, telemetry + "|" + parked, telemetry, telemetry, "hooks cannot block it"},
	{"gemini-cli", "H-auto-pre-hang", telemetry + "|" + parked, telemetry + "|" + parked, telemetry, telemetry, "a hook that hangs is killed"},

	{"opencode", "A-manual-ok", kept, alarm, kept, alarm, "no recording of it has an end"},
	{"opencode", "B-fail400", failed + ", " + kept, failed + ", " + alarm, failed + ", " + kept, failed + ", " + alarm, "the first try failed"},
	{"opencode", "B2-fail500", alarm, alarm, alarm, alarm, "noise: killed while it tried again and again"},
	{"opencode", "c-noop-fresh", kept, alarm, kept, alarm, "a fresh session is compacted too"},
	{"opencode", "d-plugin-throws", kept, alarm, kept, alarm, "a plugin stopped the first try: one look answers both"},
	{"opencode", "e-plugin-ctx", kept, alarm, kept, alarm, "another plugin added something"},
	{"opencode", "f-plugin-hang", kept, alarm, kept, alarm, "another plugin took four seconds"},
	{"opencode", "g-auto", fourKept + ", " + alarm, alarm, fourKept + ", " + alarm, alarm, "compacts five times within a second; the last end was not recorded, and the end before it is near enough to count"},
	{"opencode", "g2-auto-fail400", failed + ", " + kept, failed + ", " + alarm, failed + ", " + kept, failed + ", " + alarm, "the first try failed"},
	{"opencode", "i-fork", kept + ", " + kept, alarm + ", " + alarm, kept + ", " + kept, alarm + ", " + alarm, "a fork is a session of its own, and repeats no compaction"},
}

const fourKept = kept + ", " + kept + ", " + kept + ", " + kept

// delays are how long the agent's own telemetry waits to be exported.
var delays = []time.Duration{0, time.Second, 5 * time.Second, 10 * time.Second}

// Every recording, with both producers. Nothing alarms that a person would call
// noise, but for what is called so here, and nothing is missing.
func TestAlerts(t *testing.T) {
	for _, p := range recordings {
		t.Run(p.agent+"/"+p.recording, func(t *testing.T) {
			for _, delay := range delays {
				p.check(t, delay, false, nil)
			}
		})
	}
	files, err := filepath.Glob(agents + "/*/sessions/*.jsonl")
	require.NoError(t, err)
	for _, file := range files {
		agent, recording := filepath.Base(filepath.Dir(filepath.Dir(file))), strings.TrimSuffix(filepath.Base(file), ".jsonl")
		assert.True(t, slices.ContainsFunc(recordings, func(p played) bool { return p.agent == agent && p.recording == recording }), "%s has no row", file)
	}
}

func (p *played) check(t *testing.T, delay time.Duration, everyTurn bool, change func(*boundary.Config)) {
	for _, c := range []struct {
		name            string
		answers, opened bool
		want            string
	}{
		{"answers", true, false, p.answers},
		{"silent", false, false, p.silent},
		{"left open, answers", true, true, p.open},
		{"left open, silent", false, true, p.openSilent},
	} {
		want := strings.Split(c.want, "|")
		if c.want == either {
			want = []string{nothing, parked}
		}
		got := told(play(t, p.agent, p.recording, &producer{answers: c.answers, everyTurn: everyTurn}, delay, c.opened, change))
		assert.Contains(t, want, got, "%s, telemetry after %s: %s", c.name, delay, p.why)
	}
}
