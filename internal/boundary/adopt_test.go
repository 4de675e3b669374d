package boundary_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// A look that waits for its snapshot moves along when its session goes on under
// another id, and what becomes of it is told of that one.
func TestALookThatWaitsMovesAlong(t *testing.T) {
	h := parseHistory(`
		0   s1 observation scope=A
		0.1 s2 start prev=s1`)
	c := boundary.New(&h.cfg, newFleet())
	for _, s := range h.steps {
		c.Adopt(epoch.Add(s.at), c, s.ev)
		c.Observe(epoch.Add(s.at), s.ev)
	}
	res, _ := c.Expire(epoch.Add(time.Second))
	require.Len(t, res.Receipts, 1)
	require.Equal(t, "s2", res.Receipts[0].Key.Session)
	require.Equal(t, h.steps[1].ev.Identity, res.Receipts[0].Identity)
}
