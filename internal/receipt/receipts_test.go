package receipt

import (
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

var (
	opened  = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	decided = opened.Add(2500 * time.Millisecond)

	snapshotSpan    = boundary.SpanContext{TraceID: [16]byte{1, 1}, SpanID: [8]byte{1}}
	completionSpan  = boundary.SpanContext{TraceID: [16]byte{2, 2}, SpanID: [8]byte{2}}
	observationSpan = boundary.SpanContext{TraceID: [16]byte{3, 3}, SpanID: [8]byte{3}}
)

// conflicting is a receipt with everything in it.
func conflicting() *boundary.Receipt {
	return &boundary.Receipt{
		Verdict: &boundary.Verdict{
			BoundaryID: "b-1", Revision: 2,
			State: classify.Conflicting, Boundary: classify.Conflicting,
			Reason:  classify.ChangedWithoutApproval,
			Actions: []classify.Action{classify.HoldAndAsk, classify.PauseAndRestore, classify.Reobserve},
			Findings: []classify.Finding{
				{Name: "approval_boundary", State: classify.Dropped, Reason: classify.MissingAfter, Revision: "7"},
				{Name: "scope", State: classify.Conflicting, Reason: classify.ChangedWithoutApproval, Source: classify.Agent, Choices: 4},
				{Name: "target", State: classify.ApprovedChange, Reason: classify.ApprovedTransition, Source: classify.Human, ApprovalRef: "CHG-1"},
				{Name: "acceptance_test", State: classify.Preserved, Reason: classify.Match, Source: classify.Environment},
				{Name: "budget", State: classify.Unverified, Reason: classify.NotFresh, Source: classify.Agent, Optional: true},
				{State: classify.Unverified, Reason: classify.NameInvalid},
			},
			ChangedSince: []string{"target"},
			Validation: classify.Validation{
				Status: classify.StatusValidationFailed, Reason: classify.PolicyVersionChanged,
				Findings: []classify.Reason{classify.PolicyVersionChanged, classify.ObligationLost},
			},
			Coverage: boundary.CoverageObserved, Late: true, ApprovalUsed: true, ApprovalSigned: true,
		},
		Key: boundary.Key{SessionKey: boundary.SessionKey{Session: "s-1"}, Agent: "sub"},
		Alerts: []boundary.Alert{
			{Kind: boundary.AlertDecisionConflicting, Status: boundary.Firing, Invariants: []string{"scope"}, Since: decided, Fingerprint: "f-1"},
			{Kind: boundary.AlertPostObservationMissing, Status: boundary.Resolved, Since: opened, Fingerprint: "f-2"},
		},
		Start: opened, End: decided, Window: 2500 * time.Millisecond, Superseded: 2,
		Outcome: boundary.Completed, Runtime: "claude_code", Trigger: "auto", Activity: "working",
		Identity:      []boundary.Attr{{Key: "session.id", Value: "s-1"}, {Key: "agent_id", Value: "sub"}},
		Resource:      []boundary.Attr{{Key: "service.name", Value: "agent"}, {Key: "host.cpus", Value: int64(8)}, {Key: "k8s.spot", Value: true}},
		Parent:        completionSpan,
		Links:         []boundary.SpanContext{snapshotSpan, observationSpan, completionSpan, {}},
		Origin:        1,
		ObservedAfter: time.Second,
	}
}

// preserved is a receipt with as little in it as there can be.
func preserved() *boundary.Receipt {
	return &boundary.Receipt{
		Verdict: &boundary.Verdict{
			BoundaryID: "b-2", Revision: 1, State: classify.Preserved, Boundary: classify.Preserved, Reason: classify.Match,
			Actions:  []classify.Action{classify.Continue},
			Findings: []classify.Finding{{Name: "scope", State: classify.Preserved, Reason: classify.Match, Source: classify.Agent}},
			Coverage: boundary.CoverageObserved,
		},
		Key:   boundary.Key{SessionKey: boundary.SessionKey{Session: "s-2"}},
		Start: opened, End: decided, Window: 15 * time.Minute,
		Identity: []boundary.Attr{{Key: "session.id", Value: "s-2"}},
		Resource: []boundary.Attr{{Key: "service.name", Value: "agent"}},
	}
}

// missing is a receipt that a deadline decided, closed is the end of its alert.
func missing() *boundary.Receipt {
	r := preserved()
	r.Verdict = &boundary.Verdict{
		BoundaryID: "b-3", Revision: 1, State: classify.Unverified, Boundary: classify.Unverified,
		Reason: classify.PostObservationMissing, Actions: []classify.Action{classify.Reobserve},
		Findings: []classify.Finding{{Name: "scope", State: classify.Unverified, Reason: classify.PostObservationMissing}},
		Coverage: boundary.CoverageBaseline,
	}
	r.Alerts = []boundary.Alert{{
		Kind: boundary.AlertPostObservationMissing, Status: boundary.Firing, Invariants: []string{"scope"}, Since: decided, Fingerprint: "f-3",
	}}
	return r
}

func closed() *boundary.Receipt {
	r := missing()
	v := *r.Verdict
	v.Revision, v.Reason = 2, classify.SessionExpired
	r.Verdict = &v
	r.Alerts[0].Status = boundary.Closed
	return r
}
