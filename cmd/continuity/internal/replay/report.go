package replay

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/term"
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/cases"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// Report is what a replay is printed from.
type Report struct {
	// OK is set where cases were replayed that say what must come out.
	OK       *bool           `json:"ok,omitempty"`
	Window   string          `json:"window"`
	Sessions []SessionReport `json:"sessions"`
	Events   int             `json:"events"`
	Rejected map[string]int  `json:"rejected"`
	// Clock says how the times were made that verdicts depend on.
	Clock string `json:"clock"`
}

// SessionReport tells of one agent of one session.
type SessionReport struct {
	Case       string           `json:"case,omitempty"`
	Title      string           `json:"title,omitempty"`
	About      string           `json:"about,omitempty"`
	Session    string           `json:"session"`
	Agent      string           `json:"agent,omitempty"`
	EventRule  string           `json:"event_rule"`
	Boundaries []BoundaryReport `json:"boundaries"`
	// Differs lists what is otherwise than the case expects.
	Differs []string `json:"differs,omitempty"`
}

// BoundaryReport is what stands of one boundary.
type BoundaryReport struct {
	ID           string                     `json:"id"`
	State        string                     `json:"state"`
	SessionState string                     `json:"session_state"`
	Reason       string                     `json:"reason"`
	Action       string                     `json:"action"`
	Actions      []string                   `json:"actions"`
	Alerts       []string                   `json:"alerts"`                // that are still firing
	AlertsOver   []string                   `json:"alerts_over,omitempty"` // as "decision_conflicting (resolved)"
	Revisions    int                        `json:"revisions"`
	Decided      time.Time                  `json:"decided_at"`
	Invariants   map[string]InvariantReport `json:"invariants"`
	ChangedSince []string                   `json:"changed_since,omitempty"`
	Validation   *ValidationReport          `json:"validation,omitempty"`
}

// InvariantReport is the finding of one decision.
type InvariantReport struct {
	State  string `json:"state"`
	Reason string `json:"reason"`
}

// ValidationReport is the judgement of an envelope.
type ValidationReport struct {
	Status                  string   `json:"status"`
	Reason                  string   `json:"reason"`
	Findings                []string `json:"findings"`
	RequiresReauthorization bool     `json:"requires_reauthorization"`
}

// NewReport makes an empty report.
func NewReport(o Options) *Report {
	return &Report{
		Window: New(o).Window().String(), Sessions: []SessionReport{}, Rejected: map[string]int{},
		Clock: "each event at its own time; afterwards all windows were let pass",
	}
}

// Add adds what came of a replay; c is the case that was replayed, nil for a
// recording. A case is compared with what it expects where judged is set.
func (r *Report) Add(result *Result, c *cases.Case, judged bool) {
	r.Events += result.Events
	for reason, n := range result.Rejected {
		r.Rejected[string(reason)] += n
	}
	var receipts []*cases.Receipt
	rule := cases.RuleNoReason
	for _, s := range result.Sessions {
		one := SessionReport{Session: s.Key.Session, Agent: s.Key.Agent, EventRule: s.EventRule, Boundaries: []BoundaryReport{}}
		active, over := s.alerts()
		for _, b := range s.Boundaries {
			one.Boundaries = append(one.Boundaries, b.report(active, over[b.ID]))
		}
		if c != nil {
			one.Case, one.Title, one.About = c.Name, c.Title, c.About
			receipts, rule = append(receipts, s.Receipts()...), s.EventRule
		}
		r.Sessions = append(r.Sessions, one)
	}
	if c == nil || !judged {
		return
	}
	differs := c.Differences(rule, receipts)
	if len(result.Sessions) == 0 {
		r.Sessions = append(r.Sessions, SessionReport{Case: c.Name, Title: c.Title, Session: c.Session(), EventRule: rule})
	}
	r.Sessions[len(r.Sessions)-1].Differs = differs
	ok := len(differs) == 0 && (r.OK == nil || *r.OK)
	r.OK = &ok
}

