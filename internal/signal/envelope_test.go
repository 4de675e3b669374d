package signal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

const env = "continuity.envelope."

func TestEnvelopeFields(t *testing.T) {
	attrs := []kv{}
	for _, name := range classify.FieldNames {
		attrs = append(attrs, kv{env + name, "v-" + name})
	}
	for _, name := range classify.ListFieldNames {
		attrs = append(attrs, kv{env + name, []any{name, "x"}})
	}
	attrs = append(attrs, kv{env + "budget_remaining", 7}, kv{env + "requires_reauthorization", true}, kv{env + "summary_sha256", nil})
	for i := range attrs {
		if attrs[i].key == env+"summary_sha256" {
			attrs[i].value = sum("b")
		}
	}
	attrs = attrs[:len(attrs)-1]
	inBothForms(t, func(t *testing.T, form Form) {
		for _, name := range []string{snapshot, look, "continuity.compaction"} {
			e := readOne(t, form, telemetry{name: name, attrs: attrs}).Envelope
			require.NotNil(t, e)
			assert.False(t, e.Malformed)
			for i, field := range classify.FieldNames {
				if classify.Field(i) != classify.FieldSummarySHA256 {
					assert.Equal(t, "v-"+field, e.Fields[i])
				}
			}
			assert.Equal(t, sum("b"), e.Fields[classify.FieldSummarySHA256])
			for i, field := range classify.ListFieldNames {
				assert.Equal(t, []string{field, "x"}, e.Lists[i])
			}
			assert.True(t, e.HasBudget && e.HasReauthorization && e.Reauthorization)
			assert.Equal(t, int64(7), e.Budget)
		}
		assert.Nil(t, readOne(t, form, telemetry{name: "session.end", attrs: attrs}).Envelope)
	})
}

func TestEnvelopeReading(t *testing.T) {
	for name, c := range map[string]struct {
		attrs     []kv
		absent    bool
		malformed bool
		check     func(t *testing.T, e *classify.Envelope)
	}{
		"none":                 {attrs: nil, absent: true},
		"unknown field":        {attrs: []kv{{env + "objective", "x"}, {env, "y"}, {env + "objective", 7}}, absent: true},
		"unknown beside known": {attrs: []kv{{env + "objective", 7}, {env + "id", "x"}}},
		"field as number":      {attrs: []kv{{env + "tenant_id", 7}}, malformed: true},
		"field as bool":        {attrs: []kv{{env + "tenant_id", true}}, malformed: true},
		"field as list":        {attrs: []kv{{env + "tenant_id", []any{"t"}}}, malformed: true},
		"field empty value":    {attrs: []kv{{env + "tenant_id", nil}}, malformed: true},
		"field twice":          {attrs: []kv{{env + "tenant_id", "t"}, {env + "tenant_id", "t"}}, malformed: true},
		"field empty":          {attrs: []kv{{env + "tenant_id", ""}}},
		"budget as text": {attrs: []kv{{env + "budget_remaining", "7"}}, check: func(t *testing.T, e *classify.Envelope) {
			assert.Equal(t, int64(7), e.Budget)
			assert.True(t, e.HasBudget)
		}},
		"budget unreadable":    {attrs: []kv{{env + "budget_remaining", "much"}}, malformed: true},
		"budget as double":     {attrs: []kv{{env + "budget_remaining", 7.0}}, malformed: true},
		"budget twice":         {attrs: []kv{{env + "budget_remaining", 7}, {env + "budget_remaining", 7}}, malformed: true},
		"reauthorization text": {attrs: []kv{{env + "requires_reauthorization", "false"}}, check: func(t *testing.T, e *classify.Envelope) { assert.True(t, e.HasReauthorization && !e.Reauthorization) }},
		"reauthorization odd":  {attrs: []kv{{env + "requires_reauthorization", "yes"}}, malformed: true},
		"list empty": {attrs: []kv{{env + "pending_obligations", []any{}}}, check: func(t *testing.T, e *classify.Envelope) {
			assert.NotNil(t, e.Lists[classify.ListPendingObligations])
			assert.Nil(t, e.Lists[classify.ListResolvedObligations])
		}},
		"list as text":    {attrs: []kv{{env + "pending_obligations", "a"}}, malformed: true},
		"list of numbers": {attrs: []kv{{env + "pending_obligations", []any{"a", 1}}}, malformed: true},
		"list too long":   {attrs: []kv{{env + "pending_obligations", make([]any, 65)}}, malformed: true},
		"list as map":     {attrs: []kv{{env + "pending_obligations", []kv{{"a", "b"}}}}, malformed: true},
		"list twice":      {attrs: []kv{{env + "pending_obligations", []any{}}, {env + "pending_obligations", []any{}}}, malformed: true},
		"summary is the summary": {attrs: []kv{{env + "summary_sha256", "we agreed on hunter2"}}, check: func(t *testing.T, e *classify.Envelope) {
			assert.Equal(t, "[redacted]", e.Fields[classify.FieldSummarySHA256])
		}},
		"summary not stated": {attrs: []kv{{env + "summary_sha256", ""}}, check: func(t *testing.T, e *classify.Envelope) { assert.Empty(t, e.Fields[classify.FieldSummarySHA256]) }},
		"action digest is opaque": {attrs: []kv{{env + "action_digest", "md5:1"}}, check: func(t *testing.T, e *classify.Envelope) {
			assert.Equal(t, "md5:1", e.Fields[classify.FieldActionDigest])
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inBothForms(t, func(t *testing.T, form Form) {
				e := readOne(t, form, telemetry{name: look, attrs: c.attrs}).Envelope
				if c.absent {
					assert.Nil(t, e)
					return
				}
				require.NotNil(t, e)
				assert.Equal(t, c.malformed, e.Malformed)
				if c.check != nil {
					c.check(t, e)
				}
			})
		})
	}
}

func TestEnvelopeIsBounded(t *testing.T) {
	long := strings.Repeat("é", 4000)
	read := func(tail string) *classify.Envelope {
		return readOne(t, LogRecord, telemetry{name: look, attrs: []kv{{env + "tenant_id", long + tail}, {env + "evidence_refs", []any{long + tail}}}}).Envelope
	}
	a, b := read("a"), read("b")
	assert.LessOrEqual(t, len(a.Fields[classify.FieldTenantID]), 512)
	assert.LessOrEqual(t, len(a.Lists[classify.ListEvidenceRefs][0]), 512)
	assert.NotEqual(t, a.Fields, b.Fields, "bounded, but not equal")
	assert.NotEqual(t, a.Lists, b.Lists)
	assert.Equal(t, a, read("a"))

	full := []any{}
	for i := range 64 {
		full = append(full, fmt.Sprint(i))
	}
	e := readOne(t, LogRecord, telemetry{name: look, attrs: []kv{{env + "evidence_refs", full}}}).Envelope
	assert.False(t, e.Malformed)
	assert.Len(t, e.Lists[classify.ListEvidenceRefs], 64)
}
