package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The limits of a spool. At some hundred bytes an event, a day without a collector
// fits well.
const (
	MaxSpooled = 4096    // events
	MaxEvent   = 1 << 20 // bytes of one event
	MaxRefused = 256     // refused events that are kept to be looked at
)

// Errors of a spool.
var (
	// ErrFull: the spool holds MaxSpooled events. What is in it stays, and the new
	// event is refused: the first snapshot is the one that nobody can take again.
	ErrFull = errors.New("the spool is full")
	// ErrTooLarge: the event has more than MaxEvent bytes.
	ErrTooLarge = errors.New("the event is too large")
)

const (
	suffix     = ".event"
	temporary  = ".tmp"
	refusedDir = "refused"
	timeDigits = 20
)

// Spool is a folder with one file for each event that is not accepted yet. An
// event is in it before it is sent, and leaves when it was accepted. A kill in
// between leads to a second sending with the same event id, which the processor
// knows to be the same event.
type Spool struct {
	dir string
	max int
}

// OpenSpool names a spool. The folder is made by the first Put.
func OpenSpool(dir string) *Spool { return &Spool{dir: dir, max: MaxSpooled} }

// Dir is where the spool is.
func (s *Spool) Dir() string { return s.dir }

// Put stores an event under its time and id and returns when it is on the disk.
// Put again, the same time and id are the same event. It fails with ErrFull or
// ErrTooLarge.
func (s *Spool) Put(at time.Time, id string, event []byte) error {
	if len(event) > MaxEvent {
		return ErrTooLarge
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	path := filepath.Join(s.dir, fileName(at, id))
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	pending, err := s.Pending()
	if err != nil {
		return err
	}
	if len(pending) >= s.max {
		return ErrFull
	}
	if err := writeFile(path, event); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	s.tidy()
	return nil
}

// tidy removes what kills left half-written. Other processes may be writing, so
// only what is old goes.
func (s *Spool) tidy() {
	names, err := filepath.Glob(filepath.Join(s.dir, "*"+temporary))
	if err != nil {
		return
	}
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(name) // another process may have been faster
		}
	}
}

// fileName sorts by time. Ids may hold anything, so their hash stands for them.
func fileName(at time.Time, id string) string {
	sum := sha256.Sum256([]byte(id))
	return fmt.Sprintf("%0*d-%s%s", timeDigits, max(at.UnixNano(), 0), hex.EncodeToString(sum[:16]), suffix)
}

// writeFile makes a file that is there as a whole or not at all, and synced.
func writeFile(path string, content []byte) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "*"+temporary)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err = os.Rename(file.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// Pending lists the events that wait, oldest first.
func (s *Spool) Pending() ([]string, error) { return list(s.dir) }

// Refused lists the events that a collector refused for good, oldest first.
func (s *Spool) Refused() ([]string, error) { return list(filepath.Join(s.dir, refusedDir)) }

func list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) && e.Type().IsRegular() { // to read a pipe would never end
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// Claimed is an event that this process alone may send, until it is removed,
// refused or released.
type Claimed struct {
	Event []byte
	file  *os.File
	spool *Spool
}

// Claim takes an event. It fails with ErrBusy where another process is sending it,
// and with fs.ErrNotExist where it is gone.
func (s *Spool) Claim(name string) (*Claimed, error) {
	path := filepath.Join(s.dir, name)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	event, err := claim(file, path)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &Claimed{Event: event, file: file, spool: s}, nil
}

func claim(file *os.File, path string) ([]byte, error) {
	if err := tryLock(file); err != nil {
		return nil, err
	}
	// It may have been accepted and removed between opening and locking.
	locked, err := file.Stat()
	if err != nil {
		return nil, err
	}
	there, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !os.SameFile(locked, there) {
		return nil, fs.ErrNotExist
	}
	return io.ReadAll(io.LimitReader(file, MaxEvent+1))
}

// Remove forgets the event: it was accepted.
func (c *Claimed) Remove() error { return removeLocked(c.file) }

// Release leaves the event to a later run.
func (c *Claimed) Release() error { return c.file.Close() }

// Refuse moves the event aside, so that it is not sent forever. The oldest that
// were refused are kept; beyond MaxRefused the event is removed.
func (c *Claimed) Refuse() error {
	refused, err := c.spool.Refused()
	if err != nil {
		return errors.Join(err, c.Release())
	}
	if len(refused) >= MaxRefused {
		return c.Remove()
	}
	dir := filepath.Join(c.spool.dir, refusedDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return errors.Join(err, c.Release())
	}
	if err := writeFile(filepath.Join(dir, filepath.Base(c.file.Name())), c.Event); err != nil {
		return errors.Join(err, c.Release())
	}
	return c.Remove()
}

// Note adds a line about an event that was refused or had no room to the spool's
// list of them, which says how many were lost and why.
func (s *Spool) Note(n Note) error { return appendNote(filepath.Join(s.dir, notesFile), n) }

// Readmit puts the events that were refused back among those that wait.
func (s *Spool) Readmit() error {
	names, err := s.Refused()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := os.Rename(filepath.Join(s.dir, refusedDir, name), filepath.Join(s.dir, name)); err != nil {
			return fmt.Errorf("spool: %w", err)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return syncDir(s.dir)
}
