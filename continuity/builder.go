package continuity

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// builder collects attributes and what is wrong with them.
type builder struct {
	attributes []attribute.KeyValue
	errors     []error
}

func (b *builder) fail(format string, args ...any) {
	b.errors = append(b.errors, fmt.Errorf(format, args...))
}

// text adds an attribute that is stated, which "" is not.
func (b *builder) text(key, value string) {
	if !utf8.ValidString(value) {
		b.fail("%s is not valid UTF-8", key)
	}
	if value != "" {
		b.attributes = append(b.attributes, attribute.String(key, value))
	}
}

// id adds an id. One that names nobody would be passed over by the processor, or
// would make one of all that have it.
func (b *builder) id(key, id string) {
	if id != "" && namesNobody(id) {
		b.fail("%s names nobody: leave it out, or give a real id", key)
	}
	b.text(key, id)
}

func namesNobody(id string) bool {
	id = strings.ToLower(strings.TrimSpace(id))
	zeros := strings.Trim(id, "0") == "" && len(id) == 32
	return zeros || slices.Contains([]string{"", "unknown", "null", "undefined", "none", "n/a", "00000000-0000-0000-0000-000000000000"}, id)
}

func (b *builder) flag(key string, stated, value bool) {
	if stated {
		b.attributes = append(b.attributes, attribute.Bool(key, value))
	}
}

// count adds a number that is stated, which 0 is not.
func (b *builder) count(key string, n int64) {
	if n < 0 {
		b.fail("%s is negative", key)
	}
	if n != 0 {
		b.attributes = append(b.attributes, attribute.Int64(key, n))
	}
}

// time adds a time that is stated, which zero is not.
func (b *builder) time(key string, at time.Time) {
	text := stamp(at)
	if _, ok := semconv.ParseTime(text); !ok && text != "" {
		b.fail("%s is no time from 1970 to 2261", key)
	}
	b.text(key, text)
}

func (b *builder) done(what string) ([]attribute.KeyValue, error) {
	if len(b.errors) > 0 {
		return nil, fmt.Errorf("continuity: %s: %w", what, errors.Join(b.errors...))
	}
	return b.attributes, nil
}

var sessionAttributes = []string{semconv.ConversationID, semconv.SessionID, semconv.PlainConversationID}

func (b *builder) common(c *Common) {
	key := c.Session.Attribute
	switch {
	case key == "":
		key = semconv.ConversationID
	case !slices.Contains(sessionAttributes, key):
		b.fail("session attribute %q is not one of %s", key, list(sessionAttributes))
	}
	if c.Session.ID == "" && !c.Session.Inherit {
		b.fail("it has no session id: without one nothing is paired")
	}
	b.id(key, c.Session.ID)
	b.id(semconv.AgentID, c.Session.Agent)
	b.text(semconv.Runtime, c.Session.Runtime)
	b.id(semconv.EventID, c.EventID)
	b.id(semconv.BoundaryID, c.BoundaryID)
	b.text(semconv.CompactionTrigger, c.Trigger)
	b.text(semconv.ActivityState, c.Activity)
}

// list is a closed list, as an error tells it.
func list[T ~string](choices []T) string {
	var text strings.Builder
	for i, choice := range choices {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(string(choice))
	}
	return text.String()
}

var sources = []Source{Agent, Environment, Human, FromRecord}

func (b *builder) source(key string, s Source) {
	if s != "" && !slices.Contains(sources, s) {
		b.fail("source %q is not one of %s", s, list(sources))
	}
	b.text(key, string(s))
}

// decisions adds what was stated of each decision. Looks after a compaction have
// sources, those before have comparisons.
func (b *builder) decisions(all []Decision, after bool, event Source) {
	seen := map[string]bool{}
	for i := range all {
		d := &all[i]
		if !classify.ValidName(d.Name) {
			b.fail("%q is no name of a decision: it must be scope, approval_boundary, target, acceptance_test, constraint.<id> or of that form", d.Name)
		}
		if seen[d.Name] {
			b.fail("decision %q is there twice", d.Name)
		}
		seen[d.Name] = true
		b.text(semconv.InvariantDigest+d.Name, b.digest("decision "+d.Name, d.Digest))
		b.time(semconv.InvariantObservedAt+d.Name, d.ObservedAt)
		b.text(semconv.InvariantRevision+d.Name, d.Revision)
		b.text(semconv.InvariantApprovalRef+d.Name, d.ApprovalRef)
		if after {
			b.source(semconv.InvariantSource+d.Name, d.Source)
			if d.Source == "" && event == "" {
				b.fail("decision %q has no source: agent, environment, human or record", d.Name)
			}
			b.count(semconv.InvariantChoices+d.Name, int64(d.Choices))
			continue
		}
		if d.Prose {
			b.text(semconv.InvariantComparison+d.Name, "text")
		}
		b.flag(semconv.InvariantRequired+d.Name, d.Optional, false)
		if d.Optional && !classify.MayBeOptional(d.Name) {
			b.fail("decision %q cannot be optional: only names of your own can", d.Name)
		}
	}
}

// digest returns the canonical text of a digest.
func (b *builder) digest(what string, d Digest) string {
	parsed, fault := digest.Parse(string(d))
	switch fault {
	case digest.Malformed:
		b.fail("%s has no usable digest: it must be sha256: or hmac-sha256: and 64 hex digits, or none", what)
	case digest.Empty:
		b.fail("%s has the digest of a placeholder, which states nothing", what)
	case digest.OK:
	}
	return parsed.String()
}

// keyed adds how the digests were made.
func (b *builder) keyed(all []Decision, keyID string) {
	if len(all) == 0 {
		return
	}
	for i := range all {
		if parsed, _ := digest.Parse(string(all[i].Digest)); parsed.Alg != digest.HMACSHA256 {
			continue
		}
		switch made := all[i].keyID; {
		case keyID == "" && made == "":
			b.fail("decision %q has a keyed digest, but no key id says which key made it", all[i].Name)
		case keyID == "":
			keyID = made
		case made != "" && made != keyID:
			b.fail("decision %q has a digest of key %q, and the event says %q: one event has one key", all[i].Name, made, keyID)
		}
	}
	b.text(semconv.DigestNormalizer, Normalizer)
	b.text(semconv.DigestKeyID, keyID)
}

// envelope adds the fields of an envelope, each of the type that the processor
// reads.
func (b *builder) envelope(fields map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		key := attribute.Key(semconv.EnvelopePrefix + name)
		var want string
		switch value := fields[name].(type) {
		case string:
			want = "string"
			b.text(string(key), value)
		case int:
			want = "int64"
			b.attributes = append(b.attributes, key.Int(value))
		case int64:
			want = "int64"
			b.attributes = append(b.attributes, key.Int64(value))
		case bool:
			want = "bool"
			b.attributes = append(b.attributes, key.Bool(value))
		case []string:
			want = "[]string"
			b.attributes = append(b.attributes, key.StringSlice(value))
		}
		switch is := envelopeType(name); {
		case is == "":
			b.fail("the envelope has no field %q", name)
		case is != want:
			b.fail("envelope field %q is a %T: it must be %s", name, fields[name], is)
		}
	}
}

// envelopeType is the type of a field, "" where there is no such field.
func envelopeType(name string) string {
	switch {
	case !classify.IsEnvelopeField(name):
		return ""
	case name == classify.FieldNameBudgetRemaining:
		return "int64"
	case name == classify.FieldNameRequiresReauthorization:
		return "bool"
	case slices.Contains(classify.ListFieldNames[:], name):
		return "[]string"
	default:
		return "string"
	}
}
