package continuityprocessor

import (
	"crypto/ed25519"
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/signal"
)

// core translates a valid configuration for the pure core. It fails where a key
// file cannot be read any more.
func (cfg *Config) core() (*boundary.Config, error) {
	c := boundary.DefaultConfig()
	c.Window, c.ReorderGrace = cfg.Window, cfg.ReorderGrace
	c.Retention, c.SessionTTL = cfg.Retention, cfg.SessionTTL
	c.RequiredInvariants = slices.Clone(cfg.RequiredInvariants)
	c.Runtimes = make(map[string]boundary.Profile, len(cfg.Runtimes))
	for name, r := range cfg.Runtimes {
		c.Runtimes[name] = boundary.Profile{
			Window: r.Window, Confirm: r.Confirm, StartsWithActivity: r.Starts == StartsActivity,
		}
	}
	c.Sources = sourceSet(cfg.Evidence.Sources)
	c.SourcesByInvariant = make(map[string]boundary.Sources, len(cfg.Evidence.SourcesByInvariant))
	for name, sources := range cfg.Evidence.SourcesByInvariant {
		c.SourcesByInvariant[name] = sourceSet(sources)
	}
	c.PublicKeys = make(map[string]ed25519.PublicKey, len(cfg.Approvals.PublicKeys))
	for id, text := range cfg.Approvals.PublicKeys {
		key, err := parsePublicKey(text)
		if err != nil {
			return nil, keyFault(id, err)
		}
		c.PublicKeys[id] = key
	}
	for _, kind := range boundary.AlertKinds {
		c.Alerts[kind] = slices.Contains(cfg.Alerts.Kinds, kind.String())
	}
	c.Limits.Invariants, c.Limits.Approvals = cfg.Limits.Invariants, cfg.Limits.Approvals
	c.Durable = cfg.Storage != nil
	return &c, nil
}

// startupGrace is how long after a start what is overdue waits for observations
// that queued up meanwhile.
func (cfg *Config) startupGrace() time.Duration {
	if cfg.StartupGrace != nil {
		return *cfg.StartupGrace
	}
	return cfg.ReorderGrace
}

// reader translates a valid configuration for the reader of telemetry.
func (cfg *Config) reader() signal.Config {
	c := signal.Config{
		SessionAttributes: cfg.SessionAttributes,
		AgentAttributes:   cfg.AgentAttributes,
		ScopeAttributes:   cfg.ScopeAttributes,
		Events:            cfg.Events.byKind(),
		Runtimes:          make(map[string]bool, len(cfg.Runtimes)),
		RedactAttributes:  cfg.Redact.Attributes,
		MaxInvariants:     cfg.Limits.Invariants,
	}
	for name, r := range cfg.Runtimes {
		c.Runtimes[name] = r.Enabled
	}
	for i := range cfg.Recognizers {
		c.Rows = append(c.Rows, cfg.Recognizers[i].row())
	}
	return c
}

// acceptable are the sources that can count. One that was read back from a
// stored file proves nothing about the context.
var acceptable = []classify.Source{classify.Agent, classify.Environment, classify.Human}

func sourceSet(names []string) boundary.Sources {
	var set boundary.Sources
	for _, name := range names {
		if s := classify.ParseSource(name); slices.Contains(acceptable, s) {
			set = set.With(s)
		}
	}
	return set
}

func sourceNames(set boundary.Sources) []string {
	var names []string
	for _, s := range acceptable {
		if set.Has(s) {
			names = append(names, s.String())
		}
	}
	return names
}
