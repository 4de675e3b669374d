// Package report makes one page to look at of receipts: a timeline for each
// session, with what the agent did and what became of its decisions in separate
// lanes.
package report

// Model is what the page shows, as the page's script reads it. Names are short:
// there can be ten thousand boundaries. Times are microseconds after Base, and
// none is -1. Nothing in it is HTML.
type Model struct {
	Title   string   `json:"title"`
	Sources []string `json:"sources"`
	// Notes are what is to be known of the input: a file that is cut, receipts
	// that somebody else wrote.
	Notes []string `json:"notes"`
	// Base is in microseconds since 1970.
	Base int64 `json:"base"`
	// States, best first, are what numbers of states mean.
	States   []string  `json:"states"`
	Names    []string  `json:"names"`    // of spans
	Findings []Finding `json:"findings"` // distinct ones, in the order of their first use
	Rows     []*Row    `json:"rows"`
}

// Row is the timeline of one session, or of one agent of it.
type Row struct {
	Session  string `json:"id"`
	Agent    string `json:"agent,omitempty"`
	Service  string `json:"service,omitempty"`
	Runtime  string `json:"runtime,omitempty"`
	State    int    `json:"s"`             // of the session, by its last receipt
	NoTimes  bool   `json:"no,omitempty"`  // no receipt has a time: they stand in the order of the file
	Latest   int64  `json:"latest"`        // the last time of anything in it
	Earliest int64  `json:"first"`         // the first one
	Capped   int    `json:"cap,omitempty"` // so many losses stand in the last lane because there is no room for more lanes

	Boundaries []*Boundary `json:"b"`
	Losses     []*Loss     `json:"loss,omitempty"`
	Lanes      int         `json:"lanes,omitempty"` // of losses
	Activity   []Activity  `json:"act,omitempty"`
	Events     []Evidence  `json:"ev,omitempty"`
}

// Boundary is one compaction, with all receipts of it.
type Boundary struct {
	ID        string      `json:"id"`
	Revisions []*Revision `json:"r"`
}

// Last is the revision that stands.
func (b *Boundary) Last() *Revision { return b.Revisions[len(b.Revisions)-1] }

// Revision is one receipt.
type Revision struct {
	Number int64 `json:"n"`
	// At is the decision, Opened when the boundary was opened. Only a span says
	// the latter; else Guessed says what it follows from.
	At      int64 `json:"t"`
	Opened  int64 `json:"o"`
	Guessed guess `json:"og,omitempty"`
	NoTime  bool  `json:"nt,omitempty"` // At is that of the receipt beside it

	State    int      `json:"s"` // of the session
	Boundary int      `json:"b"` // of this boundary
	Reason   string   `json:"y"`
	Actions  []string `json:"a"`
	Findings []int    `json:"f,omitempty"`

	Window     float64  `json:"w,omitempty"` // in seconds
	Late       bool     `json:"late,omitempty"`
	Coverage   string   `json:"cov,omitempty"`
	Trigger    string   `json:"trig,omitempty"`
	Outcome    string   `json:"out,omitempty"`
	Before     int64    `json:"tb,omitempty"` // tokens
	After      int64    `json:"ta,omitempty"`
	Writes     int64    `json:"wr,omitempty"`
	Superseded int64    `json:"sup,omitempty"`
	Activity   string   `json:"as,omitempty"`
	Changed    []string `json:"chg,omitempty"`
	Signed     *bool    `json:"sig,omitempty"`

	Validation *Validation `json:"val,omitempty"`
	Alerts     []Alert     `json:"al,omitempty"`

	Trace   string `json:"tr,omitempty"`
	Span    string `json:"sp,omitempty"`
	Form    string `json:"form"` // span, record or both
	Foreign bool   `json:"foreign,omitempty"`
}

// Finding is what a receipt says of one decision.
type Finding struct {
	Name     string `json:"n"`
	State    int    `json:"s"`
	Reason   string `json:"y,omitempty"`
	Source   string `json:"src,omitempty"`
	Ref      string `json:"ref,omitempty"` // the approval that the decision rests on
	Revision string `json:"rev,omitempty"`
	Choices  int64  `json:"ch,omitempty"`
}

// Validation is the judgement of the envelope. No value of it grants anything.
type Validation struct {
	Status   string   `json:"s"`
	Reason   string   `json:"y,omitempty"`
	Findings []string `json:"f,omitempty"`
}

// Alert is one alert of a receipt.
type Alert struct {
	Kind        string   `json:"k"`
	Status      string   `json:"s"`
	Invariants  []string `json:"i,omitempty"`
	Since       string   `json:"since,omitempty"`
	Fingerprint string   `json:"fp,omitempty"`
}

// Loss is something that was outstanding from one receipt to another.
type Loss struct {
	Kind  string `json:"k"`           // of the alert that speaks of it
	Name  string `json:"n,omitempty"` // of the decision
	State int    `json:"s"`
	From  int64  `json:"f"` // -1: before the first receipt
	To    int64  `json:"t"` // -1: still outstanding in the last receipt
	// Raised and Cleared are places in Boundaries; -1 is none of these.
	Raised  int    `json:"rb"`
	Cleared int    `json:"cb"`
	End     string `json:"end,omitempty"`
	Where   string `json:"in,omitempty"` // the session that cleared it, if it is another
	Lane    int    `json:"l"`
}

// Activity is a span or a log record of the agent, or many of them as one.
type Activity struct {
	Start  int64 `json:"a"`
	Length int64 `json:"d,omitempty"`
	Count  int   `json:"c,omitempty"` // 0 is one
	Errors int   `json:"e,omitempty"`
	Name   int   `json:"n"` // -1 is none
}

// Evidence is an event of the agent's telemetry that the verdict is made of.
type Evidence struct {
	At   int64  `json:"t"`
	Kind string `json:"k"`
	// Of an approval.
	Invariant string `json:"inv,omitempty"`
	Ref       string `json:"ref,omitempty"`
	Approver  string `json:"by,omitempty"`
	Status    string `json:"s,omitempty"`
	Signed    bool   `json:"sig,omitempty"`
	Outcome   string `json:"out,omitempty"`
}
