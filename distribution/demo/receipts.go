package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/agentcontinuity/otelcol-continuity/internal/cases"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// outcome holds the receipts of all sessions, in the order in which they came.
type outcome struct {
	bySession        map[string][]*cases.Receipt
	receipts, alerts int
}

// readReceipts reads the file of receipts. While the collector still writes, the
// last line may be half a document; it is then left out.
func readReceipts(file string, writing bool) (*outcome, error) {
	text, err := os.ReadFile(file)
	notYet := writing && errors.Is(err, fs.ErrNotExist)
	if err != nil && !notYet {
		return nil, err
	}
	out := &outcome{bySession: map[string][]*cases.Receipt{}}
	bySpan := map[pcommon.SpanID]*cases.Receipt{}
	for line := range bytes.Lines(text) {
		whole := bytes.HasSuffix(line, []byte("\n"))
		logs, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(line)
		if err != nil {
			if writing && !whole {
				break
			}
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, r := range recordsOf(logs) {
			out.add(r, bySpan)
		}
	}
	return out, nil
}

// add takes one record. The records of a receipt's alerts come after it and have
// its span id.
func (o *outcome) add(r plog.LogRecord, bySpan map[pcommon.SpanID]*cases.Receipt) {
	text := func(key string) string {
		v, ok := r.Attributes().Get(key)
		if !ok {
			return ""
		}
		return v.Str()
	}
	switch r.EventName() {
	case semconv.EventBoundary:
		found := &cases.Receipt{
			State: text(semconv.BoundaryState), Reason: text(semconv.Reason), Action: text(semconv.Action),
			Sentence: r.Body().Str(), Alerts: []string{}, Invariants: map[string]string{},
		}
		for key, v := range r.Attributes().All() {
			if name, ok := strings.CutPrefix(key, semconv.InvariantState); ok {
				found.Invariants[name] = v.Str() + "/" + text(semconv.InvariantReason+name)
			}
		}
		session := text(semconv.ConversationID)
		if session == "" {
			session = text(semconv.SessionID)
		}
		o.bySession[session] = append(o.bySession[session], found)
		o.receipts++
		bySpan[r.SpanID()] = found
	case semconv.EventAlert:
		o.alerts++
		if found := bySpan[r.SpanID()]; found != nil {
			found.Alerts = append(found.Alerts, text(semconv.AlertKind)+":"+text(semconv.AlertStatus))
		}
	}
}

func (o *outcome) complete(expected map[string]int) bool {
	for session, n := range expected {
		if len(o.bySession[session]) < n {
			return false
		}
	}
	return true
}
