package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/cases"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
	"github.com/agentcontinuity/otelcol-continuity/testdata"
)

const deploy = ".."

// From a session to a pager and back: the collector's metrics, Prometheus with the
// rules as they stand, and Alertmanager with its routes as they stand.
func TestPrometheusAndAlertmanager(t *testing.T) {
	collectorFile := program(t, "CONTINUITY_BINARY", "test-prometheus")
	prometheusFile := program(t, "CONTINUITY_PROMETHEUS", "test-prometheus")
	alertmanagerFile := program(t, "CONTINUITY_ALERTMANAGER", "test-prometheus")

	pager := newPager(t)
	c := startCollector(t, collectorFile, "")
	p := ports(t, 2)
	alertmanager := startAlertmanager(t, alertmanagerFile, p[0], pager.URL)
	prometheus := startPrometheus(t, prometheusFile, p[1], p[0], c.metrics)
	base := "http://127.0.0.1:" + p[1]
	alertmanager.await(t, "Alertmanager is ready", func() error { _, err := get("http://127.0.0.1:" + p[0] + "/-/ready"); return err })
	prometheus.await(t, "Prometheus scrapes the collector", func() error {
		n, err := value(base, `count(otelcol_processor_continuity_boundaries_total)`)
		if err == nil && n == 0 {
			err = fmt.Errorf("no boundaries yet")
		}
		return err
	})

	six, recorded := load(t, testdata.Six), load(t, testdata.Recorded)
	for _, one := range six {
		c.send(t, play(t, one))
	}
	for _, one := range recorded {
		c.send(t, play(t, one))
	}
	c.send(t, []cases.Request{refusal("effect")})
	// More compactions of one session, minutes apart. A histogram begins with its first value, which no increase
	// shows: hence two of them, scraped one by one.
	const intervals = "sum(otelcol_processor_continuity_compaction_interval_seconds_count)"
	for n := range 2 {
		requests, err := recorded["claude_code"].Play(time.Now().Add(time.Duration(n+1) * 3 * time.Minute))
		require.NoError(t, err)
		c.send(t, requests)
		prometheus.await(t, "the time between compactions is scraped", func() error {
			got, err := value(base, intervals)
			if err == nil && int(got) != n+1 {
				err = fmt.Errorf("%v intervals, expected %d", got, n+1)
			}
			return err
		})
	}

	// Each fires, at its own receiver.
	want := map[string]string{
		"ContinuityDecisionConflicting": "pager", "ContinuityDecisionDropped": "pager", "ContinuityEffectUnresolved": "pager",
		"ContinuityObservationMissing": "tickets",
	}
	for name, receiver := range want {
		prometheus.await(t, name+" is firing", func() error { return pager.told(name, receiver, "firing") })
	}
	// What an alert says leads to the receipt.
	for kind, session := range map[string]string{
		"decision_conflicting": "demo-scope_changed", "decision_dropped": "demo-approval_boundary_lost",
		"post_observation_missing": "demo-test_not_looked_at_again", "reconciliation_required": "demo-effect",
	} {
		assert.Contains(t, grep(t, c.receipts, kind), session)
	}

	t.Run("dashboards", func(t *testing.T) { checkDashboards(t, prometheus, base) })

	// The agents restate what was in force before; what is known of effects does not change by that.
	for _, name := range []string{"scope_changed", "approval_boundary_lost", "test_not_looked_at_again"} {
		c.send(t, play(t, restated(six[name])))
	}
	for name, receiver := range want {
		if name != "ContinuityEffectUnresolved" {
			prometheus.await(t, name+" is resolved", func() error { return pager.told(name, receiver, "resolved") })
		}
	}
	assert.Error(t, pager.told("ContinuityEffectUnresolved", "pager", "resolved"))

	text := pager.all()
	assert.NotContains(t, text, "demo-", "an alert names a session")
	assert.Contains(t, text, "docs/backends.md")
}

// restated is a session whose agent shows all that was in force at first.
func restated(c *cases.Case) *cases.Case {
	now := cases.Offset(0)
	return &cases.Case{Name: c.Name, Steps: []cases.Step{{
		Kind: "observation", ObservedAt: &now, Source: "agent", Invariants: c.Steps[0].Invariants,
	}}}
}

// refusal is a runtime that does not resume because it does not know whether it wrote.
func refusal(name string) cases.Request {
	td := ptrace.NewTraces()
	span := newSpan(td, name, "resume")
	e := span.Events().AppendEmpty()
	e.SetName(semconv.EventValidationFailed)
	e.SetTimestamp(span.StartTimestamp())
	e.Attributes().PutStr(semconv.ValidationStatus, "blocked_on_reconciliation")
	e.Attributes().PutStr(semconv.ValidationReason, "unknown_side_effect")
	return cases.Request{Traces: td, Logs: plog.NewLogs()}
}

func newSpan(td ptrace.Traces, session, name string) ptrace.Span {
	now := time.Now()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "demo-agent")
	span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	var trace pcommon.TraceID
	copy(trace[:], session+"/trace of the test")
	span.SetTraceID(trace)
	var id pcommon.SpanID
	copy(id[:], name+"/12345678")
	span.SetSpanID(id)
	span.SetName(name)
	span.SetStartTimestamp(pcommon.NewTimestampFromTime(now.Add(-50 * time.Millisecond)))
	span.SetEndTimestamp(pcommon.NewTimestampFromTime(now))
	span.Attributes().PutStr(semconv.ConversationID, "demo-"+session)
	return span
}

func grep(t *testing.T, file, word string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var found []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, word) {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}

