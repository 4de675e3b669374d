package classify

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestClosedSets spells every value of every closed set, once more.
func TestClosedSets(t *testing.T) {
	t.Run("states", func(t *testing.T) {
		texts := []string{"preserved", "approved_change", "unverified", "dropped", "conflicting"}
		require.Len(t, States, len(texts))
		require.Len(t, stateNames, len(texts)+1)
		for i, s := range States {
			assert.Equal(t, texts[i], s.String())
			assert.Equal(t, State(i+1), s, "best first")
		}
		assert.Empty(t, NoState.String())
	})
	t.Run("actions", func(t *testing.T) {
		texts := []string{"continue", "continue_with_audit", "reobserve", "pause_and_restore", "reconcile", "hold_and_ask"}
		require.Len(t, AllActions, len(texts))
		require.Len(t, actionNames, len(texts)+1)
		for i, a := range AllActions {
			assert.Equal(t, texts[i], a.String())
			assert.Equal(t, Action(i+1), a, "mildest first")
		}
		assert.Empty(t, NoAction.String())
	})
	t.Run("sources", func(t *testing.T) {
		texts := map[Source]string{NoSource: "", Agent: "agent", Environment: "environment", Human: "human", Record: "record"}
		require.Len(t, sourceNames, len(texts))
		for s, text := range texts {
			assert.Equal(t, text, s.String())
			assert.Equal(t, s, ParseSource(text))
		}
		for _, text := range []string{"Agent", "AGENT", " agent", "agents", "summary", "compaction_summary", "none", "gate"} {
			assert.Equal(t, NoSource, ParseSource(text), text)
		}
	})
	t.Run("statuses", func(t *testing.T) {
		for want, s := range map[string]ValidationStatus{
			"": NoValidation, "continuity_validation_failed": StatusValidationFailed,
			"blocked_on_reconciliation": StatusBlocked, "reauthorization_required": StatusReauthorization,
		} {
			assert.Equal(t, want, string(s))
		}
	})
}

func TestHealthyAndWorse(t *testing.T) {
	for i, a := range append([]State{NoState}, States...) {
		assert.Equal(t, a == Preserved || a == ApprovedChange, a.Healthy(), a)
		for j, b := range append([]State{NoState}, States...) {
			want := a
			if j > i {
				want = b
			}
			assert.Equal(t, want, Worse(a, b), "%v and %v", a, b)
		}
	}
}

func TestActionOfAFinding(t *testing.T) {
	for name, c := range map[string]struct {
		finding Finding
		want    string
	}{
		"conflicting":             {Finding{State: Conflicting}, "hold_and_ask"},
		"unresolved effect":       {Finding{State: Unverified, Effect: true}, "reconcile"},
		"dropped":                 {Finding{State: Dropped}, "pause_and_restore"},
		"unverified":              {Finding{State: Unverified}, "reobserve"},
		"approved_change":         {Finding{State: ApprovedChange}, "continue_with_audit"},
		"preserved":               {Finding{State: Preserved}, "continue"},
		"nothing":                 {Finding{}, ""},
		"conflicting, cleared":    {Finding{State: Conflicting, Cleared: ApprovedChange}, "continue_with_audit"},
		"dropped, cleared":        {Finding{State: Dropped, Cleared: ApprovedChange}, "continue_with_audit"},
		"dropped, found again":    {Finding{State: Dropped, Cleared: Preserved}, "continue"},
		"what is not an effect's": {Finding{State: Unverified, Reason: EnvelopeNotObserved}, "reobserve"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, c.finding.Action().String()) })
	}
	for i, s := range States {
		want := []Action{Continue, ContinueWithAudit, Reobserve, PauseAndRestore, HoldAndAsk}
		assert.Equal(t, want[i], ActionFor(s))
	}
}

// TestActionSet goes through all sets: the defects' actions strictest first, or
// the healthy one where there is no defect.
func TestActionSet(t *testing.T) {
	strictest := []Action{HoldAndAsk, Reconcile, PauseAndRestore, Reobserve}
	for bits := range 1 << len(AllActions) {
		var set, reversed ActionSet
		has := map[Action]bool{}
		for i, a := range AllActions {
			if bits>>i&1 == 1 {
				set, has[a] = set.With(a).With(NoAction).With(a), true
			}
			if b := AllActions[len(AllActions)-1-i]; bits>>(len(AllActions)-1-i)&1 == 1 {
				reversed = reversed.With(b)
			}
		}
		var want []Action
		for _, a := range strictest {
			if has[a] {
				want = append(want, a)
			}
		}
		switch {
		case want != nil:
		case has[ContinueWithAudit]:
			want = []Action{ContinueWithAudit}
		case has[Continue]:
			want = []Action{Continue}
		}
		require.Equal(t, want, set.List(), "%06b", bits)
		require.Equal(t, want, reversed.List(), "in any order")
	}
}
