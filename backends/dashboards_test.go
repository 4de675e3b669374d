// Package backends_test checks dashboards and rules with the code of those who read
// them: Grafana's model of a dashboard, and Prometheus' parser. The programs that
// `make test-backends` builds are pinned in the same module, away from the processor.
package backends_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/text"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func dashboards(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("../deploy/grafana/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all := map[string][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all[file] = text
	}
	return all
}

// Grafana knows each field of a dashboard and of its panels' options.
func TestGrafanaKnowsEachField(t *testing.T) {
	plugins.RegisterDefaultPlugins()
	for file, raw := range dashboards(t) {
		var d dashboard.Dashboard
		assert.Empty(t, textOf(d.UnmarshalJSONStrict(raw)), file)
		assert.Empty(t, textOf(d.Validate()), file)

		var read struct {
			Panels []struct {
				Type, Title string
				Options     json.RawMessage
			}
		}
		require.NoError(t, json.Unmarshal(raw, &read))
		for _, p := range read.Panels {
			var options interface{ UnmarshalJSONStrict([]byte) error }
			switch p.Type {
			case "timeseries":
				options = &timeseries.Options{}
			case "stat":
				options = &stat.Options{}
			case "bargauge":
				options = &bargauge.Options{}
			case "table":
				options = &table.Options{}
			case "heatmap":
				options = &heatmap.Options{}
			case "text":
				options = &text.Options{}
			case "row":
				continue
			default:
				t.Errorf("%s: %s is a %s", file, p.Title, p.Type)
				continue
			}
			assert.Empty(t, textOf(options.UnmarshalJSONStrict(p.Options)), "%s: %s", file, p.Title)
		}
	}
}

// textOf is what an error says: lists of errors that are empty are errors here too.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Each query is PromQL.
func TestQueriesAreValid(t *testing.T) {
	variables := strings.NewReplacer("$__rate_interval", "1m", "$__range", "1h", "$job", ".*", "$runtime", ".*")
	n := 0
	for file, raw := range dashboards(t) {
		var d struct {
			Panels []struct {
				Title   string
				Targets []struct{ Expr string }
			}
		}
		require.NoError(t, json.Unmarshal(raw, &d))
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				_, err := parser.ParseExpr(variables.Replace(target.Expr))
				assert.NoError(t, err, "%s: %s", file, p.Title)
				n++
			}
		}
	}
	assert.Greater(t, n, 40)
}
