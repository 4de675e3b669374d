// Package cases reads the case files of testdata, plays them as telemetry, and
// compares what came of them with what they expect. It also holds the rule on
// events alone that Continuity is shown beside.
package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// Case is one session: what is sent, and what must come out. The format is
// described in testdata/README.md.
type Case struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	About string `json:"about"`
	Steps []Step `json:"steps"`
	Want  Want   `json:"want"`
	// files is the folder of the case: recordings are named relative to it.
	files fs.FS
}

// The kinds of steps.
const (
	kindSnapshot    = "snapshot"
	kindObservation = "observation"
	kindApproval    = "approval"
	kindActivity    = "activity"
	kindRecording   = "recording"
)

// Step is one request. Times are relative to the session's beginning.
type Step struct {
	Kind       string               `json:"kind"`
	At         Offset               `json:"at"`
	ObservedAt *Offset              `json:"observed_at,omitempty"`
	Source     string               `json:"source,omitempty"`
	Invariants map[string]Invariant `json:"invariants,omitempty"`
	Approval   *Transition          `json:"approval,omitempty"`
	Recording  string               `json:"recording,omitempty"`
}

// Invariant is what a snapshot or an observation states of one decision.
type Invariant struct {
	Digest     string  `json:"digest"`
	Source     string  `json:"source,omitempty"`
	ObservedAt *Offset `json:"observed_at,omitempty"`
}

// Transition is an approved change of one decision.
type Transition struct {
	Invariant string `json:"invariant"`
	Ref       string `json:"ref"`
	From      string `json:"from"`
	To        string `json:"to"`
	Approver  string `json:"approver"`
	Source    string `json:"source"`
}

// Want is what must come out: the answer of the event-only rule, and the
// receipts in the order of their revisions.
type Want struct {
	EventRule string        `json:"event_rule"`
	Receipts  []WantReceipt `json:"receipts"`
}

// WantReceipt is one receipt that must come out.
type WantReceipt struct {
	State  string   `json:"state"`
	Reason string   `json:"reason"`
	Action string   `json:"action"`
	Alerts []string `json:"alerts"`
	// Invariants are state/reason by name; what is not listed is not checked.
	Invariants map[string]string `json:"invariants,omitempty"`
}

// Offset is a duration in the text form of Go.
type Offset time.Duration

// longest is far more than any session lasts: times beyond it would wrap around.
const longest = 10 * 365 * 24 * time.Hour

// UnmarshalText reads "600ms" or "-1m".
func (o *Offset) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err == nil && d.Abs() > longest {
		return fmt.Errorf("%s is more than ten years away", d)
	}
	*o = Offset(d)
	return err
}

// LoadAll reads all cases of a folder, in the order of file names.
func LoadAll(fsys fs.FS, dir string) ([]*Case, error) {
	files, err := fs.Glob(fsys, path.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	folder, err := fs.Sub(fsys, dir)
	if err != nil {
		return nil, err
	}
	var all []*Case
	for _, file := range files {
		if path.Ext(file[:len(file)-len(".json")]) != "" { // x.logs.json is a recording
			continue
		}
		text, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, err
		}
		c, err := Parse(text, folder)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no cases in %s", dir)
	}
	return all, nil
}

// Parse reads one case; files is the folder where it lies.
func Parse(text []byte, files fs.FS) (*Case, error) {
	c := &Case{files: files}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields() // a raw value has no field to stand in
	if err := decoder.Decode(c); err != nil {
		return nil, err
	}
	return c, c.check()
}

// check refuses a case that would show something else than it says.
func (c *Case) check() error {
	var problems []error
	complain := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	checkDigest := func(where, text string) {
		if _, fault := digest.Parse(text); fault != digest.OK {
			complain("%s: %q is no digest", where, text)
		}
	}
	if c.Name == "" || c.Title == "" || len(c.Want.Receipts) == 0 {
		complain("name, title and want.receipts must be there")
	}
	for i, s := range c.Steps {
		where := fmt.Sprintf("step %d", i+1)
		switch s.Kind {
		case kindSnapshot, kindObservation:
			for name, inv := range s.Invariants {
				if !classify.ValidName(name) {
					complain("%s: %q is no name of an invariant", where, name)
				}
				checkDigest(where+": "+name, inv.Digest)
			}
		case kindApproval:
			if s.Approval == nil {
				complain("%s: no approval", where)
				continue
			}
			checkDigest(where+": from", s.Approval.From)
			checkDigest(where+": to", s.Approval.To)
		case kindRecording:
			if s.Recording == "" {
				complain("%s: no recording", where)
			}
		case kindActivity:
		default:
			complain("%s: unknown kind %q", where, s.Kind)
		}
	}
	for i, r := range c.Want.Receipts {
		known := func(s classify.State) bool { return s.String() == r.State }
		if !slices.ContainsFunc(classify.States, known) {
			complain("wanted receipt %d: unknown state %q", i+1, r.State)
		}
	}
	return errors.Join(problems...)
}
