// Package deploy_test checks that rules and dashboards ask for what there is.
package deploy_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const documentation = "../processor/continuityprocessor/documentation.md"

// ofTheCollector are the metrics of others that are used. The end-to-end test asks
// a real collector for them.
var ofTheCollector = []string{
	"otelcol_receiver_accepted_spans_total", "otelcol_receiver_accepted_log_records_total",
	"otelcol_process_cpu_seconds_total", "otelcol_process_memory_rss_bytes",
}

// labels are the values of each label of a metric; none are listed of an open one.
type labels map[string][]string

// metrics reads the page of the processor's metrics, by the names that Prometheus
// gives them.
func metrics(t *testing.T) map[string]labels {
	t.Helper()
	text, err := os.ReadFile(documentation)
	require.NoError(t, err)
	units := map[string]string{"s": "_seconds", "By": "_bytes"}
	row := regexp.MustCompile(`(?m)^\| (\S+) \| (Sum|Gauge|Histogram) \|`)
	label := regexp.MustCompile(`(?m)^\| (\w+) \| .* \| (Str: (.*)|Any Str) \| - \|$`)
	all := map[string]labels{}
	for _, section := range strings.Split(string(text), "\n### ")[1:] {
		name, rest, _ := strings.Cut(section, "\n")
		kind := row.FindStringSubmatch(rest)
		require.NotNil(t, kind, name)
		name += units[kind[1]]
		has := labels{}
		for _, l := range label.FindAllStringSubmatch(rest, -1) {
			has[l[1]] = nil
			if l[3] != "" {
				has[l[1]] = strings.Split(strings.ReplaceAll(l[3], "`", ""), ", ")
			}
		}
		switch kind[2] {
		case "Sum":
			all[name+"_total"] = has
		case "Gauge":
			all[name] = has
		case "Histogram":
			all[name+"_sum"], all[name+"_count"] = has, has
			buckets := maps.Clone(has)
			buckets["le"] = nil
			all[name+"_bucket"] = buckets
		}
	}
	require.Greater(t, len(all), 30)
	for _, name := range ofTheCollector {
		all[name] = labels{}
	}
	return all
}

type rule struct {
	Record, Alert, Expr string
	Labels, Annotations map[string]string
}

func rules(t *testing.T) []rule {
	t.Helper()
	text, err := os.ReadFile("prometheus/continuity.rules.yaml")
	require.NoError(t, err)
	var file struct {
		Groups []struct{ Rules []rule }
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	var all []rule
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	require.Greater(t, len(all), 20)
	return all
}

// queries are those of all dashboards, by panel.
func queries(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("grafana/*.json")
	require.NoError(t, err)
	all := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var d struct {
			Panels []struct {
				Title   string
				Targets []struct{ RefID, Expr string }
			}
			Templating struct {
				List []struct {
					Name, Type string
					Query      any
				}
			}
		}
		require.NoError(t, json.Unmarshal(text, &d))
		for _, v := range d.Templating.List {
			if v.Type == "query" {
				ask := v.Query.(map[string]any)["query"].(string)
				series, label, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(ask, "label_values("), ")"), ", ")
				require.True(t, ok, ask)
				all[file+": variable "+v.Name] = "sum by (" + label + ") (" + series + ")"
			}
		}
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				all[file+": "+p.Title+" "+target.RefID] = target.Expr
			}
		}
	}
	require.Greater(t, len(all), 40)
	return all
}

var (
	word     = regexp.MustCompile(`[a-zA-Z_][a-zA-Z0-9_:]*`)
	quoted   = regexp.MustCompile(`"[^"]*"|\[[^\]]*\]`)
	selector = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_:]*)\{([^}]*)\}`)
	matcher  = regexp.MustCompile(`(\w+)(=~|!~|!=|=)"([^"]*)"`)
	grouping = regexp.MustCompile(`\b(by|without|on|ignoring|group_left|group_right) ?\(([^)]*)\)`)
)

// language are the words of PromQL that are used.
var language = []string{
	"sum", "max", "min", "count", "topk", "by", "without", "on", "group_left", "and", "or", "unless", "increase", "rate", "histogram_quantile",
	"absent", "vector", "offset", "bool",
}

// ofTheTarget are the labels that Prometheus itself gives.
var ofTheTarget = []string{"job", "instance", "pod"}

