// Package sessions remembers which sessions hooks have seen on this machine: so
// that one event of a host that runs two hooks is one event, and so that a session
// id that an agent passes on can be told from an invented one.
//
// A session is a file to which each hook appends one line. Nothing is locked: what
// a line means follows from its place in the file, which is the same for everybody
// who reads it.
package sessions

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Window is how far apart two hooks of one event may start. A host starts them
// together. It is short, since to take two compactions for one is worse than to
// report one twice.
const Window = 500 * time.Millisecond

// MaxAge is how long a session is remembered after its last event.
const MaxAge = 30 * 24 * time.Hour

// Seen is what one hook saw.
type Seen struct {
	// At is when this hook read its event.
	At time.Time `json:"at"`
	// Event identifies the event as far as the host does: equal ones close to one
	// another, with none of another kind between, are one event.
	Event string `json:"event"`
	// Unique: the host gives this id to no other event, however much later.
	Unique bool `json:"unique,omitempty"`

	Session   string `json:"session"`
	Attribute string `json:"attribute,omitempty"`
	Agent     string `json:"agent,omitempty"`
	Runtime   string `json:"runtime,omitempty"`
	// Asked: the agent was asked to restate at this event.
	Asked bool `json:"asked,omitempty"`

	Nonce string `json:"nonce"`
}

// Store is a folder of sessions.
type Store struct{ dir string }

// Open names a store. The folder is made by the first Add.
func Open(dir string) *Store { return &Store{dir: dir} }

func (s *Store) path(session string) string {
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+suffix)
}

const suffix = ".jsonl"

// Add remembers an event and returns the first sight of it: its own, or that of
// another hook that saw the same event. Asked then says whether any of the others
// before this one has asked.
func (s *Store) Add(seen Seen) (first Seen, err error) {
	var nonce [8]byte
	_, _ = rand.Read(nonce[:]) // it never fails
	seen.Nonce = hex.EncodeToString(nonce[:])
	line, err := json.Marshal(seen)
	if err != nil {
		return seen, fmt.Errorf("sessions: %w", err)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return seen, fmt.Errorf("sessions: %w", err)
	}
	file, err := os.OpenFile(s.path(seen.Session), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return seen, fmt.Errorf("sessions: %w", err)
	}
	// A line that a kill cut short is ended by the newline in front.
	_, err = file.Write([]byte("\n" + string(line) + "\n"))
	if err = errors.Join(err, file.Close()); err != nil {
		return seen, fmt.Errorf("sessions: %w", err)
	}
	all, err := s.read(seen.Session)
	if err != nil {
		return seen, err
	}
	return leader(all, seen), nil
}

// leader is the first of the lines that are one event with the given one.
func leader(all []Seen, seen Seen) Seen {
	unique := map[string]Seen{}
	latest := map[string]Seen{} // the event seen last, by agent
	for _, line := range all {
		head, known := unique[line.Event]
		if !line.Unique || !known {
			head, known = latest[line.Agent]
			apart := line.At.Sub(head.At)
			if !known || line.Unique || head.Event != line.Event || apart > Window || apart < -Window {
				head = line
			}
		}
		if line.Nonce == seen.Nonce {
			return head
		}
		head.Asked = head.Asked || line.Asked
		if line.Unique {
			unique[line.Event] = head
		}
		latest[line.Agent] = head
	}
	return seen
}

func (s *Store) read(session string) ([]Seen, error) {
	text, err := os.ReadFile(s.path(session))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	var all []Seen
	for line := range bytes.Lines(text) {
		var seen Seen
		if json.Unmarshal(line, &seen) == nil && seen.Session == session {
			all = append(all, seen)
		}
	}
	return all, nil
}

// Last returns what was seen last of a session; false where no hook has seen it.
func (s *Store) Last(session string) (Seen, bool, error) {
	all, err := s.read(session)
	if err != nil || len(all) == 0 {
		return Seen{}, false, err
	}
	return all[len(all)-1], true, nil
}

// Prune forgets sessions that are older than MaxAge.
func (s *Store) Prune(now time.Time) error {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sessions: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasSuffix(e.Name(), suffix) && now.Sub(info.ModTime()) > MaxAge {
			err = os.Remove(filepath.Join(s.dir, e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("sessions: %w", err)
		}
	}
	return nil
}
