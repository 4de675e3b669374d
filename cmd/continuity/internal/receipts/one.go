package receipts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// finding is what a receipt says of one decision.
type finding struct {
	name   string
	state  classify.State
	reason string
}

// wholeReasons are those of a boundary that time or its end decided, whatever its
// decisions are.
var wholeReasons = []classify.Reason{
	classify.PostObservationMissing, classify.NoObservation, classify.CompactionUnconfirmed, classify.CompactionFailed,
	classify.SessionEnded, classify.SessionExpired, classify.CollectorShutdown,
}

// namedReasons are those that only a decision has: they cannot be a boundary's
// whose decisions have other states.
var namedReasons = []classify.Reason{
	classify.Match, classify.ApprovedTransition, classify.ApprovedRemoval, classify.ApprovedAddition, classify.MissingAfter,
	classify.UnapprovedAddition, classify.ChangedWithoutApproval, classify.RestatementDiffers, classify.DigestIncomparable,
}

// check returns what is wrong with a receipt by itself.
func (r *Receipt) check() (problems []string) {
	complain := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if r.Scope != Scope {
		complain("its scope is %q, not the processor's: somebody else wrote it", r.Scope)
	}
	if r.ID == "" {
		complain("it has no trace id or no span id")
	}
	for _, key := range []string{semconv.BoundaryID, semconv.Reason, semconv.Action} {
		if r.text(key) == "" {
			complain("%s is missing", key)
		}
	}
	if r.revision() < 1 {
		complain("%s is not 1 or more", semconv.Revision)
	}
	if !slices.ContainsFunc(boundary.Coverages, func(c boundary.Coverage) bool { return c.String() == r.text(semconv.Coverage) }) {
		complain("%s is %q", semconv.Coverage, r.text(semconv.Coverage))
	}
	state, ok := stateOf(r.text(semconv.State))
	if !ok {
		complain("%s is %q", semconv.State, r.text(semconv.State))
	}
	own, ok := stateOf(r.text(semconv.BoundaryState))
	if !ok {
		complain("%s is %q", semconv.BoundaryState, r.text(semconv.BoundaryState))
	}
	if len(problems) > 0 {
		return problems // the rest would only say it again
	}
	findings, wrong := r.findings()
	problems = append(problems, wrong...)
	problems = append(problems, r.checkLists(findings)...)
	problems = append(problems, r.checkRollup(own, findings)...)
	problems = append(problems, r.checkActions(state, own, findings)...)
	return append(problems, r.checkValidation()...)
}

func stateOf(text string) (classify.State, bool) {
	for _, s := range classify.States {
		if s.String() == text {
			return s, true
		}
	}
	return classify.NoState, false
}

// findings reads the states of all decisions, by authority.
func (r *Receipt) findings() (out []finding, problems []string) {
	for _, key := range slices.Sorted(maps.Keys(r.attrs)) {
		if name, is := strings.CutPrefix(key, semconv.InvariantReason); is && r.text(semconv.InvariantState+name) == "" {
			problems = append(problems, fmt.Sprintf("%s has a reason and no state", name))
		}
		name, is := strings.CutPrefix(key, semconv.InvariantState)
		if !is {
			continue
		}
		state, ok := stateOf(r.text(key))
		f := finding{name, state, r.text(semconv.InvariantReason + name)}
		switch {
		case !ok:
			problems = append(problems, fmt.Sprintf("%s is %q, which is no state", key, r.text(key)))
		case !classify.ValidName(name):
			problems = append(problems, fmt.Sprintf("%q is no name of a decision", name))
		case f.reason == "":
			problems = append(problems, fmt.Sprintf("%s has a state and no reason", name))
		default:
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b finding) int { return classify.CompareNames(a.name, b.name) })
	return out, problems
}

// checkLists: the lists of names say the same as the states.
func (r *Receipt) checkLists(findings []finding) (problems []string) {
	for key, state := range map[string]classify.State{
		semconv.InvariantsConflicting: classify.Conflicting, semconv.InvariantsDropped: classify.Dropped,
		semconv.InvariantsUnverified: classify.Unverified, semconv.InvariantsApprovedChange: classify.ApprovedChange,
	} {
		var names []string
		for _, f := range findings {
			if f.state == state {
				names = append(names, f.name)
			}
		}
		if listed := r.texts(key); !slices.Equal(listed, names) {
			problems = append(problems, fmt.Sprintf("%s lists %q; the states give %q", key, listed, names))
		}
	}
	slices.Sort(problems)
	return problems
}

