package signal

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// maxList is how many entries a list of an envelope may have.
const maxList = 64

// readEnvelope reads the facts beside the invariants; nil where there are none.
// A field that is there twice or has the wrong type makes the whole malformed.
func readEnvelope(f *facts) *classify.Envelope {
	e := &classify.Envelope{}
	stated := false
	take := func(i field, read func(pcommon.Value) bool) {
		fact := f.get(i)
		if !fact.stated() {
			return
		}
		stated = true
		if ok := read(fact.value); !ok || fact.count > 1 {
			e.Malformed = true
		}
	}
	for i := range e.Fields {
		take(fieldEnvelope+field(i), func(v pcommon.Value) bool {
			text, ok := asText(v)
			e.Fields[i] = distinct(text, maxOpaque)
			return ok
		})
	}
	for i := range e.Lists {
		take(fieldList+field(i), func(v pcommon.Value) (ok bool) {
			e.Lists[i], ok = asTexts(v)
			return ok
		})
	}
	take(fieldEnvelopeBudget, func(v pcommon.Value) bool {
		e.Budget, e.HasBudget = asInt(v)
		return e.HasBudget
	})
	take(fieldEnvelopeReauthorization, func(v pcommon.Value) bool {
		e.Reauthorization, e.HasReauthorization = asBool(v)
		return e.HasReauthorization
	})
	if !stated {
		return nil
	}
	// What is no digest may be the summary itself, which is not kept.
	summary := &e.Fields[classify.FieldSummarySHA256]
	if _, fault := digest.Parse(*summary); *summary != "" && fault == digest.Malformed {
		*summary = semconv.Redacted
	}
	return e
}

// asTexts reads a list of strings; an empty list is not nil.
func asTexts(v pcommon.Value) ([]string, bool) {
	if v.Type() != pcommon.ValueTypeSlice || v.Slice().Len() > maxList {
		return nil, false
	}
	list := v.Slice()
	out := make([]string, list.Len())
	for i := range out {
		text, ok := asText(list.At(i))
		if !ok {
			return nil, false
		}
		out[i] = distinct(text, maxOpaque)
	}
	return out, true
}
