package boundary_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// limitRow says what holds at a limit and one beyond: how the story ends, how many
// events were refused, and how often the limit was counted.
type limitRow struct {
	name  string
	n     int // the limit
	cfg   func(*boundary.Config)
	fleet func(*boundedFleet)
	// steps tell a story with n things in it.
	steps func(n int) []attackStep
	limit boundary.Limit
	// at and beyond are the last receipt's state and reason, then the events that
	// were refused and the times that the limit was counted.
	at, beyond string
}

// each makes n steps, a millisecond apart, from a second on.
func each(n int, from float64, step func(i int, at float64) attackStep) []attackStep {
	steps := make([]attackStep, n)
	for i := range steps {
		steps[i] = step(i, from+float64(i)/1000)
	}
	return steps
}

var limitRows = []limitRow{
	{
		name: "sessions: a newcomer is refused, and nobody gives way", n: 3, limit: boundary.LimitSessions,
		fleet: func(f *boundedFleet) { f.limit = 3 },
		steps: func(n int) []attackStep {
			return append(each(n, 1, func(i int, at float64) attackStep { return snapAt(at, fmt.Sprint("s", i), "scope=S0") }),
				lookAt(5, "s0", "scope=S1"))
		},
		at: "conflicting/changed_without_approval 0 0", beyond: "conflicting/changed_without_approval 1 1",
	},
	{
		name: "agents of one session", n: 256, limit: boundary.LimitAgents,
		steps: func(n int) []attackStep {
			return append(each(n, 1, func(i int, at float64) attackStep { return snapAt(at, fmt.Sprint("s/", i), "scope=S0") }),
				lookAt(5, "s/0", "scope=S0"))
		},
		at: "preserved/match 0 0", beyond: "preserved/match 1 1",
	},
	{
		name: "agents that owe nothing give way after the retention", n: 256, limit: boundary.LimitAgents,
		cfg: func(c *boundary.Config) { c.Window, c.Retention = time.Minute, time.Minute },
		steps: func(n int) []attackStep {
			var steps []attackStep
			for i := range n {
				at, who := 1+float64(i)*3600/256, fmt.Sprint("s/", i)
				steps = append(steps, snapAt(at, who, "scope=S0"), lookAt(at+1, who, "scope=S0"))
			}
			return steps
		},
		at: "preserved/match 0 0", beyond: "preserved/match 0 0",
	},
	{
		name: "open boundaries of one agent: what is refused makes nothing healthy", n: 16, limit: boundary.LimitBoundaries,
		steps: func(n int) []attackStep {
			return slices.Concat([]attackStep{snapAt(0, "s", "scope=S0", withID("b0"))}, each(n-2, 1, compactionOf("s")),
				[]attackStep{snapAt(3, "s", "target=T0", withID("last")), lookAt(5, "s", "scope=S0", withID("b0"))})
		},
		at: "preserved/match 0 0", beyond: "unverified/capacity 1 1",
	},
	{
		name: "invariants in question at one agent", n: 256, limit: boundary.LimitInvariants,
		steps: func(n int) []attackStep {
			var steps []attackStep
			for i := 0; i < n; i += 32 {
				steps = append(steps, snapAt(1+float64(i)/1000, "s", manyNames(fmt.Sprint("n", i, "x"), min(32, n-i)), withID(fmt.Sprint("b", i))))
			}
			return append(steps, lookAt(5, "s", manyNames("n0x", 32), withID("b0")))
		},
		at: "preserved/match 0 0", beyond: "unverified/capacity 1 1",
	},
	{
		name: "names without a baseline: the first stand for all", n: 64, limit: boundary.LimitLinks,
		steps: func(n int) []attackStep { return []attackStep{lookAt(1, "s", manyNames("x", n))} },
		at:    "unverified/no_baseline 0 0 findings=64", beyond: "unverified/no_baseline 0 0 findings=64",
	},
	{
		name: "statements beyond the limit of an event: a snapshot says so", n: 32, limit: boundary.LimitInvariants,
		steps: func(n int) []attackStep {
			return []attackStep{snapAt(1, "s", "scope=S0", func(e *boundary.Event) { e.TooMany = n > 32 }), lookAt(5, "s", "scope=S0")}
		},
		at: "preserved/match 0 0", beyond: "unverified/capacity 0 1",
	},
	{
		name: "statements beyond the limit of an event: an observation proves no absence", n: 32, limit: boundary.LimitInvariants,
		steps: func(n int) []attackStep {
			return []attackStep{
				snapAt(1, "s", "scope=S0 target=T0"),
				lookAt(5, "s", "scope=S0", func(e *boundary.Event) { e.TooMany = n > 32 }),
			}
		},
		at: "dropped/missing_after 0 0", beyond: "unverified/observation_incomplete 0 1",
	},
	{
		name: "approvals of one session", n: 64, limit: boundary.LimitApprovals,
		steps: func(n int) []attackStep {
			return append(each(n, 1, func(i int, at float64) attackStep {
				return approvesAt(at, "s", fmt.Sprintf("scope S%d>S%d r%d", i, i+1, i), withFingerprint(uint64(i+1)))
			}), snapAt(3, "s", "scope=S0"), lookAt(5, "s", fmt.Sprint("scope=S", n)))
		},
		at: "approved_change/approved_transition 0 0", beyond: "conflicting/changed_without_approval 1 1",
	},
	{
		name: "a revocation that found no room makes nothing healthy", n: 64, limit: boundary.LimitApprovals,
		steps: func(n int) []attackStep {
			return append([]attackStep{snapAt(0, "s", "scope=S0")}, append(each(n, 1, func(i int, at float64) attackStep {
				return approvesAt(at, "s", fmt.Sprintf("target T%d>T%d r%d", i, i+1, i), withdrawn, withFingerprint(uint64(i+1)))
			}), lookAt(5, "s", "scope=S0"))...)
		},
		at: "preserved/match 0 0", beyond: "unverified/capacity 1 1",
	},
	{
		name: "different baselines", n: 8, limit: boundary.LimitBaselines,
		steps: func(n int) []attackStep {
			return append(each(n, 1, func(i int, at float64) attackStep {
				return snapAt(at, "s", "scope=S0", func(e *boundary.Event) { e.Statements[0].Revision = fmt.Sprint(i) })
			}), lookAt(5, "s", "scope=S0"))
		},
		at: "preserved/match 0 0", beyond: "unverified/capacity 0 1",
	},
	{
		name: "equal snapshots are one baseline, however many", n: 64, limit: boundary.LimitBaselines,
		steps: func(n int) []attackStep {
			return append(each(n, 1, func(i int, at float64) attackStep { return snapAt(at, "s", "scope=S0", withFingerprint(uint64(i+1))) }),
				lookAt(5, "s", "scope=S0"))
		},
		at: "preserved/match 0 0", beyond: "preserved/match 0 0",
	},
	{
		name: "early observations: the first is decided early, not lost", n: 64, limit: boundary.LimitObservations,
		steps: func(n int) []attackStep {
			return each(n, 1, func(i int, at float64) attackStep { return lookAt(at, "s", "scope=S0", withFingerprint(uint64(i+1))) })
		},
		at: "none 0 0", beyond: "unverified/no_baseline 0 1",
	},
	{
		name: "observations of one boundary: those go on which nothing rests", n: 64, limit: boundary.LimitObservations,
		steps: func(n int) []attackStep {
			steps := append([]attackStep{snapAt(0, "s", "scope=S0 target=T0")}, each(n-1, 1, func(i int, at float64) attackStep {
				return lookAt(at, "s", "target=T0", partial)
			})...)
			return append(steps, lookAt(5, "s", "scope=S0 target=T0"))
		},
		at: "preserved/match 0 0", beyond: "preserved/match 0 1",
	},
	{
		name: "links: what does not fit into one session stays two", n: 16, limit: boundary.LimitLinks,
		steps: func(n int) []attackStep {
			return slices.Concat([]attackStep{snapAt(0, "s", "scope=S0", withID("b0")), snapAt(0.1, "old", "target=T0", withID("b1"))},
				each(n-2, 1, compactionOf("old")),
				[]attackStep{startsAt(3, "s", continuing("old")), lookAt(5, "s", "scope=S0", withID("b0"))})
		},
		at: "preserved/match 0 0", beyond: "unverified/capacity 1 1",
	},
	{
		name: "links: the fingerprints under which one alert was raised", n: 64, limit: boundary.LimitLinks,
		steps: func(n int) []attackStep {
			var steps []attackStep
			for i := range n + 1 {
				at, who := 1+float64(i)/100, fmt.Sprint("s", i)
				steps = append(steps, snapAt(at, who, "scope=S0"), lookAt(at+0.003, who, "scope=S1"))
				if i > 0 {
					steps = append(steps, startsAt(at+0.006, who, continuing(fmt.Sprint("s", i-1))))
				}
			}
			return steps
		},
		at: "conflicting/changed_without_approval 0 0", beyond: "conflicting/changed_without_approval 1 1",
	},
	{
		name: "bytes of one session: what was said is decided, what is not heard makes nothing healthy", n: 1, limit: boundary.LimitMemory,
		fleet: func(f *boundedFleet) { f.session = 9000 },
		steps: func(n int) []attackStep {
			steps := []attackStep{snapAt(0, "s", "scope=S0")}
			for i := range n - 1 {
				steps = append(steps, lookAt(1+float64(i), "s", manyNames("x", 64), partial))
			}
			return append(steps, lookAt(5, "s", "scope=S0"))
		},
		at: "preserved/match 0 0", beyond: "unverified/capacity 1 1",
	},
	{
		name: "bytes of all sessions: no newcomer, and everybody's share", n: 1, limit: boundary.LimitMemory,
		fleet: func(f *boundedFleet) { f.limit, f.memory = 3, 15_000 },
		steps: func(n int) []attackStep {
			greedy := func(at float64) attackStep {
				return lookAt(at, "greedy", manyNames(fmt.Sprint("x", at), 64*(n-1)), partial)
			}
			return []attackStep{
				snapAt(0, "s", "scope=S0"), snapAt(1, "greedy", "scope=S0"), greedy(2), greedy(3), greedy(4),
				snapAt(5, "late", "scope=S0"), lookAt(6, "s", "scope=S0"),
			}
		},
		at: "preserved/match 0 0", beyond: "preserved/match 3 3 findings=65",
	},
}