// problems says what an expression asks for that does not exist.
func problems(expr string, known map[string]labels) []string {
	var found []string
	everywhere := slices.Clone(ofTheTarget)
	for _, has := range known {
		everywhere = slices.AppendSeq(everywhere, maps.Keys(has))
	}
	bare := quoted.ReplaceAllString(expr, "")
	for _, g := range grouping.FindAllStringSubmatch(bare, -1) {
		for _, label := range word.FindAllString(g[2], -1) {
			if !slices.Contains(everywhere, label) {
				found = append(found, "no label "+label)
			}
		}
	}
	names := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(grouping.ReplaceAllString(bare, ""), "")
	for _, name := range word.FindAllString(names, -1) {
		if _, ok := known[name]; !ok && !slices.Contains(language, name) {
			found = append(found, "no metric "+name)
		}
	}
	for _, s := range selector.FindAllStringSubmatch(expr, -1) {
		for _, m := range matcher.FindAllStringSubmatch(s[2], -1) {
			values, ok := known[s[1]][m[1]]
			if !ok && !slices.Contains(ofTheTarget, m[1]) {
				found = append(found, s[1]+" has no label "+m[1])
			}
			for _, v := range strings.Split(m[3], "|") {
				if len(values) > 0 && !strings.Contains(v, "$") && !slices.Contains(values, v) {
					found = append(found, m[1]+" is never "+v)
				}
			}
		}
	}
	return found
}

// withRecords adds what the rules record. Their labels are those that they sum by.
func withRecords(known map[string]labels, all []rule) map[string]labels {
	known = maps.Clone(known)
	for _, r := range all {
		if r.Record != "" {
			known[r.Record] = labels{"runtime": nil, "outcome": nil, "coverage": nil, "signal": nil}
		}
	}
	return known
}

func TestRulesAskForWhatThereIs(t *testing.T) {
	all := rules(t)
	known := withRecords(metrics(t), all)
	for _, r := range all {
		assert.Empty(t, problems(r.Expr, known), r.Record+r.Alert)
	}
}

func TestDashboardsAskForWhatThereIs(t *testing.T) {
	known := withRecords(metrics(t), rules(t))
	for panel, expr := range queries(t) {
		assert.Empty(t, problems(expr, known), panel)
	}
}

// A check that cannot fail proves nothing.
func TestWhatIsNotThereIsFound(t *testing.T) {
	known := metrics(t)
	for expr, want := range map[string]string{
		`sum(otelcol_processor_continuity_boundaries)`:                                                            "no metric otelcol_processor_continuity_boundaries",
		`sum by (session_id) (otelcol_processor_continuity_boundaries_open)`:                                      "no label session_id",
		`otelcol_processor_continuity_alerts_active{session="x"}`:                                                 "otelcol_processor_continuity_alerts_active has no label session",
		`rate(otelcol_processor_continuity_boundaries_total{state="lost"}[5m])`:                                   "state is never lost",
		`rate(otelcol_processor_continuity_boundaries_total{state=~"lost|dropped"}[5m])`:                          "state is never lost",
		`runtime:continuity:nothing`:                                                                              "no metric runtime:continuity:nothing",
		`sum(rate(otelcol_processor_continuity_boundaries_total{state="dropped",job=~"$job"}[$__rate_interval]))`: "",
	} {
		assert.Equal(t, want, strings.Join(problems(expr, known), ", "), expr)
	}
}

// Each alert can be acted on: who is told, what happened, where the receipt is, and
// a case of promtool in which it fires.
func TestAlertsCanBeActedOn(t *testing.T) {
	var cases string
	for _, file := range []string{"prometheus/continuity.test.yaml", "prometheus/continuity.days.test.yaml"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		cases += string(text)
	}
	for _, r := range rules(t) {
		if r.Alert == "" {
			continue
		}
		assert.Contains(t, []string{"page", "ticket"}, r.Labels["severity"], r.Alert)
		for _, name := range []string{"summary", "description", "receipts"} {
			assert.Regexp(t, `\w.*\.$|jsonl$`, strings.TrimSpace(r.Annotations[name]), "%s: %s", r.Alert, name)
		}
		assert.Contains(t, cases, `alertname="`+r.Alert+`",alertstate="firing"`, "no case of promtool")
		for name, text := range r.Annotations {
			for _, used := range regexp.MustCompile(`\$labels\.(\w+)`).FindAllStringSubmatch(text, -1) {
				assert.Contains(t, []string{"kind", "instance", "signal", "limit", "operation", "reason", "runtime"}, used[1], "%s: %s", r.Alert, name)
			}
		}
	}
}

// Labels never carry session ids.
func TestNoLabelNamesASession(t *testing.T) {
	allowed := []string{
		"activity", "age", "coverage", "kind", "le", "limit", "operation", "outcome", "reason", "runtime", "side", "signal", "state", "status", "trigger", "window",
	}
	for name, has := range metrics(t) {
		for label := range has {
			assert.Contains(t, allowed, label, name)
		}
	}
	for _, r := range rules(t) {
		for label := range r.Labels {
			assert.Equal(t, "severity", label, r.Alert)
		}
	}
}
