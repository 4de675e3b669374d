package signal

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Test is how a condition looks at an attribute.
type Test uint8

// The tests. All but Absent and Failed fail where the attribute is absent.
const (
	// Equals holds for one of these texts in any case of letters, and for a boolean
	// or an integer of the same text.
	Equals Test = iota
	// HasPrefix holds for text that begins with one of these.
	HasPrefix
	// AtLeast holds for a number that is not less than that of another attribute.
	AtLeast
	// Present holds for any value but empty text.
	Present
	// Absent holds where the attribute is not there or is empty text.
	Absent
	// Failed holds for a span with status Error. It looks at no attribute.
	Failed
)

var testNames = [...]string{"equals", "prefix", "at_least", "present", "absent", "failed"}

// String is the test's name in configuration.
func (t Test) String() string { return testNames[t] }

// Condition is a test of one attribute. One that is there twice must pass with
// both values.
type Condition struct {
	Attribute string
	Test      Test
	// Want are the texts of Equals and HasPrefix, of which one is enough, or the
	// other attribute of AtLeast.
	Want []string
}

func is(attribute string, want ...string) Condition { return Condition{attribute, Equals, want} }

func startsWith(attribute string, want ...string) Condition {
	return Condition{attribute, HasPrefix, want}
}

func service(want ...string) []Condition { return []Condition{is("service.name", want...)} }

func allHold(conditions []Condition, s *subject) bool {
	for i := range conditions {
		if !conditions[i].holds(s) {
			return false
		}
	}
	return true
}

func (c *Condition) holds(s *subject) bool {
	if c.Test == Failed {
		return s.failed
	}
	present, failed := false, false
	for key, value := range s.attrs.All() {
		if key != c.Attribute || value.Type() == pcommon.ValueTypeStr && strings.TrimSpace(value.Str()) == "" {
			continue
		}
		present = true
		failed = failed || !c.passes(value, s)
	}
	if c.Test == Absent {
		return !present
	}
	return present && !failed
}

func (c *Condition) passes(value pcommon.Value, s *subject) bool {
	switch c.Test {
	case Present:
		return true
	case AtLeast:
		n, ok := asInt(value)
		other, found := s.attrs.Get(c.Want[0])
		if !ok || !found {
			return false
		}
		least, ok := asInt(other)
		return ok && n >= least
	case Equals, HasPrefix:
		text, ok := asScalar(value)
		text = strings.TrimSpace(text)
		return ok && slices.ContainsFunc(c.Want, func(want string) bool {
			if c.Test == Equals {
				return strings.EqualFold(text, want)
			}
			return strings.HasPrefix(text, want)
		})
	case Absent, Failed: // holds decides them
	}
	return false
}
