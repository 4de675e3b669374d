// Command conformancecases copies the conformance cases that are expected to pass.
//
//	conformancecases FROM TO
//
// It exists while cases are left out, and goes with the last of them.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// leftOut says which cases are not copied, and why.
var leftOut = []struct {
	why   string
	match func(c testCase) bool
}{
	{
		why: "Claude Code is the only agent whose own telemetry is recognized yet",
		match: func(c testCase) bool {
			return slices.ContainsFunc(c.Steps, func(s step) bool {
				return s.Kind == "replay" && !strings.HasPrefix(s.File, "claude-code/")
			})
		},
	},
}

// testCase is what decides whether a case is left out; the copy is of the whole case.
type testCase struct {
	Name  string `json:"name"`
	Steps []step `json:"steps"`
}

type step struct {
	Kind string `json:"kind"`
	File string `json:"file"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: conformancecases FROM TO")
		os.Exit(2)
	}
	if err := copyCases(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "conformancecases:", err)
		os.Exit(1)
	}
}

func copyCases(from, to string) error {
	files, err := filepath.Glob(filepath.Join(from, "*.json"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no cases in %s", from)
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, file := range files {
		if err := copyFile(file, to); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

func copyFile(file, to string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var cases []json.RawMessage
	if err := json.Unmarshal(text, &cases); err != nil {
		return err
	}
	group := strings.TrimSuffix(filepath.Base(file), ".json")
	var kept []json.RawMessage
	for _, raw := range cases {
		var c testCase
		if err := json.Unmarshal(raw, &c); err != nil {
			return err
		}
		if why := reasonLeftOut(c); why != "" {
			fmt.Printf("left out: %s.%s: %s\n", group, c.Name, why)
			continue
		}
		kept = append(kept, raw)
	}
	if len(kept) == 0 {
		return nil
	}
	text, err = json.Marshal(kept)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, filepath.Base(file)), text, 0o644)
}

func reasonLeftOut(c testCase) string {
	for _, rule := range leftOut {
		if rule.match(c) {
			return rule.why
		}
	}
	return ""
}
