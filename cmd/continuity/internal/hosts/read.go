package hosts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// ErrPayload says that the payload is no JSON object.
var ErrPayload = errors.New("the payload is no JSON object")

// Event is what an event of a host says.
type Event struct {
	Host, Name string
	Action     Action

	// Session is "" where neither payload nor environment say whose event it is.
	Session, SessionAttribute, Agent, Runtime string
	// Previous is the session that this one goes on with.
	Previous string
	// Trigger is `auto`, `manual`, `other` or "".
	Trigger string
	Outcome continuity.Outcome
	// SummarySHA256 is all that is taken of a summary.
	SummarySHA256 string
	Activity      string
	Output        Output

	// IDs identify the event, as far as the host gives ids. They are not sent.
	IDs []string
	// Unique: the host gives this id to no other event.
	Unique bool
	// Dir is the project's folder. It is not sent.
	Dir string
}

// Options are what the user asked for and what the payload does not say.
type Options struct {
	// Event names the event where the payload does not.
	Event     string
	EveryTurn bool
	// SessionAttribute and Runtime stand in for the host's own.
	SessionAttribute, Runtime string
}

// Read says what a payload asks for. An event that the table does not know is no
// error: its action is [Nothing].
func (h *Host) Read(payload []byte, options Options, getenv func(string) string) (Event, error) {
	var p map[string]any
	if err := json.Unmarshal(payload, &p); err != nil || p == nil {
		return Event{}, ErrPayload // what json says of it may quote it
	}
	if h.Name == "claude-code" && p["cursor_version"] != nil {
		// Cursor runs the hooks of Claude Code too, with payloads of its own.
		h, _ = Find("cursor")
	}
	e := Event{Host: h.Name, SessionAttribute: h.SessionAttribute, Runtime: h.Runtime, Name: options.Event}
	if e.Name == "" {
		e.Name = first(p, h.Event)
	}
	if options.SessionAttribute != "" {
		e.SessionAttribute = options.SessionAttribute
	}
	if options.Runtime != "" {
		e.Runtime = options.Runtime
	}
	row := h.row(p, e.Name, options)
	if row == nil {
		return e, nil
	}
	e.Session = id(p, h.Session)
	for _, name := range h.Environment {
		if e.Session == "" {
			e.Session = usable(getenv(name))
		}
	}
	e.Action, e.Activity, e.Output = row.Action, row.Activity, row.Output
	e.Dir = first(p, h.Dir)
	e.Agent, e.Previous = id(p, h.Agent), id(p, h.Previous)
	e.Trigger = trigger(first(p, h.Trigger))
	if e.Action == Completion {
		e.Outcome = row.Outcome
		if e.Outcome == "" {
			e.Outcome = outcome(first(p, h.Outcome))
		}
		e.SummarySHA256 = sum(p, row.Summary)
		if e.Outcome != continuity.Completed && e.Outcome != continuity.Unknown {
			e.Output = Silent // nothing was lost, so there is nothing to ask
		}
	}
	e.identify(p, h)
	return e, nil
}

// row is the first row that fits.
func (h *Host) row(p map[string]any, event string, options Options) *Row {
	for i := range h.Rows {
		r := &h.Rows[i]
		fits := r.Event == event && (r.Needs != EveryTurn || options.EveryTurn)
		for _, c := range r.If {
			fits = fits && slices.Contains(c.Values, text(at(p, c.Place)))
		}
		if fits {
			return r
		}
	}
	return nil
}

// identify collects what tells this event from others.
func (e *Event) identify(p map[string]any, h *Host) {
	if unique := first(p, h.Unique); unique != "" {
		e.IDs, e.Unique = []string{unique}, true
		return
	}
	for _, place := range h.Turn {
		if v := text(at(p, place)); v != "" {
			e.IDs = append(e.IDs, v)
		}
	}
}

// at is the value at a place, nil where there is none.
func at(p map[string]any, place string) any {
	var value any = p
	for key := range strings.SplitSeq(place, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// text is a string, number or boolean as text; "" for anything else.
func text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return ""
	}
}

func first(p map[string]any, places []string) string {
	for _, place := range places {
		if v := text(at(p, place)); v != "" {
			return v
		}
	}
	return ""
}

// maxID bounds an id: what is longer is none.
const maxID = 256

// id is the first usable id. Only strings are ids.
func id(p map[string]any, places []string) string {
	for _, place := range places {
		if v, ok := at(p, place).(string); ok {
			if v = usable(v); v != "" {
				return v
			}
		}
	}
	return ""
}

// usable is an id without blanks around it, "" where it names nobody.
func usable(v string) string {
	v = strings.TrimSpace(v)
	switch {
	case len(v) > maxID, !utf8.ValidString(v), strings.ContainsRune(v, utf8.RuneError), digest.IsPlaceholder(v):
		return ""
	case strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsGraphic(r) }):
		return "" // it goes into the agent's context, where a line break is a new line
	case strings.EqualFold(v, "undefined"), v == "00000000-0000-0000-0000-000000000000":
		return ""
	}
	return v
}

func trigger(v string) string {
	switch v {
	case "", "auto", "manual":
		return v
	default:
		return "other"
	}
}

// outcome reads what whoever wired the hook says. What cannot be read is unknown.
func outcome(v string) continuity.Outcome {
	switch o := continuity.Outcome(v); o {
	case "":
		return continuity.Completed
	case continuity.Completed, continuity.Failed, continuity.Cancelled, continuity.NoOp:
		return o
	default:
		return continuity.Unknown
	}
}

// sum is the SHA-256 of the text at a place, as it is there; "" where there is
// none.
func sum(p map[string]any, place string) string {
	summary, ok := at(p, place).(string)
	if place == "" || !ok {
		return ""
	}
	s := sha256.Sum256([]byte(summary))
	return "sha256:" + hex.EncodeToString(s[:])
}
