package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/ask"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/hosts"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/sessions"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// sight is what this hook saw. Its event is named by all that the host says of
// which one it is; the time comes in only where that may fit several.
func sight(e *hosts.Event, at time.Time) sessions.Seen {
	parts := append([]string{e.Host, e.Name, e.Action.String(), e.Session, e.Agent, e.Trigger}, e.IDs...)
	return sessions.Seen{
		At: at, Event: hookHash(parts...), Unique: e.Unique,
		Session: e.Session, Attribute: e.SessionAttribute, Agent: e.Agent, Runtime: e.Runtime,
	}
}

// eventID is the idempotency key of what a hook saw: the same for all hooks of one
// event, and another for every other event.
func eventID(seen sessions.Seen) string {
	if seen.Unique {
		return hookHash(seen.Event)
	}
	return hookHash(seen.Event, seen.At.UTC().Format(time.RFC3339Nano))
}

func hookHash(parts ...string) string {
	sum := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(sum, "%q ", p)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// hookEvent is what the collector gets. The error is what it could not be given;
// the event is good in any case.
func hookEvent(cfg *config.Config, e *hosts.Event, seen sessions.Seen) (continuity.Event, error) {
	common := continuity.Common{
		Session: continuity.Session{ID: e.Session, Attribute: e.SessionAttribute, Agent: e.Agent, Runtime: e.Runtime},
		Time:    seen.At, EventID: eventID(seen), Trigger: e.Trigger, Activity: e.Activity,
	}
	switch e.Action {
	case hosts.Snapshot:
		entries, err := cfg.Ledger().InForce(e.Session)
		if err != nil {
			return continuity.Snapshot{Common: common, Failed: true}, err
		}
		snapshot, foreign := snapshotOf(cfg, common, entries)
		if len(foreign) > 0 {
			err = fmt.Errorf("cannot be compared: %q", foreign)
		}
		return snapshot, err
	case hosts.Completion:
		return continuity.Completion{Common: common, Outcome: e.Outcome, SummarySHA256: e.SummarySHA256}, nil
	case hosts.Start:
		common.Trigger = ""
		return continuity.SessionStart{Common: common, PreviousID: e.Previous}, nil
	case hosts.End:
		return continuity.SessionEnd{Common: common}, nil
	default:
		return activity{common}, nil
	}
}

// activity tells what an agent does, apart from continuity. No verdict depends on
// it.
type activity struct{ continuity.Common }

func (activity) Name() string { return "agent.activity" }

func (a activity) Attributes() ([]attribute.KeyValue, error) {
	// A session start without more has just the attributes that all events have.
	return continuity.SessionStart{Common: a.Common}.Attributes()
}

// question is what the host puts into the agent's context.
func question(cfg *config.Config, e *hosts.Event, seen sessions.Seen) ([]byte, error) {
	topics, err := topicsOf(cfg, e.Session)
	text := ask.Text(e.Session, e.Agent, ask.Questions(topics, ask.Seed(e.Session, eventID(seen))))
	if e.Output == hosts.Text {
		return []byte(text), err
	}
	type output struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	}
	encoded, jsonErr := json.Marshal(map[string]output{"hookSpecificOutput": {e.Name, text}})
	if jsonErr != nil {
		return nil, jsonErr
	}
	return append(encoded, '\n'), err
}

// topicsOf is what can be asked for in a session.
func topicsOf(cfg *config.Config, session string) ([]ask.Topic, error) {
	inForce, err := inForceTopics(cfg, session)
	return ask.Topics(catalogueTopics(cfg), inForce), err
}

// catalogueTopics are the names that the project lists, whether or not anything was
// decided for them.
func catalogueTopics(cfg *config.Config) []ask.Topic {
	var topics []ask.Topic
	add := func(name string) {
		t := ask.Topic{Name: name, Kind: continuity.Kind(cfg.Kind(name))}
		for _, value := range cfg.Choices(name) {
			t.Choices = append(t.Choices, ask.Choice{Value: value, Synonyms: synonyms[value]})
		}
		topics = append(topics, t)
	}
	names := []string{classify.Scope, classify.Target, classify.AcceptanceTest, classify.ApprovalBoundary}
	for _, action := range cfg.Actions() {
		names = append(names, classify.Constraint+"."+action)
	}
	names = append(names, cfg.Invariants...)
	for i, name := range names {
		if !slices.Contains(names[:i], name) {
			add(name)
		}
	}
	return topics
}

// synonyms are other words for the answers that every catalogue has.
var synonyms = map[string][]string{
	config.Forbidden: {"not allowed", "disallowed", "prohibited", "never", "never allowed", "denied"},
	config.AskFirst:  {"ask", "ask a human first", "needs approval", "requires approval", "approval required", "only with approval"},
	config.Allowed:   {"permitted", "may be done", "fine", "ok", "okay"},
}

func inForceTopics(cfg *config.Config, session string) ([]ask.Topic, error) {
	entries, err := cfg.Ledger().InForce(session)
	topics := make([]ask.Topic, len(entries))
	for i := range entries {
		topics[i] = ask.Topic{Name: entries[i].Name, Kind: continuity.Kind(entries[i].Kind)}
	}
	return topics, err
}