// compactionOf is a compaction with an id of its own.
func compactionOf(session string) func(i int, at float64) attackStep {
	return func(i int, at float64) attackStep {
		return compactedAt(at, session, boundary.Completed, withID(fmt.Sprint("c", i)))
	}
}

func TestLimits(t *testing.T) {
	for _, row := range limitRows {
		t.Run(row.name, func(t *testing.T) {
			require.Equal(t, row.at, row.play(row.n), "at the limit")
			require.Equal(t, row.beyond, row.play(row.n+1), "one beyond")
		})
	}
}

func (row *limitRow) play(n int) string {
	cfg := boundary.DefaultConfig()
	if row.cfg != nil {
		row.cfg(&cfg)
	}
	fleet := newBoundedFleet(1000, 64<<20)
	if row.fleet != nil {
		row.fleet(fleet)
	}
	core := boundary.New(&cfg, fleet)
	last, refused, reached, findings := "none", 0, 0, ""
	take := func(res boundary.Result) {
		for i := range res.Receipts {
			r := &res.Receipts[i]
			last = fmt.Sprint(r.Boundary, "/", r.Reason)
			if len(r.Findings) >= 64 {
				findings = fmt.Sprint(" findings=", len(r.Findings))
			}
		}
		for _, tally := range res.Tallies {
			switch {
			case tally.What == boundary.CountRejected:
				refused++
			case tally.What == boundary.CountLimit && tally.Limit == row.limit:
				reached++
			}
		}
	}
	var now time.Time
	for _, s := range row.steps(n) {
		now = attackTime(s.at)
		for next, ok := core.Next(); ok && !next.After(now); next, ok = core.Next() {
			res, _ := core.Expire(next)
			take(res)
		}
		if s.ev.Previous != "" {
			take(core.Adopt(now, core, s.ev))
		}
		_, res := core.Observe(now, s.ev)
		take(res)
	}
	if strings.HasPrefix(row.name, "names without") { // it waits for its snapshot first
		res, _ := core.Expire(now.Add(time.Minute))
		take(res)
	}
	return fmt.Sprintf("%s %d %d%s", last, refused, reached, findings)
}
