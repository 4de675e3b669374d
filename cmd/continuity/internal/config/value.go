package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// Digest makes the digest of one value of a name. It is refused where it is a
// placeholder, or not what its kind or the catalogue asks for. Errors hold none of
// the value.
func (c *Config) Digest(d continuity.Digester, name, kind, value string) (continuity.Digest, error) {
	made, err := c.digest(d, name, kind, value)
	if errors.Is(err, ErrName) {
		return "", err // without what was given as the name
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return made, nil
}

func (c *Config) digest(d continuity.Digester, name, kind, value string) (continuity.Digest, error) {
	if !slices.Contains(Kinds, kind) {
		return "", fmt.Errorf("kind must be one of %s", strings.Join(Kinds, ", "))
	}
	if err := checkName(name); err != nil {
		return "", err
	}
	if kind == KindJSON {
		made, err := d.JSON([]byte(value))
		if errors.Is(err, continuity.ErrJSON) {
			// What is wrong in detail may cite the value.
			return "", fmt.Errorf("%w: it is malformed, has a key twice, or a number that would be rounded", continuity.ErrJSON)
		}
		return made, err
	}
	// A placeholder is refused as what it is, not as a word that is not on a list.
	if _, err := continuity.Canonical(continuity.Prose, value); err != nil {
		return "", err
	}
	if _, fault := digest.Parse(value); fault == digest.Empty {
		return "", continuity.ErrPlaceholder // it is the digest of nothing
	}
	if kind == KindID && strings.ContainsAny(strings.TrimSpace(value), " \t\r\n") {
		return "", errors.New("a name has no blanks; for a sentence, decide it with --as text")
	}
	value, err := c.spell(name, kind, value)
	if err != nil {
		return "", err
	}
	return d.Of(continuity.Kind(kind), value)
}

// spell brings what comes from a closed list into the list's spelling, and refuses
// the rest: honest rewording would never match.
func (c *Config) spell(name, kind, value string) (string, error) {
	if kind != KindChoice && kind != KindSet {
		return value, nil
	}
	choices, err := c.closed(name)
	if err != nil || choices == nil {
		return value, err
	}
	items := []string{value}
	if kind == KindSet {
		items = Items(value)
	}
	for i := range items {
		items[i] = fold(items[i])
		if !slices.Contains(choices, items[i]) {
			how := "one of"
			if kind == KindSet {
				how = "some, with commas between them, of"
			}
			return "", fmt.Errorf("it must be %s %s; for prose, decide it with --as text", how, strings.Join(choices, ", "))
		}
	}
	return strings.Join(items, ","), nil
}
