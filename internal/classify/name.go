package classify

import (
	"cmp"
	"strings"
)

// The five core names. Constraints are single items, constraint.<id>.
const (
	Scope            = "scope"
	ApprovalBoundary = "approval_boundary"
	Target           = "target"
	AcceptanceTest   = "acceptance_test"
	Constraint       = "constraint"
)

// maxPart bounds the two parts of a name.
const maxPart = 64

// ValidName reports whether an invariant may be called so:
// [a-z][a-z0-9_]{0,63}(\.[a-z0-9][a-z0-9_-]{0,63})? It is asked for each attribute,
// hence no regular expression.
func ValidName(name string) bool {
	family, id, two := strings.Cut(name, ".")
	return validPart(family, false) && (!two || validPart(id, true))
}

func validPart(part string, second bool) bool {
	if part == "" || len(part) > maxPart {
		return false
	}
	for i := range len(part) {
		switch b := part[i]; {
		case b >= 'a' && b <= 'z':
		case b >= '0' && b <= '9':
			if i == 0 && !second {
				return false
			}
		case b == '_':
			if i == 0 {
				return false
			}
		case b == '-' && second && i > 0:
		default:
			return false
		}
	}
	return true
}

// Family is the name before the first dot: "constraint" for constraint.no_push.
func Family(name string) string {
	family, _, _ := strings.Cut(name, ".")
	return family
}

// authority ranks names: what a human reserved outranks what the agent works
// on. Names of the user's own come after the five, a finding of the boundary as
// a whole (no name) after those.
func authority(name string) int {
	switch Family(name) {
	case ApprovalBoundary:
		return 0
	case Scope:
		return 1
	case Constraint:
		return 2
	case Target:
		return 3
	case AcceptanceTest:
		return 4
	case "":
		return 6
	}
	return 5
}

// CompareNames orders names by authority, then by text.
func CompareNames(a, b string) int {
	return cmp.Or(cmp.Compare(authority(a), authority(b)), strings.Compare(a, b))
}

// MayBeOptional reports whether required=false counts for a name: only for
// names of the user's own, never for the five.
func MayBeOptional(name string) bool { return authority(name) == 5 }
