package signal

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

const (
	inv      = "continuity.invariant."
	seen     = inv + "observed_at."
	from     = inv + "source."
	dig      = inv + "digest."
	snapshot = "context_compaction"
	look     = "context_rehydration"
)

// one reads the only statement of an event.
func one(t *testing.T, form Form, name string, attrs []kv) boundary.Statement {
	e := readOne(t, form, telemetry{name: name, attrs: attrs})
	require.Len(t, e.Statements, 1)
	return e.Statements[0]
}

func parsed(t *testing.T, text string) digest.Digest {
	d, fault := digest.Parse(text)
	require.Equal(t, digest.OK, fault)
	return d
}

// TestFaults has a row for each fault and for each pair of faults whose order
// decides.
func TestFaults(t *testing.T) {
	const bad, void = "sha256:abc", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for name, c := range map[string]struct {
		attrs []kv
		want  classify.Reason
	}{
		"fine":           {[]kv{{dig + "scope", sum("a")}}, ""},
		"explicit none":  {[]kv{{dig + "scope", "none"}}, ""},
		"upper case":     {[]kv{{dig + "scope", "SHA256:" + sum("A")[7:]}}, ""},
		"blanks":         {[]kv{{dig + "scope", " " + sum("a") + " "}}, ""},
		"keyed":          {[]kv{{dig + "scope", "hmac-" + sum("a")}}, ""},
		"digest twice":   {[]kv{{dig + "scope", sum("a")}, {dig + "scope", sum("a")}}, classify.AttributeDuplicated},
		"different":      {[]kv{{dig + "scope", sum("a")}, {dig + "scope", sum("b")}}, classify.AttributeDuplicated},
		"empty value":    {[]kv{{dig + "scope", nil}}, classify.AttributeType},
		"map":            {[]kv{{dig + "scope", []kv{{"a", "b"}}}}, classify.AttributeType},
		"list":           {[]kv{{dig + "scope", []any{sum("a")}}}, classify.AttributeType},
		"bytes":          {[]kv{{dig + "scope", []byte(sum("a"))}}, classify.AttributeType},
		"int":            {[]kv{{dig + "scope", 7}}, classify.AttributeType},
		"double":         {[]kv{{dig + "scope", 7.5}}, classify.AttributeType},
		"bool":           {[]kv{{dig + "scope", true}}, classify.AttributeType},
		"empty text":     {[]kv{{dig + "scope", ""}}, classify.DigestMalformed},
		"raw text":       {[]kv{{dig + "scope", "hunter2"}}, classify.DigestMalformed},
		"truncated":      {[]kv{{dig + "scope", bad}}, classify.DigestMalformed},
		"of nothing":     {[]kv{{dig + "scope", void}}, classify.DigestEmpty},
		"raw value":      {[]kv{{dig + "scope", sum("a")}, {inv + "value.scope", "x"}}, classify.RawValueRejected},
		"only raw value": {[]kv{{inv + "value.scope", "x"}}, classify.RawValueRejected},
		"empty raw":      {[]kv{{inv + "value.scope", nil}}, classify.RawValueRejected},

		"duplicated before type":      {[]kv{{dig + "scope", 7}, {dig + "scope", 7}}, classify.AttributeDuplicated},
		"duplicated before malformed": {[]kv{{dig + "scope", bad}, {seen + "scope", 1}, {seen + "scope", 1}}, classify.AttributeDuplicated},
		"duplicated before empty":     {[]kv{{dig + "scope", void}, {from + "scope", "agent"}, {from + "scope", "agent"}}, classify.AttributeDuplicated},
		"duplicated before raw":       {[]kv{{inv + "value.scope", "x"}, {inv + "value.scope", "x"}}, classify.AttributeDuplicated},
		"type before raw":             {[]kv{{dig + "scope", 7}, {inv + "value.scope", "x"}}, classify.AttributeType},
		"malformed before raw":        {[]kv{{dig + "scope", bad}, {inv + "value.scope", "x"}}, classify.DigestMalformed},
		"empty before raw":            {[]kv{{dig + "scope", void}, {inv + "value.scope", "x"}}, classify.DigestEmpty},
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []string{snapshot, look} {
				inBothForms(t, func(t *testing.T, form Form) {
					s := one(t, form, kind, c.attrs)
					assert.Equal(t, "scope", s.Name)
					assert.Equal(t, c.want, s.Fault)
					if c.want != "" {
						assert.Equal(t, digest.Digest{}, s.Digest, "an unusable statement shows no digest")
					} else {
						assert.NotEqual(t, digest.Digest{}, s.Digest)
					}
				})
			}
		})
	}
}

