package receipt

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/golden"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/pdatatest/plogtest"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/pdatatest/ptracetest"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

func TestGolden(t *testing.T) {
	w := Writer{Scope: "example.com/continuity", Version: "1.2.3"}
	for name, receipts := range map[string][]*boundary.Receipt{
		"everything": {conflicting()},
		"plain":      {preserved()},
		"deadline":   {missing(), closed()},
		"batch":      {conflicting(), preserved(), missing(), closed()},
	} {
		t.Run(name, func(t *testing.T) {
			traces := filepath.Join("testdata", name+".traces.yaml")
			logs := filepath.Join("testdata", name+".logs.yaml")
			if *update {
				require.NoError(t, golden.WriteTracesToFile(traces, w.Traces(receipts)))
				require.NoError(t, golden.WriteLogsToFile(logs, w.Logs(receipts)))
				return
			}
			wantTraces, err := golden.ReadTraces(traces)
			require.NoError(t, err)
			require.NoError(t, ptracetest.CompareTraces(wantTraces, w.Traces(receipts)))
			wantLogs, err := golden.ReadLogs(logs)
			require.NoError(t, err)
			require.NoError(t, plogtest.CompareLogs(wantLogs, w.Logs(receipts)))
		})
	}
}
