// Package testdata carries the six cases and the recorded sessions, so that a
// command can show them wherever it runs. Their format is described in README.md.
package testdata

import "embed"

// Cases holds the folders six and recorded.
//
//go:embed six/*.json recorded/*.json
var Cases embed.FS

// The folders of Cases.
const (
	Six      = "six"
	Recorded = "recorded"
)
