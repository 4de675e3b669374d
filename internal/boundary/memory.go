package boundary

// memory remembers the events of a session, so that the same one again changes
// nothing. The oldest are forgotten first.
type memory struct {
	marks map[uint64]*Mark
	order []uint64
}

// maxSeen bounds the events that one session remembers.
const maxSeen = 256

func (m *memory) find(fingerprint uint64) (*Mark, bool) {
	mark, ok := m.marks[fingerprint]
	return mark, ok
}

func (m *memory) add(fingerprint uint64, mark *Mark) {
	if m.marks == nil {
		m.marks = map[uint64]*Mark{}
	}
	if len(m.order) >= maxSeen {
		delete(m.marks, m.order[0])
		m.order = m.order[1:]
	}
	m.marks[fingerprint] = mark
	m.order = append(m.order, fingerprint)
}