// TestAnyDuplicateIsAFault: whichever attribute of an invariant is there twice,
// nobody can know which one its sender meant.
func TestAnyDuplicateIsAFault(t *testing.T) {
	for _, facet := range []string{"digest", "observed_at", "source", "comparison", "choices", "revision", "approval_ref", "required", "value"} {
		t.Run(facet, func(t *testing.T) {
			inBothForms(t, func(t *testing.T, form Form) {
				key := inv + facet + ".target"
				attrs := []kv{{dig + "scope", sum("b")}, {key, "x"}, {"other", 1}, {key, "x"}}
				if facet != "digest" {
					attrs = append(attrs, kv{dig + "target", sum("a")})
				}
				e := readOne(t, form, telemetry{name: look, attrs: attrs})
				require.Len(t, e.Statements, 2)
				assert.Equal(t, classify.Reason(""), e.Statements[0].Fault, "only the invariant itself is concerned")
				assert.Equal(t, classify.AttributeDuplicated, e.Statements[1].Fault)
			})
		})
	}
}

func TestNamesWithoutDigestStateNothing(t *testing.T) {
	e := readOne(t, LogRecord, telemetry{name: look, attrs: []kv{
		{seen + "scope", 5},
		{from + "scope", "agent"},
		{inv + "choices.scope", 3},
		{inv + "state.scope", "preserved"},
		{inv + "digest", sum("a")},
		{inv, "x"},
		{inv + "unheard_of.scope", sum("a")},
	}})
	assert.Empty(t, e.Statements)
	assert.False(t, e.BadName)
}

func TestBadNames(t *testing.T) {
	for _, name := range []string{"", "Scope", "bad name", "1st", "a.b.c", "scope.", "scope.-x", "scöpe", "a\xff", fmt.Sprintf("n%0100d", 1)} {
		e := readOne(t, SpanEvent, telemetry{name: snapshot, attrs: []kv{{dig + name, sum("a")}, {dig + "scope", sum("a")}}})
		assert.True(t, e.BadName, "%q", name)
		assert.Len(t, e.Statements, 1, "%q", name)
	}
	e := readOne(t, SpanEvent, telemetry{name: snapshot, attrs: []kv{{inv + "value.Bad", "x"}, {seen + "Bad", 1}, {dig + "constraint.no-push_2", sum("a")}}})
	assert.False(t, e.BadName, "only a digest under another name is a finding")
	assert.Equal(t, "constraint.no-push_2", e.Statements[0].Name)
}

