package signal

import (
	"slices"
	"strings"

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
	invariants               int
	// named holds what names mean, by form; longest is the longest of them.
	named   [forms]map[string]meaning
	longest int
	// heads hold the rows of first words, by form, anyName those of every name.
	heads   [forms]map[string][]*Row
	anyName [forms][]*Row
	// initials are the first bytes of heads: most names need no further look.
	initials   [forms][256]bool
	readsSpans bool
	// remove holds the attributes that never pass, redact those of the operator.
	remove, redact map[string]struct{}
}

// meaning is what a name stands for. Native names win over recognisers.
type meaning struct {
	native boundary.Kind
	rows   []*Row
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
	for f := range r.named {
		r.named[f], r.heads[f] = map[string]meaning{}, map[string][]*Row{}
	}
	for _, kind := range boundary.Kinds {
		for _, name := range cfg.names(kind) {
			r.addName(LogRecord, name, meaning{native: kind})
			r.addName(SpanEvent, name, meaning{native: kind})
		}
	}
	for i := range rows {
		if on, ok := cfg.Runtimes[rows[i].Runtime]; on || !ok && !rows[i].Off {
			r.addRow(rows[i].prefer(r.sessions, r.agents))
		}
	}
	return r
}

func (r *Reader) addRow(row *Row) {
	r.readsSpans = r.readsSpans || row.Form == Span
	head, isHead := strings.CutSuffix(row.Name, anything)
	switch {
	case row.Name == "":
		r.anyName[row.Form] = append(r.anyName[row.Form], row)
	case isHead:
		r.heads[row.Form][head] = append(r.heads[row.Form][head], row)
		r.initials[row.Form][head[0]] = true
	default:
		r.addName(row.Form, row.Name, meaning{rows: []*Row{row}})
	}
}

// addName lets a name mean something more. The first kind that has a name keeps
// it; the empty name means nothing.
func (r *Reader) addName(form Form, name string, m meaning) {
	if name == "" {
		return
	}
	known := r.named[form][name]
	if known.native == boundary.NoKind {
		known.native = m.native
	}
	known.rows = append(known.rows, m.rows...)
	r.named[form][name] = known
	r.longest = max(r.longest, len(name))
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
