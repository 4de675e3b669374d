package receipts

import (
	"fmt"
	"reflect"
	"slices"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// attach gives the records of alerts to their receipts.
func (s *Set) attach(r *Report, receipts []*Receipt) {
	records := map[string]*Receipt{}
	for _, one := range receipts {
		if !one.Span && one.ID != "" {
			records[one.ID] = one
		}
	}
	for _, a := range s.loose {
		one := records[a.id]
		if one == nil {
			r.Problems = append(r.Problems, Problem{Where: a.where, Problem: "an alert without its receipt"})
			continue
		}
		if slices.ContainsFunc(one.alerts, func(known map[string]any) bool { return reflect.DeepEqual(known, a.attrs) }) {
			continue // a copy, as its receipt
		}
		one.alerts = append(one.alerts, a.attrs)
		if want := severityOf(a.attrs); a.severity != want {
			r.add(one, fmt.Sprintf("the alert %v has severity %d, not %d", a.attrs[semconv.AlertKind], a.severity, want))
		}
	}
}

func severityOf(alert map[string]any) plog.SeverityNumber {
	for _, kind := range boundary.AlertKinds {
		if alert[semconv.AlertKind] == kind.String() && alert[semconv.AlertStatus] == boundary.Firing.String() {
			return plog.SeverityNumber(kind.Severity())
		}
	}
	return plog.SeverityNumberInfo
}

// sameAsReceipt are the attributes that an alert repeats.
var sameAsReceipt = []string{
	semconv.State, semconv.BoundaryState, semconv.BoundaryID, semconv.Reason, semconv.Action, semconv.Revision,
	semconv.ConversationID, semconv.SessionID, semconv.PlainConversationID,
}

func (r *Receipt) checkAlert(alert map[string]any) (problems []string) {
	complain := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	kind, status := alert[semconv.AlertKind], alert[semconv.AlertStatus]
	if !slices.ContainsFunc(boundary.AlertKinds, func(k boundary.AlertKind) bool { return k.String() == kind }) {
		complain("the alert's kind %v is not known", kind)
	}
	if !slices.ContainsFunc(boundary.AlertStatuses, func(s boundary.AlertStatus) bool { return s.String() == status }) {
		complain("the alert's status %v is not known", status)
	}
	if text, _ := alert[semconv.AlertFingerprint].(string); text == "" {
		complain("the alert %v has no fingerprint", kind)
	}
	for _, key := range sameAsReceipt {
		if !reflect.DeepEqual(alert[key], r.attrs[key]) {
			complain("the alert %v says %s = %v; its receipt says %v", kind, key, alert[key], r.attrs[key])
		}
	}
	return problems
}
