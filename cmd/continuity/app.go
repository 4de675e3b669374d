package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/term"
)

// app is what the commands see of the world, so that tests can give them another.
type app struct {
	in       io.Reader
	out, err io.Writer
	now      func() time.Time
	getenv   func(string) string
	dir      string // the working directory

	json bool // --json
}

func osApp() *app {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	return &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, now: time.Now, getenv: os.Getenv, dir: dir}
}

// run executes one command line and returns the exit code: 0, or 1 after an error,
// which it prints.
func run(ctx context.Context, a *app, args []string) int {
	root := a.command()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	if err := root.ExecuteContext(ctx); err != nil {
		// An error may cite a file of somebody else's.
		fmt.Fprintf(a.err, "continuity: %s\n", term.CleanLines(strings.TrimPrefix(err.Error(), "continuity: ")))
		return 1
	}
	return 0
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:           "continuity",
		Short:         "Does an agent still know its decisions after its context was compacted?",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.Version = versionOf(debug.ReadBuildInfo()).String() // for --version
	root.SetVersionTemplate("continuity {{.Version}}\n")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON")
	for _, group := range [][]*cobra.Command{a.recordCommands(), a.hookCommands(), a.approvalCommands(), a.labCommands(), a.reportCommands()} {
		root.AddCommand(group...)
	}
	return root
}
