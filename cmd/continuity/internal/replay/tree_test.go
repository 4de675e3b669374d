package replay

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/otlpfile"
	"github.com/agentcontinuity/otelcol-continuity/internal/receipt"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// treeLines are the spans of testdata/agents/<agent>/tree.jsonl: all that was
// recorded of the trace around one compaction.
func treeLines(t *testing.T, agent string) []ptrace.Span {
	f, err := os.Open(filepath.Join(agents, agent, "tree.jsonl"))
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	var out []ptrace.Span
	scanner := bufio.NewScanner(f)
	for scanner.Scan() {
		var l line
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &l))
		out = append(out, spanOf(t, &l))
	}
	require.NoError(t, scanner.Err())
	return out
}

// receiptSpans are the receipts as they are written.
func receiptSpans(result *Result) []ptrace.Span {
	var out []ptrace.Span
	for _, s := range result.Sessions {
		for _, b := range s.Boundaries {
			for i := range b.Receipts {
				span := ptrace.NewSpan()
				receipt.Writer{}.Span(&b.Receipts[i], span)
				out = append(out, span)
			}
		}
	}
	return out
}

// draw draws the spans of one trace as a tracing backend does: by parent, and by
// start below one parent.
func draw(trace pcommon.TraceID, spans []ptrace.Span) string {
	spans = slices.DeleteFunc(slices.Clone(spans), func(s ptrace.Span) bool { return s.TraceID() != trace })
	slices.SortStableFunc(spans, func(a, b ptrace.Span) int { return cmp.Compare(a.StartTimestamp(), b.StartTimestamp()) })
	known := map[pcommon.SpanID]bool{}
	var away []pcommon.SpanID // parents that are not there
	for _, s := range spans {
		known[s.SpanID()] = true
	}
	for _, s := range spans {
		if p := s.ParentSpanID(); !known[p] && !p.IsEmpty() && !slices.Contains(away, p) {
			away = append(away, p)
		}
	}
	var b strings.Builder
	var below func(parent pcommon.SpanID, indent string)
	below = func(parent pcommon.SpanID, indent string) {
		children := slices.DeleteFunc(slices.Clone(spans), func(s ptrace.Span) bool { return s.ParentSpanID() != parent })
		for i, s := range children {
			branch, next := "├─ ", "│  "
			if i == len(children)-1 {
				branch, next = "└─ ", "   "
			}
			if parent.IsEmpty() {
				branch, next = "", ""
			}
			b.WriteString(indent + branch + titleOf(s) + "\n")
			below(s.SpanID(), indent+next)
		}
	}
	below(pcommon.SpanID{}, "")
	for _, p := range away {
		b.WriteString("(a span that was not recorded)\n")
		below(p, "")
	}
	return b.String()
}

func titleOf(s ptrace.Span) string {
	if s.Name() != semconv.EventBoundary {
		return fmt.Sprintf("%s  %s", s.Name(), s.EndTimestamp().AsTime().Sub(s.StartTimestamp().AsTime()).Round(time.Millisecond))
	}
	state, _ := s.Attributes().Get(semconv.BoundaryState)
	reason, _ := s.Attributes().Get(semconv.Reason)
	return fmt.Sprintf("%s  %s / %s", s.Name(), state.Str(), reason.Str())
}

// The receipt stands in the agent's own trace, below the span that the end of the
// compaction names. The pages of the agents show it.
func TestTree(t *testing.T) {
	for agent, c := range map[string]struct{ recording, parent, page string }{
		"claude-code": {"G3-pre-json-ctx", "claude_code.interaction", "claude-code.md"},
		"codex":       {"A-manual-ok", "codex.compaction", "codex.md"},
	} {
		t.Run(agent, func(t *testing.T) {
			spans := treeLines(t, agent)
			receipts := receiptSpans(play(t, agent, c.recording, &producer{answers: true}, 50*time.Millisecond, false, nil))
			require.Len(t, receipts, 1)
			i := slices.IndexFunc(spans, func(s ptrace.Span) bool { return s.Name() == c.parent })
			assert.Equal(t, spans[i].TraceID(), receipts[0].TraceID())
			assert.Equal(t, spans[i].SpanID(), receipts[0].ParentSpanID())
			assertShown(t, c.page, draw(spans[i].TraceID(), append(spans, receipts...)))
		})
	}
	t.Run("google-adk", func(t *testing.T) {
		f, err := os.Open(filepath.Join(agents, "google-adk", "compact_events.constructed.traces.json"))
		require.NoError(t, err)
		defer func() { require.NoError(t, f.Close()) }()
		contents, err := otlpfile.Read(f)
		require.NoError(t, err)
		var spans []ptrace.Span
		r := New(Options{})
		for _, d := range contents.Documents {
			for _, rs := range d.Traces.ResourceSpans().All() {
				for _, ss := range rs.ScopeSpans().All() {
					for _, span := range ss.Spans().All() {
						copied := ptrace.NewSpan()
						span.CopyTo(copied)
						spans = append(spans, copied)
					}
				}
			}
			r.AddTraces(*d.Traces)
		}
		receipts := receiptSpans(r.Run())
		require.Len(t, receipts, 1)
		assertShown(t, "google-adk.md", draw(receipts[0].TraceID(), append(spans, receipts...)))
	})
}

func assertShown(t *testing.T, page, tree string) {
	text, err := os.ReadFile(filepath.Join("../../../../docs/agents", page))
	require.NoError(t, err)
	assert.Contains(t, string(text), "```\n"+tree+"```\n", "%s shows another tree than\n%s", page, tree)
}

// Where the verdict is there before the agent's record is, as it is exported in
// batches, the receipt has a trace of its own. The verdict is the same.
func TestVerdictBeforeTheRecord(t *testing.T) {
	receipts := receiptSpans(play(t, "claude-code", "G3-pre-json-ctx", &producer{answers: true}, 5*time.Second, false, nil))
	require.Len(t, receipts, 1)
	assert.True(t, receipts[0].ParentSpanID().IsEmpty())
}
