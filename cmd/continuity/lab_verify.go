package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/receipts"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/replay"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/term"
)

func (a *app) verifyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check receipts, or signatures of approvals",
		Args:  cobra.NoArgs,
	}
	c.AddCommand(a.verifyReceiptsCommand(), a.verifyApprovalCommand())
	return c
}

func (a *app) verifyReceiptsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "receipts FILE...",
		Short: "Check that receipts are complete and consistent",
		Long: `Check the receipts in files of the collector's file exporter (OTLP/JSON, "-" is
the standard input): each is the processor's and is complete; its state is the
roll-up of its findings, its action fits; revisions count up without a gap; alerts
are known and belong to a receipt; and span and log record of one receipt agree.

This shows that nothing was lost or changed by accident. It is no proof against
somebody who writes the file: receipts are not signed.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, files []string) error { return a.verifyReceipts(files) },
	}
}

var errInconsistent = errors.New("the receipts are not consistent")

func (a *app) verifyReceipts(files []string) error {
	var set receipts.Set
	for _, file := range files {
		contents, err := a.readOTLP(file)
		if err != nil {
			return err
		}
		for i, d := range contents.Documents {
			where := fmt.Sprintf("%s: document %d", file, i+1)
			switch {
			case d.Traces != nil:
				set.AddTraces(*d.Traces, where)
			case d.Logs != nil:
				set.AddLogs(*d.Logs, where)
			case !isOtherTelemetry(d.Other):
				return fmt.Errorf("%s is no OTLP/JSON of spans or log records", where)
			}
		}
	}
	report := set.Check()
	if err := a.printReceipts(report); err != nil {
		return err
	}
	switch {
	case !report.OK:
		return errInconsistent
	case report.Receipts == 0:
		return errors.New("there are no receipts")
	}
	return nil
}

func (a *app) printReceipts(report *receipts.Report) error {
	p := a.print()
	if a.json {
		return p.JSON(report)
	}
	var rows [][]term.Cell
	for _, state := range report.StatesInOrder() {
		c := report.States[state]
		rows = append(rows, []term.Cell{
			term.Styled(replay.StyleOf(state), state), term.Text(fmt.Sprint(c.Boundaries)),
			term.Text(fmt.Sprint(c.Receipts)), term.Text(fmt.Sprint(c.Firing)),
		})
	}
	p.Table([]string{"STATE", "BOUNDARIES", "RECEIPTS", "ALERTS FIRED"}, rows)
	p.Note("")
	p.Note("Receipts, as spans and as records: %d, and %d copies. Boundaries: %d. Alerts: %d.",
		report.Receipts, report.Copies, report.Boundaries, report.Alerts)
	for _, problem := range report.Problems {
		fmt.Fprintf(a.err, "%s (session %s, boundary %s, revision %d): %s\n", term.Clean(problem.Where), term.Clean(problem.Session),
			term.Clean(problem.Boundary), problem.Revision, term.Clean(problem.Problem))
	}
	if report.OK && report.Receipts > 0 {
		p.Note("All of them are complete and consistent.")
	}
	return nil
}
