package boundary

// memory remembers the events of a session, so that the same one again changes
// nothing. The oldest are forgotten first.
type memory struct {
	marks map[seenEvent]*Mark
	order []seenEvent
}

// seenEvent names an event: two agents may well say the same at the same time.
type seenEvent struct {
	fingerprint uint64
	agent       string
}

func seen(ev *Event) seenEvent { return seenEvent{ev.Fingerprint, ev.Key.Agent} }

// maxSeen bounds the events that one session remembers.
const maxSeen = 256

func (m *memory) find(e seenEvent) (*Mark, bool) {
	mark, ok := m.marks[e]
	return mark, ok
}

// forget forgets the event that was seen first.
func (m *memory) forget() {
	delete(m.marks, m.order[0])
	m.order = m.order[1:]
}

func (m *memory) add(e seenEvent, mark *Mark) {
	if m.marks == nil {
		m.marks = map[seenEvent]*Mark{}
	}
	if len(m.order) >= maxSeen {
		m.forget()
	}
	m.marks[e] = mark
	m.order = append(m.order, e)
}
