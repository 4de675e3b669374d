package signal

import (
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// Config says how events are recognised and whose they are.
type Config struct {
	// SessionAttributes and AgentAttributes hold ids, best first.
	SessionAttributes, AgentAttributes []string
	// ScopeAttributes are resource attributes that tell equal ids apart.
	ScopeAttributes []string
	// Events are the names of events by kind. A kind that is not in the map
	// keeps its default names; one with an empty list is switched off.
	Events map[boundary.Kind][]string
	// Runtimes switches the recognisers of a runtime on or off. What is not in the
	// map is as its rows say.
	Runtimes map[string]bool
	// Rows are the user's own recognisers. They are tried before the known ones.
	Rows []Row
	// RedactAttributes are removed from recognised events besides those that
	// always are, and never copied to receipts.
	RedactAttributes []string
	// MaxInvariants bounds the statements of one event; 0 is the default.
	MaxInvariants int
}

const (
	defaultInvariants = 32
	mostInvariants    = 64
)

// DefaultConfig returns the defaults of docs/attributes.md.
func DefaultConfig() Config {
	return Config{
		SessionAttributes: []string{semconv.ConversationID, semconv.SessionID, semconv.PlainConversationID},
		AgentAttributes:   []string{semconv.AgentID, semconv.PlainAgentID},
		Events:            DefaultEvents(),
		MaxInvariants:     defaultInvariants,
	}
}

// DefaultEvents returns the default names of events by kind. Activity has none:
// only recognisers report it.
func DefaultEvents() map[boundary.Kind][]string {
	return map[boundary.Kind][]string{
		boundary.Snapshot:          {semconv.EventCompaction, semconv.EventSnapshot},
		boundary.Observation:       {semconv.EventRehydration, semconv.EventObservation},
		boundary.ValidationFailure: {semconv.EventValidationFailed},
		boundary.Completion:        {semconv.EventCompactionCompleted, semconv.EventContinuityCompaction},
		boundary.Approval:          {semconv.EventApproval},
		boundary.SessionEnd:        {semconv.EventSessionEnd},
		boundary.SessionStart:      {semconv.EventSessionStart},
	}
}

func (c *Config) names(k boundary.Kind) []string {
	if names, ok := c.Events[k]; ok {
		return names
	}
	return DefaultEvents()[k]
}

func (c *Config) invariants() int {
	if c.MaxInvariants <= 0 {
		return defaultInvariants
	}
	return min(c.MaxInvariants, mostInvariants)
}
