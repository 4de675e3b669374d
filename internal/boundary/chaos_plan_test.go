package boundary_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// What the chaos test plays: drawn histories, stretched to times that a real
// clock and a collector that is down for a moment cannot blur.

// tolerance is how much later than planned anything may be handled without
// another verdict. Gaps are far enough from window and grace for that.
const tolerance = 2500 * time.Millisecond

const chaosConfig = "config window=9s grace=3200ms slow=14s lazy=1"

const longestPlan = 45 * time.Second

// longest is after how long nothing of a history waits any more.
const longest = 20 * time.Second

// chaosGaps replaces the gaps that genStep draws, in tenths of a second.
var chaosGaps = map[int]float64{
	0: 0, 1: 0.1, 3: 0.2, 7: 0.3, // well within the grace
	12: 5.9,  // after the grace, within the window
	23: 11.9, // after the window
	41: 16.9, // after the window of a slow runtime
}

// chaosFeatures take turns. Decisions at shutdown are left out: with storage a
// stop decides nothing.
var chaosFeatures = []features{
	{},
	{batches: true, completions: true, outcomes: true, late: true},
	{weak: true, nones: true, odd: true, text: true, optional: true},
	{approvals: true, chains: true, forms: true},
	{lifecycle: true, completions: true, profiles: true, confirm: true},
	{agents: true, ids: true, completions: true, sessions: true},
	{envelopes: true, refusals: true, checks: true, completions: true},
	{
		batches: true, completions: true, outcomes: true, approvals: true, chains: true, sessions: true, agents: true, ids: true,
		lifecycle: true, refusals: true, envelopes: true, weak: true, odd: true, late: true, text: true, optional: true,
		confirm: true, nones: true, forms: true, profiles: true, checks: true,
	},
}

// plan is one history and the requests that tell it.
type plan struct {
	history
	number   int
	prefix   string // of its session ids
	requests []*planned
	shift    time.Duration // from the time of histories to the clock
}

// planned is one request: the steps that it holds, when it is due, and, once it
// was sent, the earliest and the latest moment at which it can have been taken.
type planned struct {
	steps    []step
	gap      time.Duration // after the request before it was acknowledged
	wire     wireForm
	from, to time.Duration
	takes    int // how often it may have been taken
}

// newPlan draws history number n of a seed. It is the same each time.
func newPlan(seed uint64, n int) *plan {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	f := chaosFeatures[n%len(chaosFeatures)]
	draw := rapid.Custom(func(t *rapid.T) string { return genHistory(t, f) })
	for {
		text := stretched(draw.Example(int(rng.Uint32())))
		if rng.IntN(5) == 0 {
			text = renamed(text, rng)
		}
		if strings.Contains(text, "toomany") { // says not what there was too much of
			continue
		}
		p := &plan{history: parseHistory(text), number: n, prefix: fmt.Sprintf("c%d-%d-", seed, n)}
		p.ask(rng)
		if p.steps[len(p.steps)-1].at > longestPlan {
			continue
		}
		for _, r := range p.requests {
			r.from, r.to, r.takes = r.steps[0].at, r.steps[0].at+tolerance, 2
		}
		if fates := p.fates(tolerance); len(fates) == 1 && fates[0] != "" {
			return p
		}
	}
}

// primerLines make known what runtimes report: the collector remembers it of all
// sessions, the model looks at one.
const primerLines = `
0 primer completion runtime=claude_code
0 primer completion runtime=slow
0 primer completion runtime=lazy
0 primer activity runtime=claude_code
0 primer activity runtime=slow
0 primer activity runtime=lazy
`

func primer() *plan {
	p := &plan{history: parseHistory(chaosConfig + primerLines)}
	p.ask(rand.New(rand.NewPCG(0, 0)))
	return p
}

// stretched gives a drawn history its gaps.
func stretched(text string) string {
	b := strings.Builder{}
	b.WriteString(chaosConfig + "\n")
	last, at := 0, 0.0
	for _, line := range strings.Split(text, "\n")[1:] {
		var whole, tenth int
		when, rest, _ := strings.Cut(line, " ")
		if n, _ := fmt.Sscanf(when, "%d.%d", &whole, &tenth); n != 2 {
			continue // until
		}
		gap, ok := chaosGaps[whole*10+tenth-last]
		if !ok {
			panic("chaos: no gap for " + line)
		}
		last, at = whole*10+tenth, at+gap
		fmt.Fprintf(&b, "%.1f %s\n", at, rest)
	}
	return b.String()
}

