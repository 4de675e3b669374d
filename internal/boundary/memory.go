package boundary

import "slices"

// memory remembers the events of a session, so that the same one again changes
// nothing. The oldest are forgotten first.
//
// There are few of them: they are found by looking at each.
type memory []seenMark

type seenMark struct {
	seenEvent
	mark *Mark
}

// seenEvent names an event: two agents may well say the same at the same time.
type seenEvent struct {
	fingerprint uint64
	agent       string
}

func seen(ev *Event) seenEvent { return seenEvent{ev.Fingerprint, ev.Key.Agent} }

// maxSeen bounds the events that one session remembers.
const maxSeen = 256

func (m memory) find(e seenEvent) (*Mark, bool) {
	for i := range m {
		if m[i].fingerprint == e.fingerprint && m[i].agent == e.agent {
			return m[i].mark, true
		}
	}
	return nil, false
}

// forget forgets all but the n events that were seen last.
func (m *memory) forget(n int) {
	if gone := len(*m) - n; gone > 0 {
		*m = slices.Delete(*m, 0, gone)
	}
}

func (m *memory) add(e seenEvent, mark *Mark) {
	m.forget(maxSeen - 1)
	*m = append(*m, seenMark{e, mark})
}
