package signal

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// The coercions of docs/attributes.md: numbers and booleans may arrive as
// strings. Each reports false where the value cannot be read.

func asText(v pcommon.Value) (string, bool) {
	if v.Type() != pcommon.ValueTypeStr {
		return "", false
	}
	return v.Str(), true
}

// asScalar is the text of a string, an integer or a boolean.
func asScalar(v pcommon.Value) (string, bool) {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return v.Str(), true
	case pcommon.ValueTypeInt:
		return strconv.FormatInt(v.Int(), 10), true
	case pcommon.ValueTypeBool:
		return strconv.FormatBool(v.Bool()), true
	default:
		return "", false
	}
}

// asLabel is what is passed through: a string or an integer, bounded.
func asLabel(v pcommon.Value) string {
	if v.Type() == pcommon.ValueTypeBool {
		return ""
	}
	text, _ := asScalar(v)
	return bounded(text, maxText)
}

func asInt(v pcommon.Value) (int64, bool) {
	switch v.Type() {
	case pcommon.ValueTypeInt:
		return v.Int(), true
	case pcommon.ValueTypeStr:
		n, err := strconv.ParseInt(strings.TrimSpace(v.Str()), 10, 64)
		return n, err == nil
	default:
		return 0, false
	}
}

func asBool(v pcommon.Value) (value, ok bool) {
	switch v.Type() {
	case pcommon.ValueTypeBool:
		return v.Bool(), true
	case pcommon.ValueTypeStr:
		text := strings.TrimSpace(v.Str())
		value = strings.EqualFold(text, "true")
		return value, value || strings.EqualFold(text, "false")
	default:
		return false, false
	}
}

// maxTime is longer than any time that can be read.
const maxTime = 64

// asInstant reads an ISO 8601 time with a zone or Unix nanoseconds. What cannot
// be read is no time: it never counts as fresh.
func asInstant(v pcommon.Value) classify.Instant {
	if v.Type() == pcommon.ValueTypeStr && len(v.Str()) > maxTime {
		return 0
	}
	if n, ok := asInt(v); ok {
		return classify.Instant(max(n, 0))
	}
	if text, ok := asText(v); ok {
		n, _ := semconv.ParseTime(text)
		return classify.Instant(n)
	}
	return 0
}

// stamp is the time of a span event or record. One beyond 64 signed bits is
// none.
func stamp(t pcommon.Timestamp) classify.Instant { return classify.Instant(max(int64(t), 0)) }
