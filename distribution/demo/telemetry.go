package main

import (
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/cases"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// request is one OTLP request, and what an event-only rule sees of it.
type request struct {
	path string
	body []byte
	// json is the same as OTLP/JSON, for the file of what the agents sent.
	json []byte
	seen []cases.Activity
}

// requestsOf turns the steps of a case into requests. All that the case tells of
// lies in the past when it is sent.
func requestsOf(c *cases.Case, now time.Time) ([]request, error) {
	steps, err := c.Play(now.Add(-c.Length() - time.Second))
	if err != nil {
		return nil, err
	}
	var out []request
	for _, step := range steps {
		r, err := requestOf(step)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func requestOf(step cases.Request) (request, error) {
	if step.Traces.SpanCount() > 0 {
		body, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(step.Traces)
		if err != nil {
			return request{}, err
		}
		text, err := (&ptrace.JSONMarshaler{}).MarshalTraces(step.Traces)
		r := request{path: "/v1/traces", body: body, json: text}
		for _, rs := range step.Traces.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					r.seen = append(r.seen, seenInSpan(span))
				}
			}
		}
		return r, err
	}
	body, err := (&plog.ProtoMarshaler{}).MarshalLogs(step.Logs)
	if err != nil {
		return request{}, err
	}
	text, err := (&plog.JSONMarshaler{}).MarshalLogs(step.Logs)
	r := request{path: "/v1/logs", body: body, json: text}
	for _, record := range recordsOf(step.Logs) {
		r.seen = append(r.seen, seenInRecord(record))
	}
	return r, err
}

func seenInSpan(span ptrace.Span) cases.Activity {
	seen := cases.Activity{At: span.StartTimestamp().AsTime(), Failed: span.Status().Code() == ptrace.StatusCodeError}
	for _, e := range span.Events().All() {
		if e.Name() == semconv.EventCompaction {
			seen.Compaction = true
		}
	}
	return seen
}

func seenInRecord(r plog.LogRecord) cases.Activity {
	return cases.Activity{
		At:         r.Timestamp().AsTime(),
		Compaction: r.Body().Str() == "claude_code.compaction",
		Failed:     r.SeverityNumber() >= plog.SeverityNumberError,
	}
}

func recordsOf(logs plog.Logs) []plog.LogRecord {
	var out []plog.LogRecord
	for _, rl := range logs.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, r := range sl.LogRecords().All() {
				out = append(out, r)
			}
		}
	}
	return out
}
