package continuityprocessor

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAdhocOpen(t *testing.T) {
	m := measure(t, func(c *Config) { c.Limits.MemoryMiB = 4000 })
	for i := range 100 {
		var ev []event
		for j := range 1000 {
			ev = append(ev, snapshot(fmt.Sprint("s-", i, "-", j), time.Now(), original()))
		}
		require.NoError(t, m.ConsumeTraces(t.Context(), spans(ev...)))
	}
	for range 3 {
		start := time.Now()
		m.require(t, 100_000, "boundaries_open_age", "age", "1m", "window", "running")
		t.Log("whole collection", time.Since(start))
	}
}
