package signal

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// valueOf is one pdata value of each kind.
func valueOf(v any) pcommon.Value {
	out := pcommon.NewValueEmpty()
	if err := out.FromRaw(v); err != nil {
		panic(err)
	}
	return out
}

func TestAsInt(t *testing.T) {
	for _, c := range []struct {
		in   any
		want int64
		ok   bool
	}{
		{7, 7, true},
		{"7", 7, true},
		{" -7 ", -7, true},
		{"7.0", 0, false},
		{"seven", 0, false},
		{"", 0, false},
		{"99999999999999999999", math.MaxInt64, false},
		{7.0, 0, false},
		{true, 0, false},
		{nil, 0, false},
		{[]byte("7"), 0, false},
		{[]any{7}, 0, false},
		{map[string]any{"7": 7}, 0, false},
	} {
		got, ok := asInt(valueOf(c.in))
		assert.Equal(t, c.ok, ok, "%#v", c.in)
		if c.ok {
			assert.Equal(t, c.want, got, "%#v", c.in)
		}
	}
}

func TestAsBool(t *testing.T) {
	for _, c := range []struct {
		in       any
		want, ok bool
	}{
		{true, true, true},
		{false, false, true},
		{"true", true, true},
		{"False", false, true},
		{" TRUE ", true, true},
		{"1", false, false},
		{"t", false, false},
		{"", false, false},
		{1, false, false},
		{nil, false, false},
		{[]any{true}, false, false},
	} {
		got, ok := asBool(valueOf(c.in))
		assert.Equal(t, c.want, got, "%#v", c.in)
		assert.Equal(t, c.ok, ok, "%#v", c.in)
	}
}

func TestAsInstant(t *testing.T) {
	const noon = 1796040000_000000000 // 2026-11-30T12:00:00Z
	for _, c := range []struct {
		in   any
		want classify.Instant
	}{
		{noon + 5, noon + 5},
		{"1796040000000000005", noon + 5},
		{"2026-11-30T12:00:00Z", noon},
		{"2026-11-30T12:00:00.000000005Z", noon + 5},
		{"2026-11-30T14:00:00.5+02:00", noon + 500_000_000},
		{"2026-11-30T14:00:00+0200", noon},
		{"2026-11-30t12:00:00z", noon},
		{"2026-11-30 12:00:00Z", noon},
		{" 2026-11-30T12:00:00Z ", noon},
		{"2026-11-30T12:00:00", 0}, // no zone, no instant
		{"2026-11-30", 0},
		{"2026-13-30T12:00:00Z", 0},
		{"2026-11-31T12:00:00Z", 0},
		{"9999-12-31T23:59:59Z", 0}, // must not wrap around to something plausible
		{"0001-01-01T00:00:00Z", 0},
		{"now", 0},
		{"", 0},
		{strings.Repeat("1", 65), 0},
		{0, 0},
		{-5, 0},
		{"-5", 0},
		{float64(noon), 0},
		{true, 0},
		{nil, 0},
		{[]any{noon}, 0},
	} {
		assert.Equal(t, c.want, asInstant(valueOf(c.in)), "%#v", c.in)
	}
}

func TestStamp(t *testing.T) {
	assert.Equal(t, classify.Instant(0), stamp(0))
	assert.Equal(t, classify.Instant(5), stamp(5))
	assert.Equal(t, classify.Instant(0), stamp(math.MaxUint64), "beyond 64 signed bits")
}

func TestAsLabel(t *testing.T) {
	assert.Equal(t, "7", asLabel(valueOf(7)))
	assert.Equal(t, "r7", asLabel(valueOf("r7")))
	for _, v := range []any{true, 7.5, nil, []any{"r7"}, []byte("r7")} {
		assert.Empty(t, asLabel(valueOf(v)), "%#v", v)
	}
}

func TestTrimID(t *testing.T) {
	for _, name := range []string{
		"", " ", "\t\n", "unknown", "UNKNOWN", "null", "Null", "undefined", "none", "None", "n/a", "N/A", " unknown ",
		"00000000-0000-0000-0000-000000000000", strings.Repeat("0", 32), "a\xffb", "\xff",
		strings.Repeat("a", 35) + "\xff", strings.Repeat("a", 31) + "\xff",
	} {
		_, ok := trimID(name)
		assert.False(t, ok, "%q", name)
	}
	for _, name := range []string{
		"s1", "0", "unknown-1", "nonesuch", "00000000-0000-0000-0000-000000000001",
		strings.Repeat("0", 31), strings.Repeat("0", 31) + "1",
	} {
		got, ok := trimID(" " + name + "\n")
		assert.True(t, ok, "%q", name)
		assert.Equal(t, name, got)
	}
}

func TestBoundedAndDistinct(t *testing.T) {
	long := strings.Repeat("é", 300)
	for name, text := range map[string]string{
		"short": "abc", "exact": strings.Repeat("a", 256), "long": long, "invalid": "a\xffb",
		"long invalid": strings.Repeat("\xff", 300), "cut in a rune": strings.Repeat("a", 255) + "é",
		"only continuations": strings.Repeat("\x80", 600), "empty": "",
	} {
		for _, got := range []string{bounded(text, maxText), distinct(text, maxText)} {
			assert.LessOrEqual(t, len(got), maxText, name)
			assert.True(t, utf8.ValidString(got), name)
		}
	}
	assert.Equal(t, strings.Repeat("a", 255), bounded(strings.Repeat("a", 255)+"é", maxText))
	assert.Equal(t, strings.Repeat("a", 256), distinct(strings.Repeat("a", 256), maxText))
	assert.NotEqual(t, distinct(long+"a", maxText), distinct(long+"b", maxText))
	assert.NotEqual(t, distinct("a\xff", maxText), distinct("a\xfe", maxText))
	assert.Equal(t, distinct(long, maxText), distinct(long, maxText))
}
