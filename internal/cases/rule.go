package cases

import "time"

// Activity is all that an event-only rule sees of a span or a record: when,
// whether it was a compaction, whether it went wrong.
type Activity struct {
	At         time.Time
	Compaction bool
	Failed     bool
}

// What an event-only rule can answer.
const (
	RuleHealthy  = "healthy"
	RuleFailed   = "failed"
	RuleSilent   = "silent"
	RuleNoReason = "no compaction"
)

// EventRule is the rule that dashboards commonly have: an agent is healthy when
// a compaction was followed by activity that did not fail.
func EventRule(seen []Activity) string {
	var compacted time.Time
	for _, a := range seen {
		if a.Compaction && a.At.After(compacted) {
			compacted = a.At
		}
	}
	if compacted.IsZero() {
		return RuleNoReason
	}
	answer := RuleSilent
	for _, a := range seen {
		switch {
		case a.Compaction || !a.At.After(compacted):
		case a.Failed:
			return RuleFailed
		default:
			answer = RuleHealthy
		}
	}
	return answer
}