// alerts are those that fire when all is over, with the boundaries that raised
// them, and by boundary those that fired and do not any more.
func (s *Session) alerts() (active map[boundary.AlertKind][]string, over map[string][]string) {
	var all []*boundary.Receipt
	for _, b := range s.Boundaries {
		for i := range b.Receipts {
			all = append(all, &b.Receipts[i])
		}
	}
	slices.SortStableFunc(all, func(a, b *boundary.Receipt) int { return a.End.Compare(b.End) })
	active, over = map[boundary.AlertKind][]string{}, map[string][]string{}
	for _, r := range all {
		for _, a := range r.Alerts {
			if a.Status == boundary.Firing {
				active[a.Kind] = append(active[a.Kind], r.BoundaryID)
				continue
			}
			ended := fmt.Sprintf("%s (%s)", a.Kind, a.Status)
			for _, id := range active[a.Kind] {
				if !slices.Contains(over[id], ended) {
					over[id] = append(over[id], ended)
				}
			}
			delete(active, a.Kind)
		}
	}
	return active, over
}

func (b *Boundary) report(active map[boundary.AlertKind][]string, over []string) BoundaryReport {
	last := b.Last()
	out := BoundaryReport{
		ID: b.ID, State: last.Boundary.String(), SessionState: last.State.String(), Reason: string(last.Reason),
		Actions: []string{}, Alerts: []string{}, AlertsOver: over, Revisions: last.Revision, Decided: last.End.UTC(),
		Invariants: map[string]InvariantReport{}, ChangedSince: last.ChangedSince,
	}
	for _, a := range last.Actions {
		out.Actions = append(out.Actions, a.String())
	}
	if len(out.Actions) > 0 {
		out.Action = out.Actions[0]
	}
	for _, kind := range boundary.AlertKinds {
		if slices.Contains(active[kind], b.ID) {
			out.Alerts = append(out.Alerts, kind.String())
		}
	}
	for _, f := range last.Findings {
		if f.Name != "" {
			out.Invariants[f.Name] = InvariantReport{f.State.String(), string(f.Reason)}
		}
	}
	if v := last.Validation; v.Status != classify.NoValidation {
		out.Validation = &ValidationReport{Status: string(v.Status), Reason: string(v.Reason), Findings: []string{}, RequiresReauthorization: true}
		for _, f := range v.Findings {
			out.Validation.Findings = append(out.Validation.Findings, string(f))
		}
	}
	return out
}

// Header names the columns of Rows.
func (r *Report) Header() []string {
	first := "SESSION"
	if slices.ContainsFunc(r.Sessions, func(s SessionReport) bool { return s.Title != "" }) {
		first = "CASE"
	}
	return []string{first, "EVENTS", "CONTINUITY", "REASON", "ACTION", "ALERT"}
}

// Rows are the table: one line a boundary.
func (r *Report) Rows() [][]term.Cell {
	var rows [][]term.Cell
	for _, s := range r.Sessions {
		name := s.name()
		for i, b := range s.Boundaries {
			shown := name
			if len(s.Boundaries) > 1 {
				shown = fmt.Sprintf("%s #%d", name, i+1)
			}
			alerts := "none"
			if len(b.Alerts)+len(b.AlertsOver) > 0 {
				alerts = strings.Join(slices.Concat(b.Alerts, b.AlertsOver), " ")
			}
			rows = append(rows, []term.Cell{
				term.Text(shown), term.Text(s.EventRule), term.Styled(StyleOf(b.State), b.State),
				term.Text(b.Reason), term.Text(b.Action), term.Text(alerts),
			})
		}
		if len(s.Boundaries) == 0 {
			rows = append(rows, []term.Cell{
				term.Text(name), term.Text(s.EventRule), term.Text("no receipt"), term.Text(""), term.Text(""), term.Text("none"),
			})
		}
	}
	return rows
}

func (s *SessionReport) name() string {
	name := s.Session
	if s.Title != "" {
		name = s.Title
	}
	if s.Agent != "" {
		name += " / " + s.Agent
	}
	if len(s.Differs) > 0 {
		name = "! " + name
	}
	return name
}

// StyleOf is how a state is shown.
func StyleOf(state string) term.Style {
	switch state {
	case classify.Preserved.String(), classify.ApprovedChange.String():
		return term.Good
	case classify.Unverified.String():
		return term.Warn
	default:
		return term.Bad
	}
}
