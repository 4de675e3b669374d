package continuityprocessor

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// An agent is compacted, edits two files and runs a command, and is asked only then
// what still holds. The receipt says how much it changed meanwhile, in the trace of
// the prompt that the agent's own record names.
func TestWritesBeforeObservation(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := start(t)
		at := func(s float64) time.Time { return morning.Add(time.Duration(s * float64(time.Second))) }
		send := func(events ...event) {
			require.NoError(t, p.logs.ConsumeLogs(context.Background(), records(events...)))
		}
		interaction, prompt := pcommon.SpanID{0xc1}, pcommon.TraceID{0xc1}
		claude := func(name string, at time.Time, attrs map[string]any) {
			ld := plog.NewLogs()
			record := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
			record.Body().SetStr(name)
			record.SetTimestamp(pcommon.NewTimestampFromTime(at))
			record.SetTraceID(prompt)
			record.SetSpanID(interaction)
			record.Attributes().PutStr(semconv.SessionID, "s")
			put(record.Attributes(), attrs)
			require.NoError(t, p.logs.ConsumeLogs(context.Background(), ld))
		}
		tool := func(name string, at time.Time) {
			claude("claude_code.tool_result", at, map[string]any{"tool_name": name, "success": "true"})
		}

		tool("Edit", at(-1)) // it still knew
		send(snapshot("s", at(0), original()))
		tool("Write", at(0.1)) // while it was compacted
		claude("claude_code.compaction", at(0.5), map[string]any{"success": "true", "trigger": "auto", "pre_tokens": "9000", "post_tokens": "700"})
		tool("Edit", at(1))
		tool("Read", at(2)) // changes nothing
		tool("Edit", at(3))
		tool("Bash", at(4))
		time.Sleep(5 * time.Second)
		send(observation("s", at(5), original()))
		tool("Edit", at(6)) // it is known what it knows
		time.Sleep(time.Second)

		receipts := p.receipts()
		require.Len(t, receipts, 1)
		r := receipts[0]
		assert.Equal(t, "preserved", r[semconv.BoundaryState])
		assert.EqualValues(t, 3, r[semconv.WritesBefore])
		assert.Equal(t, "claude_code", r[semconv.Runtime])
		assert.Equal(t, "auto", r[semconv.CompactionTrigger])
		for _, td := range p.tracesOut.AllTraces() {
			for _, span := range spansOf(td) {
				assert.Equal(t, prompt, span.TraceID())
				assert.Equal(t, interaction, span.ParentSpanID())
			}
		}
		log := p.records(semconv.EventBoundary)
		require.Len(t, log, 1)
		assert.EqualValues(t, 3, log[0][semconv.WritesBefore])
	})
}
