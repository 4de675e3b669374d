package boundary

import (
	"crypto/ed25519"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// Config is what the operator decided. It is read only once a Core has it.
type Config struct {
	// Window is how long a sufficient observation may take.
	Window time.Duration
	// ReorderGrace is how long an observation that finds nothing open waits.
	ReorderGrace time.Duration
	// Retention is how long settled boundaries and idle sessions with nothing
	// outstanding are remembered, SessionTTL idle sessions with something.
	Retention, SessionTTL time.Duration
	// RequiredInvariants must have a baseline at every boundary.
	RequiredInvariants []string
	// Runtimes are the profiles by runtime.
	Runtimes map[string]Profile
	// Sources are the accepted sources, SourcesByInvariant those of a name or a
	// family of names (the part before the dot).
	Sources            Sources
	SourcesByInvariant map[string]Sources
	// PublicKeys verify approvals, by key id; empty means unsigned ones count.
	PublicKeys map[string]ed25519.PublicKey
	// Alerts says which kinds are raised.
	Alerts [alertKinds]bool
	Limits Limits
	// Durable makes the core keep note of what Changes returns.
	Durable bool
}

// Sources is a set of classify.Source.
type Sources uint8

// With returns the set and one source more.
func (s Sources) With(x classify.Source) Sources { return s | 1<<x }

// Has reports whether x is in the set.
func (s Sources) Has(x classify.Source) bool { return s&(1<<x) != 0 }

// Profile is what is known of a runtime's habits.
type Profile struct {
	// Window replaces Config.Window where positive.
	Window time.Duration
	// Confirm: a snapshot without a completion is no alarm.
	Confirm bool
	// StartsWithActivity: the window starts with the first activity after the
	// completion.
	StartsWithActivity bool
}

// Limits bound what one session may hold.
type Limits struct {
	Invariants int // statements of one event, at most 64
	Approvals  int // of one session
	Candidates int // different baselines of one key
}

// Limit names what bounds the state.
type Limit uint8

// The limits that can be reached.
const (
	LimitSessions     Limit = iota // sessions, their agents included
	LimitMemory                    // bytes: of one session, or of all together
	LimitAgents                    // agents of one session
	LimitBoundaries                // open boundaries of one agent
	LimitInvariants                // of one event, or in question at one agent
	LimitApprovals                 // of one session
	LimitBaselines                 // different ones of one agent
	LimitObservations              // early ones that wait, or those of one boundary
	LimitLinks                     // what can be joined into one session
	LimitRuntimes                  // runtimes and tenants whose habits are known
)

// AllLimits lists them.
var AllLimits = []Limit{
	LimitSessions, LimitMemory, LimitAgents, LimitBoundaries, LimitInvariants, LimitApprovals, LimitBaselines,
	LimitObservations, LimitLinks, LimitRuntimes,
}

var limitNames = [...]string{
	"sessions", "memory", "agents", "boundaries", "invariants", "approvals", "baselines", "observations", "links", "runtimes",
}

// String is the value of the label limit.
func (l Limit) String() string { return limitNames[l] }

// DefaultConfig returns the defaults of docs/semantics.md.
func DefaultConfig() Config {
	all := Sources(0).With(classify.Agent).With(classify.Environment).With(classify.Human)
	people := Sources(0).With(classify.Agent).With(classify.Human)
	c := Config{
		Window: 15 * time.Minute, ReorderGrace: 10 * time.Second,
		Retention: time.Hour, SessionTTL: 7 * 24 * time.Hour,
		Runtimes: map[string]Profile{
			"claude_code": {Confirm: true}, "codex_cli": {Confirm: true}, "qwen_code": {Confirm: true},
		},
		Sources: all,
		SourcesByInvariant: map[string]Sources{
			classify.ApprovalBoundary: people, classify.Constraint: people,
		},
		Limits: Limits{Invariants: 32, Approvals: 64, Candidates: 8},
	}
	for _, k := range []AlertKind{AlertPostObservationMissing, AlertDecisionConflicting, AlertDecisionDropped, AlertReconciliationRequired} {
		c.Alerts[k] = true
	}
	return c
}

// accepted returns the sources that count for a name.
func (c *Config) accepted(name string) Sources {
	if s, ok := c.SourcesByInvariant[name]; ok {
		return s
	}
	if s, ok := c.SourcesByInvariant[classify.Family(name)]; ok {
		return s
	}
	return c.Sources
}

func (c *Config) profile(runtime string) Profile { return c.Runtimes[runtime] }

// WindowOf is how long a runtime's observations may take.
func (c *Config) WindowOf(runtime string) time.Duration { return c.window(runtime) }

func (c *Config) window(runtime string) time.Duration {
	if w := c.profile(runtime).Window; w > 0 {
		return w
	}
	return c.Window
}

// Fleet is what all cores of one processor share: how many sessions they may
// hold together, and what each runtime has been seen to do in each tenant.
// Implementations are safe for concurrent use.
type Fleet interface {
	// TakeSession takes a place for a session and reports whether there was one.
	TakeSession() bool
	// GiveSession gives the place back.
	GiveSession()
	// Weigh takes note that sessions hold so many bytes more, or fewer.
	Weigh(by int)
	// Room reports whether a session with so many places may come to hold so many
	// bytes; one without a place is new.
	Room(bytes, places int) bool
	// Saw records that a runtime does something, Seen reports whether it was.
	Saw(tenant, runtime string, habit Habit)
	Seen(tenant, runtime string, habit Habit) bool
}

// Habit is something that a runtime may never report at all.
type Habit uint8

// The habits.
const (
	ReportsCompletions Habit = iota
	ReportsActivity
)
