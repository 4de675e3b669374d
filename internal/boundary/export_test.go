package boundary

import "time"

// Reencode decodes a stored session and encodes it again.
func Reencode(value []byte) ([]byte, error) {
	cfg := DefaultConfig()
	s, err := decodeSession(value, New(&cfg, nil), time.Time{})
	if err != nil {
		return nil, err
	}
	return encodeSession(s), nil
}

// Rest packs every session, as if nobody waited for an annotation.
func (c *Core) Rest() {
	for _, p := range c.slots.all() {
		if p.session == nil {
			continue
		}
		for _, e := range p.session.seen {
			e.mark.awaited = false
		}
	}
	for range c.slots.awake {
		c.rest(0)
	}
}
