package boundary_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
	"github.com/agentcontinuity/otelcol-continuity/internal/signal"
)

// What goes over the wire is what the model is told, and the same event again is
// the same for both.
func TestChaosTellsTheHistory(t *testing.T) {
	cfg := signal.DefaultConfig()
	cfg.Events[boundary.Activity] = []string{activityName}
	reader := signal.NewReader(cfg)
	for n := range 5 * len(chaosFeatures) {
		p := newPlan(1, n)
		prints := map[string]uint64{}
		for _, r := range p.requests {
			var got []*boundary.Event
			visit := func(item signal.Item) {
				require.Empty(t, item.Reason)
				got = append(got, item.Event)
			}
			if r.wire.logs {
				reader.Logs(p.records(r, 0), nil, epoch, visit)
			} else {
				reader.Traces(p.spans(r, 0), nil, epoch, visit)
			}
			require.Len(t, got, len(r.steps))
			for i, s := range r.steps {
				name := got[i].Key.Session + strings.Repeat(" ", int(s.ev.Kind)) + p.eventID(s.ev)
				if known, ok := prints[name]; ok {
					require.Equal(t, known, got[i].Fingerprint, s.line)
				}
				prints[name] = got[i].Fingerprint
				require.Equal(t, plainEvent(*s.ev, ""), plainEvent(*got[i], p.prefix), s.line)
			}
		}
		h := parseHistory(p.told()) // what a failure prints is the same history
		outs := slices.DeleteFunc(h.run(newModel(&h.cfg)), func(o out) bool { return o.key.Session == "primer" })
		require.Equal(t, p.fates(0), []string{account(outs)})
		distinct := map[uint64]bool{}
		for name, print := range prints {
			require.False(t, distinct[print], name)
			distinct[print] = true
		}
	}
}

// plainEvent is an event without what only one of its two ways knows.
func plainEvent(ev boundary.Event, prefix string) boundary.Event {
	ev.Key.Session = strings.TrimPrefix(ev.Key.Session, prefix)
	ev.Previous = strings.TrimPrefix(ev.Previous, prefix)
	ev.Fingerprint, ev.Identity, ev.Resource, ev.Context = 0, nil, nil, boundary.SpanContext{}
	if ev.Kind != boundary.Snapshot && ev.Kind != boundary.Observation {
		ev.Form = digest.Form{}
	}
	ev.Statements = slices.Clone(ev.Statements)
	for i := range ev.Statements {
		if ev.Statements[i].Fault != "" {
			ev.Statements[i].Digest = digest.Digest{}
		}
	}
	if len(ev.Statements) == 0 {
		ev.Statements = nil
	}
	if ev.Approval != nil {
		a := *ev.Approval
		a.Session, a.Received = "", time.Time{}
		ev.Approval = &a
	}
	return ev
}
