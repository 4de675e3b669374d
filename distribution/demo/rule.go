package main

import (
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// activity is all that an event-only rule sees of a span event or record: when,
// whether it was a compaction, whether it went wrong.
type activity struct {
	at         time.Time
	compaction bool
	failed     bool
}

// What an event-only rule can answer.
const (
	ruleHealthy  = "healthy"
	ruleFailed   = "failed"
	ruleSilent   = "silent"
	ruleNoReason = "no compaction"
)

// eventRule is the rule that dashboards commonly have: an agent is healthy when
// a compaction was followed by activity that did not fail.
func eventRule(seen []activity) string {
	var compacted time.Time
	for _, a := range seen {
		if a.compaction && a.at.After(compacted) {
			compacted = a.at
		}
	}
	if compacted.IsZero() {
		return ruleNoReason
	}
	answer := ruleSilent
	for _, a := range seen {
		switch {
		case a.compaction || !a.at.After(compacted):
		case a.failed:
			return ruleFailed
		default:
			answer = ruleHealthy
		}
	}
	return answer
}

func seenInSpan(span ptrace.Span) []activity {
	seen := []activity{{at: span.StartTimestamp().AsTime(), failed: span.Status().Code() == ptrace.StatusCodeError}}
	for _, e := range span.Events().All() {
		if e.Name() == semconv.EventCompaction {
			seen[0].compaction = true
		}
	}
	return seen
}

func seenInRecord(r plog.LogRecord) activity {
	return activity{
		at:         r.Timestamp().AsTime(),
		compaction: r.Body().Str() == "claude_code.compaction",
		failed:     r.SeverityNumber() >= plog.SeverityNumberError,
	}
}
