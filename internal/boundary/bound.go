package boundary

import (
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// status is where a boundary is in its life.
type status uint8

const (
	armed   status = iota // a window is open, or waits for activity
	parked                // the session ended; it may come back
	settled               // decided; revisions may follow
)

// bound is one boundary: the unit of reporting.
type bound struct {
	id string
	// use is what approvals are used up by: unlike an explicit id, it is never
	// used again.
	use string
	// opened orders the boundaries of a session.
	opened uint64
	// pairing is the explicit id of its events, "" while none had one.
	pairing string
	status  status
	// deadline is when the window closes; zero where it waits for activity.
	deadline time.Time
	window   time.Duration
	start    time.Time
	// windowFrom is when the window first opened: at the snapshot, or at the
	// completion if that came later.
	windowFrom time.Time
	settledAt  time.Time
	// passed is set once a deadline has passed; unconfirmed, once it passed
	// without the completion that this runtime would have reported.
	passed, unconfirmed bool
	// void is set where the compaction turned out not to have happened.
	void bool
	late bool

	// How many joined.
	snapshots, completions int
	// ended is set once a completion said that there was no compaction.
	ended bool
	// openedEnd is the end of the compaction whose completion opened the
	// boundary; sufficient says that a look decided something.
	openedEnd  classify.Instant
	sufficient bool
	// lastEnd is the end of the last compaction that joined.
	lastEnd classify.Instant
	summary string // summary digest as a completion gave it
	outcome Outcome
	// tokensBefore is the context's size before the first compaction that joined,
	// tokensAfter that after the last.
	tokensBefore, tokensAfter int64
	// writes counts what the agent changed before anything was known again, and
	// lastWrite is when it last did.
	writes    int
	lastWrite classify.Instant
	looks     []*look
	// resting are the looks on which a finding rests, as last evaluated.
	resting []*look
	// refusal is the runtime's own verdict, at its time.
	refusal   *classify.RuntimeVerdict
	refusedAt classify.Instant
	// refusedTurn orders it among the looks.
	refusedTurn uint64
	// refusalKept is set once it is outstanding in the session.
	refusalKept bool
	// override is the reason of the boundary as a whole where time or its end
	// decided, not an observation.
	override classify.Reason
	findings []classify.Finding
	// envelopeReasons are the failed checks of the envelope, validated says
	// that there was one to check.
	envelopeReasons []classify.Reason
	validated       bool
	// approved is set when an approval was used, signed when all were signed.
	approved, signed bool
	changedSince     []string
	// originals are values of old defects that were compared here.
	originals map[string][]classify.Value
	// begun is when the newest snapshot or completion that joined happened.
	begun classify.Instant
	// parkedAt is when the session ended, by its own clock.
	parkedAt classify.Instant
	// raised is when the look was taken by which each defect was raised here.
	raised map[string]classify.Instant

	runtime, trigger, activity string
	identity, resource         []Attr
	// Where its events happened.
	snapshotAt, completionAt, lookAt SpanContext
	firstLook                        time.Time
	origin                           Origin
	originKnown                      bool

	revision int
	verdict  *Verdict // the last that was emitted
}

func (x *bound) open() bool { return x.status != settled }

// observed reports whether anything came after that can be compared.
func (x *bound) observed() bool { return len(x.looks) > 0 || x.refusal != nil }

// refusedLast reports whether the runtime's own verdict is the last word.
func (x *bound) refusedLast() bool {
	return x.refusal != nil && (len(x.looks) == 0 || x.looks[len(x.looks)-1].turn < x.refusedTurn)
}

// superseded counts the compactions beyond the first that the boundary stands
// for.
func (x *bound) superseded() int { return max(x.snapshots, x.completions, 1) - 1 }

// learn takes over what an event says beside the decisions.
func (x *bound) learn(ev *Event) {
	if x.pairing == "" {
		x.pairing = ev.BoundaryID
	}
	set := func(to *string, value string) {
		if *to == "" {
			*to = value
		}
	}
	set(&x.runtime, ev.Runtime)
	set(&x.trigger, ev.Trigger)
	if len(ev.Identity) > 0 {
		x.identity = ev.Identity
	}
	if ev.Kind == Snapshot || ev.Kind == Completion {
		x.begun = max(x.begun, ev.Time)
	}
	switch ev.Kind {
	case Snapshot:
		if !x.originKnown || x.snapshots == 0 {
			x.resource, x.origin, x.originKnown = ev.Resource, ev.Origin, true
		}
		if !ev.Context.IsZero() {
			x.snapshotAt = ev.Context
		}
	case Completion:
		if !ev.Context.IsZero() {
			x.completionAt = ev.Context
		}
		if x.tokensBefore == 0 {
			x.tokensBefore = ev.TokensBefore
		}
		if ev.TokensAfter != 0 {
			x.tokensAfter = ev.TokensAfter
		}
		if x.lastWrite.Before(ev.Time) { // it still knew
			x.writes = 0
		}
	default:
		if !ev.Context.IsZero() {
			x.lookAt = ev.Context
		}
		set(&x.activity, ev.Activity)
	}
	if !x.originKnown {
		x.resource, x.origin, x.originKnown = ev.Resource, ev.Origin, true
	}
}

// contexts splits where the events happened into the parent of the receipt and
// its links: hooks run in traces of their own, so the host's own span, which the
// completion names, comes first.
func (x *bound) contexts() (parent SpanContext, links []SpanContext) {
	for _, c := range []SpanContext{x.completionAt, x.snapshotAt, x.lookAt} {
		switch {
		case c.IsZero() || c == parent || slices.Contains(links, c):
		case parent.IsZero():
			parent = c
		default:
			links = append(links, c)
		}
	}
	return parent, links
}
