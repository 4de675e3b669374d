package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const notesFile = "refused.jsonl"

// Note says that one event will never be accepted, and why.
type Note struct {
	Time    time.Time `json:"time"`  // of the note
	Event   string    `json:"event"` // the event's name
	EventID string    `json:"event_id"`
	Reason  string    `json:"reason"`
}

// Notes lists all notes. Lines that are none are left out.
func (s *Spool) Notes() ([]Note, error) {
	text, err := os.ReadFile(filepath.Join(s.dir, notesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	var notes []Note
	for line := range bytes.Lines(text) {
		var n Note
		if json.Unmarshal(line, &n) == nil {
			notes = append(notes, n)
		}
	}
	return notes, nil
}

func appendNote(path string, n Note) error {
	line, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	if err := Open(path).append(append(line, '\n')); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	return nil
}
