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
