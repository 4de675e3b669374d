package signal

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// fingerprint identifies an event within its session, across restarts and in
// any form: by kind and event id where it has one, else by kind and content.
// What surrounds the event (span, resource, runtime, other attributes) is not
// part of it, so that the same content as span event and as record is one event.
func fingerprint(e *boundary.Event, f *facts) uint64 {
	h := hasher{d: xxhash.New()}
	h.number(uint64(e.Kind))
	// A constant that names nobody would make all events one.
	if id, ok := trimID(f.text(fieldEventID)); ok {
		h.text("event.id", id)
		return h.d.Sum64()
	}
	h.number(uint64(e.Time))
	h.text(semconv.BoundaryID, e.BoundaryID)
	h.text(semconv.SessionPreviousID, e.Previous)
	h.text(semconv.CompactionOutcome, e.Outcome.String())
	h.text(semconv.CompactionTrigger, e.Trigger)
	slices.SortStableFunc(f.content, func(a, b content) int { return strings.Compare(a.key, b.key) })
	for _, c := range f.content {
		if !counts(c.key, e.Kind) {
			continue
		}
		h.text("key", c.key)
		if !strings.HasPrefix(c.key, semconv.InvariantValue) { // of raw values nothing is kept
			h.value(c.value)
		}
	}
	return h.d.Sum64()
}

// counts reports whether an attribute is content: not what a collector before
// us wrote on an event that it compared, and not what the header holds already.
func counts(key string, kind boundary.Kind) bool {
	switch key {
	case semconv.BoundaryID, semconv.EventID, semconv.CompactionOutcome, semconv.CompactionTrigger:
		return false
	case semconv.ValidationStatus, semconv.ValidationReason:
		return kind == boundary.ValidationFailure
	default:
		return true
	}
}

// hasher frames what it hashes, so that no two contents run into one another.
type hasher struct {
	d       *xxhash.Digest
	number8 [8]byte
}

func (h *hasher) number(n uint64) {
	binary.LittleEndian.PutUint64(h.number8[:], n)
	_, _ = h.d.Write(h.number8[:])
}

func (h *hasher) text(key, value string) {
	h.number(uint64(len(key)))
	_, _ = h.d.WriteString(key)
	h.number(uint64(len(value)))
	_, _ = h.d.WriteString(value)
}

// value hashes an attribute's value. Numbers and booleans count as the strings
// that they may arrive as. Of what is no valid value anywhere only the type
// counts.
func (h *hasher) value(v pcommon.Value) {
	if text, ok := asScalar(v); ok {
		h.text("scalar", text)
		return
	}
	h.text("type", strconv.Itoa(int(v.Type())))
	if v.Type() != pcommon.ValueTypeSlice {
		return
	}
	list := v.Slice()
	h.number(uint64(list.Len()))
	for i := range list.Len() {
		text, _ := asScalar(list.At(i))
		h.text("entry", text)
	}
}
