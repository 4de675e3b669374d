package signal

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// Form is the kind of telemetry that carried an event.
type Form uint8

// The forms.
const (
	LogRecord Form = iota
	SpanEvent
	Span // recognisers only: the span itself is the event
	forms
)

// Item is one recognised event and where annotations of it belong.
type Item struct {
	Kind boundary.Kind
	Form Form
	// Reason is set where the event holds no state: session_missing (Event is
	// nil), or why an approval is none (Event.Approval is nil).
	Reason classify.Reason
	Event  *boundary.Event
	// Attributes are those of the event, Enclosing those of the span or record
	// around it. They are one and the same map unless Form is SpanEvent, so that
	// both annotations can be written in any case, Enclosing first. Both stay
	// valid as long as the batch does.
	Attributes, Enclosing pcommon.Map
	// own is set for what a row shows of the agent's work. Such a signal is no event
	// of a boundary: it is left as its sender made it.
	own bool
}

// silent reports whether there is nothing to say of an item: work of nobody.
func (i Item) silent() bool { return i.own && i.Event == nil }

// Reader reads events. It is immutable and safe for concurrent use.
type Reader struct {
	sessions, agents, scopes []string
	// idLengths are the lengths of the names in sessions and agents, as in names.
	idLengths  uint64
	invariants int
	// names hold what names mean, by form.
	names [forms]names
	// remove holds the attributes that never pass, redact those of the operator.
	remove, redact map[string]struct{}
}

// NewReader returns a reader for a configuration.
func NewReader(cfg Config) *Reader { return newReader(&cfg, slices.Concat(cfg.Rows, recognizers)) }

func newReader(cfg *Config, rows []Row) *Reader {
	r := &Reader{
		sessions:   cloneAll(cfg.SessionAttributes),
		agents:     cloneAll(cfg.AgentAttributes),
		scopes:     cloneAll(cfg.ScopeAttributes),
		invariants: cfg.invariants(),
		remove:     setOf(rawAttributes, cfg.RedactAttributes),
		redact:     setOf(cfg.RedactAttributes),
	}
	for _, key := range slices.Concat(r.sessions, r.agents) {
		r.idLengths |= 1 << min(len(key), lastLength)
	}
	for _, kind := range boundary.Kinds {
		for _, name := range cfg.names(kind) {
			r.names[LogRecord].add(name, meaning{native: kind})
			r.names[SpanEvent].add(name, meaning{native: kind})
		}
	}
	for i := range rows {
		if on, ok := cfg.Runtimes[rows[i].Runtime]; on || !ok && !rows[i].Off {
			r.names[rows[i].Form].addRow(rows[i].prefer(r.sessions, r.agents))
		}
	}
	return r
}

func cloneAll(texts []string) []string { return append([]string(nil), texts...) }

func setOf(lists ...[]string) map[string]struct{} {
	set := map[string]struct{}{}
	for _, list := range lists {
		for _, text := range list {
			set[text] = struct{}{}
		}
	}
	return set
}
