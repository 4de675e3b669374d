package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/cases"
	"github.com/agentcontinuity/otelcol-continuity/testdata"
)

const root = "../.."

// What the demo sends is what the event-only rule calls healthy.
func TestRequests(t *testing.T) {
	for _, folder := range []string{testdata.Six, testdata.Recorded} {
		all, err := cases.LoadAll(testdata.Cases, folder)
		require.NoError(t, err)
		for _, c := range all {
			requests, err := requestsOf(c, time.Now())
			require.NoError(t, err)
			var seen []cases.Activity
			for _, r := range requests {
				assert.NotEmpty(t, r.body, c.Name)
				seen = append(seen, r.seen...)
			}
			assert.Equal(t, c.Want.EventRule, cases.EventRule(seen), c.Name)
		}
	}
}

func TestStrays(t *testing.T) {
	o := &outcome{bySession: map[string][]*cases.Receipt{"demo-a": nil, "b": nil}}
	assert.Equal(t, []string{`a receipt for session "b", which was not sent`}, strays(o, []*result{{Case: &cases.Case{Name: "a"}}}))
}

func TestReadReceipts(t *testing.T) {
	const line = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[` +
		`{"eventName":"continuity.boundary","spanId":"0102030405060708","body":{"stringValue":"It is so."},"attributes":[` +
		`{"key":"session.id","value":{"stringValue":"s"}},{"key":"continuity.boundary.state","value":{"stringValue":"dropped"}},` +
		`{"key":"continuity.invariant.state.scope","value":{"stringValue":"dropped"}},{"key":"continuity.invariant.reason.scope","value":{"stringValue":"missing_after"}}]},` +
		`{"eventName":"continuity.alert","spanId":"0102030405060708","attributes":[` +
		`{"key":"continuity.alert.kind","value":{"stringValue":"decision_dropped"}},{"key":"continuity.alert.status","value":{"stringValue":"firing"}}]}` +
		`]}]}]}`
	file := filepath.Join(t.TempDir(), receiptsName)

	_, err := readReceipts(file, false)
	require.ErrorIs(t, err, os.ErrNotExist)
	o, err := readReceipts(file, true)
	require.NoError(t, err, "the collector has not written yet")
	assert.False(t, o.complete(map[string]int{"s": 1}))

	require.NoError(t, os.WriteFile(file, []byte(line+"\n"+line[:40]), 0o600))
	o, err = readReceipts(file, true)
	require.NoError(t, err, "half a line is being written")
	assert.True(t, o.complete(map[string]int{"s": 1}))
	assert.Equal(t, &cases.Receipt{
		State: "dropped", Sentence: "It is so.", Alerts: []string{"decision_dropped:firing"},
		Invariants: map[string]string{"scope": "dropped/missing_after"},
	}, o.bySession["s"][0])
	_, err = readReceipts(file, false)
	require.Error(t, err, "nobody writes any more")
}

func TestBackendHint(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "distribution", "config.yaml"))
	require.NoError(t, err)
	hint := backendHint("config.yaml", string(text))
	assert.Regexp(t, `^in config\.yaml uncomment lines \d+ to \d+ and set the address \(.*\); on lines \d+ and \d+ put`, hint,
		"the lines that name the backend are not found any more")
	assert.Equal(t, "name your backend in config.yaml", backendHint("config.yaml", "service:\n"))
}
