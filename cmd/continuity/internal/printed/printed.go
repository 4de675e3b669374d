// Package printed is the form in which the command prints an event and reads it
// again: its name, its time and its attributes, as they are sent.
package printed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/attribute"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

// Event is one event.
type Event struct {
	Name       string         `json:"name"`
	Time       time.Time      `json:"time"`
	TraceID    string         `json:"trace_id,omitempty"`
	Attributes map[string]any `json:"attributes"`
}

// Of is an event of the Go API as it is printed. One without a time is of now.
func Of(event continuity.Event, now time.Time) (Event, error) {
	attributes, err := event.Attributes()
	if err != nil {
		return Event{}, err
	}
	at := event.When()
	if at.IsZero() {
		at = now
	}
	return New(event.Name(), at, attributes), nil
}

// New makes an event of attributes.
func New(name string, at time.Time, attributes []attribute.KeyValue) Event {
	e := Event{Name: name, Time: at.UTC(), Attributes: map[string]any{}}
	for _, a := range attributes {
		e.Attributes[string(a.Key)] = a.Value.AsInterface()
	}
	return e
}

// Parse reads an event that was printed.
func Parse(document []byte) (Event, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	var e Event
	if err := decoder.Decode(&e); err != nil {
		return Event{}, err
	}
	if e.Name == "" || e.Attributes == nil {
		return Event{}, errors.New("an event has a name and attributes")
	}
	return e, nil
}

// Logs is the event as a log record.
func (e Event) Logs() (plog.Logs, error) {
	logs := plog.NewLogs()
	record := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	record.SetEventName(e.Name)
	record.SetTimestamp(pcommon.NewTimestampFromTime(e.Time))
	for key, value := range e.Attributes {
		if err := put(record.Attributes().PutEmpty(key), value); err != nil {
			return plog.Logs{}, fmt.Errorf("attribute %q: %w", key, err)
		}
	}
	return logs, nil
}

func put(into pcommon.Value, value any) error {
	switch value := value.(type) {
	case string:
		into.SetStr(value)
	case bool:
		into.SetBool(value)
	case int64:
		into.SetInt(value)
	case json.Number:
		n, err := value.Int64()
		if err != nil {
			f, err := value.Float64()
			if err != nil || math.IsInf(f, 0) {
				return errors.New("it is no number of telemetry")
			}
			into.SetDouble(f)
			return nil
		}
		into.SetInt(n)
	case []string:
		list := into.SetEmptySlice()
		for _, text := range value {
			list.AppendEmpty().SetStr(text)
		}
	case []any:
		list := into.SetEmptySlice()
		for _, item := range value {
			text, ok := item.(string)
			if !ok {
				return errors.New("a list holds texts")
			}
			list.AppendEmpty().SetStr(text)
		}
	default:
		return fmt.Errorf("%T is no value of telemetry", value)
	}
	return nil
}
