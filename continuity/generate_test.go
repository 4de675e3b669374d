package continuity_test

import (
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// The generators of events that can be understood.

func anyTime() *rapid.Generator[time.Time] {
	return rapid.OneOf(rapid.Just(time.Time{}), rapid.Map(rapid.Int64Range(1, 1<<62), func(n int64) time.Time { return time.Unix(0, n).UTC() }))
}

func instant(at time.Time) classify.Instant {
	if at.IsZero() {
		return 0
	}
	return classify.Instant(at.UnixNano())
}

func orEmpty(g *rapid.Generator[string]) *rapid.Generator[string] {
	return rapid.OneOf(rapid.Just(""), g)
}

func anyID() *rapid.Generator[string] {
	return rapid.StringMatching(`[A-Za-zé0-9][A-Za-z0-9._:/ -]{0,60}x`)
}

func anyCommon() *rapid.Generator[continuity.Common] {
	return rapid.Custom(func(t *rapid.T) continuity.Common {
		return continuity.Common{
			Session: continuity.Session{
				ID:        anyID().Draw(t, "session"),
				Attribute: rapid.SampledFrom([]string{"", "gen_ai.conversation.id", "session.id", "conversation.id"}).Draw(t, "attribute"),
				Agent:     orEmpty(anyID()).Draw(t, "agent"),
				Runtime:   orEmpty(rapid.Just("my_agent")).Draw(t, "runtime"),
			},
			Time:       rapid.Map(rapid.Int64Range(1, 1<<62), func(n int64) time.Time { return time.Unix(0, n) }).Draw(t, "time"),
			EventID:    orEmpty(anyID()).Draw(t, "event"),
			BoundaryID: orEmpty(anyID()).Draw(t, "boundary"),
			Trigger:    rapid.SampledFrom([]string{"", "auto", "manual"}).Draw(t, "trigger"),
			Activity:   orEmpty(rapid.Just("waiting_human")).Draw(t, "activity"),
		}
	})
}

func anyDecisions(key bool) *rapid.Generator[[]continuity.Decision] {
	digester, err := continuity.Keyed("k1", []byte("0123456789abcdef"))
	if err != nil {
		panic(err)
	}
	if !key {
		digester = continuity.Digester{}
	}
	name := rapid.OneOf(
		rapid.SampledFrom([]string{"scope", "approval_boundary", "target", "acceptance_test", "constraint.push", "constraint.no-net_1"}),
		rapid.StringMatching(`[a-z][a-z0-9_]{0,10}(\.[a-z0-9][a-z0-9_-]{0,10})?`))
	decision := rapid.Custom(func(t *rapid.T) continuity.Decision {
		d := continuity.Decision{Name: name.Draw(t, "name"), Digest: continuity.None}
		if rapid.Bool().Draw(t, "stated") {
			var err error
			d, err = digester.Decision(d.Name, rapid.SampledFrom([]continuity.Kind{continuity.ID, continuity.Set, continuity.Choice, continuity.Prose}).Draw(t, "kind"),
				rapid.StringMatching(`v[a-z0-9 /,-]{0,20}`).Draw(t, "value"))
			require.NoError(t, err)
		}
		d.Optional = classify.MayBeOptional(d.Name) && rapid.Bool().Draw(t, "optional")
		d.ObservedAt = anyTime().Draw(t, "observed")
		d.Source = continuity.Source(rapid.SampledFrom([]string{"", "agent", "environment", "human", "record"}).Draw(t, "source"))
		d.Choices = rapid.IntRange(0, 9).Draw(t, "choices")
		d.Revision = orEmpty(rapid.StringN(1, 20, 200)).Draw(t, "revision")
		d.ApprovalRef = orEmpty(rapid.StringN(1, 20, 200)).Draw(t, "ref")
		return d
	})
	return rapid.SliceOfNDistinct(decision, 0, 12, func(d continuity.Decision) string { return d.Name })
}

func anyEnvelope() *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		if rapid.Bool().Draw(t, "none") {
			return nil
		}
		return map[string]any{
			"schema_version": "continuity-envelope/v1", "tenant_id": rapid.StringN(1, 10, -1).Draw(t, "tenant"),
			"principal_id": "p", "policy_version": "3",
			"budget_remaining":         rapid.Int64().Draw(t, "budget"),
			"requires_reauthorization": rapid.Bool().Draw(t, "reauthorization"),
			"pending_obligations":      rapid.SliceOfN(rapid.StringN(1, 10, -1), 0, 5).Draw(t, "pending"),
		}
	})
}
