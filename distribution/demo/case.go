package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// demoCase is one session: what is sent, and what must come out. The format is
// described in testdata/README.md.
type demoCase struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	About string `json:"about"`
	Steps []step `json:"steps"`
	Want  want   `json:"want"`
	// dir is where the file lies: recordings are named relative to it.
	dir string
}

// The kinds of steps.
const (
	kindSnapshot    = "snapshot"
	kindObservation = "observation"
	kindApproval    = "approval"
	kindActivity    = "activity"
	kindRecording   = "recording"
)

// step is one request. Times are relative to the session's beginning.
type step struct {
	Kind       string               `json:"kind"`
	At         offset               `json:"at"`
	ObservedAt *offset              `json:"observed_at,omitempty"`
	Source     string               `json:"source,omitempty"`
	Invariants map[string]invariant `json:"invariants,omitempty"`
	Approval   *transition          `json:"approval,omitempty"`
	Recording  string               `json:"recording,omitempty"`
}

// invariant is what a snapshot or an observation states of one decision.
type invariant struct {
	Digest     string  `json:"digest"`
	Source     string  `json:"source,omitempty"`
	ObservedAt *offset `json:"observed_at,omitempty"`
}

// transition is an approved change of one decision.
type transition struct {
	Invariant string `json:"invariant"`
	Ref       string `json:"ref"`
	From      string `json:"from"`
	To        string `json:"to"`
	Approver  string `json:"approver"`
	Source    string `json:"source"`
}

// want is what must come out: the answer of the event-only rule, and the
// receipts in the order of their revisions.
type want struct {
	EventRule string        `json:"event_rule"`
	Receipts  []wantReceipt `json:"receipts"`
}

type wantReceipt struct {
	State  string   `json:"state"`
	Reason string   `json:"reason"`
	Action string   `json:"action"`
	Alerts []string `json:"alerts"`
	// Invariants are state/reason by name; what is not listed is not checked.
	Invariants map[string]string `json:"invariants,omitempty"`
}

// offset is a duration in the text form of Go.
type offset time.Duration

// UnmarshalText reads "600ms" or "-1m".
func (o *offset) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*o = offset(d)
	return err
}

// loadCases reads all cases of a folder, in the order of file names.
func loadCases(dir string) ([]*demoCase, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var cases []*demoCase
	for _, file := range files {
		if filepath.Ext(file[:len(file)-len(".json")]) != "" { // x.logs.json is a recording
			continue
		}
		c, err := loadCase(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("no cases in %s", dir)
	}
	return cases, nil
}

func loadCase(file string) (*demoCase, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c := &demoCase{dir: filepath.Dir(file)}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields() // a raw value has no field to stand in
	if err := decoder.Decode(c); err != nil {
		return nil, err
	}
	return c, c.check()
}

// check refuses a case that would show something else than it says.
func (c *demoCase) check() error {
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
