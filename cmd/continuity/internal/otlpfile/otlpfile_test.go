package otlpfile_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/otlpfile"
)

const (
	spans   = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"x"}]}]}]}`
	records = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"x"}}]}]}]}`
)

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string // T, L or O for each document
		cut  bool
		err  string
	}{
		"nothing":               {"", "", false, ""},
		"blank":                 {" \n\n", "", false, ""},
		"one":                   {spans, "T", false, ""},
		"one a line":            {spans + "\n" + records + "\n", "TL", false, ""},
		"without newlines":      {records + spans, "LT", false, ""},
		"on many lines":         {strings.ReplaceAll(records, ",", ",\n"), "L", false, ""},
		"empty telemetry":       {`{"resourceLogs":[]}`, "L", false, ""},
		"older names":           {`{"resource_spans":[]}{"resource_logs":[]}`, "TL", false, ""},
		"metrics":               {`{"resourceMetrics":[]}`, "O", false, ""},
		"something else":        {`{"steps":[]}`, "O", false, ""},
		"cut":                   {spans + "\n" + records[:30], "T", true, ""},
		"nothing but a cut one": {records[:30], "", false, "document 1: unexpected EOF"},
		"no JSON":               {"resourceLogs: []", "", false, "document 1: invalid character"},
		"no JSON later":         {spans + "\nx", "", false, "document 2: invalid character"},
		"a list":                {"[" + spans + "]", "", false, "document 1: it is no JSON object"},
		"a number":              {"1", "", false, "document 1: it is no JSON object"},
		"wrong shape":           {`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"soon"}]}]}]}`, "", false, "document 1: "},
	} {
		t.Run(name, func(t *testing.T) {
			contents, err := otlpfile.Read(strings.NewReader(c.text))
			if c.err != "" {
				assert.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			kinds := ""
			for _, d := range contents.Documents {
				switch {
				case d.Traces != nil:
					kinds += "T"
				case d.Logs != nil:
					kinds += "L"
				default:
					kinds += "O"
				}
			}
			assert.Equal(t, c.want, kinds)
			assert.Equal(t, c.cut, contents.Cut)
		})
	}
}
