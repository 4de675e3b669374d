//go:build unix

package probe

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
)

func TestRun(t *testing.T) {
	for name, c := range map[string]struct {
		command     []string
		match       string
		want, fault string
	}{
		"output":             {[]string{"echo", " main "}, "", "main", ""},
		"no shell":           {[]string{"echo", "$HOME"}, "", "$HOME", ""},
		"nothing":            {[]string{"true"}, "", "", ""},
		"standard error":     {[]string{"sh", "-c", "echo secret >&2; echo main"}, "", "main", ""},
		"match":              {[]string{"printf", `a\nrun: make test\nb`}, `run: (.*)`, "make test", ""},
		"no match":           {[]string{"echo", "secret"}, `x(.)`, "", "nothing in its output matches"},
		"two matches":        {[]string{"printf", `run: secret\nrun: b`}, `run: (.*)`, "", "matches more than once"},
		"fails":              {[]string{"sh", "-c", "echo secret; exit 3"}, "", "", "it failed: exit status 3"},
		"is not there":       {[]string{"no-such-program"}, "", "", "it could not be run"},
		"prints without end": {[]string{"sh", "-c", "while :; do echo secret; done | head -c 100000"}, "", "", "it printed more than"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Run(t.Context(), t.TempDir(), &config.Probe{Name: "x", Command: c.command, Match: c.match, Timeout: time.Minute})
			assert.Equal(t, c.want, got)
			if c.fault == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.fault)
			assert.NotContains(t, err.Error(), "secret")
		})
	}
}

// A probe, and what it started, end at its timeout.
func TestTimeout(t *testing.T) {
	p := &config.Probe{Command: []string{"sh", "-c", "sleep 60 & sleep 60"}, Timeout: 50 * time.Millisecond}
	started := time.Now()
	_, err := Run(t.Context(), t.TempDir(), p)
	require.ErrorContains(t, err, "longer than 50ms")
	assert.Less(t, time.Since(started), 5*time.Second)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Run(ctx, t.TempDir(), p)
	require.Error(t, err)
}
