package send

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

const scopeName = "github.com/agentcontinuity/otelcol-continuity/cmd/continuity"

const itemVersion = 1

// item is an event as it is spooled: ready to be sent, however often, as the very
// same event with its id and its own time.
type item struct {
	V      int           `json:"v"`
	Name   string        `json:"name"`
	ID     string        `json:"event_id"`
	Time   time.Time     `json:"time"`
	Signal config.Signal `json:"signal"`
	Body   []byte        `json:"body"` // an OTLP request in protobuf
}

func newItem(cfg *config.Config, now func() time.Time, event continuity.Event) (*item, error) {
	attributes, err := event.Attributes()
	if err != nil {
		return nil, err
	}
	at := event.When()
	if at.IsZero() {
		at = now()
	}
	it := &item{V: itemVersion, Name: event.Name(), Time: at.UTC(), Signal: cfg.Signal}
	if it.ID = given(attributes); it.ID == "" {
		it.ID = eventID(it.Name, at, attributes)
		attributes = append(attributes, attribute.String(semconv.EventID, it.ID))
	}
	place := parseTraceParent(cfg.TraceParent)
	if cfg.Signal == config.Traces {
		it.Body, err = span(cfg, it, place, attributes)
	} else {
		it.Body, err = record(cfg, it, place, attributes)
	}
	if err != nil {
		return nil, fmt.Errorf("send: %w", err)
	}
	return it, nil
}

func given(attributes []attribute.KeyValue) string {
	for _, a := range attributes {
		if a.Key == semconv.EventID {
			return a.Value.AsString()
		}
	}
	return ""
}

// eventID is the same for the same event: what it says, at the same time.
func eventID(name string, at time.Time, attributes []attribute.KeyValue) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %d", name, at.UnixNano())
	for _, a := range attributes {
		fmt.Fprintf(sum, " %q %q", a.Key, a.Value.String())
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

func (it *item) encode() ([]byte, error) { return json.Marshal(it) }

func decode(text []byte) (*item, error) {
	var it item
	if err := json.Unmarshal(text, &it); err != nil || it.V != itemVersion || it.ID == "" || len(it.Body) == 0 {
		return nil, errors.New("it is no event of this version")
	}
	if it.Signal != config.Traces {
		it.Signal = config.Logs
	}
	return &it, nil
}

func record(cfg *config.Config, it *item, place traceParent, attributes []attribute.KeyValue) ([]byte, error) {
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	putResource(resource.Resource(), cfg)
	scope := resource.ScopeLogs().AppendEmpty()
	scope.Scope().SetName(scopeName)
	r := scope.LogRecords().AppendEmpty()
	r.SetEventName(it.Name)
	r.SetTimestamp(pcommon.NewTimestampFromTime(it.Time))
	r.SetObservedTimestamp(pcommon.NewTimestampFromTime(it.Time))
	r.SetSeverityNumber(plog.SeverityNumberInfo)
	r.SetTraceID(place.trace)
	r.SetSpanID(place.span)
	put(r.Attributes(), attributes)
	return (&plog.ProtoMarshaler{}).MarshalLogs(logs)
}

// span carries the event on a span without length, whose ids follow from the
// event's: sent again it is the same span.
func span(cfg *config.Config, it *item, place traceParent, attributes []attribute.KeyValue) ([]byte, error) {
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	putResource(resource.Resource(), cfg)
	scope := resource.ScopeSpans().AppendEmpty()
	scope.Scope().SetName(scopeName)
	s := scope.Spans().AppendEmpty()
	sum := sha256.Sum256([]byte(it.Name + "\x00" + it.ID))
	if place.trace.IsEmpty() {
		place.trace = pcommon.TraceID(sum[8:24])
	}
	s.SetTraceID(place.trace)
	s.SetParentSpanID(place.span)
	s.SetSpanID(pcommon.SpanID(sum[:8]))
	s.SetName(it.Name)
	s.SetKind(ptrace.SpanKindInternal)
	at := pcommon.NewTimestampFromTime(it.Time)
	s.SetStartTimestamp(at)
	s.SetEndTimestamp(at)
	event := s.Events().AppendEmpty()
	event.SetName(it.Name)
	event.SetTimestamp(at)
	put(event.Attributes(), attributes)
	return (&ptrace.ProtoMarshaler{}).MarshalTraces(traces)
}

func putResource(into pcommon.Resource, cfg *config.Config) {
	for _, key := range slices.Sorted(maps.Keys(cfg.Resource)) {
		into.Attributes().PutStr(key, cfg.Resource[key])
	}
}

func put(into pcommon.Map, attributes []attribute.KeyValue) {
	into.EnsureCapacity(len(attributes))
	for _, a := range attributes {
		key := string(a.Key)
		switch a.Value.Type() {
		case attribute.BOOL:
			into.PutBool(key, a.Value.AsBool())
		case attribute.INT64:
			into.PutInt(key, a.Value.AsInt64())
		case attribute.FLOAT64:
			into.PutDouble(key, a.Value.AsFloat64())
		case attribute.STRINGSLICE:
			list := into.PutEmptySlice(key)
			for _, text := range a.Value.AsStringSlice() {
				list.AppendEmpty().SetStr(text)
			}
		default:
			into.PutStr(key, a.Value.String())
		}
	}
}

// traceParent is a place in a trace; zero is none.
type traceParent struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

var traceParentForm = regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$`)

// parseTraceParent reads the header of W3C trace context. One that cannot be read
// is none, as the standard has it.
func parseTraceParent(text string) traceParent {
	parts := traceParentForm.FindStringSubmatch(text)
	if parts == nil || parts[1] == "ff" || (parts[1] == "00" && parts[4] != "") {
		return traceParent{}
	}
	var place traceParent
	_, traceErr := hex.Decode(place.trace[:], []byte(parts[2]))
	_, spanErr := hex.Decode(place.span[:], []byte(parts[3]))
	if traceErr != nil || spanErr != nil || place.trace.IsEmpty() || place.span.IsEmpty() {
		return traceParent{}
	}
	return place
}
