package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/otlpfile"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/replay"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/term"
	"github.com/agentcontinuity/otelcol-continuity/internal/cases"
	"github.com/agentcontinuity/otelcol-continuity/testdata"
)

func (a *app) replayCommand() *cobra.Command {
	var o replay.Options
	var six bool
	c := &cobra.Command{
		Use:   "replay [FILE...]",
		Short: "Run recorded events offline and show what comes of them",
		Long: `Run recorded events through the core that the collector's processor has, and
show what a rule on events alone and what Continuity say of each compaction.

FILE is OTLP/JSON, as the collector's file exporter writes it, or a case file;
"-" is the standard input. Several files are one recording. Without FILE, the six
cases and the recorded sessions that ship with the command are replayed.

Each event is taken at its own time, in the order of these times, with the
processor's defaults; at the end all windows are let pass. Take the file before
the processor, not behind it. Nothing is sent anywhere.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, files []string) error {
			if six && len(files) > 0 {
				return errors.New("--six replays the cases that ship with the command: name no file beside it")
			}
			if o.Window < 0 {
				return errors.New("--window must be positive")
			}
			report := replay.NewReport(o)
			var err error
			if len(files) > 0 {
				err = a.replayFiles(report, o, files)
			} else {
				err = replayShipped(report, o, six)
			}
			if err != nil {
				return err
			}
			return a.printReplay(report)
		},
	}
	c.Flags().BoolVar(&six, "six", false, "replay the six cases only")
	c.Flags().DurationVar(&o.Window, "window", 0, "how long a sufficient observation may take (default that of the processor, 15m)")
	c.Flags().StringSliceVar(&o.Required, "required", nil, "decisions that every snapshot must state, as scope,target")
	return c
}

// replayShipped replays the cases that are part of the command.
func replayShipped(report *replay.Report, o replay.Options, onlySix bool) error {
	folders := []string{testdata.Six, testdata.Recorded}
	if onlySix {
		folders = folders[:1]
	}
	for _, folder := range folders {
		all, err := cases.LoadAll(testdata.Cases, folder)
		if err != nil {
			return err
		}
		for _, c := range all {
			if err := replayCase(report, o, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// replayCase replays a case by itself. What it expects holds for the defaults.
func replayCase(report *replay.Report, o replay.Options, c *cases.Case) error {
	r := replay.New(o)
	if err := r.AddCase(c); err != nil {
		return err
	}
	report.Add(r.Run(), c, o.Window == 0 && len(o.Required) == 0)
	return nil
}

func (a *app) replayFiles(report *replay.Report, o replay.Options, files []string) error {
	recording := replay.New(o)
	for _, file := range files {
		contents, err := a.readOTLP(file)
		if err != nil {
			return err
		}
		for i, d := range contents.Documents {
			switch {
			case d.Traces != nil:
				recording.AddTraces(*d.Traces)
			case d.Logs != nil:
				recording.AddLogs(*d.Logs)
			case isCase(d.Other):
				c, err := cases.Parse(d.Other, a.folderOf(file))
				if err == nil {
					err = replayCase(report, o, c)
				}
				if err != nil {
					return fmt.Errorf("%s: %w", file, err)
				}
			case !isOtherTelemetry(d.Other):
				return fmt.Errorf("%s: document %d is neither OTLP/JSON of spans or log records nor a case", file, i+1)
			}
		}
	}
	report.Add(recording.Run(), nil, false)
	if len(report.Sessions) == 0 {
		return fmt.Errorf("no compaction is told of in %s (%d events, %d that could not be used)",
			strings.Join(files, ", "), report.Events, sum(report.Rejected))
	}
	return nil
}

// readOTLP reads a file of OTLP/JSON and says so where its end is missing.
func (a *app) readOTLP(file string) (*otlpfile.Contents, error) {
	f, err := a.open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	contents, err := otlpfile.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if contents.Cut {
		a.warn("%s ends within a document, which is left out", file)
	}
	return contents, nil
}

func (a *app) folderOf(file string) fs.FS {
	if file == "-" {
		return os.DirFS(a.dir)
	}
	return os.DirFS(filepath.Dir(a.path(file)))
}

func isCase(document json.RawMessage) bool { return hasMember(document, "steps") }

// isOtherTelemetry reports whether a document is telemetry that tells of no
// boundary.
func isOtherTelemetry(document json.RawMessage) bool {
	return hasMember(document, "resourceMetrics") || hasMember(document, "resourceProfiles")
}

func hasMember(document json.RawMessage, name string) bool {
	var members map[string]json.RawMessage
	_, has := members[name]
	if json.Unmarshal(document, &members) == nil {
		_, has = members[name]
	}
	return has
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// errDiffers is not printed by itself: the report says what differs.
var errDiffers = errors.New("not all verdicts are as expected")

func (a *app) printReplay(report *replay.Report) error {
	p := a.print()
	if a.json {
		if err := p.JSON(report); err != nil {
			return err
		}
	} else {
		p.Table(report.Header(), report.Rows())
		for _, s := range report.Sessions {
			for _, d := range s.Differs {
				fmt.Fprintf(a.err, "%s: %s\n", term.Clean(s.Title), term.Clean(d))
			}
		}
		p.Note("")
		p.Note("%d events, window %s: %s.", report.Events, report.Window, report.Clock)
		if n := sum(report.Rejected); n > 0 {
			a.warn("%d events were recognized and could not be used: %s", n, reasonsOf(report.Rejected))
		}
	}
	switch {
	case report.OK == nil:
		return nil
	case !*report.OK:
		return errDiffers
	}
	if !a.json {
		p.Note("All verdicts are as expected.")
	}
	return nil
}

func reasonsOf(counts map[string]int) string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", reason, counts[reason]))
	}
	return strings.Join(parts, ", ")
}
