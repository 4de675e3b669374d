package continuityprocessor

import (
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/signal"
)

// Config is the configuration of the processor. Pipelines that name the same
// processor share one, and by it one state.
type Config struct {
	// Window is how long a sufficient observation may take after the snapshot or
	// the completion of a compaction.
	Window time.Duration `mapstructure:"window"`
	// ReorderGrace is how long an observation that finds nothing open waits for
	// its snapshot. Telemetry itself is never held back.
	ReorderGrace time.Duration `mapstructure:"reorder_grace"`
	// Retention is how long settled boundaries and idle sessions with nothing
	// outstanding are remembered, SessionTTL idle sessions with something.
	Retention  time.Duration `mapstructure:"retention"`
	SessionTTL time.Duration `mapstructure:"session_ttl"`

	// SessionAttributes and AgentAttributes hold the session id and the agent id,
	// best first. Without agent attributes all agents of a session are one.
	SessionAttributes []string `mapstructure:"session_attributes"`
	AgentAttributes   []string `mapstructure:"agent_attributes"`
	// ScopeAttributes are resource attributes that tell equal ids apart.
	ScopeAttributes []string `mapstructure:"scope_attributes"`
	// MetadataKeys are the client metadata that name the tenant. Entries are
	// case-insensitive. The receiver must pass metadata on (include_metadata).
	MetadataKeys []string `mapstructure:"metadata_keys"`

	// RequiredInvariants must have a baseline at every boundary.
	RequiredInvariants []string `mapstructure:"required_invariants"`
	// Annotate is AnnotateBoundary or AnnotateSession.
	Annotate string `mapstructure:"annotate"`
	// Events are the names of events by kind.
	Events EventsConfig `mapstructure:"events"`
	// Runtimes are the profiles by runtime. What is not said of a known runtime
	// keeps its default.
	Runtimes RuntimesConfig `mapstructure:"runtimes"`
	// Recognizers are rows of your own for agents that are not known. They are tried
	// before the known ones.
	Recognizers []RecognizerConfig `mapstructure:"recognizers"`

	Evidence  EvidenceConfig  `mapstructure:"evidence"`
	Approvals ApprovalsConfig `mapstructure:"approvals"`
	Alerts    AlertsConfig    `mapstructure:"alerts"`
	Receipts  ReceiptsConfig  `mapstructure:"receipts"`
	Redact    RedactConfig    `mapstructure:"redact"`
	Limits    LimitsConfig    `mapstructure:"limits"`
	// Storage is the storage extension that keeps the state over restarts.
	Storage *component.ID `mapstructure:"storage"`
	// StartupGrace is how long after a start, or after a pause of the whole process,
	// what became overdue meanwhile waits, so that observations that queued up
	// count; ReorderGrace where it is not set.
	StartupGrace *time.Duration `mapstructure:"startup_grace"`
	// OnStorageError is StorageErrorPass or StorageErrorRefuse.
	OnStorageError string `mapstructure:"on_storage_error"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// The values of Config.Annotate.
const (
	// AnnotateBoundary writes on the events of a boundary and their span or
	// record only, AnnotateSession also on all later spans and records of a
	// session that has had one.
	AnnotateBoundary = "boundary"
	AnnotateSession  = "session"
)

// The values of Config.OnStorageError: what becomes of a request whose events
// could not be stored.
const (
	// StorageErrorPass passes it on, StorageErrorRefuse returns an error after
	// which the sender tries again.
	StorageErrorPass   = "pass"
	StorageErrorRefuse = "refuse"
)

// EventsConfig are the names of events by kind. A kind that is left out keeps
// its default names.
type EventsConfig struct {
	Snapshot          []string `mapstructure:"snapshot"`
	Observation       []string `mapstructure:"observation"`
	ValidationFailure []string `mapstructure:"validation_failed"`
	Completion        []string `mapstructure:"completion"`
	Approval          []string `mapstructure:"approval"`
	SessionEnd        []string `mapstructure:"session_end"`
	SessionStart      []string `mapstructure:"session_start"`
	// Activity is empty by default: the recognised runtimes need no names.
	Activity []string `mapstructure:"activity"`
}

// byKind lists the names by kind.
func (c *EventsConfig) byKind() map[boundary.Kind][]string {
	return map[boundary.Kind][]string{
		boundary.Snapshot:          c.Snapshot,
		boundary.Observation:       c.Observation,
		boundary.ValidationFailure: c.ValidationFailure,
		boundary.Completion:        c.Completion,
		boundary.Approval:          c.Approval,
		boundary.SessionEnd:        c.SessionEnd,
		boundary.SessionStart:      c.SessionStart,
		boundary.Activity:          c.Activity,
	}
}

// RuntimesConfig are the profiles by runtime.
type RuntimesConfig map[string]RuntimeConfig

// RuntimeConfig is what is known of a runtime's habits.
type RuntimeConfig struct {
	// Enabled lets the runtime's own telemetry be recognised, where it is one
	// that Continuity knows.
	Enabled bool `mapstructure:"enabled"`
	// Window replaces Config.Window where positive.
	Window time.Duration `mapstructure:"window"`
	// Confirm: once this runtime was seen to report completions, a snapshot
	// without one is a compaction that did not happen, and no alarm.
	Confirm bool `mapstructure:"confirm"`
	// Starts is StartsCompaction or StartsActivity.
	Starts string `mapstructure:"starts"`

	_ struct{}
}

// The values of RuntimeConfig.Starts.
const (
	// StartsCompaction starts the window with the compaction, StartsActivity
	// with the first activity after it: an idle agent cannot restate.
	StartsCompaction = "compaction"
	StartsActivity   = "activity"
)

func defaultRuntime() RuntimeConfig { return RuntimeConfig{Enabled: true, Starts: StartsCompaction} }

var _ confmap.Unmarshaler = (*RuntimesConfig)(nil)

// Unmarshal lays what is set over the defaults of each runtime: who sets nothing
// but the window of a known runtime keeps the rest of its profile.
func (c *RuntimesConfig) Unmarshal(conf *confmap.Conf) error {
	if *c == nil {
		*c = RuntimesConfig{}
	}
	for name := range conf.ToStringMap() {
		profile, known := (*c)[name]
		if !known {
			profile = defaultRuntime()
		}
		sub, err := conf.Sub(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := sub.Unmarshal(&profile); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		(*c)[name] = profile
	}
	return nil
}

// EvidenceConfig says which sources count.
type EvidenceConfig struct {
	Sources []string `mapstructure:"sources"`
	// SourcesByInvariant holds the sources of a name or of a family of names,
	// as constraint is for all constraint.<id>.
	SourcesByInvariant map[string][]string `mapstructure:"sources_by_invariant"`

	_ struct{}
}

// ApprovalsConfig says which approvals count.
type ApprovalsConfig struct {
	// PublicKeys are Ed25519 public keys by key id: base64, PEM, or the path of a
	// file that holds one of the two. With any, unsigned approvals do not count.
	PublicKeys map[string]string `mapstructure:"public_keys"`

	_ struct{}
}

// AlertsConfig says which alerts are raised.
type AlertsConfig struct {
	Kinds []string `mapstructure:"kinds"`

	_ struct{}
}

// ReceiptsConfig says how receipts look.
type ReceiptsConfig struct {
	// ErrorStatus gives receipt spans with a firing alert the status Error. It
	// counts as a failure of the agent wherever error rates are computed.
	ErrorStatus bool `mapstructure:"error_status"`

	_ struct{}
}

// RedactConfig adds to what never passes on recognised events.
type RedactConfig struct {
	Attributes []string `mapstructure:"attributes"`

	_ struct{}
}

// LimitsConfig bounds what is held.
type LimitsConfig struct {
	// Sessions is how many sessions may be held, and how many receipts may wait
	// for each pipeline: a whole fleet can be decided at once.
	Sessions int `mapstructure:"sessions"`
	// Invariants is how many a snapshot may state.
	Invariants int `mapstructure:"invariants"`
	// Approvals is how many a session may hold.
	Approvals int `mapstructure:"approvals"`
	// MemoryMiB is how much memory sessions may hold together; 0 is
	// sessionMemory for each of Sessions.
	MemoryMiB int `mapstructure:"memory_mib"`

	_ struct{}
}

const (
	defaultSessions = 100_000
	// sessionMemory is what a session takes that has an open boundary, some that
	// are remembered, and a handful of invariants.
	sessionMemory = 10 << 10
	// leastSession is enough for one with an open boundary and five invariants.
	leastSession = 6 << 10
	leastMemory  = 64 << 20
)

// memory is how many bytes sessions may hold together.
func (c *LimitsConfig) memory() int64 {
	if c.MemoryMiB > 0 {
		return int64(c.MemoryMiB) << 20
	}
	return max(int64(c.Sessions)*sessionMemory, leastMemory)
}

// createDefaultConfig takes its values from the packages that act on them.
func createDefaultConfig() component.Config {
	core, reader := boundary.DefaultConfig(), signal.DefaultConfig()
	cfg := &Config{
		Window:            core.Window,
		ReorderGrace:      core.ReorderGrace,
		Retention:         core.Retention,
		SessionTTL:        core.SessionTTL,
		SessionAttributes: reader.SessionAttributes,
		AgentAttributes:   reader.AgentAttributes,
		Annotate:          AnnotateBoundary,
		OnStorageError:    StorageErrorPass,
		Events: EventsConfig{
			Snapshot:          reader.Events[boundary.Snapshot],
			Observation:       reader.Events[boundary.Observation],
			ValidationFailure: reader.Events[boundary.ValidationFailure],
			Completion:        reader.Events[boundary.Completion],
			Approval:          reader.Events[boundary.Approval],
			SessionEnd:        reader.Events[boundary.SessionEnd],
			SessionStart:      reader.Events[boundary.SessionStart],
		},
		Runtimes: RuntimesConfig{},
		Evidence: EvidenceConfig{
			Sources:            sourceNames(core.Sources),
			SourcesByInvariant: map[string][]string{},
		},
		Limits: LimitsConfig{
			Sessions: defaultSessions, Invariants: core.Limits.Invariants, Approvals: core.Limits.Approvals,
		},
	}
	for name, sources := range core.SourcesByInvariant {
		cfg.Evidence.SourcesByInvariant[name] = sourceNames(sources)
	}
	for name, p := range core.Runtimes {
		profile := defaultRuntime()
		profile.Confirm = p.Confirm
		cfg.Runtimes[name] = profile
	}
	for _, kind := range boundary.AlertKinds {
		if core.Alerts[kind] {
			cfg.Alerts.Kinds = append(cfg.Alerts.Kinds, kind.String())
		}
	}
	return cfg
}
