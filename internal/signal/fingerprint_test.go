package signal

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func printOf(t *testing.T, form Form, x telemetry) uint64 { return readOne(t, form, x).Fingerprint }

func TestSameContentSameFingerprint(t *testing.T) {
	base := telemetry{name: look, attrs: []kv{
		{dig + "scope", sum("a")},
		{seen + "scope", 7},
		{from + "scope", "agent"},
		{inv + "required.note", true},
		{env + "tenant_id", "t"},
		{env + "evidence_refs", []any{"a", "b"}},
		{inv + "value.scope", "raw"},
	}}
	want := printOf(t, LogRecord, base)
	assert.Equal(t, want, printOf(t, SpanEvent, base), "in any form")

	same := func(why string, change func(x *telemetry)) {
		t.Helper()
		x := base
		x.attrs = append([]kv(nil), base.attrs...)
		change(&x)
		inBothForms(t, func(t *testing.T, form Form) { assert.Equal(t, want, printOf(t, form, x), why) })
	}
	same("in any order", func(x *telemetry) { x.attrs[0], x.attrs[4] = x.attrs[4], x.attrs[0] })
	same("numbers as strings", func(x *telemetry) { x.attrs[1].value = "7"; x.attrs[3].value = "true" })
	same("unrelated attributes", func(x *telemetry) { x.attrs = append(x.attrs, kv{"other", 1}) })
	same("annotations", func(x *telemetry) {
		x.attrs = append(x.attrs, kv{"continuity.state", "preserved"}, kv{"continuity.validation.status", "reauthorization_required"}, kv{inv + "state.scope", "preserved"})
	})
	same("what is around", func(x *telemetry) {
		x.enclosing = []kv{session, {"span", 1}, {"continuity.runtime", "r"}}
		x.resource = []kv{{"service.name", "x"}}
	})
	same("another session: that is the key's part", func(x *telemetry) { x.enclosing = []kv{{sessionID, "s2"}} })
	same("the raw value itself", func(x *telemetry) { x.attrs[6].value = "other" })
	same("another name of the kind", func(x *telemetry) { x.name = "continuity.observation" })
	same("an id that names nobody", func(x *telemetry) { x.attrs = append(x.attrs, kv{"continuity.event.id", "undefined"}) })
}

func TestOtherContentOtherFingerprint(t *testing.T) {
	base := telemetry{name: look, attrs: []kv{{dig + "scope", sum("a")}, {env + "evidence_refs", []any{"a", "b"}}}}
	seenPrints := map[uint64]string{printOf(t, LogRecord, base): "base"}
	differs := func(why string, change func(x *telemetry)) {
		t.Helper()
		x := base
		x.attrs = append([]kv(nil), base.attrs...)
		change(&x)
		got := printOf(t, LogRecord, x)
		assert.Empty(t, seenPrints[got], why)
		seenPrints[got] = why
	}
	add := func(attrs ...kv) func(x *telemetry) {
		return func(x *telemetry) { x.attrs = append(x.attrs, attrs...) }
	}
	differs("kind", func(x *telemetry) { x.name = snapshot })
	differs("time", func(x *telemetry) { x.time = occurred + 1 })
	differs("digest", func(x *telemetry) { x.attrs[0].value = sum("b") })
	differs("name", func(x *telemetry) { x.attrs[0].key = dig + "target" })
	differs("missing", func(x *telemetry) { x.attrs = x.attrs[1:] })
	differs("type", func(x *telemetry) { x.attrs[0].value = nil })
	differs("list", func(x *telemetry) { x.attrs[1].value = []any{"a", "bc"} })
	differs("list length", func(x *telemetry) { x.attrs[1].value = []any{"ab"} })
	differs("boundary", add(kv{"continuity.boundary.id", "b1"}))
	differs("another boundary", add(kv{"continuity.boundary.id", "b2"}))
	differs("previous session", add(kv{"session.previous_id", "s0"}))
	differs("trigger", add(kv{"continuity.compaction.trigger", "auto"}))
	differs("event time", add(kv{"continuity.observed_at", 5}))
	differs("twice", add(kv{dig + "scope", sum("a")}))
	differs("raw value", add(kv{inv + "value.scope", "x"}))
	differs("event id", add(kv{"continuity.event.id", "e1"}))
	differs("another event id", add(kv{"continuity.event.id", "e2"}))
}

func TestEventID(t *testing.T) {
	id := kv{"continuity.event.id", "e1"}
	a := printOf(t, LogRecord, telemetry{name: look, attrs: []kv{id, {dig + "scope", sum("a")}}})
	b := printOf(t, SpanEvent, telemetry{name: look, attrs: []kv{id, {dig + "scope", sum("b")}}, time: 1})
	assert.Equal(t, a, b, "the same event id is the same event")
	c := printOf(t, SpanEvent, telemetry{name: snapshot, attrs: []kv{id}})
	assert.NotEqual(t, a, c, "within a kind")
	content := printOf(t, LogRecord, telemetry{name: look})
	for _, v := range []any{"null", "", 7, nil} {
		assert.Equal(t, content, printOf(t, LogRecord, telemetry{name: look, attrs: []kv{{"continuity.event.id", v}}}), "%#v is no id", v)
	}
	assert.Equal(t, content, printOf(t, LogRecord, telemetry{name: look, attrs: []kv{id, {"continuity.event.id", "e2"}}}), "two ids are none")
}

// TestFingerprintIsStable: it is stored, so it must not change between releases.
func TestFingerprintIsStable(t *testing.T) {
	assert.Equal(t, uint64(0x704a417523f1a527), printOf(t, LogRecord, telemetry{name: look, attrs: []kv{{dig + "scope", sum("a")}, {seen + "scope", 7}}}))
	assert.Equal(t, uint64(0x248c301b356a410a), printOf(t, LogRecord, telemetry{name: look, attrs: []kv{{"continuity.event.id", "e1"}}}))
}

func TestRecognizedEventsDiffer(t *testing.T) {
	read := func(attrs ...kv) uint64 {
		return printOf(t, LogRecord, telemetry{name: "claude_code.compaction", attrs: attrs})
	}
	ok := read(kv{"success", "true"}, kv{"trigger", "auto"})
	assert.Equal(t, ok, read(kv{"success", true}, kv{"trigger", "auto"}, kv{"duration_ms", "5"}))
	assert.NotEqual(t, ok, read(kv{"success", "false"}, kv{"trigger", "auto"}))
	assert.NotEqual(t, ok, read(kv{"success", "true"}, kv{"trigger", "manual"}))
}
