package continuity_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

var (
	common  = continuity.Common{Session: continuity.Session{ID: "s1"}, Time: noon}
	digestA = must(continuity.Digester{}.Text("a"))
	digestB = must(continuity.Digester{}.Text("b"))
	keyed   = must(continuity.Keyed("k1", []byte("0123456789abcdef")))
)

func attributesOf(t *testing.T, event continuity.Event) map[string]any {
	attributes, err := event.Attributes()
	require.NoError(t, err)
	out := map[string]any{}
	for _, a := range attributes {
		require.NotContains(t, out, string(a.Key), "no attribute is there twice")
		out[string(a.Key)] = a.Value.AsInterface()
	}
	return out
}

func TestAttributesOfASnapshot(t *testing.T) {
	assert.Equal(t, map[string]any{
		"session.id":                                        "s1",
		"gen_ai.agent.id":                                   "a1",
		"continuity.runtime":                                "my_agent",
		"continuity.event.id":                               "e1",
		"continuity.boundary.id":                            "b1",
		"continuity.compaction.trigger":                     "auto",
		"agent.activity.state":                              "working",
		"continuity.observed_at":                            "2026-11-30T12:00:00.000000123Z",
		"continuity.snapshot.status":                        "failed",
		"continuity.digest.normalizer":                      "v1",
		"continuity.invariant.digest.scope":                 string(digestA),
		"continuity.invariant.digest.constraint.push":       "none",
		"continuity.invariant.digest.plan":                  string(digestB),
		"continuity.invariant.comparison.plan":              "text",
		"continuity.invariant.required.plan":                false,
		"continuity.invariant.observed_at.constraint.push":  "2026-11-30T11:00:00.000000123Z",
		"continuity.invariant.revision.constraint.push":     "7",
		"continuity.invariant.approval_ref.constraint.push": "CHG-1",
		"continuity.envelope.tenant_id":                     "t1",
		"continuity.envelope.budget_remaining":              int64(3),
		"continuity.envelope.requires_reauthorization":      true,
		"continuity.envelope.pending_obligations":           []string{"o1"},
	}, attributesOf(t, continuity.Snapshot{
		Common: continuity.Common{
			Session: continuity.Session{ID: "s1", Attribute: "session.id", Agent: "a1", Runtime: "my_agent"},
			EventID: "e1", BoundaryID: "b1", Trigger: "auto", Activity: "working",
		},
		Decisions: []continuity.Decision{
			{Name: "scope", Digest: digestA, Source: continuity.Agent, Choices: 3}, // for observations only
			{Name: "constraint.push", Digest: continuity.None, ObservedAt: noon.Add(-time.Hour).In(time.FixedZone("", 3600)), Revision: "7", ApprovalRef: "CHG-1"},
			{Name: "plan", Digest: digestB, Prose: true, Optional: true},
		},
		Failed: true, ObservedAt: noon,
		Envelope: map[string]any{"tenant_id": "t1", "budget_remaining": 3, "requires_reauthorization": true, "pending_obligations": []string{"o1"}},
	}))
}

func TestAttributesOfAnObservation(t *testing.T) {
	decisions, err := keyed.Decisions(continuity.Value{Name: "scope", Kind: continuity.Prose, Value: "a"})
	require.NoError(t, err)
	decisions = append(decisions, continuity.Decision{Name: "target", Digest: continuity.None, Source: continuity.Environment, Choices: 4})
	o := continuity.Observation{Common: common, Source: continuity.Agent, Decisions: decisions, Partial: true}
	want := map[string]any{
		"gen_ai.conversation.id":             "s1",
		"continuity.source":                  "agent",
		"continuity.observed_at":             "2026-11-30T12:00:00.000000123Z",
		"continuity.observation.coverage":    "partial",
		"continuity.digest.normalizer":       "v1",
		"continuity.digest.key_id":           "k1",
		"continuity.invariant.digest.scope":  string(must(keyed.Text("a"))),
		"continuity.invariant.digest.target": "none",
		"continuity.invariant.source.target": "environment", "continuity.invariant.choices.target": int64(4),
	}
	assert.Equal(t, want, attributesOf(t, o))

	o.ObservedAt = noon.Add(-time.Second)
	want["continuity.observed_at"] = "2026-11-30T11:59:59.000000123Z"
	assert.Equal(t, want, attributesOf(t, o))

	o.ObservedAt, o.Time = time.Time{}, time.Time{}
	seen, err := time.Parse(time.RFC3339Nano, attributesOf(t, o)["continuity.observed_at"].(string))
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now(), seen, time.Minute, "what has no time is seen now")
}

