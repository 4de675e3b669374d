package report_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/report"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// The log form does not say when a boundary was opened, unless its window closed.
func TestReceiptsWithoutSpans(t *testing.T) {
	in := report.NewInput()
	in.AddLogs(writer.Logs(replayed(t, tale().td)))
	m := in.Model()
	assert.Empty(t, m.Notes)
	for _, row := range m.Rows {
		assert.Empty(t, row.Activity)
		for _, b := range row.Boundaries {
			for _, r := range b.Revisions {
				assert.Equal(t, "record", r.Form)
				assert.Equal(t, int64(-1), r.Opened)
			}
		}
	}
	s := newStory()
	s.snapshot("quiet", 5, "scope", "s")
	in = report.NewInput()
	in.AddLogs(writer.Logs(replayed(t, s.td)))
	r := in.Model().Rows[0].Boundaries[0].Revisions[0]
	assert.Equal(t, "post_observation_missing", r.Reason)
	assert.EqualValues(t, "window", r.Guessed)
	assert.Equal(t, int64(15*60*1_000_000), r.At-r.Opened)
}

// With the agent's telemetry beside them, the events that opened boundaries are known.
func TestReceiptsWithTheAgentsEvents(t *testing.T) {
	s := tale()
	in := report.NewInput()
	in.AddLogs(writer.Logs(replayed(t, s.td)))
	in.AddTraces(s.td)
	whole := map[string]int64{}
	for _, row := range s.read(t).Rows {
		for _, b := range row.Boundaries {
			whole[b.ID] = b.Revisions[0].Opened
		}
	}
	m := in.Model()
	for _, row := range m.Rows {
		for _, b := range row.Boundaries {
			assert.EqualValues(t, "events", b.Revisions[0].Guessed)
			assert.Equal(t, whole[b.ID], b.Revisions[0].Opened, "what its span says")
		}
	}
}

func TestNoReceipts(t *testing.T) {
	assert.Nil(t, report.NewInput().Model())
	in := report.NewInput()
	in.AddTraces(tale().td) // what goes into the collector, not what comes out
	assert.Nil(t, in.Model())
}

// Receipts that are there twice are one, and those that differ are told of.
func TestCopies(t *testing.T) {
	all := replayed(t, tale().td)
	in := report.NewInput()
	in.AddTraces(writer.Traces(all))
	in.AddLogs(writer.Logs(all))
	in.AddLogs(writer.Logs(all))
	once := report.NewInput()
	once.AddLogs(writer.Logs(all))
	once.AddTraces(writer.Traces(all))
	assert.Equal(t, summary(once.Model()), summary(in.Model()))
	forged := writer.Logs(all)
	records(forged)[0].Attributes().PutStr(semconv.BoundaryState, "dropped")
	in.AddLogs(forged)
	assert.Equal(t, []string{"One receipt is there twice and differs: the first is shown. continuity verify receipts says more."}, in.Model().Notes)
}

func TestReceiptsOfOthers(t *testing.T) {
	td := writer.Traces(many(1, 3))
	td.ResourceSpans().At(0).ScopeSpans().At(0).Scope().SetName("somebody else")
	in := report.NewInput()
	in.AddTraces(td)
	m := in.Model()
	assert.Equal(t, []string{"3 receipts were not written by Continuity's processor."}, m.Notes)
	assert.True(t, m.Rows[0].Boundaries[0].Last().Foreign)
}

func TestTimesThatAreNone(t *testing.T) {
	all := many(1, 4)
	ld := writer.Logs(all)
	for _, r := range records(ld) {
		r.SetTimestamp(0)
		r.SetObservedTimestamp(0)
	}
	in := report.NewInput()
	in.AddLogs(ld)
	row := in.Model().Rows[0]
	assert.True(t, row.NoTimes)
	for i, b := range row.Boundaries {
		assert.Equal(t, int64(i)*1_000_000, b.Revisions[0].At, "in the order of the file")
	}
	ld = writer.Logs(all)
	records(ld)[0].SetTimestamp(0)
	records(ld)[0].SetObservedTimestamp(7) // nor is 1970
	records(ld)[2].SetTimestamp(0)
	records(ld)[2].SetObservedTimestamp(0)
	in = report.NewInput()
	in.AddLogs(ld)
	row = in.Model().Rows[0]
	assert.False(t, row.NoTimes)
	at := func(i int) int64 { return row.Boundaries[i].Revisions[0].At }
	assert.Equal(t, at(1), at(0), "it stands with the one after it")
	assert.Equal(t, at(1), at(2), "it stands with the one before it")
	assert.True(t, row.Boundaries[2].Revisions[0].NoTime)
}

// Boundaries stand by their times, and revisions by their numbers, also where a
// clock was set back.
func TestClockOrder(t *testing.T) {
	all := many(1, 3)
	all[0].End, all[2].End = all[2].End, all[0].End
	all[1].Start = all[1].End.Add(time.Hour)
	again := *all[1]
	verdict := *again.Verdict
	verdict.Revision = 2
	again.Verdict, again.End = &verdict, all[1].End.Add(-time.Minute)
	in := report.NewInput()
	in.AddTraces(writer.Traces(append(all, &again)))
	row := in.Model().Rows[0]
	for i, b := range row.Boundaries {
		if i > 0 {
			assert.GreaterOrEqual(t, b.Revisions[0].At, row.Boundaries[i-1].Revisions[0].At)
		}
		for _, r := range b.Revisions {
			assert.LessOrEqual(t, r.Opened, r.At)
		}
	}
	assert.Equal(t, int64(2), row.Boundaries[1].Last().Number)
}

// A span that names no session belongs to that of its trace, if that is one.
func TestWorkOfATrace(t *testing.T) {
	s := tale()
	plain := s.span("docs-site", "tool", 3, 4)
	plain.Attributes().Clear()
	stranger := s.span("somebody else", "chat", 3, 4)
	stranger.SetTraceID(pcommon.TraceID{9})
	m := s.read(t)
	assert.Equal(t, []string{"One session in the files has activity and no boundary, and is left out."}, m.Notes)
	names := map[string]bool{}
	for _, row := range m.Rows {
		for _, a := range row.Activity {
			if row.Session == "docs-site" {
				names[m.Names[a.Name]] = true
			}
		}
	}
	assert.True(t, names["tool"])
}

func TestMuchWork(t *testing.T) {
	s := newStory()
	s.snapshot("s", 5, "scope", "s")
	s.look("s", "agent", 6, "scope", "s")
	for i := range 20_000 {
		span := s.span("s", "chat", float64(i)/100, float64(i)/100+.005)
		if i%1000 == 0 {
			span.Status().SetCode(ptrace.StatusCodeError)
		}
	}
	row := s.read(t).Rows[0]
	assert.LessOrEqual(t, len(row.Activity), 1501)
	count, failed := 0, 0
	for _, a := range row.Activity {
		count += max(1, a.Count)
		failed += a.Errors
	}
	assert.Equal(t, 20_002, count, "nothing is lost")
	assert.Equal(t, 20, failed)
}
