package classify

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// noon is an instant that is not in whole seconds: 500 ms after 12:00:00.
var noon = At(time.Date(2026, 3, 4, 12, 0, 0, 500_000_000, time.UTC))

// Spans as instants, for literal sums of them.
const (
	nanosecond = Instant(time.Nanosecond)
	ms         = Instant(time.Millisecond)
	second     = Instant(time.Second)
	minute     = Instant(time.Minute)
	hour       = Instant(time.Hour)
	day        = 24 * hour
)

// of is the SHA-256 of a text in the default form; "none" and "" stand for
// themselves.
func of(text string) Value {
	switch text {
	case "":
		return Value{}
	case digest.NoneText:
		return Value{Digest: digest.None}
	}
	return Value{Digest: digest.Digest{Alg: digest.SHA256, Sum: sha256.Sum256([]byte(text))}}
}

func keyed(text, key string) Value {
	v := of(text)
	v.Digest.Alg, v.Form.KeyID = digest.HMACSHA256, key
	return v
}

func normalized(text, normalizer string) Value {
	v := of(text)
	v.Form.Normalizer = normalizer
	return v
}

// words writes a vote or a finding as state/reason.
func words(s State, r Reason) string { return fmt.Sprintf("%v/%v", s, r) }

func TestNoonIsNotWhole(t *testing.T) {
	require.False(t, noon.whole())
	require.True(t, (noon + 500*ms).whole())
}