func TestNothingStatedIsNoAttribute(t *testing.T) {
	only := map[string]any{"gen_ai.conversation.id": "s1"}
	for _, event := range []continuity.Event{
		continuity.Snapshot{Common: common},
		continuity.Completion{Common: common},
		continuity.SessionStart{Common: common},
		continuity.SessionEnd{Common: common},
	} {
		assert.Equal(t, only, attributesOf(t, event), event.Name())
		assert.Equal(t, noon, event.When())
	}
	assert.Empty(t, attributesOf(t, continuity.SessionEnd{Common: continuity.Common{Session: continuity.Session{Inherit: true}}}))
}

// TestWhatCannotBeUnderstoodIsRefused has a row for each thing that can be wrong
// with an event.
func TestWhatCannotBeUnderstoodIsRefused(t *testing.T) {
	in := func(c continuity.Common) continuity.Event { return continuity.SessionEnd{Common: c} }
	of := func(s continuity.Session) continuity.Event { return in(continuity.Common{Session: s}) }
	snapshot := func(all ...continuity.Decision) continuity.Event {
		return continuity.Snapshot{Common: common, Decisions: all}
	}
	observation := func(all ...continuity.Decision) continuity.Event {
		return continuity.Observation{Common: common, Decisions: all}
	}
	envelope := func(fields map[string]any) continuity.Event {
		return continuity.Snapshot{Common: common, Envelope: fields}
	}
	keyedA := must(keyed.Decision("scope", continuity.Prose, "a"))
	otherKey := must(must(continuity.Keyed("k2", []byte("0123456789abcdef"))).Decision("target", continuity.Prose, "a"))
	for name, c := range map[string]struct {
		event continuity.Event
		want  string
	}{
		"no session":             {of(continuity.Session{}), "no session id"},
		"nobody":                 {of(continuity.Session{ID: "unknown"}), "names nobody"},
		"nobody's agent":         {of(continuity.Session{ID: "s", Agent: "none"}), "names nobody"},
		"another attribute":      {of(continuity.Session{ID: "s", Attribute: "thread.id"}), `"thread.id" is not one of`},
		"nobody's event":         {in(continuity.Common{Session: common.Session, EventID: "null"}), "names nobody"},
		"nobody's boundary":      {in(continuity.Common{Session: common.Session, BoundaryID: "n/a"}), "names nobody"},
		"no UTF-8":               {in(continuity.Common{Session: common.Session, Activity: "\xff"}), "not valid UTF-8"},
		"nobody before":          {continuity.SessionStart{Common: common, PreviousID: "undefined"}, "names nobody"},
		"bad name":               {snapshot(continuity.Decision{Name: "No Push", Digest: digestA}), "no name of a decision"},
		"twice":                  {snapshot(continuity.Decision{Name: "scope", Digest: digestA}, continuity.Decision{Name: "scope", Digest: digestA}), "there twice"},
		"no digest":              {snapshot(continuity.Decision{Name: "scope"}), "no usable digest"},
		"a value":                {snapshot(continuity.Decision{Name: "scope", Digest: "acme/payments"}), "no usable digest"},
		"digest of nothing":      {snapshot(continuity.Decision{Name: "scope", Digest: "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}), "digest of a placeholder"},
		"time before 1970":       {snapshot(continuity.Decision{Name: "scope", Digest: digestA, ObservedAt: time.Unix(-1, 0)}), "no time from 1970"},
		"core and optional":      {snapshot(continuity.Decision{Name: "scope", Digest: digestA, Optional: true}), "cannot be optional"},
		"keyed without key":      {snapshot(continuity.Decision{Name: "scope", Digest: keyedA.Digest}), "no key id"},
		"two keys":               {snapshot(keyedA, otherKey), "one event has one key"},
		"another key":            {continuity.Snapshot{Common: common, KeyID: "k2", Decisions: []continuity.Decision{keyedA}}, "one event has one key"},
		"no source":              {observation(continuity.Decision{Name: "scope", Digest: digestA}), "has no source"},
		"bad source":             {observation(continuity.Decision{Name: "scope", Digest: digestA, Source: "model"}), `"model" is not one of`},
		"bad source of all":      {continuity.Observation{Common: common, Source: "model"}, `"model" is not one of`},
		"negative choices":       {observation(continuity.Decision{Name: "scope", Digest: digestA, Source: continuity.Agent, Choices: -1}), "is negative"},
		"bad outcome":            {continuity.Completion{Common: common, Outcome: "done"}, `"done" is not one of`},
		"bad summary":            {continuity.Completion{Common: common, SummarySHA256: "We agreed to"}, "sha256: and 64"},
		"keyed summary":          {continuity.Completion{Common: common, SummarySHA256: string(keyedA.Digest)}, "sha256: and 64"},
		"negative tokens":        {continuity.Completion{Common: common, TokensBefore: math.MinInt64}, "is negative"},
		"no field":               {envelope(map[string]any{"objective": "x"}), `no field "objective"`},
		"bad type of a field":    {envelope(map[string]any{"tenant_id": 1.5}), "is a float64: it must be string"},
		"text for a list":        {envelope(map[string]any{"pending_obligations": "o1"}), "must be []string"},
		"text for a number":      {envelope(map[string]any{"budget_remaining": "3"}), "must be int64"},
		"text for a flag":        {envelope(map[string]any{"requires_reauthorization": "true"}), "must be bool"},
		"approval of no name":    {continuity.Approval{Common: common, Ref: "r", From: digestA, To: digestB, ApprovedAt: noon}, "no name of a decision"},
		"approval without ref":   {continuity.Approval{Common: common, Invariant: "scope", Ref: " ", From: digestA, To: digestB, ApprovedAt: noon}, "no ref"},
		"approval without time":  {continuity.Approval{Common: common, Invariant: "scope", Ref: "r", From: digestA, To: digestB}, "does not say when"},
		"approval without value": {continuity.Approval{Common: common, Invariant: "scope", Ref: "r", From: digestA, ApprovedAt: noon}, "to has no usable digest"},
		"approval, long ref":     {continuity.Approval{Common: common, Invariant: "scope", Ref: strings.Repeat("r", 513), From: digestA, To: digestB, ApprovedAt: noon}, "more than 512 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			attributes, err := c.event.Attributes()
			require.ErrorContains(t, err, c.want)
			assert.Nil(t, attributes)
			assert.True(t, strings.HasPrefix(err.Error(), "continuity: "), err.Error())
			assert.NotContains(t, err.Error(), "acme/payments")
			assert.NotContains(t, err.Error(), "We agreed")
		})
	}
}

// TestAllThatIsWrongIsSaid at once.
func TestAllThatIsWrongIsSaid(t *testing.T) {
	_, err := continuity.Observation{Decisions: []continuity.Decision{{Name: "X"}}}.Attributes()
	require.ErrorContains(t, err, "no session id")
	require.ErrorContains(t, err, "no name of a decision")
	require.ErrorContains(t, err, "no usable digest")
	require.ErrorContains(t, err, "has no source")
}

// TestAttributesStayUnderTheLimit of an SDK, 128 an event, with as many decisions
// as the processor takes by default.
func TestAttributesStayUnderTheLimit(t *testing.T) {
	o := continuity.Observation{Common: continuity.Common{Session: continuity.Session{ID: "s", Agent: "a", Runtime: "r"}, EventID: "e", BoundaryID: "b", Trigger: "auto", Activity: "working"}, Source: continuity.Agent}
	for i := range 32 {
		o.Decisions = append(o.Decisions, continuity.Decision{Name: "constraint.c" + string(rune('a'+i%26)) + string(rune('a'+i/26)), Digest: digestA, Choices: 4, Revision: "1"})
	}
	attributes, err := o.Attributes()
	require.NoError(t, err)
	assert.LessOrEqual(t, len(attributes), 128)
	assert.Contains(t, attributes, attribute.String("continuity.source", "agent"))
}

func TestKeyed(t *testing.T) {
	_, err := continuity.Keyed("", make([]byte, 32))
	require.ErrorContains(t, err, "needs an id")
	_, err = continuity.Keyed("k1", make([]byte, 15))
	require.ErrorContains(t, err, "15 bytes: at least 16")
	assert.Equal(t, "k1", keyed.KeyID())
	assert.Empty(t, continuity.Digester{}.KeyID())

	key := []byte("0123456789abcdef")
	d := must(continuity.Keyed("k1", key))
	key[0] = 'x'
	assert.Equal(t, must(keyed.Text("a")), must(d.Text("a")), "the digester has a key of its own")
}

func TestValue(t *testing.T) {
	type rule struct {
		Branch string `json:"branch"`
		Force  bool   `json:"force"`
	}
	d := continuity.Digester{}
	one, err := d.Value(rule{"main", false})
	require.NoError(t, err)
	assert.Equal(t, must(d.JSON([]byte(`{"force": false, "branch": "main"}`))), one)
	_, err = d.Value(func() {})
	require.ErrorIs(t, err, continuity.ErrJSON)
	_, err = d.Value(int64(9007199254740993))
	require.ErrorIs(t, err, continuity.ErrJSON)
	_, err = d.Value(nil)
	require.ErrorIs(t, err, continuity.ErrPlaceholder)
}

func TestDecisions(t *testing.T) {
	all, err := keyed.Decisions(
		continuity.Value{Name: "scope", Kind: continuity.ID, Value: "https://github.com/acme/payments"},
		continuity.Value{Name: "target", Kind: continuity.ID, Value: "unknown"},
		continuity.Value{Name: "plan", Kind: continuity.Prose, Value: "first this"},
	)
	require.ErrorIs(t, err, continuity.ErrPlaceholder)
	require.ErrorContains(t, err, `decision "target"`)
	require.Len(t, all, 2, "the others can be used")
	assert.Equal(t, must(keyed.Text("github.com/acme/payments")), all[0].Digest)
	assert.False(t, all[0].Prose)
	assert.True(t, all[1].Prose)
}
