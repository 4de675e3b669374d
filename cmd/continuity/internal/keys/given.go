package keys

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Given is one approval that was given, as far as it takes to revoke it.
type Given struct {
	Time      time.Time `json:"time"`
	Session   string    `json:"session"`
	Attribute string    `json:"session_attribute,omitempty"`
	Agent     string    `json:"agent,omitempty"`
	Invariant string    `json:"invariant"`
	Ref       string    `json:"ref"`
	From      string    `json:"from"`
	To        string    `json:"to"`
	Gate      bool      `json:"gate,omitempty"`
	Revoked   bool      `json:"revoked,omitempty"`
}

// same reports whether two speak of one approval.
func (g *Given) same(o *Given) bool {
	return g.Session == o.Session && g.Agent == o.Agent && g.Invariant == o.Invariant && g.Ref == o.Ref && g.From == o.From && g.To == o.To
}

// Record is the file of approvals that were given on this machine: one JSON
// object a line, beside the key that signs them.
type Record struct{ path string }

// RecordBeside is the record that belongs to the file of a key.
func RecordBeside(key string) *Record {
	return &Record{filepath.Join(filepath.Dir(key), "approvals.jsonl")}
}

// Path is where the record is.
func (r *Record) Path() string { return r.path }

// Add writes to the end of the record, at once and as a whole.
func (r *Record) Add(g *Given) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("the record of approvals: %w", err)
		}
	}()
	line, err := json.Marshal(g)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(r.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Sync(), file.Close())
}

// Standing lists the approvals of a reference that were given and not revoked. A
// line that cannot be read is passed over: revoking the others must not fail by
// it.
func (r *Record) Standing(ref string) ([]Given, error) {
	file, err := os.Open(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the record of approvals: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	var out []Given
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var g Given
		if json.Unmarshal(lines.Bytes(), &g) != nil || g.Ref != ref {
			continue
		}
		kept := out[:0]
		for _, o := range out {
			if !o.same(&g) {
				kept = append(kept, o)
			}
		}
		if out = kept; !g.Revoked {
			out = append(out, g)
		}
	}
	return out, lines.Err()
}
