package continuityprocessor

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/golden"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/pdatatest/plogtest"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/pdatatest/ptracetest"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// sixCases are the compactions that a rule on events alone calls healthy.
func sixCases() map[string][]event {
	before, after := morning.Add(time.Second), morning.Add(time.Minute)
	approval := event{
		name: semconv.EventApproval, session: "s-3", at: morning.Add(30 * time.Second),
		attrs: map[string]any{
			semconv.ApprovalInvariant: "acceptance_test", semconv.ApprovalRef: "CHG-7",
			semconv.ApprovalFrom: digestOf("make test"), semconv.ApprovalTo: digestOf("make test lint"),
			semconv.ApprovalApprover: "reviewer-1", semconv.ApprovalSource: "human",
			semconv.ApprovalApprovedAt: morning.Add(20 * time.Second).Format(time.RFC3339),
		},
	}
	probed := observation("s-2", after, original())
	probed.attrs[semconv.InvariantSource+"scope"] = "environment"
	probed.attrs[semconv.InvariantSource+"acceptance_test"] = "environment"
	stale := observation("s-6", after, original())
	stale.attrs[semconv.InvariantObservedAt+"acceptance_test"] = before.UnixNano()
	return map[string][]event{
		"1_kept":                     {snapshot("s-1", before, original()), observation("s-1", after, original())},
		"2_kept_and_probed":          {snapshot("s-2", before, original()), probed},
		"3_approved_acceptance_test": {snapshot("s-3", before, original()), approval, observation("s-3", after, original().with("acceptance_test", "make test lint"))},
		"4_lost_approval_boundary":   {snapshot("s-4", before, original()), observation("s-4", after, original().without("approval_boundary"))},
		"5_scope_changed":            {snapshot("s-5", before, original()), observation("s-5", after, original().with("scope", "repo:other"))},
		"6_test_not_seen_again":      {snapshot("s-6", before, original()), stale},
	}
}

// TestSixCases replays testdata/six/<case>/<signal>/in.yaml, each resource as a
// request of its own at the time of its event, and compares all that comes out
// of both pipelines until the window is over.
func TestSixCases(t *testing.T) {
	for name, events := range sixCases() {
		t.Run(name+"/traces", func(t *testing.T) {
			dir := filepath.Join("testdata", "six", name, "traces")
			if *update {
				require.NoError(t, os.MkdirAll(dir, 0o755))
				require.NoError(t, golden.WriteTracesToFile(filepath.Join(dir, "in.yaml"), spans(events...)))
			}
			in, err := golden.ReadTraces(filepath.Join(dir, "in.yaml"))
			require.NoError(t, err)
			inBubble(t, func(t *testing.T) {
				p := start(t)
				for _, rs := range in.ResourceSpans().All() {
					one := ptrace.NewTraces()
					rs.CopyTo(one.ResourceSpans().AppendEmpty())
					time.Sleep(time.Until(spansOf(one)[0].StartTimestamp().AsTime()))
					require.NoError(t, p.traces.ConsumeTraces(t.Context(), one))
				}
				p.compareWith(dir)
			})
		})
		t.Run(name+"/logs", func(t *testing.T) {
			dir := filepath.Join("testdata", "six", name, "logs")
			if *update {
				require.NoError(t, os.MkdirAll(dir, 0o755))
				require.NoError(t, golden.WriteLogsToFile(filepath.Join(dir, "in.yaml"), records(events...)))
			}
			in, err := golden.ReadLogs(filepath.Join(dir, "in.yaml"))
			require.NoError(t, err)
			inBubble(t, func(t *testing.T) {
				p := start(t)
				for _, rl := range in.ResourceLogs().All() {
					one := plog.NewLogs()
					rl.CopyTo(one.ResourceLogs().AppendEmpty())
					time.Sleep(time.Until(recordsOf(one)[0].Timestamp().AsTime()))
					require.NoError(t, p.logs.ConsumeLogs(t.Context(), one))
				}
				p.compareWith(dir)
			})
		})
	}
}

// compareWith lets all windows pass and compares what came out since the start.
func (p *pipelines) compareWith(dir string) {
	time.Sleep(time.Hour)
	synctest.Wait()
	// Receipts come from another goroutine, before or after what led to them.
	traces, logs, spanReceipts, logReceipts := ptrace.NewTraces(), plog.NewLogs(), ptrace.NewTraces(), plog.NewLogs()
	for _, td := range p.tracesOut.AllTraces() {
		to := traces
		if isReceipts(td) {
			to = spanReceipts
		}
		td.ResourceSpans().MoveAndAppendTo(to.ResourceSpans())
	}
	for _, ld := range p.logsOut.AllLogs() {
		to := logs
		if isLogReceipts(ld) {
			to = logReceipts
		}
		ld.ResourceLogs().MoveAndAppendTo(to.ResourceLogs())
	}
	spanReceipts.ResourceSpans().MoveAndAppendTo(traces.ResourceSpans())
	logReceipts.ResourceLogs().MoveAndAppendTo(logs.ResourceLogs())
	tracesFile, logsFile := filepath.Join(dir, "out.traces.yaml"), filepath.Join(dir, "out.logs.yaml")
	if *update {
		require.NoError(p.t, golden.WriteTracesToFile(tracesFile, traces))
		require.NoError(p.t, golden.WriteLogsToFile(logsFile, logs))
		return
	}
	wantTraces, err := golden.ReadTraces(tracesFile)
	require.NoError(p.t, err)
	require.NoError(p.t, ptracetest.CompareTraces(wantTraces, traces))
	wantLogs, err := golden.ReadLogs(logsFile)
	require.NoError(p.t, err)
	require.NoError(p.t, plogtest.CompareLogs(wantLogs, logs))
}
