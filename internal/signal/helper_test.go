package signal

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// received is when everything in these tests is received.
var received = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// occurred is the time of every event that gives no other.
const occurred = int64(1796040000_000000123)

// kv is one attribute. A list of them, unlike a map, can hold a key twice.
type kv struct {
	key   string
	value any
}

// telemetry is one event and what stands around it.
type telemetry struct {
	name             string
	attrs, enclosing []kv
	scope, resource  []kv
	scopeName        string
	time             any // nil is occurred
	dropped          int
	eventName, body  any // records: nil is name and nothing
}

// batch is the same telemetry as pdata of one form.
type batch struct {
	logs   plog.Logs
	traces ptrace.Traces
	isLogs bool
}

var bothForms = []Form{LogRecord, SpanEvent}

var formNames = map[Form]string{LogRecord: "record", SpanEvent: "span event", Span: "span"}

// inBothForms runs a test for the event as record and as span event.
func inBothForms(t *testing.T, run func(t *testing.T, form Form)) {
	for _, form := range bothForms {
		t.Run(formNames[form], func(t *testing.T) { run(t, form) })
	}
}

// anyValue is a value in OTLP/JSON; nil is an empty one.
func anyValue(v any) map[string]any {
	switch v := v.(type) {
	case nil:
		return map[string]any{}
	case string:
		return map[string]any{"stringValue": v}
	case bool:
		return map[string]any{"boolValue": v}
	case int:
		return map[string]any{"intValue": strconv.Itoa(v)}
	case int64:
		return map[string]any{"intValue": strconv.FormatInt(v, 10)}
	case float64:
		return map[string]any{"doubleValue": v}
	case []byte:
		return map[string]any{"bytesValue": base64.StdEncoding.EncodeToString(v)}
	case []any:
		values := []any{}
		for _, x := range v {
			values = append(values, anyValue(x))
		}
		return map[string]any{"arrayValue": map[string]any{"values": values}}
	case []kv:
		return map[string]any{"kvlistValue": map[string]any{"values": keyValues(v)}}
	}
	panic(fmt.Sprintf("no such value: %T", v))
}

func keyValues(list []kv) []any {
	out := []any{}
	for _, x := range list {
		out = append(out, map[string]any{"key": x.key, "value": anyValue(x.value)})
	}
	return out
}

var (
	traceID = [16]byte{1, 2, 3, 15: 16}
	spanID  = [8]byte{1, 2, 3, 7: 8}
)

// as builds the telemetry in a form.
func (x *telemetry) as(t testing.TB, form Form) batch {
	stamp := fmt.Sprint(occurred)
	if x.time != nil {
		stamp = fmt.Sprint(x.time)
	}
	resource := map[string]any{"attributes": keyValues(x.resource)}
	scope := map[string]any{"name": x.scopeName, "attributes": keyValues(x.scope)}
	event := map[string]any{"timeUnixNano": stamp, "droppedAttributesCount": x.dropped, "attributes": keyValues(x.attrs)}
	ids := map[string]any{"traceId": hex.EncodeToString(traceID[:]), "spanId": hex.EncodeToString(spanID[:])}
	var doc map[string]any
	switch form {
	case LogRecord:
		event["attributes"] = keyValues(append(append([]kv(nil), x.attrs...), x.enclosing...))
		event["eventName"] = x.name
		if x.eventName != nil {
			event["eventName"] = x.eventName
		}
		if x.body != nil {
			event["body"] = anyValue(x.body)
		}
		event["traceId"], event["spanId"] = ids["traceId"], ids["spanId"]
		event["observedTimeUnixNano"] = "1"
		doc = map[string]any{"resourceLogs": []any{map[string]any{"resource": resource, "scopeLogs": []any{
			map[string]any{"scope": scope, "logRecords": []any{event}},
		}}}}
	case SpanEvent:
		event["name"] = x.name
		ids["name"], ids["attributes"], ids["events"] = "step", keyValues(x.enclosing), []any{event}
	default:
		ids["name"], ids["attributes"] = x.name, keyValues(append(append([]kv(nil), x.attrs...), x.enclosing...))
		ids["startTimeUnixNano"], ids["endTimeUnixNano"] = "1", stamp
		ids["droppedAttributesCount"] = x.dropped
	}
	if form != LogRecord {
		doc = map[string]any{"resourceSpans": []any{map[string]any{"resource": resource, "scopeSpans": []any{
			map[string]any{"scope": scope, "spans": []any{ids}},
		}}}}
	}
	raw, err := json.Marshal(doc)
	require.NoError(t, err)
	if form == LogRecord {
		logs, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(raw)
		require.NoError(t, err)
		return batch{logs: logs, isLogs: true}
	}
	traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(raw)
	require.NoError(t, err)
	return batch{traces: traces}
}

// items reads a batch.
func (b batch) items(r *Reader, tenant ...string) []Item {
	var out []Item
	keep := func(i Item) { out = append(out, i) }
	if b.isLogs {
		r.Logs(b.logs, tenant, received, keep)
	} else {
		r.Traces(b.traces, tenant, received, keep)
	}
	return out
}

// text is all that is left of a batch.
func (b batch) text(t testing.TB) string {
	var raw []byte
	var err error
	if b.isLogs {
		raw, err = (&plog.JSONMarshaler{}).MarshalLogs(b.logs)
	} else {
		raw, err = (&ptrace.JSONMarshaler{}).MarshalTraces(b.traces)
	}
	require.NoError(t, err)
	return string(raw)
}

// session is the attribute that most tests name their session by.
var session = kv{"session.id", "s1"}

// readOne reads the only event of the telemetry with the default configuration;
// where it has no session, s1 is put around it.
func readOne(t testing.TB, form Form, x telemetry) *boundary.Event {
	item := readItem(t, form, x)
	require.NotNil(t, item.Event)
	return item.Event
}

func readItem(t testing.TB, form Form, x telemetry) Item {
	if x.enclosing == nil {
		x.enclosing = []kv{session}
	}
	items := x.as(t, form).items(NewReader(DefaultConfig()))
	require.Len(t, items, 1)
	return items[0]
}

// sum is a digest text that differs for each letter.
func sum(letter string) string { return "sha256:" + strings.Repeat(letter, 64) }

func keysOf(m pcommon.Map) []string {
	keys := []string{}
	for k := range m.All() {
		keys = append(keys, k)
	}
	return keys
}
