package receipt

import (
	"crypto/sha256"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// identity is where a receipt stands. It depends on nothing but the session, the
// boundary and its revision: a receipt that is sent twice has the same ids both
// times, and so have its span and its log record.
type identity struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

func identify(r *boundary.Receipt) identity {
	id := identity{trace: r.Parent.TraceID}
	var room [512]byte
	if r.Parent.IsZero() {
		sum := sha256.Sum256(appendOwner(appendFramed(room[:0], "trace"), r))
		copy(id.trace[:], sum[:])
	}
	head := appendFramed(appendFramed(room[:0], "span"), strconv.Itoa(r.Revision))
	sum := sha256.Sum256(appendOwner(head, r))
	copy(id.span[:], sum[:])
	return id
}

// appendOwner appends whose receipt it is. An explicit boundary id is the sender's:
// two sessions may use the same.
func appendOwner(b []byte, r *boundary.Receipt) []byte {
	for _, part := range [...]string{r.Key.Scope, r.Key.Session, r.Key.Agent, r.BoundaryID} {
		b = appendFramed(b, part)
	}
	return b
}

// appendFramed appends a text behind its length, so that no text can pretend to be
// two.
func appendFramed(b []byte, s string) []byte {
	b = strconv.AppendInt(b, int64(len(s)), 10)
	return append(append(b, ':'), s...)
}
