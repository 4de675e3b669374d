package signal

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// checkItem holds for every item there can be.
func checkItem(t *testing.T, item Item, limit int) {
	checkClean(t, item.Attributes)
	checkClean(t, item.Enclosing)
	if item.Event == nil {
		require.Equal(t, classify.SessionMissing, item.Reason)
		return
	}
	e := item.Event
	require.Equal(t, item.Kind, e.Kind)
	require.NotEmpty(t, e.Key.Session)
	require.NotEmpty(t, e.Identity)
	require.Equal(t, e.Kind == boundary.Approval, e.Approval != nil || item.Reason != "")
	require.Equal(t, e.Kind == boundary.Completion, e.Outcome != boundary.NoOutcome)
	require.LessOrEqual(t, len(e.Statements), limit)
	require.GreaterOrEqual(t, e.Time, classify.Instant(0))
	for i, s := range e.Statements {
		require.True(t, classify.ValidName(s.Name))
		require.GreaterOrEqual(t, s.ObservedAt, classify.Instant(0))
		require.Equal(t, s.Fault == "", s.Digest != digest.Digest{}, "either usable or at fault")
		if i > 0 {
			require.Negative(t, classify.CompareNames(e.Statements[i-1].Name, s.Name), "sorted, each name once")
		}
	}
	eachString(reflect.ValueOf(e), "Event", func(path, text string) {
		require.True(t, utf8.ValidString(text), "%s: %q", path, text)
		longest := maxText
		if strings.Contains(path, "Envelope") || strings.Contains(path, "Approval.") {
			longest = maxOpaque
		}
		if !strings.HasSuffix(path, "Scope") {
			require.LessOrEqual(t, len(text), longest, path)
		}
	})
}

// checkStatements compares with the plainest reading of the attributes: a
// usable statement has one digest, everything once, and no raw value.
func checkStatements(t *testing.T, item Item, attrs []kv) {
	if item.Event == nil {
		return
	}
	for _, s := range item.Event.Statements {
		if s.Fault != "" {
			continue
		}
		counts := map[string]int{}
		for _, a := range attrs {
			for prefix := range facetOf {
				if a.key == prefix+s.Name {
					counts[prefix]++
				}
			}
		}
		require.Equal(t, 1, counts[dig], s.Name)
		require.Zero(t, counts[inv+"value."], s.Name)
		for prefix, n := range counts {
			require.Equal(t, 1, n, "%s%s", prefix, s.Name)
		}
	}
}

func checkClean(t *testing.T, m pcommon.Map) {
	for key, value := range m.All() {
		switch key {
		case "compact_summary", "custom_instructions", "transcript_path", "prompt", "my.secret":
			t.Fatalf("%s is still there", key)
		}
		require.False(t, strings.HasPrefix(key, inv+"value."), key)
		if name, ok := strings.CutPrefix(key, dig); ok || key == apr+"from" || key == apr+"to" || key == env+"summary_sha256" {
			require.Equal(t, pcommon.ValueTypeStr, value.Type(), key)
			_, fault := digest.Parse(value.Str())
			good := fault != digest.Malformed && (!ok || classify.ValidName(name))
			require.True(t, good || value.Str() == "[redacted]", "%s: %q", key, value.Str())
		}
	}
}

// eachString visits every string in a value.
func eachString(v reflect.Value, path string, visit func(path, text string)) {
	switch v.Kind() {
	case reflect.String:
		visit(path, v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			eachString(v.Elem(), path, visit)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeOf(received) {
			return
		}
		for i := range v.NumField() {
			eachString(v.Field(i), path+"."+v.Type().Field(i).Name, visit)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			eachString(v.Index(i), fmt.Sprintf("%s.%d", path, i), visit)
		}
	default: // numbers and truth values
	}
}

// TestNothingIsAView: what an event holds outlives the batch that it came in.
func TestNothingIsAView(t *testing.T) {
	attrs := approvalWith(kv{"key_id", "key-one"}, kv{"expires_at", "soon"}).attrs
	attrs = append(attrs, kv{dig + "acceptance_test", sum("a")}, kv{inv + "revision.acceptance_test", "rev-one"}, kv{inv + "approval_ref.acceptance_test", "ref-one"},
		kv{env + "tenant_id", "tenant-one"}, kv{env + "evidence_refs", []any{"evidence-one"}}, kv{"continuity.runtime", "runtime-one"},
		kv{"agent.activity.state", "working"}, kv{"continuity.boundary.id", "boundary-one"}, kv{"session.previous_id", "session-zero"},
		kv{"continuity.digest.normalizer", "v-one"}, kv{"continuity.digest.key_id", "key-one"}, kv{"agent_id", "agent-one"})
	for _, name := range []string{snapshot, look, "continuity.compaction", "continuity.approval"} {
		inBothForms(t, func(t *testing.T, form Form) {
			x := telemetry{name: name, attrs: attrs, enclosing: []kv{{sessionID, "session-one"}}, resource: []kv{{"service.name", "service-one"}}}
			b := x.as(t, form)
			spans := map[string]string{}
			note := func(text string) {
				if text != "" {
					spans[text] = text
				}
			}
			collect := func(m pcommon.Map) {
				for key, value := range m.All() {
					note(key)
					if value.Type() == pcommon.ValueTypeStr {
						note(value.Str())
					}
					if value.Type() == pcommon.ValueTypeSlice {
						note(value.Slice().At(0).Str())
					}
				}
			}
			if b.isLogs {
				resource := b.logs.ResourceLogs().At(0)
				collect(resource.Resource().Attributes())
				collect(resource.ScopeLogs().At(0).LogRecords().At(0).Attributes())
			} else {
				resource := b.traces.ResourceSpans().At(0)
				span := resource.ScopeSpans().At(0).Spans().At(0)
				collect(resource.Resource().Attributes())
				collect(span.Attributes())
				collect(span.Events().At(0).Attributes())
			}
			item := b.items(NewReader(DefaultConfig()))[0]
			n := 0
			eachString(reflect.ValueOf(item.Event), "Event", func(path, text string) {
				if text == "" {
					return
				}
				n++
				p := uintptr(unsafe.Pointer(unsafe.StringData(text)))
				for _, source := range spans {
					start := uintptr(unsafe.Pointer(unsafe.StringData(source)))
					assert.False(t, p >= start && p < start+uintptr(len(source)), "%s is a view of %q", path, source)
				}
			})
			assert.Greater(t, n, 8)
		})
	}
}

// checkBatch: what is recognised is clean, what is not is untouched.
func checkBatch(t *testing.T, r *Reader, b batch) {
	before := b.text(t)
	items := b.items(r)
	for _, item := range items {
		checkItem(t, item, defaultInvariants)
	}
	if len(items) == 0 {
		require.Equal(t, before, b.text(t))
	}
}
