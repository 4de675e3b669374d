// Package send brings events to the collector. An event is on the disk before it
// is sent, so that neither a collector that is away nor a kill costs one.
package send

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/ledger"
)

// Sender sends the events of one project, oldest first, one a request: so an
// answer speaks of one event, and a bad one costs no other.
type Sender struct {
	cfg    *config.Config
	now    func() time.Time
	spool  *ledger.Spool
	client *http.Client
}

// New makes a sender.
func New(cfg *config.Config, now func() time.Time) *Sender {
	return &Sender{cfg: cfg, now: now, spool: cfg.Spool(), client: newClient()}
}

// Status says what became of an event.
type Status string

// The statuses.
const (
	Accepted Status = "accepted" // a collector has it
	Spooled  Status = "spooled"  // it waits on the disk for the next run
	Refused  Status = "refused"  // a collector refused it for good, or there was no room
)

// Sent is one event and what became of it.
type Sent struct {
	Event  string `json:"event"`
	ID     string `json:"event_id"`
	Status Status `json:"status"`
}

// Result says what one run did.
type Result struct {
	Events  []Sent // those given, in order
	Earlier int    // of earlier runs, that were accepted now
	Refused int    // of all, that were refused for good now
	Waiting int    // of all, that wait in the spool afterwards
	Why     error  // why events wait or were refused, nil where none do
}

// Status is the worst of the given events' statuses, Accepted where none was given.
func (r *Result) Status() Status {
	worst := Accepted
	for _, e := range r.Events {
		if e.Status == Refused || worst == Accepted {
			worst = e.Status
		}
	}
	return worst
}

// Send spools events, and then sends all that waits, in the order of the events'
// times, until the configured timeout. That an event must wait is no error; what
// fails is an event that cannot be understood, in which case none is sent, or one
// that can neither be spooled nor sent.
func (s *Sender) Send(ctx context.Context, events ...continuity.Event) (Result, error) {
	items := make([]*item, len(events))
	for i, event := range events {
		var err error
		if items[i], err = newItem(s.cfg, s.now, event); err != nil {
			return Result{}, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	run := &run{Sender: s, ctx: ctx, status: map[string]Status{}}
	var homeless []*item // without room on the disk
	var problems []error
	for _, it := range items {
		err := s.put(it)
		if errors.Is(err, ledger.ErrFull) {
			run.flush() // to make room
			err = s.put(it)
		}
		if err != nil {
			homeless, problems = append(homeless, it), append(problems, err)
			continue
		}
		run.status[it.ID] = Spooled
	}
	run.flush()
	var lost error
	for i, it := range homeless {
		lost = errors.Join(lost, run.direct(it, problems[i]))
	}
	return run.done(items), lost
}

// Flush sends what waits, until the configured timeout.
func (s *Sender) Flush(ctx context.Context) (Result, error) { return s.Send(ctx) }

// Ping asks the collector with a request that holds no event.
func (s *Sender) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	return s.post(ctx, &item{Signal: s.cfg.Signal})
}

func (s *Sender) put(it *item) error {
	encoded, err := it.encode()
	if err != nil {
		return err
	}
	return s.spool.Put(it.Time, it.ID, encoded)
}

// run is one Send.
type run struct {
	*Sender
	ctx     context.Context // it lives as long as the one call
	status  map[string]Status
	result  Result
	stopped bool // the collector is away: no use to go on
}

func (r *run) done(items []*item) Result {
	for _, it := range items {
		r.result.Events = append(r.result.Events, Sent{Event: it.Name, ID: it.ID, Status: r.status[it.ID]})
	}
	if pending, err := r.spool.Pending(); err == nil {
		r.result.Waiting = len(pending)
	}
	return r.result
}

func (r *run) flush() {
	pending, err := r.spool.Pending()
	if err != nil {
		r.result.Why = err
		return
	}
	for _, name := range pending {
		if r.stopped {
			return
		}
		claimed, err := r.spool.Claim(name)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, ledger.ErrBusy):
			// Another process has sent it, or does so now.
		case err != nil:
			r.result.Why = err
		default:
			r.deliver(claimed)
		}
	}
}

func (r *run) deliver(claimed *ledger.Claimed) {
	it, err := decode(claimed.Event)
	if err != nil {
		r.refuse(claimed, &item{Name: "unreadable"}, err)
		return
	}
	switch err := r.post(r.ctx, it); {
	case err == nil:
		// Where it cannot be removed it is sent again, and known by its id.
		r.result.Why = errors.Join(r.result.Why, claimed.Remove())
		if _, own := r.status[it.ID]; !own {
			r.result.Earlier++
		}
		r.status[it.ID] = Accepted
	case isPermanent(err):
		r.refuse(claimed, it, err)
	default:
		r.stopped = isAway(err)
		r.result.Why = errors.Join(err, claimed.Release())
	}
}

func (r *run) refuse(claimed *ledger.Claimed, it *item, why error) {
	r.lost(it, why)
	if err := claimed.Refuse(); err != nil {
		r.result.Why = errors.Join(r.result.Why, err)
	}
}

// lost counts an event that will not be sent again.
func (r *run) lost(it *item, why error) {
	r.result.Refused++
	r.status[it.ID] = Refused
	note := ledger.Note{Time: r.now(), Event: it.Name, EventID: it.ID, Reason: why.Error()}
	r.result.Why = errors.Join(why, r.spool.Note(note))
}

// direct sends an event that has no room on the disk. It fails where the event is
// lost.
func (r *run) direct(it *item, why error) error {
	if !r.stopped {
		err := r.post(r.ctx, it)
		if err == nil {
			r.status[it.ID] = Accepted
			return nil
		}
		r.result.Why = err
	}
	lost := fmt.Errorf("the event is lost: it could neither be kept (%w) nor sent (%w)", why, r.result.Why)
	r.lost(it, lost)
	return lost
}
