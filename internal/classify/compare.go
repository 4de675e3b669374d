package classify

import (
	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// Vote is what one baseline says of what was observed.
type Vote struct {
	State  State
	Reason Reason
	// Cleared is what an approval that came after the verdict made of it.
	Cleared State
	// Approval is the answer that decided, where one did.
	Approval approval.Answer
}

// Ask looks up whether a change of the invariant is approved.
type Ask func(from, to digest.Digest) approval.Answer

var approvalReasons = map[approval.Fault]Reason{
	approval.Expired:          ApprovalExpired,
	approval.Revoked:          ApprovalRevoked,
	approval.Unsigned:         ApprovalUnsigned,
	approval.SignatureInvalid: ApprovalSignatureInvalid,
	approval.NotIndependent:   ApprovalNotIndependent,
	approval.Reused:           ApprovalReused,
	approval.NotYetValid:      ApprovalNotYetValid,
}

// Compare applies rules 1 to 9, the first that holds. Both sides have passed
// the evidence test, except for rule 8: a Vote with RestatementDiffers is
// evidence that does not suffice.
func Compare(b *Before, a *After, ask Ask) Vote {
	before, after := b.Digest, a.Digest
	if b.Same(a.Value) { // rule 3; two nothings are the same nothing
		return Vote{State: Preserved, Reason: Match}
	}
	answer := ask(nothingIsNone(before), nothingIsNone(after))
	approved := func(r Reason, otherwise Vote) Vote {
		if answer.After() {
			otherwise.Reason, otherwise.Cleared, otherwise.Approval = ApprovedAfter, ApprovedChange, answer
			return otherwise
		}
		return Vote{State: ApprovedChange, Reason: r, Approval: answer}
	}
	switch {
	case after.IsNothing(): // rules 4, 5
		dropped := Vote{State: Dropped, Reason: MissingAfter}
		if answer.Covers() {
			return approved(ApprovedRemoval, dropped)
		}
		return dropped
	case before.IsNothing(): // rules 6, 6a
		if answer.Covers() {
			return approved(ApprovedAddition, Vote{State: Conflicting, Reason: UnapprovedAddition})
		}
		return Vote{State: Conflicting, Reason: refusal(&answer, UnapprovedAddition)}
	case answer.Covers(): // rule 1
		return approved(ApprovedTransition, Vote{State: Conflicting, Reason: ChangedWithoutApproval})
	case !b.Comparable(a.Value): // rule 2
		return Vote{State: Unverified, Reason: DigestIncomparable}
	case answer.Fits: // rule 7
		return Vote{State: Conflicting, Reason: refusal(&answer, ChangedWithoutApproval)}
	case b.Text && a.Source == Agent: // rule 8
		return Vote{State: Unverified, Reason: RestatementDiffers}
	default: // rule 9
		return Vote{State: Conflicting, Reason: ChangedWithoutApproval}
	}
}

func nothingIsNone(d digest.Digest) digest.Digest {
	if d.IsNothing() {
		return digest.None
	}
	return d
}

// refusal is why an approval that would fit does not count, or otherwise.
func refusal(answer *approval.Answer, otherwise Reason) Reason {
	if !answer.Fits {
		return otherwise
	}
	return approvalReasons[answer.Fault]
}

// SilentVote is the vote of a baseline that is later than every one that states
// the invariant: by then the decision was gone, or had never been.
func SilentVote(a *After) Vote {
	if a.Digest.IsNothing() {
		return Vote{State: Preserved, Reason: Match}
	}
	return Vote{State: Unverified, Reason: NoBaseline}
}

// Decide joins the votes: an invariant is decided when all give the same state,
// or all a healthy one (then the worse); else it is ambiguous.
func Decide(votes []Vote) Vote {
	decided := votes[0]
	for _, v := range votes[1:] {
		switch {
		case v.State == decided.State:
			if v.Cleared == NoState { // cleared only where all are
				decided.Cleared = NoState
				if decided.Reason == ApprovedAfter {
					decided = v
				}
			}
		case v.State.Healthy() && decided.State.Healthy():
			if v.State > decided.State {
				decided = v
			}
		default:
			return Vote{State: Unverified, Reason: Ambiguous}
		}
	}
	return decided
}
