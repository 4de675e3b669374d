package printed_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/printed"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

var now = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)

// What is printed can be read again, as the very same telemetry.
func TestThereAndBack(t *testing.T) {
	e, err := printed.Of(continuity.Snapshot{
		Common: continuity.Common{Session: continuity.Session{ID: "s"}},
		Envelope: map[string]any{
			"tenant_id": "t", "budget_remaining": int64(7), "requires_reauthorization": true, "evidence_refs": []string{"a", "b"},
		},
	}, now)
	require.NoError(t, err)
	assert.Equal(t, now, e.Time)
	text, err := json.Marshal(e)
	require.NoError(t, err)
	again, err := printed.Parse(text)
	require.NoError(t, err)
	record := func(e printed.Event) map[string]any {
		logs, err := e.Logs()
		require.NoError(t, err)
		r := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
		assert.Equal(t, "continuity.snapshot", r.EventName())
		assert.Equal(t, now, r.Timestamp().AsTime())
		return r.Attributes().AsRaw()
	}
	assert.Equal(t, record(e), record(again))
	_, err = printed.Of(continuity.Snapshot{}, now)
	assert.Error(t, err, "an event without a session")
}

func TestRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":       `x`,
		"no name":       `{"attributes":{}}`,
		"no attributes": `{"name":"x"}`,
		"more":          `{"name":"x","attributes":{},"value":"main"}`,
		"no time":       `{"name":"x","time":"soon","attributes":{}}`,
	} {
		_, err := printed.Parse([]byte(text))
		assert.Error(t, err, name)
	}
	for name, value := range map[string]string{"null": `null`, "a map": `{}`, "a list of numbers": `[1]`, "a huge number": `1e999`} {
		e, err := printed.Parse([]byte(`{"name":"x","attributes":{"a":` + value + `}}`))
		require.NoError(t, err, name)
		_, err = e.Logs()
		assert.ErrorContains(t, err, `attribute "a"`, name)
	}
	e, err := printed.Parse([]byte(`{"name":"x","attributes":{"a":1.5,"b":2}}`))
	require.NoError(t, err)
	_, err = e.Logs()
	assert.NoError(t, err)
}