func TestStatementsByAuthorityUpToTheLimit(t *testing.T) {
	attrs := []kv{}
	for i := range 60 {
		attrs = append(attrs, kv{fmt.Sprintf("%sconstraint.k%02d", dig, i), sum("c")})
	}
	attrs = append(attrs, kv{dig + "zeta", sum("e")}, kv{dig + "acceptance_test", sum("d")}, kv{dig + "scope", sum("b")}, kv{dig + "approval_boundary", sum("a")})
	e := readOne(t, LogRecord, telemetry{name: snapshot, attrs: attrs})
	require.Len(t, e.Statements, 32)
	assert.True(t, e.TooMany)
	assert.Equal(t, "approval_boundary", e.Statements[0].Name)
	assert.Equal(t, "scope", e.Statements[1].Name)
	assert.Equal(t, "constraint.k00", e.Statements[2].Name)
	assert.Equal(t, "constraint.k29", e.Statements[31].Name)

	small := readOne(t, LogRecord, telemetry{name: snapshot, attrs: attrs[:32]})
	assert.Len(t, small.Statements, 32)
	assert.False(t, small.TooMany)

	for limit, want := range map[int]int{1: 1, 0: 32, -1: 32, 40: 40, 1000: 64} {
		cfg := DefaultConfig()
		cfg.MaxInvariants = limit
		x := telemetry{name: snapshot, attrs: attrs, enclosing: []kv{session}}
		assert.Len(t, x.as(t, LogRecord).items(NewReader(cfg))[0].Event.Statements, want, "limit %d", limit)
	}
}

// TestDefaultsFillSilenceOnly: the event's time and source stand in for what is
// not stated. What is stated and cannot be read is no time and no source.
func TestDefaultsFillSilenceOnly(t *testing.T) {
	for name, c := range map[string]struct {
		attrs  []kv
		at     classify.Instant
		source classify.Source
	}{
		"nothing":                    {nil, 0, classify.NoSource},
		"own":                        {[]kv{{seen + "scope", 7}, {from + "scope", "human"}}, 7, classify.Human},
		"event's":                    {[]kv{{"continuity.observed_at", 5}, {"continuity.source", "agent"}}, 5, classify.Agent},
		"own before the event's":     {[]kv{{"continuity.observed_at", 5}, {"continuity.source", "agent"}, {seen + "scope", "7"}, {from + "scope", "record"}}, 7, classify.Record},
		"own unreadable":             {[]kv{{"continuity.observed_at", 5}, {"continuity.source", "agent"}, {seen + "scope", "soon"}, {from + "scope", "summary"}}, 0, classify.NoSource},
		"own empty text":             {[]kv{{"continuity.observed_at", 5}, {"continuity.source", "agent"}, {seen + "scope", ""}, {from + "scope", ""}}, 0, classify.NoSource},
		"own empty value":            {[]kv{{"continuity.observed_at", 5}, {"continuity.source", "agent"}, {seen + "scope", nil}, {from + "scope", nil}}, 0, classify.NoSource},
		"own of another type":        {[]kv{{"continuity.observed_at", 5}, {"continuity.source", "agent"}, {seen + "scope", 7.5}, {from + "scope", 1}}, 0, classify.NoSource},
		"own zero":                   {[]kv{{"continuity.observed_at", 5}, {seen + "scope", 0}}, 0, classify.NoSource},
		"source in another case":     {[]kv{{from + "scope", "Agent"}}, 0, classify.NoSource},
		"event's twice, the same":    {[]kv{{"continuity.observed_at", 5}, {"continuity.observed_at", "5"}, {"continuity.source", "agent"}, {"continuity.source", "agent"}}, 5, classify.Agent},
		"event's twice, different":   {[]kv{{"continuity.observed_at", 5}, {"continuity.observed_at", 6}, {"continuity.source", "agent"}, {"continuity.source", "human"}}, 0, classify.NoSource},
		"event's twice, lists":       {[]kv{{"continuity.observed_at", []any{5}}, {"continuity.observed_at", []any{5}}}, 0, classify.NoSource},
		"event's unreadable":         {[]kv{{"continuity.observed_at", "soon"}, {"continuity.source", "me"}}, 0, classify.NoSource},
		"event's different, but own": {[]kv{{"continuity.observed_at", 5}, {"continuity.observed_at", 6}, {seen + "scope", 7}}, 7, classify.NoSource},
	} {
		t.Run(name, func(t *testing.T) {
			inBothForms(t, func(t *testing.T, form Form) {
				s := one(t, form, look, append([]kv{{dig + "scope", sum("a")}}, c.attrs...))
				assert.Equal(t, c.at, s.ObservedAt)
				assert.Equal(t, c.source, s.Source)
				assert.Equal(t, classify.Reason(""), s.Fault)

				s = one(t, form, snapshot, append([]kv{{dig + "scope", sum("a")}}, c.attrs...))
				assert.Equal(t, c.at, s.ObservedAt)
				assert.Equal(t, classify.NoSource, s.Source, "a snapshot has no source")
			})
		})
	}
}

