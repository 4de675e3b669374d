package replay

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// fitting are the profiles that docs/agents recommends beside the defaults, and
// what they change. Recordings that are not listed come out as with the defaults.
var fitting = map[string]struct {
	profile boundary.Profile
	differs []played
}{
	"claude-code": {boundary.Profile{Confirm: true, StartsWithActivity: true}, []played{
		{"", "B-stream", kept + ", " + parked + ", " + parked, parked + ", " + parked, kept + ", " + parked, parked, "nobody works, so nobody can answer"},
		{"", "G5-pre-exit1", parked, parked, nothing, nothing, "nobody works, so nobody can answer"},
		{"", "J3-auto-pre-exit2", kept, parked, kept, nothing, "nobody works after it"},
		{"", "P-fork", parked, parked, nothing, nothing, "nobody works, so nobody can answer"},
		{"", "T-traceparent", parked, parked, nothing, nothing, "nobody works, so nobody can answer"},
	}},
	"codex": {boundary.Profile{Confirm: true, StartsWithActivity: true}, []played{
		{"", "E-noop-fresh", parked, parked, nothing, nothing, "nobody works, so nobody can answer"},
		{"", "E2-noop-double", parked, parked, nothing, nothing, "nobody works, so nobody can answer"},
		{"", "G2-pre-json-block", parked, parked, nothing, nothing, "nobody works, so nobody can answer"},
		{"", "G3-pre-json-ctx", parked, parked, nothing, nothing, "nobody works, so nobody can answer"},
		{"", "G4-pre-text", parked, parked, nothing, nothing, "nobody works, so nobody can answer"},
		{"", "G5-pre-exit1", parked, parked, nothing, nothing, "nobody works, so nobody can answer"},
		{"", "L-midturn", nothing, nothing, nothing, nothing, "missing: it works on in the same turn, and no tool call tells so"},
	}},
	"opencode": {boundary.Profile{Confirm: true}, []played{
		{"", "B2-fail500", unconfirmed, unconfirmed, unconfirmed, unconfirmed, "killed: nothing was compacted"},
	}},
}

func TestFittingProfiles(t *testing.T) {
	for _, p := range recordings {
		fit, ok := fitting[p.agent]
		if !ok {
			continue
		}
		t.Run(p.agent+"/"+p.recording, func(t *testing.T) {
			for _, d := range fit.differs {
				if d.recording == p.recording {
					d.agent = p.agent
					p = d
				}
			}
			for _, delay := range delays {
				p.check(t, delay, false, func(c *boundary.Config) { c.Runtimes[runtimes[p.agent]] = fit.profile })
			}
		})
	}
}

var runtimes = map[string]string{"claude-code": "claude_code", "codex": "codex_cli", "opencode": "opencode", "gemini-cli": "gemini_cli"}

// Gemini CLI with a snapshot at every turn needs confirm: most turns compress
// nothing.
func TestEveryTurn(t *testing.T) {
	for recording, want := range map[string]struct{ answers, silent, noisy string }{
		"A-print":               {kept + ", " + kept, parked, parked},
		"B-manual-ok":           {fourKept, parked, parked},
		"C-auto-ok":             {kept + ", " + kept + ", " + kept, parked, parked},
		"D-auto-fail400":        {kept + ", " + unconfirmed, unconfirmed, alarm},
		"D2-auto-fail400":       {kept + ", " + unconfirmed, unconfirmed, alarm},
		"E-auto-emptysummary":   {kept + ", " + unconfirmed, unconfirmed, alarm},
		"F-auto-pre-exit2":      {kept + ", " + kept, parked, parked},
		"G-auto-pre-json-block": {kept + ", " + kept, parked, parked},
		"H-auto-pre-hang":       {kept + ", " + kept, parked, parked},
	} {
		t.Run(recording, func(t *testing.T) {
			confirm := func(c *boundary.Config) { c.Runtimes["gemini_cli"] = boundary.Profile{Confirm: true} }
			for _, delay := range delays {
				run := func(answers bool, change func(*boundary.Config)) string {
					return told(play(t, "gemini-cli", recording, &producer{answers: answers, everyTurn: true}, delay, false, change))
				}
				assert.Equal(t, want.answers, run(true, confirm), "answers, %s", delay)
				assert.Equal(t, want.silent, run(false, confirm), "silent, %s", delay)
				assert.Equal(t, want.noisy, run(false, nil), "silent, without confirm, %s", delay)
			}
		})
	}
}

// The first agent of a tenant that is killed while it compacts alarms: it is not
// known yet that this runtime tells of the end of its compactions.
func TestFirstOfItsTenant(t *testing.T) {
	p := &producer{answers: true, fresh: true}
	assert.Equal(t, alarm, told(play(t, "claude-code", "N-kill9", p, time.Second, false, nil)))
}
