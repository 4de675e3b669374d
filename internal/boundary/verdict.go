package boundary

import (
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// AlertKind is what an alert speaks of.
type AlertKind uint8

// The kinds of alerts.
const (
	AlertPostObservationMissing AlertKind = iota
	AlertDecisionConflicting
	AlertDecisionDropped
	AlertReconciliationRequired
	AlertDecisionUnverified
	AlertCompactionFailed
	AlertInstrumentationGap
	alertKinds
)

var alertNames = [...]string{
	"post_observation_missing", "decision_conflicting", "decision_dropped", "reconciliation_required",
	"decision_unverified", "compaction_failed", "instrumentation_gap",
}

// String is the value of continuity.alert.kind.
func (k AlertKind) String() string { return alertNames[k] }

// Severity is the SeverityNumber of the alert's log record: 13 (WARN) where
// something is unknown, 17 (ERROR) where something is wrong.
func (k AlertKind) Severity() int {
	switch k {
	case AlertDecisionConflicting, AlertDecisionDropped, AlertReconciliationRequired:
		return 17
	default:
		return 13
	}
}

// AlertKinds lists all kinds.
var AlertKinds = []AlertKind{
	AlertPostObservationMissing, AlertDecisionConflicting, AlertDecisionDropped, AlertReconciliationRequired,
	AlertDecisionUnverified, AlertCompactionFailed, AlertInstrumentationGap,
}

// AlertStatus is an edge of what is outstanding.
type AlertStatus uint8

// The statuses of an alert.
const (
	Firing AlertStatus = iota
	Resolved
	Closed // the session's state expired; never counted as healthy
)

var alertStatusNames = [...]string{"firing", "resolved", "closed"}

// String is the value of continuity.alert.status.
func (s AlertStatus) String() string { return alertStatusNames[s] }

// AlertStatuses lists all statuses.
var AlertStatuses = []AlertStatus{Firing, Resolved, Closed}

// Alert is one edge of what is outstanding in a session.
type Alert struct {
	Kind        AlertKind
	Status      AlertStatus
	Invariants  []string
	Since       time.Time
	Fingerprint string
}

// Coverage says which sides of a boundary are known.
type Coverage uint8

// The coverages of a boundary.
const (
	CoverageBoundary Coverage = iota // neither side
	CoverageBaseline                 // a snapshot only
	CoverageObserved                 // both
)

var coverageNames = [...]string{"boundary", "baseline", "observed"}

// String is the value of continuity.coverage.
func (c Coverage) String() string { return coverageNames[c] }

// Coverages lists all coverages.
var Coverages = []Coverage{CoverageBoundary, CoverageBaseline, CoverageObserved}

// Verdict is what Continuity says of one boundary at one revision. It is
// immutable once made.
type Verdict struct {
	BoundaryID string
	Revision   int
	// State is the session's state, Boundary the boundary's own.
	State, Boundary classify.State
	Reason          classify.Reason
	Actions         []classify.Action
	// Findings are sorted by authority; findings of the boundary as a whole
	// have no name.
	Findings     []classify.Finding
	ChangedSince []string
	Validation   classify.Validation
	Coverage     Coverage
	Late         bool
	// ApprovalSigned is meaningful where ApprovalUsed.
	ApprovalUsed, ApprovalSigned bool
}

// Receipt is the record of one decided boundary or one revision of it.
type Receipt struct {
	*Verdict
	Key        Key
	Alerts     []Alert
	Start, End time.Time // receipt of the first snapshot or completion; decision
	Window     time.Duration
	Superseded int
	Outcome    Outcome
	// TokensBefore and TokensAfter are the context's size, 0 where it is not known.
	TokensBefore, TokensAfter int64
	// Writes counts what the agent changed before a sufficient look.
	Writes   int
	Runtime  string
	Trigger  string
	Activity string
	Identity []Attr
	Resource []Attr
	// Parent is the span that the receipt is a child of, Links the others.
	Parent SpanContext
	Links  []SpanContext
	Origin Origin
	// ObservedAfter is the time from Start to the first look; negative where
	// there was none.
	ObservedAfter time.Duration
}