// checkRollup: the boundary's state and reason are those of its worst finding. Of
// a name of the user's own the receipt does not say whether it is required.
func (r *Receipt) checkRollup(own classify.State, findings []finding) (problems []string) {
	reason := classify.Reason(r.text(semconv.Reason))
	least, worst := classify.NoState, classify.NoState
	var first *finding // the one of highest authority in the boundary's state
	optional := false
	// An envelope that is well is a finding of the boundary as a whole.
	envelope := own == classify.Preserved && r.text(semconv.ValidationStatus) == string(classify.StatusReauthorization)
	for i := range findings {
		f := &findings[i]
		worst = classify.Worse(worst, f.state)
		if classify.MayBeOptional(f.name) {
			optional = optional || f.state == own
		} else {
			least = classify.Worse(least, f.state)
		}
		if f.state == own && first == nil {
			first = f
		}
	}
	switch {
	case own < least:
		problems = append(problems, fmt.Sprintf("the boundary is %s, and a required decision is %s", own, least))
	case slices.Contains(wholeReasons, reason) && own < classify.Unverified:
		problems = append(problems, fmt.Sprintf("the boundary is %s for the reason %s", own, reason))
	case slices.Contains(wholeReasons, reason):
	case first == nil && slices.Contains(namedReasons, reason) && !envelope:
		problems = append(problems, fmt.Sprintf("the boundary is %s for the reason %s, and no decision is", own, reason))
	case first != nil && !optional && string(reason) != first.reason:
		problems = append(problems, fmt.Sprintf("the reason is %s; that of %s, which comes first, is %s", reason, first.name, first.reason))
	}
	if own > worst && own.Healthy() && !envelope {
		problems = append(problems, fmt.Sprintf("the boundary is %s, and no decision is", own))
	}
	return problems
}

// checkActions: the actions are known, strictest first, and such as the states
// call for.
func (r *Receipt) checkActions(state, own classify.State, findings []finding) (problems []string) {
	complain := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	texts := r.texts(semconv.Actions)
	var actions []classify.Action
	for _, text := range texts {
		i := slices.IndexFunc(classify.AllActions, func(a classify.Action) bool { return a.String() == text })
		if i < 0 {
			complain("%q is no action", text)
			return problems
		}
		actions = append(actions, classify.AllActions[i])
	}
	if len(texts) == 0 || texts[0] != r.text(semconv.Action) {
		complain("%s is %s, and the first of %q it is not", semconv.Action, r.text(semconv.Action), texts)
		return problems
	}
	for i := 1; i < len(actions); i++ {
		if actions[i] >= actions[i-1] {
			complain("the actions %q are not strictest first", texts)
		}
	}
	has := func(s classify.State) bool {
		return slices.Contains(actions, classify.ActionFor(s)) || s == classify.Unverified && slices.Contains(actions, classify.Reconcile)
	}
	for _, f := range findings {
		cleared := f.reason == string(classify.ApprovedAfter)
		if !f.state.Healthy() && !cleared && !classify.MayBeOptional(f.name) && !has(f.state) {
			complain("%s is %s, and the actions are %q", f.name, f.state, texts)
		}
	}
	if state >= classify.Dropped && !has(state) {
		complain("the session is %s, and the actions are %q", state, texts)
	}
	if state.Healthy() && own.Healthy() && actions[0] > classify.ContinueWithAudit {
		complain("session and boundary are well, and the action is %s", texts[0])
	}
	return problems
}

var statuses = []classify.ValidationStatus{classify.StatusValidationFailed, classify.StatusBlocked, classify.StatusReauthorization}

// checkValidation: a status never comes without the need to decide anew.
func (r *Receipt) checkValidation() (problems []string) {
	status, stated := r.attrs[semconv.ValidationStatus]
	must, said := r.attrs[semconv.RequiresReauthorization]
	switch {
	case !stated && !said:
		return nil
	case !slices.Contains(statuses, classify.ValidationStatus(r.text(semconv.ValidationStatus))):
		problems = append(problems, fmt.Sprintf("%s is %v", semconv.ValidationStatus, status))
	case r.text(semconv.ValidationReason) == "":
		problems = append(problems, semconv.ValidationReason+" is missing")
	}
	if is, _ := must.(bool); !is {
		problems = append(problems, fmt.Sprintf("%s is %v beside a status", semconv.RequiresReauthorization, must))
	}
	return problems
}
