package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/report"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/term"
)

// reportCommands show receipts to people.
func (a *app) reportCommands() []*cobra.Command { return []*cobra.Command{a.reportCommand()} }

type reportOptions struct {
	out, title string
	force      bool
}

func (a *app) reportCommand() *cobra.Command {
	var o reportOptions
	c := &cobra.Command{
		Use:   "report RECEIPTS...",
		Short: "Draw receipts as one page to look at",
		Long: `Draw receipts as one HTML page that needs no network: a timeline for each session,
with what the agent did and what became of its decisions in lanes of their own.

RECEIPTS are OTLP/JSON, as the collector's file exporter writes them: the file of
the default configuration, or an export of spans and log records, which also shows
the agent's work. "-" is the standard input. Several files make one page.

An older page is replaced; any other file only with --force.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, files []string) error { return a.report(o, files) },
	}
	c.Flags().StringVarP(&o.out, "output", "o", "report.html", `the page; "-" is the standard output`)
	c.Flags().StringVar(&o.title, "title", "Continuity report", "title of the page")
	c.Flags().BoolVar(&o.force, "force", false, "replace a file that is no such page")
	return c
}

// reportDone is what the command prints with --json.
type reportDone struct {
	File       string         `json:"file"`
	Sessions   int            `json:"sessions"`
	Boundaries int            `json:"boundaries"`
	States     map[string]int `json:"states"`
	Notes      []string       `json:"notes"`
}

func (a *app) report(o reportOptions, files []string) error {
	if o.out == "" {
		return errors.New("--output must name a file")
	}
	model, err := a.readReport(o, files)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := report.Render(&page, model); err != nil {
		return err
	}
	if o.out == "-" {
		_, err := page.WriteTo(a.out)
		return err
	}
	if err := replaceReport(a.path(o.out), page.Bytes(), o.force); err != nil {
		return err
	}
	return a.printReport(o.out, model)
}

const cutNote = " ends within a document, which is left out."

func (a *app) readReport(o reportOptions, files []string) (*report.Model, error) {
	in := report.NewInput()
	cut := []string{}
	for _, file := range files {
		contents, err := a.readOTLP(file)
		if err != nil {
			return nil, err
		}
		if contents.Cut {
			cut = append(cut, report.Show(file)+cutNote)
		}
		for i, d := range contents.Documents {
			switch {
			case d.Traces != nil:
				in.AddTraces(*d.Traces)
			case d.Logs != nil:
				in.AddLogs(*d.Logs)
			case !isOtherTelemetry(d.Other):
				return nil, fmt.Errorf("%s: document %d is no OTLP/JSON of spans or log records", file, i+1)
			}
		}
	}
	model := in.Model()
	if model == nil {
		return nil, fmt.Errorf("there are no receipts in %s: is it what comes out of the collector, not what goes in?", strings.Join(files, ", "))
	}
	model.Title = report.Show(o.title)
	for _, file := range files {
		model.Sources = append(model.Sources, report.Show(file))
	}
	model.Notes = append(cut, model.Notes...)
	return model, nil
}

var errNoReport = errors.New("exists and is no page of this command: --force replaces it")

// replaceReport writes a page, whole or not at all.
func replaceReport(path string, page []byte, force bool) error {
	if !force {
		if err := isReport(path); err != nil {
			return err
		}
	}
	dir, name := filepath.Split(path)
	f, err := os.CreateTemp(filepath.Clean(dir+"."), "."+name+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(page)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// isReport returns an error where there is a file that is no page of ours.
func isReport(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	head := make([]byte, len(report.Marker))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != report.Marker {
		return fmt.Errorf("%s %w", path, errNoReport)
	}
	return nil
}

func (a *app) printReport(file string, m *report.Model) error {
	done := reportDone{File: file, Sessions: len(m.Rows), States: map[string]int{}, Notes: m.Notes}
	for _, row := range m.Rows {
		done.Boundaries += len(row.Boundaries)
		for _, b := range row.Boundaries {
			if state := b.Last().Boundary; state >= 0 {
				done.States[m.States[state]]++
			}
		}
	}
	p := a.print()
	if a.json {
		return p.JSON(done)
	}
	var parts []string
	for _, state := range slices.Backward(m.States) {
		if n := done.States[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	p.Line("%s: %d sessions, %d boundaries: %s", term.Clean(file), done.Sessions, done.Boundaries, strings.Join(parts, ", "))
	for _, note := range m.Notes {
		if !strings.HasSuffix(note, cutNote) { // that was said when it was read
			a.warn("%s", note)
		}
	}
	return nil
}