func TestEventLevelTime(t *testing.T) {
	e := readOne(t, LogRecord, telemetry{name: look, attrs: []kv{{"continuity.observed_at", "2026-11-30T12:00:00Z"}}})
	assert.Equal(t, classify.At(received), e.ObservedAt)
}

func TestFacetsOfASnapshot(t *testing.T) {
	for name, c := range map[string]struct {
		comparison, required any
		text, optional       bool
	}{
		"exact":           {"exact", true, false, false},
		"text":            {"text", false, true, true},
		"strings":         {"text", "false", true, true},
		"required text":   {"TEXT", "true", false, false},
		"cannot be read":  {7, "maybe", false, false},
		"number":          {"text", 0, true, false},
		"empty":           {nil, nil, false, false},
		"other in blanks": {" text", " FALSE ", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			attrs := []kv{{dig + "note", sum("a")}, {inv + "comparison.note", c.comparison}, {inv + "required.note", c.required}}
			s := one(t, SpanEvent, snapshot, attrs)
			assert.Equal(t, c.text, s.Text)
			assert.Equal(t, c.optional, s.Optional)
			s = one(t, SpanEvent, look, attrs)
			assert.False(t, s.Text || s.Optional, "an observation cannot loosen its baseline")
		})
	}
}

func TestPassedThrough(t *testing.T) {
	attrs := []kv{{dig + "scope", sum("a")}, {inv + "revision.scope", 7}, {inv + "approval_ref.scope", "apr-1"}, {inv + "choices.scope", "4"}}
	s := one(t, LogRecord, look, attrs)
	assert.Equal(t, parsed(t, sum("a")), s.Digest)
	assert.Equal(t, "7", s.Revision)
	assert.Equal(t, "apr-1", s.ApprovalRef)
	assert.Equal(t, int64(4), s.Choices)
	assert.Zero(t, one(t, LogRecord, snapshot, attrs).Choices)
	for _, v := range []any{"four", -4, 4.0, nil} {
		assert.Zero(t, one(t, LogRecord, look, []kv{{dig + "scope", sum("a")}, {inv + "choices.scope", v}}).Choices, "%#v", v)
	}
}

// TestContradictions: an event that says in two ways how its digests were made,
// or to which boundary it belongs, cannot be compared.
func TestContradictions(t *testing.T) {
	for _, key := range []string{"continuity.digest.normalizer", "continuity.digest.key_id", "continuity.boundary.id"} {
		inBothForms(t, func(t *testing.T, form Form) {
			for _, kind := range []string{snapshot, look} {
				e := readOne(t, form, telemetry{name: kind, attrs: []kv{{key, "v1"}, {dig + "scope", sum("a")}, {dig + "target", "bad"}, {key, "v2"}}})
				require.Len(t, e.Statements, 2)
				for _, s := range e.Statements {
					assert.Equal(t, classify.AttributeDuplicated, s.Fault, key)
					assert.Equal(t, digest.Digest{}, s.Digest)
				}
				assert.Equal(t, kind == look, e.Partial, "nothing is absent either")
				assert.Empty(t, e.BoundaryID)
			}
			e := readOne(t, form, telemetry{name: look, attrs: []kv{{key, "v1"}, {dig + "scope", sum("a")}, {key, "v1"}}})
			assert.Empty(t, e.Statements[0].Fault, "the same twice says the same")
			assert.False(t, e.Partial)
		})
	}
}
