// Package lab is the envelope laboratory: a scenario of an agent that works on a
// support ticket, whose context is compacted and rehydrated. What comes of it is
// judged by the checks of the collector's processor.
package lab

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/printed"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
	"github.com/agentcontinuity/otelcol-continuity/internal/signal"
)

// Scenario is what can be varied.
type Scenario struct {
	// Summary is the text that the conversation was compacted to. Only its digest
	// is shown. With TamperSummary it is another when the agent goes on.
	Summary       string
	TamperSummary bool
	// PolicyVersion is the policy in force before, CurrentPolicyVersion the one
	// after; "" is the same.
	PolicyVersion, CurrentPolicyVersion string
	// ApprovalStatus and SideEffectStatus are what the systems of record say, at
	// both times.
	ApprovalStatus, SideEffectStatus string
	TraceID, SessionID               string
	// Now is when the agent goes on.
	Now time.Time
}

// Default is the scenario in which nothing is wrong.
func Default() Scenario {
	return Scenario{
		Summary:        "The customer cannot sign in. One ticket is to be created; it was not created yet.",
		PolicyVersion:  "policy-v4",
		ApprovalStatus: "approved", SideEffectStatus: "not_executed",
	}
}

// Outcome is what came of a scenario.
type Outcome struct {
	Status                  string          `json:"status"`
	RequiresReauthorization bool            `json:"requires_reauthorization"`
	Reason                  string          `json:"reason"`
	Findings                []string        `json:"findings"`
	SideEffectStatus        string          `json:"side_effect_status"`
	EventTypes              []string        `json:"event_types"`
	Events                  []printed.Event `json:"events"`
	// Changes are the fields of the envelope that differ.
	Changes []Change `json:"-"`
}

// Change is one field of the envelope, as recorded and as read when the agent
// goes on.
type Change struct{ Field, Before, Now string }

// Explain says in words what the status means.
func (o *Outcome) Explain() string {
	switch classify.ValidationStatus(o.Status) {
	case classify.StatusReauthorization:
		return "What was recorded before the compaction still holds. That is all it says: whoever resumes the agent has to decide anew what it may do."
	case classify.StatusBlocked:
		return "It is not known whether the side effect took place. Find out in the system of record before anything is done again: a second try may do it twice."
	default:
		return "What was recorded before the compaction does not hold now. The runtime stops and says so; it does not rehydrate."
	}
}

// Clean reports whether no check failed.
func (o *Outcome) Clean() bool { return o.Status == string(classify.StatusReauthorization) }

// Run compacts and rehydrates.
func Run(s Scenario) (*Outcome, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	compaction, err := s.compaction()
	if err != nil {
		return nil, err
	}
	rehydration, err := s.rehydration()
	if err != nil {
		return nil, err
	}
	v, now, err := s.judge(compaction, rehydration)
	if err != nil {
		return nil, err
	}
	o := &Outcome{
		Status: string(v.Status), RequiresReauthorization: true, Reason: string(v.Reason),
		Findings: texts(v.Findings), SideEffectStatus: now.Fields[classify.FieldSideEffectStatus],
	}
	for _, key := range slices.Sorted(maps.Keys(compaction.Attributes)) {
		field, is := strings.CutPrefix(key, semconv.EnvelopePrefix)
		before, after := fmt.Sprint(compaction.Attributes[key]), fmt.Sprint(rehydration.Attributes[key])
		if is && before != after {
			o.Changes = append(o.Changes, Change{field, before, after})
		}
	}
	second := rehydration
	if !o.Clean() {
		second = s.refusal(o)
	}
	for _, e := range []printed.Event{compaction, second} {
		e.TraceID = s.TraceID
		o.EventTypes = append(o.EventTypes, e.Name)
		o.Events = append(o.Events, e)
	}
	return o, nil
}

// judge reads both events as the processor does and compares their envelopes.
func (s *Scenario) judge(compaction, rehydration printed.Event) (classify.Validation, *classify.Envelope, error) {
	before, err := envelopeOf(compaction)
	if err != nil {
		return classify.Validation{}, nil, err
	}
	now, err := envelopeOf(rehydration)
	if err != nil {
		return classify.Validation{}, nil, err
	}
	pair := classify.EnvelopePair{Before: before, Now: now, Received: classify.At(s.Now)}
	// The scenario states no decisions: of them there is nothing to say.
	return classify.Judge(pair.Check(), classify.NoState), now, nil
}

func envelopeOf(e printed.Event) (*classify.Envelope, error) {
	logs, err := e.Logs()
	if err != nil {
		return nil, err
	}
	envelope := read(logs)
	if envelope == nil {
		return nil, fmt.Errorf("%s: it has no envelope", e.Name)
	}
	envelope.Normalize()
	return envelope, nil
}

func read(logs plog.Logs) (envelope *classify.Envelope) {
	signal.NewReader(signal.DefaultConfig()).Logs(logs, nil, time.Time{}, func(item signal.Item) {
		if item.Event != nil {
			envelope = item.Event.Envelope
		}
	})
	return envelope
}

func texts(reasons []classify.Reason) []string {
	out := make([]string, len(reasons))
	for i, r := range reasons {
		out[i] = string(r)
	}
	return out
}

// refusal is the event of a runtime that does not resume.
func (s *Scenario) refusal(o *Outcome) printed.Event {
	return printed.Event{
		Name: semconv.EventValidationFailed, Time: s.Now.UTC(),
		Attributes: map[string]any{
			semconv.ConversationID:          s.SessionID,
			semconv.ValidationStatus:        o.Status,
			semconv.ValidationReason:        o.Reason,
			semconv.ValidationFindings:      o.Findings,
			semconv.RequiresReauthorization: true,
		},
	}
}
