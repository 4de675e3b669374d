package boundary

import (
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// settle marks what a boundary made of one decision. The turn of the first
// answer stays: a snapshot that came later asks again.
func (e entry) settle(x *bound, status debtStatus, turn uint64, shown classify.Value) {
	if e.snap == nil {
		return
	}
	d := &e.debts[e.at]
	if d.status == owed || d.by != x {
		d.turn = turn
	}
	d.status, d.by, d.shown, d.instead = status, x, shown.Digest, nil
	if compared := e.before.Value; compared != e.value() {
		d.instead = valueAt(compared)
	}
	if status == answered {
		d.overdue = false
	}
}

// valueAt keeps the rare value apart, so that entries need no memory of their own.
func valueAt(v classify.Value) *classify.Value { return &v }

// value is what the snapshot itself states.
func (e entry) value() classify.Value {
	return classify.Value{Digest: e.decisions[e.at].digest, Form: e.form}
}

// reopen makes a boundary's own answers owed again: what it took for evidence
// turned out to be none.
func (k *keyState) reopen(x *bound, entries []entry) {
	for _, e := range entries {
		if e.snap != nil && e.debts[e.at].by == x {
			e.debts[e.at].reopen()
			k.book.Release(e.name(), x.use)
		}
	}
}

// settleAround settles the debts where a baseline is unusable: that one is
// reported once, the others are answered where they agree.
func (k *keyState) settleAround(x *bound, entries []entry, votes []classify.Vote) {
	turn := k.turn
	for i, e := range entries {
		switch {
		case e.before.Fault != "":
			e.settle(x, retired, turn, classify.Value{})
		case votes[i].State.Healthy():
			e.settle(x, answered, turn, classify.Value{})
			if votes[i].State == classify.ApprovedChange {
				x.useApproval(&votes[i])
			}
		default:
			k.reopen(x, entries[i:i+1])
		}
	}
}

// settleDebts settles what a sufficient look decided: a baseline that agrees is
// answered, and so are all where they give the same defect; what cannot be
// compared, or differs while a newer baseline agrees, is retired.
func (k *keyState) settleDebts(x *bound, entries []entry, votes []classify.Vote, decided classify.Vote, best *evidence) {
	turn := k.turn
	for i, e := range entries {
		vote := votes[i]
		switch {
		case vote.State.Healthy() || vote.State >= classify.Dropped && decided.State == vote.State:
			e.settle(x, answered, turn, best.Value)
		case vote.Reason == classify.DigestIncomparable, k.newerAgrees(x, entries, votes, i, best):
			e.settle(x, retired, turn, best.Value)
		default:
			k.reopen(x, entries[i:i+1])
		}
		if vote.State == classify.ApprovedChange && decided.State == classify.ApprovedChange {
			x.useApproval(&vote)
		}
	}
}

// useApproval uses up the approvals that decided a vote.
func (x *bound) useApproval(vote *classify.Vote) {
	vote.Approval.Use(x.use, false)
	x.noteApproval(vote.Approval.Signed())
}

// noteApproval keeps for the receipt whether all approvals were signed.
func (x *bound) noteApproval(signed bool) {
	x.signed = signed && (x.signed || !x.approved)
	x.approved = true
}

// newerAgrees reports whether a baseline later than entry i agrees with what was
// seen.
func (k *keyState) newerAgrees(x *bound, entries []entry, votes []classify.Vote, i int, best *evidence) bool {
	if entries[i].snap == nil {
		return false
	}
	for j, e := range entries {
		if e.snap != nil && votes[j].State.Healthy() && e.time() > entries[i].time() {
			return true
		}
	}
	return k.silentAfter(x, entries, best) != nil && best.Digest.IsNothing()
}
