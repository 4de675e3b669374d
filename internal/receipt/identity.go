package receipt

import (
	"crypto/sha256"
	"strconv"
	"strings"

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
	// An explicit boundary id is the sender's: two sessions may use the same.
	owner := []string{r.Key.Scope, r.Key.Session, r.Key.Agent, r.BoundaryID}
	if r.Parent.IsZero() {
		sum := hash(append([]string{"trace"}, owner...))
		copy(id.trace[:], sum[:])
	}
	sum := hash(append([]string{"span", strconv.Itoa(r.Revision)}, owner...))
	copy(id.span[:], sum[:])
	return id
}

func hash(parts []string) [sha256.Size]byte {
	var b strings.Builder
	for _, p := range parts {
		writeFramed(&b, p)
	}
	return sha256.Sum256([]byte(b.String()))
}

// writeFramed writes a text behind its length, so that no text can pretend to be
// two.
func writeFramed(b *strings.Builder, s string) {
	b.WriteString(strconv.Itoa(len(s)))
	b.WriteByte(':')
	b.WriteString(s)
}
