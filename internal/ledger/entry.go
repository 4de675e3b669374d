// Package ledger keeps what a producer has decided and what it still has to send:
// the ledger, an append-only file of decisions, and the spool, a folder of events
// that no collector has accepted yet. Both bear several processes at once and a
// kill at any time.
package ledger

import (
	"errors"
	"fmt"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// Version is the version of a ledger's lines.
const Version = 1

// Entry is one line of the ledger: one decision, at one time.
type Entry struct {
	V    int       `json:"v"`
	Time time.Time `json:"time"`
	Name string    `json:"name"`
	// Digest is the digest's text, or "none" where there is explicitly no such
	// decision. "" withdraws the decision: from then on it is not stated.
	Digest string `json:"digest"`
	KeyID  string `json:"key_id,omitempty"`
	// Kind says how values of this name are brought to one form: id, command, set,
	// choice or text.
	Kind string `json:"kind,omitempty"`
	// Comparison is "" (exact) or "text".
	Comparison  string `json:"comparison,omitempty"`
	Revision    string `json:"revision,omitempty"`
	ApprovalRef string `json:"approval_ref,omitempty"`
	// Session is the only session for which it holds; "" is all of the project.
	Session string `json:"session,omitempty"`
	// Value is kept only where the project asks for it.
	Value string `json:"value,omitempty"`
}

// Withdraws reports whether the entry takes a decision back.
func (e *Entry) Withdraws() bool { return e.Digest == "" }

// MaxLine is the longest line that is read, in bytes. A longer one is no entry.
const MaxLine = 1 << 16

// MaxSize is the longest ledger, in bytes: some 60000 decisions. Of a longer one
// nothing is read, and nothing is added to it.
const MaxSize = 16 << 20

var errSize = fmt.Errorf("a ledger has at most %d bytes", MaxSize)

func (e *Entry) check() error {
	switch {
	case e.V != Version:
		return fmt.Errorf("its version is %d, not %d", e.V, Version)
	case !classify.ValidName(e.Name):
		return errors.New("its name is no name of a decision")
	case e.Time.IsZero():
		return errors.New("it has no time")
	case e.Comparison != "" && e.Comparison != "text":
		return errors.New("its comparison is neither empty nor text")
	case e.Withdraws():
		return nil
	}
	parsed, fault := digest.Parse(e.Digest)
	switch {
	case fault != digest.OK:
		return errors.New("its digest is none")
	case parsed.Alg == digest.HMACSHA256 && e.KeyID == "":
		return errors.New("its digest is keyed, and no key is named")
	}
	return nil
}
