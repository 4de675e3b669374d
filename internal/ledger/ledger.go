package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// Ledger is an append-only file of decisions, one JSON object a line. Nothing in
// it is ever changed. Any number of processes may use one at the same time.
type Ledger struct{ path string }

// Open names a ledger. The file is made by the first Append.
func Open(path string) *Ledger { return &Ledger{path: path} }

// Path is where the ledger is.
func (l *Ledger) Path() string { return l.path }

// Append writes an entry to the end and returns when it is on the disk. A last
// line that a kill cut short is ended first, so that it costs nothing but itself.
func (l *Ledger) Append(e Entry) error {
	e.V = Version
	if err := e.check(); err != nil {
		return fmt.Errorf("ledger: the entry cannot be written: %w", err)
	}
	line, err := json.Marshal(&e)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if len(line) >= MaxLine {
		return fmt.Errorf("ledger: the entry has %d bytes: at most %d can be read again", len(line), MaxLine-1)
	}
	if err := l.append(append(line, '\n')); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

func (l *Ledger) append(line []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	_, statErr := os.Stat(l.path)
	file, err := openLocked(l.path, lockWait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }() // which frees the lock
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() > MaxSize-int64(len(line)) {
		return errSize // what is longer would not be read again
	}
	torn, err := isTorn(file)
	if err != nil {
		return err
	}
	if torn {
		line = append([]byte{'\n'}, line...)
	}
	if _, err := file.Write(line); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if errors.Is(statErr, fs.ErrNotExist) {
		return syncDir(filepath.Dir(l.path))
	}
	return nil
}

// isTorn reports whether the last line has no end.
func isTorn(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	var last [1]byte
	if _, err := file.ReadAt(last[:], info.Size()-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}

// Bad is a line that is no entry.
type Bad struct {
	Line int // from 1
	Err  error
}

// Read returns all entries in the order of their writing, and the lines that are
// none. A ledger that does not exist yet has none. It waits for no lock: a line
// that is being written is a bad one at worst.
func (l *Ledger) Read() ([]Entry, []Bad, error) {
	text, err := readRegular(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("ledger: %w", err)
	}
	entries, bad := parse(text)
	return entries, bad, nil
}

// readRegular reads a file that is one, and not too long: to read a pipe would never
// end, and a hook that takes too long is lost without a word.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &os.PathError{Op: "read", Path: path, Err: errors.New("it is no regular file")}
	case info.Size() > MaxSize:
		return nil, &os.PathError{Op: "read", Path: path, Err: errSize}
	}
	return os.ReadFile(path)
}

func parse(text []byte) (entries []Entry, bad []Bad) {
	for n := 1; len(text) > 0; n++ {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e, err := parseLine(line)
		if err != nil {
			bad = append(bad, Bad{n, err})
			continue
		}
		entries = append(entries, e)
	}
	return entries, bad
}

var errNoEntry = errors.New("it is no JSON object of an entry")

// parseLine reads one line. Its errors name no text of the line, which may be a
// value.
func parseLine(line []byte) (Entry, error) {
	if len(line) > MaxLine {
		return Entry{}, fmt.Errorf("it has %d bytes", len(line))
	}
	if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
		return Entry{}, errNoEntry // a decoder for each line of rubbish takes long
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	var e Entry
	if err := decoder.Decode(&e); err != nil {
		return Entry{}, errNoEntry
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Entry{}, errors.New("something follows the JSON object")
	}
	return e, e.check()
}

// InForce returns the latest entry of each name for a session, by authority of the
// names. What was decided for the session goes before what was decided for the
// project, whichever is later. Withdrawn decisions are left out: withdrawing one
// of the session brings that of the project back.
func (l *Ledger) InForce(session string) ([]Entry, error) {
	entries, _, err := l.Read()
	if err != nil {
		return nil, err
	}
	return inForce(entries, session), nil
}

func inForce(entries []Entry, session string) []Entry {
	project, own := map[string]Entry{}, map[string]Entry{}
	for i := range entries {
		switch e := &entries[i]; e.Session {
		case "":
			keep(project, e)
		case session:
			keep(own, e)
		}
	}
	for name := range own {
		project[name] = own[name]
	}
	result := make([]Entry, 0, len(project))
	for name := range project {
		result = append(result, project[name])
	}
	slices.SortFunc(result, func(a, b Entry) int { return classify.CompareNames(a.Name, b.Name) })
	return result
}

func keep(in map[string]Entry, e *Entry) {
	if e.Withdraws() {
		delete(in, e.Name)
		return
	}
	in[e.Name] = *e
}
