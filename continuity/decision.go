package continuity

import (
	"errors"
	"fmt"
)

// Value is a decision with its value: what [Digester.Decisions] takes. It is
// never sent.
type Value struct {
	// Name is the decision's name; see [Decision].
	Name string
	Kind Kind
	// Value is the decision itself.
	Value string
}

// Decision digests a decision's value. A decision of kind [Prose] is marked as
// such, and the event that carries it knows the digester's key. It fails like
// [Canonical].
func (d Digester) Decision(name string, kind Kind, value string) (Decision, error) {
	sum, err := d.Of(kind, value)
	if err != nil {
		return Decision{}, fmt.Errorf("decision %q: %w", name, err)
	}
	return Decision{Name: name, Digest: sum, Prose: kind == Prose, keyID: d.keyID}, nil
}

// Decisions digests several. Those without a digest, as a placeholder is, are
// left out: the error names them, and what is returned can be used all the same.
// An observation that lacks some of what was looked at should say that it is
// Partial.
func (d Digester) Decisions(values ...Value) ([]Decision, error) {
	var out []Decision
	var failed []error
	for _, v := range values {
		decision, err := d.Decision(v.Name, v.Kind, v.Value)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		out = append(out, decision)
	}
	return out, errors.Join(failed...)
}
