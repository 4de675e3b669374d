package semconv

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const noon = int64(1_772_625_600_000_000_000) // 2026-03-04T12:00:00Z

func TestParseTime(t *testing.T) {
	require.Equal(t, noon, time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC).UnixNano())
	for name, c := range map[string]struct {
		text string
		want int64
	}{
		"zulu":                     {"2026-03-04T12:00:00Z", noon},
		"east":                     {"2026-03-04T14:00:00+02:00", noon},
		"west":                     {"2026-03-04T04:00:00-08:00", noon},
		"half an hour":             {"2026-03-04T17:30:00+05:30", noon},
		"over midnight":            {"2026-03-05T02:00:00+14:00", noon},
		"zone of zero":             {"2026-03-04T12:00:00+00:00", noon},
		"zone without colon":       {"2026-03-04T14:00:00+0200", noon},
		"zone in hours":            {"2026-03-04T14:00:00+02", noon},
		"lower case":               {"2026-03-04t12:00:00z", noon},
		"blanks around":            {" \t2026-03-04T12:00:00Z\r\n", noon},
		"blank instead of T":       {"2026-03-04 12:00:00Z", noon},
		"as databases write it":    {"2026-03-04 14:00:00.25+02", noon + 250_000_000},
		"minutes":                  {"2026-03-04T12:00Z", noon},
		"minutes in a zone":        {"2026-03-04T14:00+02:00", noon},
		"minutes, no colon":        {"2026-03-04T14:00+0200", noon},
		"minutes, zone in hours":   {"2026-03-04T14:00+02", noon},
		"milliseconds":             {"2026-03-04T12:00:00.125Z", noon + 125_000_000},
		"microseconds in a zone":   {"2026-03-04T14:00:00.000125+02:00", noon + 125_000},
		"nanoseconds":              {"2026-03-04T12:00:00.000000001Z", noon + 1},
		"decimal comma":            {"2026-03-04T12:00:00,5Z", noon + 500_000_000},
		"fraction, zone in hours":  {"2026-03-04T12:00:00.5+00", noon + 500_000_000},
		"fraction, no colon":       {"2026-03-04T12:00:00.5+0000", noon + 500_000_000},
		"the epoch":                {"1970-01-01T00:00:00Z", 0},
		"the epoch elsewhere":      {"1969-12-31T19:00:00-05:00", 0},
		"leap day":                 {"2028-02-29T00:00:00Z", 1_835_395_200_000_000_000},
		"last second":              {"2261-12-31T23:59:59Z", 9_214_646_399_000_000_000},
		"last second elsewhere":    {"2262-01-01T01:59:59+02:00", 9_214_646_399_000_000_000},
		"last hour of 1970's east": {"1970-01-01T02:00:00+02:00", 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := ParseTime(c.text)
			require.True(t, ok)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestParseTimeRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                "",
		"blanks":                 "  ",
		"no zone":                "2026-03-04T12:00:00",
		"no zone, fraction":      "2026-03-04T12:00:00.125",
		"no zone, minutes":       "2026-03-04T12:00",
		"a date":                 "2026-03-04",
		"a date and a blank":     "2026-03-04 ",
		"a time":                 "12:00:00Z",
		"name of a zone":         "2026-03-04T12:00:00 CET",
		"zone in brackets":       "2026-03-04T12:00:00+01:00[Europe/Paris]",
		"zone after a blank":     "2026-03-04T12:00:00 +01:00",
		"two blanks":             "2026-03-04  12:00:00Z",
		"text behind":            "2026-03-04T12:00:00Z or so",
		"two zones":              "2026-03-04T12:00:00ZZ",
		"month 13":               "2026-13-04T12:00:00Z",
		"month 0":                "2026-00-04T12:00:00Z",
		"no leap year":           "2026-02-29T12:00:00Z",
		"day 31":                 "2026-04-31T12:00:00Z",
		"hour 25":                "2026-03-04T25:00:00Z",
		"minute 60":              "2026-03-04T12:60:00Z",
		"zone of 30 hours":       "2026-03-04T12:00:00+30:00",
		"before the epoch":       "1969-12-31T23:59:59Z",
		"before it, elsewhere":   "1970-01-01T00:00:00+02:00",
		"long ago":               "0001-01-01T00:00:00Z",
		"too late":               "2262-01-01T00:00:00Z",
		"too late, elsewhere":    "2261-12-31T23:00:00-02:00",
		"far too late":           "9999-12-31T23:59:59Z",
		"year of five digits":    "12026-03-04T12:00:00Z",
		"signed year":            "+2026-03-04T12:00:00Z",
		"Unix seconds":           "1772625600",
		"Unix nanoseconds":       "1772625600000000000",
		"mail":                   "Wed, 04 Mar 2026 12:00:00 GMT",
		"other order":            "04.03.2026 12:00:00Z",
		"digits of other script": "２０２６-03-04T12:00:00Z",
		"invalid UTF-8":          "2026-03-04\xffT12:00:00Z",
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := ParseTime(text)
			assert.False(t, ok)
			assert.Zero(t, got)
		})
	}
}

// FuzzParseTime: what is accepted names one instant, however it is written.
func FuzzParseTime(f *testing.F) {
	for _, seed := range []string{
		"", "2026-03-04T12:00:00Z", "2026-03-04 14:00:00.000125+02:00", "2026-03-04T12:00-0830",
		"2262-01-01T01:59:59+02", "1970-01-01T00:00:00+02:00", "2026-03-04t12:00:00,999999999z", "2026-03-04T12:00:00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, ok := ParseTime(text)
		if !ok {
			require.Zero(t, at)
			return
		}
		require.GreaterOrEqual(t, at, int64(0))
		written := time.Unix(0, at).UTC().Format(time.RFC3339Nano)
		for _, same := range []string{
			written, strings.ToLower(text), strings.ToUpper(text), "\t " + text + " \n",
			time.Unix(0, at).In(time.FixedZone("", -9*3600)).Format(time.RFC3339Nano),
		} {
			again, ok := ParseTime(same)
			require.True(t, ok, same)
			require.Equal(t, at, again, same)
		}
	})
}
