package signal

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// rawAttributes carry what people or models wrote. They never pass on a
// recognised event or the span or record around it.
var rawAttributes = []string{
	semconv.CompactSummary, semconv.CustomInstructions, semconv.TranscriptPath, semconv.Prompt,
}

// clean removes raw values from the attributes of a recognised event, or of the
// span or record around it, and replaces what stands where a digest belongs and
// is none: that may be the value itself. Every occurrence of a key counts.
func (r *Reader) clean(attrs pcommon.Map) {
	r.cleanMap(attrs, 0)
}

func (r *Reader) cleanMap(m pcommon.Map, depth int) {
	m.RemoveIf(func(key string, value pcommon.Value) bool {
		if r.raw(key) {
			return true
		}
		if holdsDigest(key) && !wellFormed(key, value) {
			value.SetStr(semconv.Redacted)
		}
		r.cleanNested(value, depth+1)
		return false
	})
}

// maxDepth is how deep values are looked into; nobody's telemetry is deeper.
const maxDepth = 32

// cleanNested does the same to what lies inside an attribute, or in the body of a
// recognised record, at any depth of its maps and lists. Text is left alone: in a
// body it is the event's name or its sender's prose, which nobody can tell from a
// value; that is the business of a redaction processor.
func (r *Reader) cleanNested(value pcommon.Value, depth int) {
	isMap, isList := value.Type() == pcommon.ValueTypeMap, value.Type() == pcommon.ValueTypeSlice
	switch {
	case (isMap || isList) && depth == maxDepth:
		value.SetStr(semconv.Redacted)
	case isMap:
		r.cleanMap(value.Map(), depth)
	case isList:
		for i := range value.Slice().Len() {
			r.cleanNested(value.Slice().At(i), depth+1)
		}
	}
}

func (r *Reader) raw(key string) bool {
	if strings.HasPrefix(key, semconv.InvariantValue) {
		return true
	}
	_, ok := r.remove[key]
	return ok
}

const envelopeSummary = semconv.EnvelopePrefix + "summary_sha256"

func holdsDigest(key string) bool {
	switch key {
	case semconv.ApprovalFrom, semconv.ApprovalTo, envelopeSummary:
		return true
	}
	return strings.HasPrefix(key, semconv.InvariantDigest)
}

func wellFormed(key string, value pcommon.Value) bool {
	if name, ok := strings.CutPrefix(key, semconv.InvariantDigest); ok && !classify.ValidName(name) {
		return false
	}
	text, ok := asText(value)
	if !ok {
		return false
	}
	_, fault := digest.Parse(text)
	return fault != digest.Malformed
}
