package replay

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/hosts"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// piece is one thing that is told of one compaction.
type piece struct {
	name string
	// play adds it, so that it arrives at a time.
	play func(t testing.TB, r *Replay, arrives time.Time)
}

// compaction is one compaction as an agent was recorded with it, told in all ways
// at once: by its hooks, by a log record and by a span. That in the other signal is
// none of the agent's: an application that watches it tells the same end.
type compaction struct{ agent, recording string }

var compactions = []compaction{{"claude-code", "G3-pre-json-ctx"}, {"codex", "F-pre-exit2"}}

// pieces are what is told, with the times of the recording.
func (c compaction) pieces(t testing.TB, look string) []piece {
	host, ok := hosts.Find(c.agent)
	require.True(t, ok)
	var out []piece
	var end line
	session := ""
	lines := linesOf(t, c.agent, c.recording)
	for i := range lines {
		l := &lines[i]
		switch {
		case l.Hook != nil:
			name, ok := hookPieces[eventOf(t, host, l)]
			if !ok {
				continue
			}
			out = append(out, piece{name, func(t testing.TB, r *Replay, arrives time.Time) {
				p := newProducer(t, c.agent)
				p.sent = i * 10
				r.arriving(arrives, func() { p.hook(t, r, l) })
			}})
			e, err := host.Read(l.Hook, hosts.Options{}, func(string) string { return "" })
			require.NoError(t, err)
			session = e.Session
		case l.Record == "claude_code.compaction" || l.Span == "codex.compaction":
			end = *l
			out = append(out, piece{"end in its telemetry", func(t testing.TB, r *Replay, arrives time.Time) {
				r.telemetry(t, l, arrives.Sub(at(t, l.At)))
			}})
		}
	}
	out = append(out, piece{"end in the other signal", func(t testing.TB, r *Replay, arrives time.Time) {
		e := continuity.Completion{Common: continuity.Common{
			Session: continuity.Session{ID: session, Attribute: host.SessionAttribute, Runtime: host.Runtime}, Time: at(t, end.At), EventID: "end",
		}}
		if end.Span == "" {
			r.sendOnSpan(t, e, arrives)
		} else {
			r.send(t, e, arrives)
		}
	}})
	if look != "" {
		seen := at(t, end.At).Add(400 * time.Millisecond) // with the next prompt
		out = append(out, piece{"observation", func(t testing.TB, r *Replay, arrives time.Time) {
			shown := decisions()
			if look == "loses" {
				shown = shown[:len(shown)-1]
			}
			r.send(t, continuity.Observation{
				Common:    continuity.Common{Session: continuity.Session{ID: session, Attribute: host.SessionAttribute}, Time: seen, EventID: "look"},
				Decisions: shown, Source: continuity.Agent,
			}, arrives)
		}})
	}
	return out
}

var hookPieces = map[string]string{
	"PreCompact": "snapshot", "PostCompact": "end as a hook", "SessionStart compact": "session start",
}

func eventOf(t testing.TB, host *hosts.Host, l *line) string {
	e, err := host.Read(l.Hook, hosts.Options{}, func(string) string { return "" })
	require.NoError(t, err)
	if strings.Contains(string(l.Hook), `"source": "compact"`) {
		return e.Name + " compact"
	}
	return e.Name
}

// permutations calls visit with each order of n things.
func permutations(n int, visit func([]int)) {
	order := make([]int, 0, n)
	used := make([]bool, n)
	var next func()
	next = func() {
		if len(order) == n {
			visit(order)
			return
		}
		for i := range n {
			if !used[i] {
				used[i], order = true, append(order, i)
				next()
				used[i], order = false, order[:len(order)-1]
			}
		}
	}
	next()
}

// One compaction that is told in several ways is one boundary with one verdict,
// whatever order its parts arrive in: each within ten seconds of its own time,
// which are the recorded ones.
func TestWhicheverOrder(t *testing.T) {
	for _, c := range compactions {
		for look, want := range map[string]string{"keeps": kept, "loses": "dropped/missing_after decision_dropped:firing", "": alarm} {
			for _, twice := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/twice=%v", c.agent, look, twice), func(t *testing.T) {
					pieces := c.pieces(t, look)
					require.Len(t, pieces, map[bool]int{true: 5, false: 6}[look == ""])
					permutations(len(pieces), func(order []int) {
						r := New(Options{})
						var names []string
						for k, i := range order {
							names = append(names, pieces[i].name)
							arrives := sessionBegin.Add(2*time.Second + time.Duration(k)*1400*time.Millisecond)
							pieces[i].play(t, r, arrives)
							if twice {
								pieces[i].play(t, r, arrives.Add(700*time.Millisecond))
							}
						}
						result := r.Run()
						require.Equal(t, want, told(result), "%s", names)
						require.Len(t, result.Sessions[0].Boundaries[0].Receipts, 1, "what comes after the verdict adds nothing: %s", names)
					})
				})
			}
		}
	}
}

// After a manual compaction Codex tells of the start, and asks, with the next
// prompt. Where that comes hours later, the verdict is the same; whether somebody
// was woken meanwhile is what the profile decides.
func TestHoursLater(t *testing.T) {
	for name, c := range map[string]struct {
		profile boundary.Profile
		want    string
	}{
		"by default":       {boundary.Profile{Confirm: true}, kept + " post_observation_missing:firing post_observation_missing:resolved"},
		"starts: activity": {boundary.Profile{Confirm: true, StartsWithActivity: true}, kept},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(Options{})
			r.config.Runtimes["codex_cli"] = c.profile
			r.earlier("codex_cli")
			p := newProducer(t, "codex")
			p.answers = true
			over := false
			lines := linesOf(t, "codex", "A-manual-ok")
			for i := range lines {
				l := &lines[i]
				over = over || strings.Contains(string(l.Hook), `"compact"`)
				if over { // what follows happens after lunch
					d, err := time.ParseDuration(l.At)
					require.NoError(t, err)
					l.At = (d + 3*time.Hour).String()
				}
				if l.Hook == nil {
					r.telemetry(t, l, 5*time.Second)
				} else {
					p.hook(t, r, l)
				}
			}
			assert.Equal(t, c.want, told(r.Run()))
		})
	}
}
