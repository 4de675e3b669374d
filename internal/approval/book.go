package approval

import (
	"crypto/ed25519"
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// Fault is why an approval does not count. The order is the order in which one
// reason is chosen where several hold.
type Fault uint8

// The faults of an approval.
const (
	Valid Fault = iota
	Expired
	Revoked
	Unsigned
	SignatureInvalid
	NotIndependent
	Reused
	NotYetValid
)

// clockSkew is how far in the future an approval may have been given.
const clockSkew = 5 * time.Minute

// Book holds the approvals of one session. The zero value is empty.
type Book struct {
	Entries []*Entry
}

// Entry is one approval and what became of it.
type Entry struct {
	Approval
	// Standing is what is wrong with the approval as it was given.
	Standing Fault
	// Signed is set where one of the configured keys verified it.
	Signed bool
	// RevokedAt is when a revocation was received.
	RevokedAt time.Time
	// UsedBy is the boundary that it covers; After is set where it came after
	// that boundary's verdict.
	UsedBy string
	After  bool
	// Look is the look whose change it covered first: one look may be compared
	// at several boundaries.
	Look uint64
}

func (e *Entry) same(a *Approval) bool {
	return e.Ref == a.Ref && e.Invariant == a.Invariant && e.From == a.From && e.To == a.To
}

// Add takes an approval or a revocation. The same one again changes nothing,
// unless the earlier copy did not count and this one does: nobody can block an
// approval by sending a bad copy first. Nor can anybody by sending a copy for one
// agent: a good one without agent concerns them all. It reports false where the
// book holds limit entries already.
func (b *Book) Add(a *Approval, keys map[string]ed25519.PublicKey, limit int) bool {
	standing, signed := stand(a, keys)
	at := slices.IndexFunc(b.Entries, func(e *Entry) bool { return e.same(a) })
	if at < 0 {
		if len(b.Entries) >= limit && !b.dropWorthless() {
			return false
		}
		at = len(b.Entries)
		b.Entries = append(b.Entries, &Entry{Approval: *a, Standing: standing, Signed: signed})
	}
	e := b.Entries[at]
	if a.Revoked {
		// Whoever says that an approval is withdrawn is believed: the worst that
		// a forged revocation does is an alarm.
		if e.RevokedAt.IsZero() {
			e.RevokedAt = a.Received
		}
		return true
	}
	renewal := standing == Valid && e.expired(a.Received) && !(&Entry{Approval: *a}).expired(a.Received)
	if e.Approval.Revoked || e.Standing != Valid && standing == Valid || renewal {
		e.Approval, e.Standing, e.Signed = *a, standing, signed
	}
	if a.Agent == "" && standing == Valid {
		e.Agent = ""
	}
	return true
}

// dropWorthless makes room: an approval that never counted, was not used and was
// not revoked must not keep out one that counts.
func (b *Book) dropWorthless() bool {
	i := slices.IndexFunc(b.Entries, func(e *Entry) bool {
		return e.Standing != Valid && e.Standing != NotYetValid && e.UsedBy == "" && e.RevokedAt.IsZero()
	})
	if i < 0 {
		return false
	}
	b.Entries = slices.Delete(b.Entries, i, i+1)
	return true
}

// Kept counts the approvals that must not be forgotten: those that were used or
// revoked would count again.
func (b *Book) Kept() int {
	n := 0
	for _, e := range b.Entries {
		if e.rank() == 0 {
			n++
		}
	}
	return n
}

// Merge takes over the approvals of another book, at most limit in all: what was
// used or revoked first, since forgetting that would make it count again.
func (b *Book) Merge(other *Book, limit int) {
	for _, e := range other.Entries {
		i := slices.IndexFunc(b.Entries, func(mine *Entry) bool { return mine.same(&e.Approval) })
		if i < 0 {
			b.Entries = append(b.Entries, e)
			continue
		}
		mine := b.Entries[i]
		if mine.UsedBy == "" {
			mine.UsedBy, mine.After, mine.Look = e.UsedBy, e.After, e.Look
		}
		if mine.RevokedAt.IsZero() {
			mine.RevokedAt = e.RevokedAt
		}
	}
	if len(b.Entries) > limit {
		slices.SortStableFunc(b.Entries, func(x, y *Entry) int { return x.rank() - y.rank() })
		b.Entries = b.Entries[:limit]
	}
}

// Rejudge judges approvals that were stored: which keys count may have changed
// since. What covered a change already keeps its answer.
func (b *Book) Rejudge(keys map[string]ed25519.PublicKey) {
	for _, e := range b.Entries {
		if e.UsedBy == "" {
			e.Standing, e.Signed = stand(&e.Approval, keys)
		}
	}
}

func (e *Entry) rank() int {
	if e.UsedBy != "" || !e.RevokedAt.IsZero() {
		return 0
	}
	return 1 + int(e.Standing)
}

// stand judges an approval as it was given.
func stand(a *Approval, keys map[string]ed25519.PublicKey) (Fault, bool) {
	signed := false
	if len(keys) > 0 {
		switch {
		case len(a.Signature) == 0:
			return Unsigned, false
		case !Verify(a, keys):
			return SignatureInvalid, false
		}
		signed = true
	}
	if !a.Independent {
		return NotIndependent, signed
	}
	if a.ApprovedAt != "" {
		at, ok := semconv.ParseTime(a.ApprovedAt)
		if !ok || at > a.Received.Add(clockSkew).UnixNano() {
			return NotYetValid, signed
		}
	}
	return Valid, signed
}

func (e *Entry) expired(at time.Time) bool {
	if e.ExpiresAt == "" {
		return false
	}
	expires, ok := semconv.ParseTime(e.ExpiresAt)
	return !ok || expires <= at.UnixNano()
}

// Question asks whether a change is covered.
type Question struct {
	Invariant, Agent string
	From, To         digest.Digest
	// At is the receipt of what shows the change.
	At time.Time
	// Boundary is the boundary that asks, Look the look that shows the change (0
	// for none): what they used themselves is not used up.
	Boundary string
	Look     uint64
}

// fault is why an entry does not answer a question that it fits.
func (e *Entry) fault(q *Question) Fault {
	own := e.UsedBy != "" && (e.UsedBy == q.Boundary || q.Look != 0 && e.Look == q.Look)
	switch {
	case e.expired(q.At):
		return Expired
	case !e.RevokedAt.IsZero() && (!own || !e.RevokedAt.After(q.At)):
		return Revoked
	case e.Standing != Valid && e.Standing < Reused:
		return e.Standing
	case e.UsedBy != "" && !own:
		return Reused
	default:
		return e.Standing
	}
}

// Answer is what the book says to a Question.
type Answer struct {
	// Fits is set where approvals join From to To, valid or not.
	Fits bool
	// Fault is Valid, or why the best path does not count.
	Fault Fault
	// Path holds the approvals from From to To where Fault is Valid.
	Path []*Entry
	look uint64
}

// After reports whether an approval of the path came after the verdict.
func (a *Answer) After() bool {
	return slices.ContainsFunc(a.Path, func(e *Entry) bool { return e.After })
}

// Signed reports whether there is a path and all its approvals were verified.
func (a *Answer) Signed() bool {
	return len(a.Path) > 0 && !slices.ContainsFunc(a.Path, func(e *Entry) bool { return !e.Signed })
}

// Covers reports whether the change is approved.
func (a *Answer) Covers() bool { return a.Fits && a.Fault == Valid }

// Use marks the approvals of the path as used by a boundary, for the look that
// was asked about. What was used already keeps its mark.
func (a *Answer) Use(boundary string, after bool) {
	for _, e := range a.Path {
		if e.UsedBy == "" {
			e.UsedBy, e.After, e.Look = boundary, after, a.look
		}
	}
}

// Release takes back the use of approvals of an invariant by a boundary whose
// answer turned out to be none. One that came after a verdict stays used.
func (b *Book) Release(invariant, boundary string) {
	for _, e := range b.Entries {
		if e.Invariant == invariant && e.UsedBy == boundary && !e.After {
			e.UsedBy, e.Look = "", 0
		}
	}
}

// Ask looks for a chain of approvals from From to To: one with no fault if there
// is one, else the one with the fewest faulty links, shorter first.
func (b *Book) Ask(q Question) Answer {
	if len(b.Entries) == 0 {
		return Answer{}
	}
	links := b.fitting(&q)
	best := map[digest.Digest]route{q.From: {}}
	for range links { // Bellman-Ford: no path is longer than there are links
		changed := false
		for _, l := range links {
			from, ok := best[l.entry.From]
			if !ok || l.entry.To == q.From {
				continue
			}
			next := from.extend(l)
			if known, ok := best[l.entry.To]; !ok || next.better(known) {
				best[l.entry.To] = next
				changed = true
			}
		}
		if !changed {
			break
		}
	}
	r, ok := best[q.To]
	if !ok || len(r.path) == 0 {
		return Answer{}
	}
	if r.faulty > 0 {
		return Answer{Fits: true, Fault: r.first}
	}
	return Answer{Fits: true, Path: r.path, look: q.Look}
}

type link struct {
	entry *Entry
	fault Fault
}

// fitting returns the entries that speak of the question's invariant, the least
// faulty first, so that of two equal routes the better reason wins.
func (b *Book) fitting(q *Question) []link {
	var links []link
	for _, e := range b.Entries {
		if e.Invariant == q.Invariant && (e.Agent == "" || e.Agent == q.Agent) {
			links = append(links, link{e, e.fault(q)})
		}
	}
	slices.SortStableFunc(links, func(x, y link) int { return int(x.fault) - int(y.fault) })
	return links
}

type route struct {
	path   []*Entry
	faulty int
	first  Fault
}

func (r route) extend(l link) route {
	next := route{path: append(slices.Clip(r.path), l.entry), faulty: r.faulty, first: r.first}
	if l.fault != Valid {
		if next.faulty == 0 {
			next.first = l.fault
		}
		next.faulty++
	}
	return next
}

func (r route) better(than route) bool {
	if r.faulty != than.faulty {
		return r.faulty < than.faulty
	}
	return len(r.path) < len(than.path)
}
