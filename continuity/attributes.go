package continuity

import (
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// Name is `continuity.snapshot`.
func (Snapshot) Name() string { return semconv.EventSnapshot }

// Attributes are the snapshot's attributes.
func (s Snapshot) Attributes() ([]attribute.KeyValue, error) {
	var b builder
	b.common(&s.Common)
	b.decisions(s.Decisions, false, "")
	b.keyed(s.Decisions, s.KeyID)
	b.time(semconv.ObservedAt, s.ObservedAt)
	if s.Failed {
		b.text(semconv.SnapshotStatus, "failed")
	}
	b.envelope(s.Envelope)
	return b.done("snapshot")
}

// Name is `continuity.observation`.
func (Observation) Name() string { return semconv.EventObservation }

// Attributes are the observation's attributes.
func (o Observation) Attributes() ([]attribute.KeyValue, error) {
	var b builder
	b.common(&o.Common)
	b.source(semconv.Source, o.Source)
	b.decisions(o.Decisions, true, o.Source)
	b.keyed(o.Decisions, o.KeyID)
	b.time(semconv.ObservedAt, o.seen())
	if o.Partial {
		b.text(semconv.ObservationCoverage, "partial")
	}
	b.envelope(o.Envelope)
	return b.done("observation")
}

// seen is when the decisions were seen. Without a time no observation is fresh, and
// so it proves nothing.
func (o *Observation) seen() time.Time {
	switch {
	case !o.ObservedAt.IsZero():
		return o.ObservedAt
	case !o.Time.IsZero():
		return o.Time
	default:
		return time.Now()
	}
}

var outcomes = []Outcome{"", Completed, Unknown, Failed, Cancelled, NoOp}

// Name is `continuity.compaction`.
func (Completion) Name() string { return semconv.EventContinuityCompaction }

// Attributes are the completion's attributes.
func (c Completion) Attributes() ([]attribute.KeyValue, error) {
	var b builder
	b.common(&c.Common)
	if !slices.Contains(outcomes, c.Outcome) {
		b.fail("outcome %q is not one of %s", c.Outcome, list(outcomes[1:]))
	}
	b.text(semconv.CompactionOutcome, string(c.Outcome))
	if c.SummarySHA256 != "" {
		sum, ok := digest.ParseSum(c.SummarySHA256)
		if !ok || sum.Alg != digest.SHA256 {
			b.fail("the summary's digest must be sha256: and 64 hex digits")
		}
		b.text(semconv.EnvelopePrefix+classify.FieldNames[classify.FieldSummarySHA256], sum.String())
	}
	b.count(semconv.TokensBefore, c.TokensBefore)
	b.count(semconv.TokensAfter, c.TokensAfter)
	return b.done("completion")
}

// Name is `session.start`.
func (SessionStart) Name() string { return semconv.EventSessionStart }

// Attributes are the session start's attributes.
func (s SessionStart) Attributes() ([]attribute.KeyValue, error) {
	var b builder
	b.common(&s.Common)
	b.id(semconv.SessionPreviousID, s.PreviousID)
	return b.done("session start")
}

// Name is `session.end`.
func (SessionEnd) Name() string { return semconv.EventSessionEnd }

// Attributes are the session end's attributes.
func (s SessionEnd) Attributes() ([]attribute.KeyValue, error) {
	var b builder
	b.common(&s.Common)
	return b.done("session end")
}
