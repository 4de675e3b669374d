package main

import (
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// labCommands look at what became of decisions, without a collector.
func (a *app) labCommands() []*cobra.Command {
	return []*cobra.Command{a.replayCommand(), a.inspectCommand(), a.verifyCommand()}
}

// open opens a file that is named relative to the working directory; "-" is the
// input.
func (a *app) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(a.in), nil
	}
	return os.Open(a.path(name))
}

func (a *app) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.dir, name)
}
