package boundary_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// boundedFleet is a fleet with the policy of the processor's.
type boundedFleet struct {
	attackFleet
	memory, session, bytes int
}

func newBoundedFleet(sessions, memory int) *boundedFleet {
	return &boundedFleet{attackFleet{limit: sessions, habits: map[string]bool{}}, memory, 2 << 20, 0}
}

func (f *boundedFleet) Weigh(by int) { f.bytes += by }

func (f *boundedFleet) Room(bytes, places int) bool {
	switch {
	case places == 0:
		return f.bytes < f.memory/4*3
	case bytes > f.session:
		return false
	default:
		return bytes/places <= f.memory/f.limit || f.bytes < f.memory
	}
}

// manyNames are n invariants as eventAt reads them, all of the same value.
func manyNames(prefix string, n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("constraint.%s%d=X", prefix, i)
	}
	return strings.Join(names, " ")
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// floods are what one sender can do to one session, or with one.
var floods = []struct {
	name   string
	events int
	step   func(i int) attackStep
}{
	{"looks", 400, func(i int) attackStep {
		return lookAt(20+float64(i)/1e4, "flood", manyNames(fmt.Sprint("n", i%4096, "x"), 32), partial)
	}},
	{"equal looks", 5_000, func(i int) attackStep { return lookAt(20+float64(i)/1e4, "flood", "scope=S1") }},
	{"snapshots", 400, func(i int) attackStep {
		return snapAt(20+float64(i)/1e4, "flood", manyNames(fmt.Sprint("n", i, "x"), 32))
	}},
	{"snapshots and looks", 400, func(i int) attackStep {
		at, text := 20+float64(i)/1e4, manyNames(fmt.Sprint("n", i/2, "x"), 32)
		if i%2 == 0 {
			return snapAt(at, "flood", text)
		}
		return lookAt(at, "flood", strings.ReplaceAll(text, "=X", "=Y"))
	}},
	{"boundary ids", 5_000, func(i int) attackStep {
		return snapAt(20+float64(i)/1e4, "flood", manyNames("x", 32), withID(fmt.Sprint("b", i)))
	}},
	{"looks at many boundaries", 400, func(i int) attackStep {
		at := 20 + float64(i)/1e4
		if i < 16 {
			return snapAt(at, "flood", manyNames("x", 32), withID(fmt.Sprint("b", i)))
		}
		return lookAt(at, "flood", manyNames(fmt.Sprint("n", i, "x"), 32), partial)
	}},
	{"agents", 5_000, func(i int) attackStep { return snapAt(20+float64(i)/1e4, fmt.Sprint("flood/", i), "scope=S0") }},
	{"approvals", 5_000, func(i int) attackStep {
		return approvesAt(20+float64(i)/1e4, "flood", fmt.Sprintf("scope S%d>S%d r%d", i, i+1, i), withFingerprint(uint64(i+1)))
	}},
	{"completions", 5_000, func(i int) attackStep {
		return compactedAt(20+float64(i)/1e4, "flood", boundary.Completed, withID(fmt.Sprint("c", i)))
	}},
	{"refusals", 400, func(i int) attackStep { return refusesAt(20+float64(i)/1e4, "flood", withID(fmt.Sprint("r", i))) }},
	{"links", 5_000, func(i int) attackStep {
		at := 20 + float64(i)/1e4
		if i%2 == 0 {
			return snapAt(at, fmt.Sprint("from", i), "scope=S0", withID(fmt.Sprint("b", i)))
		}
		return startsAt(at, "flood", continuing(fmt.Sprint("from", i-1)))
	}},
	{"a chain of links", 5_000, func(i int) attackStep {
		return snapAt(20+float64(i)/1e4, fmt.Sprint("flood", i), "scope=S0", continuing(fmt.Sprint("flood", i-1)))
	}},
}

// Whatever one session is told, what it holds is bounded, and another one that was
// open before is decided as if nothing had happened.
func TestFloods(t *testing.T) {
	for _, flood := range floods {
		t.Run(flood.name, func(t *testing.T) {
			cfg := boundary.DefaultConfig()
			fleet := newBoundedFleet(1000, 64<<20)
			core := boundary.New(&cfg, fleet)
			receipts := 0
			take := func(s attackStep) *boundary.Receipt {
				now := attackTime(s.at)
				if s.ev.Previous != "" {
					core.Adopt(now, core, s.ev)
				}
				_, res := core.Observe(now, s.ev)
				receipts += len(res.Receipts)
				if len(res.Receipts) == 0 {
					return nil
				}
				return &res.Receipts[len(res.Receipts)-1]
			}
			take(snapAt(0, "victim", "scope=S0 approval_boundary=A0"))
			before, start := heap(), time.Now()
			for i := range flood.events {
				take(flood.step(i))
			}
			grown := heap() - before
			t.Logf("%s an event, %d receipts, heap %d KiB, weight %d KiB, %d sessions", time.Since(start)/time.Duration(flood.events),
				receipts, grown>>10, fleet.bytes>>10, fleet.used)
			require.Less(t, grown, 8<<20)
			require.Less(t, grown, 2*fleet.bytes+1<<20, "weights are honest")
			r := take(lookAt(60, "victim", "scope=S1 approval_boundary=A0"))
			require.Equal(t, classify.Conflicting, r.Boundary)
			runtime.KeepAlive(core)
		})
	}
}