// renamed lets session s1 go on as s3 from some line on.
func renamed(text string, rng *rand.Rand) string {
	text, _, _ = strings.Cut(text, "until")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	from := 1 + rng.IntN(len(lines)-1)
	for i := from; i < len(lines); i++ {
		lines[i] = strings.NewReplacer(" s1 ", " s3 ", " s1/", " s3/").Replace(lines[i])
	}
	when, _, _ := strings.Cut(lines[from], " ")
	return strings.Join(slices.Insert(lines, from, when+" s3 start prev=s1"), "\n")
}

// ask makes the requests: steps of one time are one. Some are sent a second time
// later, perhaps in the other signal.
func (p *plan) ask(rng *rand.Rand) {
	last := time.Duration(0)
	for i, s := range p.steps {
		if i > 0 && s.at == last {
			r := p.requests[len(p.requests)-1]
			r.steps = append(r.steps, s)
			continue
		}
		p.requests = append(p.requests, &planned{steps: []step{s}, gap: s.at - last, wire: drawWireForm(rng)})
		last = s.at
	}
	for i := len(p.requests); i > 0; i-- {
		if rng.IntN(6) > 0 || strings.Contains(p.text, " prev=") { // under its old id it would be news
			continue
		}
		again := &planned{gap: 100 * time.Millisecond, wire: drawWireForm(rng)}
		for _, s := range p.requests[rng.IntN(i)].steps {
			s.at = p.requests[i-1].steps[0].at + again.gap
			again.steps = append(again.steps, s)
		}
		p.requests = slices.Insert(p.requests, i, again)
	}
}

// fates are what can come of a plan whose requests were taken between from and
// to, perhaps again when they were sent again, while deadlines were met up to lag
// too late. More than one says that it hangs on moments that nobody outside of
// the collector knows.
func (p *plan) fates(lag time.Duration) []string {
	const tries = 32
	rng := rand.New(rand.NewPCG(uint64(p.number), 0))
	var fates []string
	for try := range tries {
		chance := circumstances{
			at: func(r *planned) time.Duration {
				switch try / 2 {
				case 0:
					return r.from
				case 1:
					return r.to
				}
				return r.from + time.Duration(rng.Int64N(int64(r.to-r.from)+1))
			},
			lag: func() time.Duration {
				if try < 4 {
					return lag * time.Duration(try%2)
				}
				return lag * time.Duration(rng.Int64N(2))
			},
			takes: func(r *planned) int {
				if try < 4 {
					return 1
				}
				return 1 + rng.IntN(max(r.takes, 1))
			},
		}
		if fate, known := p.fate(chance); !known {
			return nil
		} else if !slices.Contains(fates, fate) {
			fates = append(fates, fate)
		}
	}
	return fates
}

// circumstances are what the collector may make of a plan: when a step is taken,
// how late deadlines are met before that, and how often a request is taken.
type circumstances struct {
	at    func(*planned) time.Duration
	lag   func() time.Duration
	takes func(*planned) int
}

// fate plays a plan on the model, after the primer; false where the contract can
// be read in more than one way.
func (p *plan) fate(c circumstances) (string, bool) {
	m := newModel(&p.cfg)
	for _, runtime := range []string{"claude_code", "slow", "lazy"} {
		m.fleet.Saw("", runtime, boundary.ReportsCompletions)
		m.fleet.Saw("", runtime, boundary.ReportsActivity)
	}
	var outs []out
	last := time.Duration(0)
	for _, r := range p.requests {
		var steps []step
		for range c.takes(r) {
			steps = append(steps, r.steps...)
		}
		for _, s := range steps {
			last = max(last, c.at(r))
			now := epoch.Add(last)
			outs = append(outs, m.advance(now.Add(-c.lag()))...)
			ev := *s.ev
			if ev.Approval != nil {
				a := *ev.Approval
				a.Received = now
				ev.Approval = &a
			}
			outs = append(outs, m.observe(now, &ev)...)
		}
	}
	outs = append(outs, m.advance(epoch.Add(last+longest))...)
	return account(outs), len(m.doubts) == 0
}
