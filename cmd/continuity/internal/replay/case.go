package replay

import (
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/cases"
)

// caseBegin is when cases begin: always the same, so that their replay is too.
var caseBegin = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// AddCase takes the steps of a case.
func (r *Replay) AddCase(c *cases.Case) error {
	steps, err := c.Play(caseBegin)
	if err != nil {
		return err
	}
	for _, step := range steps {
		r.AddTraces(step.Traces)
		r.AddLogs(step.Logs)
	}
	return nil
}

// Receipts are the receipts of all boundaries as cases tell of them.
func (s *Session) Receipts() []*cases.Receipt {
	var out []*cases.Receipt
	for _, b := range s.Boundaries {
		out = append(out, b.receipts()...)
	}
	return out
}

func (b *Boundary) receipts() []*cases.Receipt {
	out := make([]*cases.Receipt, len(b.Receipts))
	for i := range b.Receipts {
		out[i] = tell(&b.Receipts[i])
	}
	return out
}

func tell(r *boundary.Receipt) *cases.Receipt {
	out := &cases.Receipt{State: r.Boundary.String(), Reason: string(r.Reason), Invariants: map[string]string{}}
	if len(r.Actions) > 0 {
		out.Action = r.Actions[0].String()
	}
	for _, a := range r.Alerts {
		out.Alerts = append(out.Alerts, a.Kind.String()+":"+a.Status.String())
	}
	for _, f := range r.Findings {
		if f.Name != "" {
			out.Invariants[f.Name] = f.State.String() + "/" + string(f.Reason)
		}
	}
	return out
}
