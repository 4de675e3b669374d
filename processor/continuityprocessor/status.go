package continuityprocessor

import (
	"errors"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
)

// trouble is something from which a pipeline recovers by itself.
type trouble uint8

const (
	outboxFull trouble = iota
	storageFailing
	troubleKinds
)

// troubles are those of one pipeline. Its status is OK again when all are gone.
type troubles [troubleKinds]error

func (t *troubles) event() *componentstatus.Event {
	if err := errors.Join(t[:]...); err != nil {
		return componentstatus.NewRecoverableErrorEvent(err)
	}
	return componentstatus.NewEvent(componentstatus.StatusOK)
}

// report sets the status of a lane's pipeline, of all where it is nil, while they
// run; a nil error ends the trouble. It is called outside of all locks.
func (s *shared) report(kind trouble, err error, of *lane) {
	type change struct {
		host  component.Host
		event *componentstatus.Event
	}
	var changes []change
	s.mu.Lock()
	for m := range s.members {
		if of != nil && m.lane != of {
			continue
		}
		m.troubles[kind] = err
		if m.host != nil {
			changes = append(changes, change{m.host, m.troubles.event()})
		}
	}
	s.mu.Unlock()
	for _, c := range changes {
		componentstatus.ReportStatus(c.host, c.event)
	}
}
