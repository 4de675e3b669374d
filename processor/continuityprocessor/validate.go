package continuityprocessor

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/confmap"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

var _ confmap.Validator = (*Config)(nil)

// maxInvariants is what one event can state: findings are kept in 64-bit sets.
const maxInvariants = 64

// maxApprovals is what one session can hold: each change is looked for in all
// chains of them.
const maxApprovals = 1024

func (cfg *Config) validateMemory(f *faults) {
	l := &cfg.Limits
	f.between("limits::memory_mib", l.MemoryMiB, 0, 1<<20)
	if l.MemoryMiB > 0 && l.Sessions > 0 && l.memory()/int64(l.Sessions) < leastSession {
		f.add("limits::memory_mib", l.MemoryMiB, fmt.Sprintf("%d sessions need at least %d: raise this, or lower limits::sessions",
			l.Sessions, (int64(l.Sessions)*leastSession)>>20+1))
	}
}

// Validate returns all faults at once, each with its key, the value that was
// found and what to do about it.
func (cfg *Config) Validate() error {
	var f faults
	cfg.validateTimes(&f)
	cfg.validateIdentity(&f)
	cfg.validateEvents(&f)
	cfg.validateRuntimes(&f)
	cfg.validateRecognizers(&f)
	cfg.validateEvidence(&f)
	cfg.validateAlerts(&f)
	f.oneOf("annotate", cfg.Annotate, AnnotateBoundary, AnnotateSession)
	f.names("required_invariants", cfg.RequiredInvariants)
	cfg.validateRedact(&f)
	f.between("limits::sessions", cfg.Limits.Sessions, 1, 100_000_000)
	f.between("limits::invariants", cfg.Limits.Invariants, 1, maxInvariants)
	f.between("limits::approvals", cfg.Limits.Approvals, 1, maxApprovals)
	cfg.validateMemory(&f)
	cfg.validateStorage(&f)
	return errors.Join(f...)
}

func (cfg *Config) validateStorage(f *faults) {
	if cfg.StartupGrace != nil && *cfg.StartupGrace < 0 {
		f.add("startup_grace", *cfg.StartupGrace, "set 0s to wait for nothing, or a positive duration such as 30s")
	}
	f.oneOf("on_storage_error", cfg.OnStorageError, StorageErrorPass, StorageErrorRefuse)
	if cfg.OnStorageError == StorageErrorRefuse && cfg.Storage == nil {
		f.add("on_storage_error", cfg.OnStorageError, "nothing is stored: set storage, or leave this out")
	}
}

func (cfg *Config) validateTimes(f *faults) {
	f.positive("window", cfg.Window)
	if cfg.Window > 0 && cfg.Window < shortestWindow {
		f.add("window", cfg.Window, "give a unit, as in 900s: nobody answers in less than a tenth of a second")
	}
	if cfg.ReorderGrace < 0 {
		f.add("reorder_grace", cfg.ReorderGrace, "set 0s to wait for nothing, or a positive duration such as 10s")
	}
	f.positive("retention", cfg.Retention)
	f.positive("session_ttl", cfg.SessionTTL)
	if cfg.Retention > 0 && cfg.Retention < cfg.Window {
		f.add("retention", cfg.Retention, fmt.Sprintf("a late observation must still find its boundary: set at least the window, %s", cfg.Window))
	}
	if cfg.SessionTTL > 0 && cfg.SessionTTL < cfg.Retention {
		f.add("session_ttl", cfg.SessionTTL, fmt.Sprintf("what is outstanding must outlive what is not: set at least the retention, %s", cfg.Retention))
	}
}

func (cfg *Config) validateIdentity(f *faults) {
	f.notEmpty("session_attributes", cfg.SessionAttributes)
	f.texts("session_attributes", cfg.SessionAttributes)
	f.texts("agent_attributes", cfg.AgentAttributes)
	f.texts("scope_attributes", cfg.ScopeAttributes)
	lower := make([]string, len(cfg.MetadataKeys))
	for i, key := range cfg.MetadataKeys {
		lower[i] = strings.ToLower(key)
	}
	f.texts("metadata_keys", lower)
}

// validateEvents refuses a name of two kinds: nobody could tell which was meant.
func (cfg *Config) validateEvents(f *faults) {
	byKind, owner := cfg.Events.byKind(), map[string]string{}
	for _, kind := range boundary.Kinds {
		key := "events::" + kind.String()
		if kind != boundary.Activity {
			f.notEmpty(key, byKind[kind])
		}
		f.texts(key, byKind[kind])
		for _, name := range byKind[kind] {
			if other, taken := owner[name]; taken && other != key {
				f.add(key, name, "it is a name of "+other+" already: give each kind names of its own")
				continue
			}
			owner[name] = key
		}
	}
}

func (cfg *Config) validateRuntimes(f *faults) {
	for _, name := range slices.Sorted(maps.Keys(cfg.Runtimes)) {
		key, r := "runtimes::"+name, cfg.Runtimes[name]
		if strings.TrimSpace(name) == "" {
			f.add("runtimes", name, "name a runtime as it stands in continuity.runtime")
		}
		if r.Window < 0 {
			f.add(key+"::window", r.Window, "set a positive duration, or leave it out for the general window")
		}
		if r.Window > 0 && cfg.Retention > 0 && r.Window > cfg.Retention {
			f.add(key+"::window", r.Window, fmt.Sprintf("a late observation must still find its boundary: set at most the retention, %s, or raise that", cfg.Retention))
		}
		f.oneOf(key+"::starts", r.Starts, StartsCompaction, StartsActivity)
	}
}

func (cfg *Config) validateEvidence(f *faults) {
	f.sources("evidence::sources", cfg.Evidence.Sources)
	for _, name := range slices.Sorted(maps.Keys(cfg.Evidence.SourcesByInvariant)) {
		if !classify.ValidName(name) {
			f.add("evidence::sources_by_invariant", name, nameRule)
		}
		f.sources("evidence::sources_by_invariant::"+name, cfg.Evidence.SourcesByInvariant[name])
	}
	for _, id := range slices.Sorted(maps.Keys(cfg.Approvals.PublicKeys)) {
		if strings.TrimSpace(id) == "" {
			f.add("approvals::public_keys", id, "name the key as approvals name it in continuity.approval.key_id")
		}
		if _, err := parsePublicKey(cfg.Approvals.PublicKeys[id]); err != nil {
			*f = append(*f, keyFault(id, err)) // without the value, which may be a secret by mistake
		}
	}
}

func (cfg *Config) validateAlerts(f *faults) {
	var kinds []string
	for _, kind := range boundary.AlertKinds {
		kinds = append(kinds, kind.String())
	}
	f.texts("alerts::kinds", cfg.Alerts.Kinds)
	for _, kind := range cfg.Alerts.Kinds {
		f.oneOf("alerts::kinds", kind, kinds...)
	}
}

// validateRedact refuses to remove what the processor itself reads or writes.
func (cfg *Config) validateRedact(f *faults) {
	f.texts("redact::attributes", cfg.Redact.Attributes)
	for _, key := range cfg.Redact.Attributes {
		switch {
		case strings.HasPrefix(key, "continuity."):
			f.add("redact::attributes", key, "raw values are removed without being named, and the rest of continuity.* is needed: leave it out")
		case slices.Contains(cfg.SessionAttributes, key), slices.Contains(cfg.AgentAttributes, key):
			f.add("redact::attributes", key, "it identifies sessions or agents: leave it out here, or there")
		}
	}
}

func keyFault(id string, err error) error {
	return fmt.Errorf("approvals::public_keys::%s: %w", id, err)
}
