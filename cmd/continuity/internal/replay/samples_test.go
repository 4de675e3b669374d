package replay

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/otlpfile"
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/signal"
)

// sampleReceipt is one line of a sample's .receipts.json.
type sampleReceipt struct {
	Session  string   `json:"session,omitempty"`
	Agent    string   `json:"agent,omitempty"`
	Runtime  string   `json:"runtime,omitempty"`
	State    string   `json:"state,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Coverage string   `json:"coverage,omitempty"`
	Outcome  string   `json:"outcome,omitempty"`
	Trigger  string   `json:"trigger,omitempty"`
	Before   int64    `json:"tokens_before,omitempty"`
	After    int64    `json:"tokens_after,omitempty"`
	Further  int      `json:"superseded_count,omitempty"`
	Writes   int      `json:"writes_before_observation,omitempty"`
	Alerts   []string `json:"alerts,omitempty"`
	// Trace and Parent are where the receipt hangs in the agent's own trace.
	Trace  string `json:"trace,omitempty"`
	Parent string `json:"parent,omitempty"`
	// Rejected is why a signal that was recognized could not be used.
	Rejected string `json:"rejected,omitempty"`
}

func sampleReceiptOf(key boundary.Key, r *boundary.Receipt) sampleReceipt {
	out := sampleReceipt{
		Session: key.Session, Agent: key.Agent, Runtime: r.Runtime, State: r.Boundary.String(), Reason: string(r.Reason),
		Coverage: r.Coverage.String(), Outcome: r.Outcome.String(), Trigger: r.Trigger,
		Before: r.TokensBefore, After: r.TokensAfter, Further: r.Superseded, Writes: r.Writes,
	}
	for _, a := range r.Alerts {
		out.Alerts = append(out.Alerts, a.Kind.String()+":"+a.Status.String())
	}
	if !r.Parent.IsZero() {
		out.Trace, out.Parent = hex.EncodeToString(r.Parent.TraceID[:]), hex.EncodeToString(r.Parent.SpanID[:])
	}
	return out
}

// allRuntimes recognizes those too that are off by default.
func allRuntimes() *Replay {
	r, cfg := New(Options{}), signal.DefaultConfig()
	cfg.Runtimes = map[string]bool{}
	for _, runtime := range signal.Runtimes() {
		cfg.Runtimes[runtime] = true
	}
	r.reader = signal.NewReader(cfg)
	return r
}

// receiptsOf plays a sample and nothing else.
func receiptsOf(t *testing.T, file string) []sampleReceipt {
	f, err := os.Open(file)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	contents, err := otlpfile.Read(f)
	require.NoError(t, err)
	r := allRuntimes()
	for _, d := range contents.Documents {
		if d.Traces != nil {
			r.AddTraces(*d.Traces)
		}
		if d.Logs != nil {
			r.AddLogs(*d.Logs)
		}
	}
	result := r.Run()
	out := []sampleReceipt{}
	for _, s := range result.Sessions {
		for _, b := range s.Boundaries {
			for i := range b.Receipts {
				out = append(out, sampleReceiptOf(s.Key, &b.Receipts[i]))
			}
		}
	}
	for reason, n := range result.Rejected {
		for range n {
			out = append(out, sampleReceipt{Rejected: string(reason)})
		}
	}
	return out
}

// What comes of each sample, with no snapshot and no observation beside it: the
// receipts of a whole pipeline. CONTINUITY_UPDATE_GOLDEN=1 writes them anew.
func TestSamples(t *testing.T) {
	var files []string
	for _, form := range []string{"logs", "traces"} {
		found, err := filepath.Glob(filepath.Join(agents, "*", "*."+form+".json"))
		require.NoError(t, err)
		files = append(files, found...)
	}
	require.NotEmpty(t, files)
	for _, file := range files {
		golden := strings.TrimSuffix(strings.TrimSuffix(file, ".traces.json"), ".logs.json") + ".receipts.json"
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(golden), func(t *testing.T) {
			got := receiptsOf(t, file)
			if os.Getenv("CONTINUITY_UPDATE_GOLDEN") != "" {
				require.NoError(t, os.WriteFile(golden, encodeLines(t, got), 0o600))
			}
			raw, err := os.ReadFile(golden)
			require.NoError(t, err)
			var want []sampleReceipt
			require.NoError(t, json.Unmarshal(raw, &want))
			assert.Equal(t, want, got)
		})
	}
}

// encodeLines writes a list with a line for each.
func encodeLines[T any](t *testing.T, list []T) []byte {
	lines := make([]string, len(list))
	for i := range list {
		line, err := json.Marshal(list[i])
		require.NoError(t, err)
		lines[i] = "  " + string(line)
	}
	if len(lines) == 0 {
		return []byte("[]\n")
	}
	return []byte("[\n" + strings.Join(lines, ",\n") + "\n]\n")
}
