package semconv

import (
	"strings"
	"time"
)

var layouts = [...]string{
	time.RFC3339Nano,
	"2006-01-02T15:04:05.999999999Z0700",
	"2006-01-02T15:04:05.999999999Z07",
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04Z0700",
	"2006-01-02T15:04Z07",
}

// ParseTime reads an ISO 8601 time with a zone and returns Unix nanoseconds.
// A time without a zone names no instant and is not accepted, nor is one
// outside the years (of UTC) that 64-bit nanoseconds hold.
func ParseTime(text string) (int64, bool) {
	text = strings.ToUpper(strings.TrimSpace(text))
	if len(text) > len("2006-01-02") && text[len("2006-01-02")] == ' ' {
		text = text[:len("2006-01-02")] + "T" + text[len("2006-01-02 "):]
	}
	for _, layout := range layouts {
		t, err := time.Parse(layout, text)
		if year := t.UTC().Year(); err == nil && year >= 1970 && year < 2262 {
			return t.UnixNano(), true
		}
	}
	return 0, false
}
