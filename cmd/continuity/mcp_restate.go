package main

import (
	"context"
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/ask"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/hosts"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/send"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/sessions"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/ledger"
)

// maxStated is how many decisions an observation states at most: as many as a
// collector reads by default.
const maxStated = 32

// round is what an agent said since the last event of its session.
type round struct {
	event   string // the session's last event
	stated  map[string]continuity.Decision
	unknown map[string]bool
	retried map[string]bool // names that were asked for a second time
}

// take reads answers, sends what the agent has stated in this round, and returns
// the questions that are worth another try. What it returns depends on the answers
// and the questions alone, never on what is in force.
func (t *tools) take(ctx context.Context, cfg *config.Config, seen sessions.Seen, in *restateInput, questions []ask.Question) ([]ask.Question, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.round(seen, in.Agent)
	inForce, err := cfg.Ledger().InForce(in.Session)
	if err != nil {
		return nil, err
	}
	digester, err := cfg.Digester()
	if err != nil {
		return nil, err
	}
	answers := make([]ask.Answer, len(in.Answers))
	for i, a := range in.Answers {
		answers[i] = ask.Answer(a)
	}
	own := make([]ask.Topic, len(inForce))
	for i := range inForce {
		own[i] = ask.Topic{Name: inForce[i].Name, Kind: continuity.Kind(inForce[i].Kind)}
	}
	reading := ask.Read(questions, own, answers)
	unread := reading.Unread
	now := t.now()
	for _, s := range reading.Stated {
		d, ok := decisionOf(cfg, digester, inForce, &s, now)
		switch i := slices.IndexFunc(questions, func(q ask.Question) bool { return q.Name == s.Name }); {
		case ok:
			r.stated[s.Name] = d
			delete(r.unknown, s.Name)
		case i >= 0 && len(questions[i].Options) == 0:
			// A word of a list fits always, unless another kind is in force, which
			// nobody may find out.
			unread = append(unread, questions[i])
		}
	}
	for _, name := range reading.Unknown {
		r.unknown[name] = true
		delete(r.stated, name)
	}
	var again []ask.Question
	for _, q := range unread {
		delete(r.stated, q.Name) // it says something else now
		if !r.retried[q.Name] {
			r.retried[q.Name] = true
			again = append(again, q)
		}
	}
	return again, t.observe(ctx, cfg, seen, in, r, inForce, digester.KeyID(), now)
}

// round is the round that an agent is in. It ends with the session's next event.
func (t *tools) round(seen sessions.Seen, agent string) *round {
	key := hookHash(seen.Session, agent)
	r := t.rounds[key]
	if r == nil || r.event != seen.Nonce {
		r = &round{event: seen.Nonce, stated: map[string]continuity.Decision{}, unknown: map[string]bool{}, retried: map[string]bool{}}
		t.rounds[key] = r
	}
	return r
}

// decisionOf digests a statement by the kind that its decision was recorded with.
func decisionOf(cfg *config.Config, digester continuity.Digester, inForce []ledger.Entry, s *ask.Statement, now time.Time) (continuity.Decision, bool) {
	d := continuity.Decision{Name: s.Name, Digest: continuity.None, ObservedAt: now, Choices: s.Choices}
	if s.None {
		return d, true
	}
	r, err := restated(cfg, digester, inForce, s.Name, s.Value)
	d.Digest = r.Digest
	return d, err == nil
}

// observe sends what an agent stated in a round. That it knows of no decision where
// none is in force says nothing: most names of a catalogue are such.
func (t *tools) observe(ctx context.Context, cfg *config.Config, seen sessions.Seen, in *restateInput, r *round, inForce []ledger.Entry, keyID string, now time.Time) error {
	o := continuity.Observation{
		Common: continuity.Common{
			Session: continuity.Session{ID: in.Session, Attribute: seen.Attribute, Agent: in.Agent, Runtime: seen.Runtime},
			Time:    now, Activity: hosts.Working,
		},
		Source: continuity.Agent, ObservedAt: now, KeyID: keyID,
	}
	for i := range inForce {
		if d, stated := r.stated[inForce[i].Name]; stated {
			o.Decisions = append(o.Decisions, d)
		}
	}
	o.Partial = leavesOpen(inForce, func(name string) bool { _, stated := r.stated[name]; return stated }, r.unknown)
	for name, d := range r.stated {
		if find(inForce, name) == nil && d.Digest != continuity.None {
			o.Decisions = append(o.Decisions, d)
		}
	}
	if len(o.Decisions) == 0 {
		return nil
	}
	slices.SortFunc(o.Decisions, func(a, b continuity.Decision) int {
		switch inA, inB := find(inForce, a.Name) != nil, find(inForce, b.Name) != nil; {
		case inA == inB:
			return classify.CompareNames(a.Name, b.Name)
		case inA:
			return -1
		default:
			return 1
		}
	})
	if len(o.Decisions) > maxStated {
		o.Decisions, o.Partial = o.Decisions[:maxStated], true
	}
	_, err := send.New(cfg, t.now).Send(ctx, o)
	return err
}
