package boundary

import (
	"strconv"
	"strings"
)

// JoinScope builds SessionKey.Scope from the tenant's metadata values and the
// values of the scope attributes. Lengths are part of the text, so that no
// value can pretend to be two.
func JoinScope(tenant, attributes []string) string {
	if len(tenant) == 0 && len(attributes) == 0 {
		return ""
	}
	return frame(join(tenant)) + join(attributes)
}

func join(parts []string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(frame(p))
	}
	return b.String()
}

func frame(part string) string { return strconv.Itoa(len(part)) + ":" + part }

// Tenant is the part of Scope that the tenant's metadata gave.
func (k SessionKey) Tenant() string {
	size, rest, ok := strings.Cut(k.Scope, ":")
	if !ok {
		return ""
	}
	n, err := strconv.Atoi(size)
	if err != nil || n > len(rest) {
		return ""
	}
	return rest[:n]
}
