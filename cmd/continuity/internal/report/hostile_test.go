package report_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/report"
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// faultless fails if the page complained, or asked for anything.
func (b *browser) faultless() {
	b.t.Helper()
	b.frames()
	for {
		select {
		case m := <-b.events:
			text := string(m.Params)
			switch m.Method {
			case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
				b.t.Errorf("%s: %s", m.Method, text)
			case "Network.requestWillBeSent":
				var sent struct{ Request struct{ URL string } }
				require.NoError(b.t, json.Unmarshal(m.Params, &sent))
				own := strings.HasPrefix(sent.Request.URL, "file:///") && strings.HasSuffix(sent.Request.URL, "/report.html")
				if !own && !strings.HasPrefix(sent.Request.URL, "data:image/svg+xml,<svg xmlns=\"http://www.w3.org/2000/svg\"><filter") { // the latter is how colors are emulated
					b.t.Errorf("the page asked for %s", sent.Request.URL)
				}
			}
		default:
			return
		}
	}
}

// openList gives the focus to the list, as the key Tab does.
func (b *browser) openList() {
	b.press("Tab") // from now on the focus is visible
	b.eval("document.querySelector('#list').focus()", nil)
	b.frames()
}

// Nothing of a file becomes part of the page but as text.
func TestHostileTexts(t *testing.T) {
	b := startBrowser(t)
	b.window(1360, 940)
	in := report.NewInput()
	for i, id := range hostile {
		ld := writer.Logs(many(1, 1))
		for _, record := range records(ld) {
			record.Attributes().PutStr(semconv.ConversationID, id)
			record.Attributes().PutStr(semconv.BoundaryID, fmt.Sprint(i, id))
			record.Attributes().PutStr(semconv.Reason, id)
			record.Attributes().PutStr(semconv.Runtime, id)
			record.Attributes().PutStr(semconv.InvariantState+id, "dropped")
			record.Attributes().PutStr(semconv.InvariantReason+id, id)
		}
		in.AddLogs(ld)
	}
	m := in.Model()
	m.Title = hostile[0]
	for _, text := range hostile {
		m.Sources = append(m.Sources, report.Show(text))
	}
	b.open(rendered(t, m))
	b.shot("hostile")
	assert.Equal(t, fmt.Sprintf("%d boundaries, %d timelines", len(hostile), len(hostile)), b.text("document.querySelector('#count').textContent"))
	b.openList()
	for range hostile {
		b.press("Enter", "Escape", "ArrowDown")
	}
	b.press("Enter")
	b.shot("hostile-details")
	assert.False(t, b.holds("window.hit"), "a script of the file ran")
	assert.InDelta(t, 0, b.number("document.querySelectorAll('img, iframe, object, base, link, form').length"), 0)
	assert.InDelta(t, 1, b.number("document.querySelectorAll('script:not([type])').length"), 0)
	assert.True(t, b.holds("document.documentElement.scrollWidth <= innerWidth"), "nothing is beyond the edge")
	b.faultless()
}

// hostile are texts that somebody else wrote.
var hostile = []string{
	`</script><script>window.hit = 1</script>`, `<img src=x onerror="window.hit=1">`, `"onmouseover="window.hit=1`, `<!--<script>`, `]]>&lt;b&gt;`,
	"right\u202eto left\u2066", "two\nlines\x00\x1b[31m", "{{.Title}} ${window.hit=1} `", strings.Repeat("long ", 2000), "a\u2028b\ufeff", "__proto__",
}

func records(ld plog.Logs) (out []plog.LogRecord) {
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, r := range sl.LogRecords().All() {
				out = append(out, r)
			}
		}
	}
	return out
}

// Files that are odd make a page all the same.
func TestOddFiles(t *testing.T) {
	b := startBrowser(t)
	b.window(1360, 940)
	show := func(name string, all []*boundary.Receipt, change func(plog.LogRecord)) {
		in := report.NewInput()
		if change == nil {
			in.AddTraces(writer.Traces(all))
		} else {
			ld := writer.Logs(all)
			for _, r := range records(ld) {
				change(r)
			}
			in.AddLogs(ld)
		}
		m := in.Model()
		m.Title = name
		b.open(rendered(t, m))
		b.openList()
		b.press("End", "Enter")
		b.shot("odd-" + name)
		assert.False(t, b.holds("document.querySelector('#panel').hidden"), name)
		assert.False(t, b.holds(`/NaN|undefined|null|Infinity|\[object/.test(document.querySelector("#list").outerHTML + document.querySelector("#panel").innerText)`), name)
		b.faultless()
	}
	long := many(1, 3)
	long[0].Window, long[0].Start = 30*24*time.Hour, long[0].End.Add(-29*24*time.Hour)
	long[1].Window = 10 * 365 * 24 * time.Hour
	show("long-windows", long, nil)
	show("one-boundary", many(1, 1), nil)
	same := many(1, 40)
	for _, r := range same {
		r.Start, r.End = morning, morning
	}
	show("all-at-once", same, nil)
	show("no-times", many(1, 8), func(r plog.LogRecord) { r.SetTimestamp(0); r.SetObservedTimestamp(0) })
	show("nothing-known", many(1, 2), func(r plog.LogRecord) {
		r.Attributes().RemoveIf(func(key string, _ pcommon.Value) bool { return key != semconv.ConversationID })
		r.SetTraceID(pcommon.TraceID{})
		r.SetSpanID(pcommon.SpanID{})
	})
	show("unknown-words", many(1, 5), func(r plog.LogRecord) {
		r.Attributes().PutStr(semconv.BoundaryState, "splendid")
		r.Attributes().PutStr(semconv.State, "splendid")
		r.Attributes().PutStr(semconv.Reason, "constructor")
	})
	agents := many(1, 6)
	for i, r := range agents {
		r.Key.Agent = []string{"", "planner", "tester"}[i%3]
		r.Identity = append(r.Identity, boundary.Attr{Key: semconv.AgentID, Value: r.Key.Agent})
	}
	show("agents", agents, nil)
}
