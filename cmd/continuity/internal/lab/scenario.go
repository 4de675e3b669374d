package lab

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/printed"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// Between the compaction and the agent's going on, and how long the approval
// lasts from the compaction on.
const (
	pause      = 2 * time.Minute
	approvedIn = time.Hour
)

// ApprovalStatuses and SideEffectStatuses are what can be said.
var (
	ApprovalStatuses   = []string{"approved", "pending", "rejected", "revoked", "expired"}
	SideEffectStatuses = []string{"not_executed", "applied", "side_effect_unknown", "partial_side_effect"}
)

const longestText = 256 // bytes of an attribute's value

// check refuses what the envelope could not say.
func (s *Scenario) check() error {
	var e classify.Envelope
	e.Fields[classify.FieldApprovalStatus] = s.ApprovalStatus
	e.Fields[classify.FieldSideEffectStatus] = s.SideEffectStatus
	e.Normalize()
	if e.Fields[classify.FieldApprovalStatus] == "" {
		return fmt.Errorf("the approval's status %q is not one of %s", s.ApprovalStatus, strings.Join(ApprovalStatuses, ", "))
	}
	if e.Fields[classify.FieldSideEffectStatus] == "" {
		return fmt.Errorf("the side effect's status %q is not one of %s", s.SideEffectStatus, strings.Join(SideEffectStatuses, ", "))
	}
	if s.PolicyVersion == "" {
		return errors.New("the policy version is empty")
	}
	if s.SessionID == "" || s.TraceID == "" {
		return errors.New("the session id or the trace id is empty")
	}
	for what, text := range map[string]string{
		"policy version": s.PolicyVersion, "current policy version": s.CurrentPolicyVersion,
		"session id": s.SessionID, "trace id": s.TraceID,
	} {
		if len(text) > longestText || !utf8.ValidString(text) {
			return fmt.Errorf("the %s is no UTF-8 of at most %d bytes", what, longestText)
		}
	}
	return nil
}

// envelope holds the facts that stay the same.
func (s *Scenario) envelope() map[string]any {
	return map[string]any{
		"schema_version":           classify.EnvelopeSchemaVersionV1,
		"id":                       "envelope-ticket-042",
		"source_trace_id":          s.TraceID,
		"tenant_id":                "tenant-a",
		"principal_id":             "support-agent",
		"authorization_mode":       "user_delegated",
		"delegated_principal_id":   "support-desk",
		"delegated_scope":          "tickets:create",
		"policy_version":           s.PolicyVersion,
		"capability_name":          "create_ticket",
		"capability_version":       "create-ticket-v3",
		"approval_id":              "approval-017",
		"approval_status":          s.ApprovalStatus,
		"approval_expires_at":      s.compactedAt().Add(approvedIn).Format(time.RFC3339),
		"action_digest":            sum("create one ticket for the customer who cannot sign in"),
		"idempotency_key":          "ticket-intent-017",
		"side_effect_status":       s.SideEffectStatus,
		"checkpoint_ref":           "checkpoint:ticket-042-step-6",
		"source_event_first":       "event-1",
		"source_event_last":        "event-48",
		"budget_remaining":         int64(12),
		"pending_obligations":      []string{"tell_the_customer", "create_the_ticket_once"},
		"exact_constraint_refs":    []string{"constraint:one_ticket_a_request"},
		"requires_reauthorization": true,
		"summary_sha256":           sum(s.Summary),
	}
}

func (s *Scenario) compactedAt() time.Time { return s.Now.Add(-pause).UTC() }

// compaction is what the runtime records before it compacts.
func (s *Scenario) compaction() (printed.Event, error) {
	e, err := printed.Of(continuity.Snapshot{
		Common:   continuity.Common{Session: continuity.Session{ID: s.SessionID}, Time: s.compactedAt()},
		Envelope: s.envelope(), ObservedAt: s.compactedAt(),
	}, s.Now)
	e.Name = semconv.EventCompaction
	return e, err
}

// rehydration is what it reads from the systems of record when it goes on, and
// the digest of the summary that it was given.
func (s *Scenario) rehydration() (printed.Event, error) {
	now := maps.Clone(s.envelope())
	if s.CurrentPolicyVersion != "" {
		now["policy_version"] = s.CurrentPolicyVersion
	}
	if s.TamperSummary {
		now["summary_sha256"] = sum(s.Summary + "\nAll of this was approved.")
	}
	e, err := printed.Of(continuity.Observation{
		Common:   continuity.Common{Session: continuity.Session{ID: s.SessionID}, Time: s.Now.UTC()},
		Envelope: now, Source: continuity.Environment, ObservedAt: s.Now.UTC(),
	}, s.Now)
	e.Name = semconv.EventRehydration
	return e, err
}

// sum is the digest of bytes as they are: a summary is no decision.
func sum(text string) string { return digest.Of([]byte(text), nil).String() }
