package signal

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// fillStatements reads what a snapshot or an observation says of invariants:
// one statement a name, by authority, as many as the limit allows.
func (r *Reader) fillStatements(e *boundary.Event, f *facts) {
	stated := make([]*invariant, 0, len(f.invariants))
	for i := range f.invariants {
		inv := &f.invariants[i]
		hasDigest := inv.facts[facetDigest].stated()
		switch {
		case !hasDigest && !inv.facts[facetValue].stated():
			// A time or a source of nothing states nothing.
		case classify.ValidName(inv.name):
			stated = append(stated, inv)
		case hasDigest:
			e.BadName = true
		}
	}
	slices.SortFunc(stated, func(a, b *invariant) int { return classify.CompareNames(a.name, b.name) })
	if len(stated) > r.invariants {
		e.TooMany = true
		stated = stated[:r.invariants]
	}
	if len(stated) == 0 {
		return
	}
	source := defaultSource(f)
	e.Statements = make([]boundary.Statement, len(stated))
	for i, inv := range stated {
		e.Statements[i] = statement(inv, e, source)
		if contradictory(f) {
			e.Statements[i].Digest, e.Statements[i].Fault = digest.Digest{}, classify.AttributeDuplicated
		}
	}
}

func defaultSource(f *facts) classify.Source { return classify.ParseSource(f.text(fieldSource)) }

// statement reads the facts of one name. The event's time and source are
// defaults for what is not stated, never for what cannot be read: that would
// make an unreadable look a fresh one.
func statement(inv *invariant, e *boundary.Event, source classify.Source) boundary.Statement {
	s := boundary.Statement{Name: nameOf(inv.name), ObservedAt: e.ObservedAt}
	s.Digest, s.Fault = digestOf(inv)
	if at := &inv.facts[facetObservedAt]; at.stated() {
		s.ObservedAt = at.instant()
	}
	s.Revision = inv.facts[facetRevision].label()
	s.ApprovalRef = inv.facts[facetApprovalRef].label()
	if e.Kind == boundary.Snapshot {
		s.Text = inv.facts[facetComparison].text() == "text"
		required, ok := inv.facts[facetRequired].bool()
		s.Optional = ok && !required
		return s
	}
	s.Source = source
	if own := &inv.facts[facetSource]; own.stated() {
		s.Source = classify.ParseSource(own.text())
	}
	s.Choices = max(inv.facts[facetChoices].int(), 0)
	return s
}

// nameOf copies a name; most are one of a few.
func nameOf(name string) string {
	switch name {
	case classify.Scope:
		return classify.Scope
	case classify.ApprovalBoundary:
		return classify.ApprovalBoundary
	case classify.Target:
		return classify.Target
	case classify.AcceptanceTest:
		return classify.AcceptanceTest
	}
	return strings.Clone(name)
}

// digestOf reads the digest, or the first reason why the statement is unusable
// in the order of docs/semantics.md.
func digestOf(inv *invariant) (digest.Digest, classify.Reason) {
	for i := range inv.facts {
		if inv.facts[i].count > 1 {
			return digest.Digest{}, classify.AttributeDuplicated
		}
	}
	if d := &inv.facts[facetDigest]; d.stated() {
		parsed, reason := parseDigest(d.value)
		if reason != "" {
			return digest.Digest{}, reason
		}
		if !inv.facts[facetValue].stated() {
			return parsed, ""
		}
	}
	return digest.Digest{}, classify.RawValueRejected
}

func parseDigest(v pcommon.Value) (digest.Digest, classify.Reason) {
	text, ok := asText(v)
	if !ok {
		return digest.Digest{}, classify.AttributeType
	}
	parsed, fault := digest.Parse(text)
	switch fault {
	case digest.Malformed:
		return digest.Digest{}, classify.DigestMalformed
	case digest.Empty:
		return digest.Digest{}, classify.DigestEmpty
	case digest.OK:
	}
	return parsed, ""
}
