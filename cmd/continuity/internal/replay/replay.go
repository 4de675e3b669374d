// Package replay runs recorded telemetry through the core that the collector's
// processor has, without a collector.
//
// The clock is simulated. Each event is taken at its own time and in the order of
// these times, however it once arrived; windows close between; and when nothing
// is left to take, all windows are let pass.
package replay

import (
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/cases"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/signal"
)

// Options change the processor's defaults.
type Options struct {
	// Window replaces the default where positive.
	Window time.Duration
	// Required are required_invariants.
	Required []string
}

// Result is what came of a recording.
type Result struct {
	// Sessions are those of which a boundary was told, in the order of their first
	// event.
	Sessions []*Session
	// Events counts what was taken, Rejected what was recognised and could not be
	// used, by reason.
	Events   int
	Rejected map[classify.Reason]int
	// From and To are the times of the first and the last event. Until is how far
	// the clock was let run after them.
	From, To, Until time.Time
}

// Session is what became of one agent of one session.
type Session struct {
	Key boundary.Key
	// EventRule is what a rule on events alone says of the session.
	EventRule  string
	Boundaries []*Boundary
}

// Boundary is one compaction: its receipts, latest last.
type Boundary struct {
	ID       string
	Receipts []boundary.Receipt
}

// Last is the latest receipt: what stands.
func (b *Boundary) Last() *boundary.Receipt { return &b.Receipts[len(b.Receipts)-1] }

// Replay collects a recording, piece by piece, and runs it.
type Replay struct {
	config boundary.Config
	reader *signal.Reader
	events []event
	// seen is what an event-only rule sees of each session.
	seen     map[boundary.SessionKey][]*cases.Activity
	sessions map[boundary.Key]*Session
	result   Result
}

// New returns an empty replay.
func New(o Options) *Replay {
	r := &Replay{
		config: boundary.DefaultConfig(), reader: signal.NewReader(signal.DefaultConfig()),
		seen: map[boundary.SessionKey][]*cases.Activity{}, sessions: map[boundary.Key]*Session{}, result: Result{Rejected: map[classify.Reason]int{}},
	}
	if o.Window > 0 {
		r.config.Window = o.Window
	}
	r.config.RequiredInvariants = o.Required
	return r
}

// Window is how long a sufficient observation may take.
func (r *Replay) Window() time.Duration { return r.config.Window }

// AddTraces takes spans. It changes them, as the processor does.
func (r *Replay) AddTraces(td ptrace.Traces) {
	w := r.walkTraces(td)
	r.reader.Traces(td, nil, time.Time{}, w.take)
}

// AddLogs takes log records. It changes them, as the processor does.
func (r *Replay) AddLogs(ld plog.Logs) {
	w := r.walkLogs(ld)
	r.reader.Logs(ld, nil, time.Time{}, w.take)
}

// Run takes all events at their times. It is called once.
func (r *Replay) Run() *Result {
	order(r.events)
	core := boundary.New(&r.config, &fleet{})
	out := &r.result
	for _, e := range r.events {
		r.pass(core, e.at)
		if e.Approval != nil {
			e.Approval.Received = e.at
		}
		if e.Previous != "" {
			r.keep(core.Adopt(e.at, core, e.Event))
		}
		r.sessionOf(e.Key)
		_, res := core.Observe(e.at, e.Event)
		r.keep(res)
	}
	if n := len(r.events); n > 0 {
		out.From, out.To = r.events[0].at, r.events[n-1].at
		longest := r.config.Window
		for _, profile := range r.config.Runtimes {
			longest = max(longest, profile.Window)
		}
		out.Until = out.To.Add(r.config.ReorderGrace + longest)
		r.pass(core, out.Until)
	}
	for _, s := range out.Sessions {
		s.EventRule = cases.EventRule(r.activities(s.Key.SessionKey))
	}
	out.Sessions = slices.DeleteFunc(out.Sessions, func(s *Session) bool {
		return len(s.Boundaries) == 0 && s.EventRule == cases.RuleNoReason
	})
	return out
}

// pass lets the time until t pass, from one deadline to the next.
func (r *Replay) pass(core *boundary.Core, t time.Time) {
	for {
		next, ok := core.Next()
		if !ok || next.After(t) {
			return
		}
		res, _ := core.Expire(next)
		r.keep(res)
	}
}

func (r *Replay) keep(res boundary.Result) {
	for _, tally := range res.Tallies {
		if tally.What == boundary.CountRejected {
			r.result.Rejected[tally.Reason]++
		}
	}
	for i := range res.Receipts {
		s := r.sessionOf(res.Receipts[i].Key)
		at := slices.IndexFunc(s.Boundaries, func(b *Boundary) bool { return b.ID == res.Receipts[i].BoundaryID })
		if at < 0 {
			at = len(s.Boundaries)
			s.Boundaries = append(s.Boundaries, &Boundary{ID: res.Receipts[i].BoundaryID})
		}
		s.Boundaries[at].Receipts = append(s.Boundaries[at].Receipts, res.Receipts[i])
	}
}

func (r *Replay) sessionOf(key boundary.Key) *Session {
	s := r.sessions[key]
	if s == nil {
		s = &Session{Key: key}
		r.sessions[key] = s
		r.result.Sessions = append(r.result.Sessions, s)
	}
	return s
}

func (r *Replay) activities(key boundary.SessionKey) []cases.Activity {
	var out []cases.Activity
	for _, a := range r.seen[key] {
		out = append(out, *a)
	}
	return out
}