// startAlertmanager starts it with the configuration of deploy/prometheus, sooner
// and towards the test.
func startAlertmanager(t *testing.T, file, port, pager string) *process {
	t.Helper()
	text := replaced(t, "alertmanager.yaml", "http://127.0.0.1:9095", pager, "group_wait: 30s", "group_wait: 100ms", "group_interval: 5m", "group_interval: 1s")
	dir := t.TempDir()
	config := filepath.Join(dir, "alertmanager.yaml")
	require.NoError(t, os.WriteFile(config, text, 0o600))
	return start(t, "alertmanager", nil, file, "--config.file="+config, "--storage.path="+filepath.Join(dir, "data"),
		"--web.listen-address=127.0.0.1:"+port, "--cluster.listen-address=")
}

func startPrometheus(t *testing.T, file, port, alertmanager, target string) *process {
	t.Helper()
	text := replaced(t, "prometheus.yaml", "127.0.0.1:9093", "127.0.0.1:"+alertmanager, "127.0.0.1:8888", target,
		"_interval: 15s", "_interval: 1s", "continuity.rules.yaml", "rules.yaml")
	dir := t.TempDir()
	rules, err := os.ReadFile(filepath.Join(deploy, "prometheus", "continuity.rules.yaml"))
	require.NoError(t, err)
	rules = regexp.MustCompile(` interval: \d+m`).ReplaceAll(rules, []byte(" interval: 1s"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rules.yaml"), rules, 0o600))
	config := filepath.Join(dir, "prometheus.yaml")
	require.NoError(t, os.WriteFile(config, text, 0o600))
	return start(t, "prometheus", nil, file, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address=127.0.0.1:"+port)
}

// replaced is a file of deploy/prometheus with texts in it replaced.
func replaced(t *testing.T, name string, pairs ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, "prometheus", name))
	require.NoError(t, err)
	for i := 0; i < len(pairs); i += 2 {
		require.Contains(t, string(text), pairs[i], name)
		text = bytes.ReplaceAll(text, []byte(pairs[i]), []byte(pairs[i+1]))
	}
	return text
}

// pager takes what Alertmanager sends.
type pager struct {
	*httptest.Server
	mu    sync.Mutex
	heard []notification
	text  strings.Builder
}

type notification struct {
	receiver string
	Status   string `json:"status"`
	Alerts   []struct {
		Status      string            `json:"status"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"alerts"`
}

func newPager(t *testing.T) *pager {
	t.Helper()
	p := &pager{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n := notification{receiver: strings.TrimPrefix(r.URL.Path, "/")}
		var b bytes.Buffer
		_, err := b.ReadFrom(r.Body)
		if err == nil {
			err = json.Unmarshal(b.Bytes(), &n)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if err != nil {
			t.Errorf("what Alertmanager sent cannot be read: %v", err)
			return
		}
		p.heard = append(p.heard, n)
		p.text.Write(b.Bytes())
	}))
	t.Cleanup(p.Close)
	return p
}

// told says what is missing to an alert that came to a receiver with a status, after
// all that came of it before.
func (p *pager) told(name, receiver, status string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := "nothing"
	for _, n := range p.heard {
		for _, a := range n.Alerts {
			if a.Labels["alertname"] == name {
				last = n.receiver + " " + a.Status
			}
		}
	}
	if want := receiver + " " + status; last != want {
		return fmt.Errorf("%s: heard %s, not %s", name, last, want)
	}
	return nil
}

func (p *pager) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// answer is what Prometheus' query API returns.
type answer struct {
	Data struct {
		Result []struct {
			Metric map[string]string `json:"metric"`
			Value  [2]any            `json:"value"`
		} `json:"result"`
	} `json:"data"`
}

func ask(base, query string) (answer, error) {
	var a answer
	return a, getJSON(base+"/api/v1/query?query="+url.QueryEscape(query), &a)
}

// value is the sum of what a query answers.
func value(base, query string) (float64, error) {
	a, err := ask(base, query)
	sum := 0.0
	for _, r := range a.Data.Result {
		var n float64
		if _, err := fmt.Sscan(fmt.Sprint(r.Value[1]), &n); err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, err
}

// checkDashboards asks Prometheus each query of each dashboard, and whether it knows
// each metric in it.
func checkDashboards(t *testing.T, prometheus *process, base string) {
	files, err := filepath.Glob(filepath.Join(deploy, "grafana", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	variables := strings.NewReplacer("$__rate_interval", "1m", "$__range", "1h", "$__interval", "1m", "$job", ".*", "$runtime", ".*")
	metric := regexp.MustCompile(`\b(otelcol_\w+|\w+:\w+:\w+)`)
	wanted := map[string]bool{}
	var exprs []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var d struct {
			Panels []struct {
				Title   string
				Targets []struct{ Expr string }
			}
		}
		require.NoError(t, json.Unmarshal(text, &d))
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				expr := variables.Replace(target.Expr)
				exprs = append(exprs, expr)
				for _, name := range metric.FindAllString(expr, -1) {
					wanted[name] = true
				}
			}
		}
	}
	require.Greater(t, len(exprs), 40)
	prometheus.await(t, "all metrics of the dashboards exist", func() error {
		var names struct{ Data []string }
		if err := getJSON(base+"/api/v1/label/__name__/values", &names); err != nil {
			return err
		}
		for name := range wanted {
			if !slices.Contains(names.Data, name) {
				return fmt.Errorf("there is no %s", name)
			}
		}
		return nil
	})
	empty := 0
	for _, expr := range exprs {
		a, err := ask(base, expr)
		if assert.NoError(t, err, expr) && len(a.Data.Result) == 0 {
			t.Logf("no data: %s", expr)
			empty++
		}
	}
	t.Logf("%d queries, %d without data here", len(exprs), empty)
	assert.Less(t, empty, len(exprs)/4, "most queries have something to show")
}
