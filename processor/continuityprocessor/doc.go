// Package continuityprocessor checks at every context compaction of an AI agent that the
// decisions in force before are still in force after.
package continuityprocessor

//go:generate go tool -modfile=../../tools/go.mod mdatagen metadata.yaml
