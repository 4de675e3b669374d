package continuityprocessor

import (
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pipeline"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// Each limit that is counted by the component: what is told to the last event of n,
// and how often the limit was counted.
func TestLimits(t *testing.T) {
	now := time.Now()
	plain := func(e event, with map[string]any) event {
		for key, value := range with {
			e.attrs[key] = value
		}
		return e
	}
	many := func(n int) decisions {
		d := decisions{}
		for i := range n {
			d["constraint.c"+strconv.Itoa(i)] = "x"
		}
		return d
	}
	list := func(n int) []any {
		entries := make([]any, n)
		for i := range entries {
			entries[i] = "obligation " + strconv.Itoa(i)
		}
		return entries
	}
	envelope := func(n int) map[string]any {
		return map[string]any{
			semconv.EnvelopePrefix + "schema_version": "continuity-envelope/v1", semconv.EnvelopePrefix + "tenant_id": "t",
			semconv.EnvelopePrefix + "principal_id": "p", semconv.EnvelopePrefix + "policy_version": "1",
			semconv.EnvelopePrefix + "pending_obligations": list(n),
		}
	}
	for _, row := range []struct {
		name, limit string
		n           int
		// events is the story with n things, the last of which is told the verdict.
		events     func(n int) []event
		at, beyond string
	}{
		{
			"sessions", "sessions", 5,
			func(n int) (out []event) {
				for i := range n {
					out = append(out, snapshot("s-"+strconv.Itoa(i), now, original()))
				}
				return append(out, observation("s-"+strconv.Itoa(n-1), now.Add(time.Second), original()))
			},
			"preserved/match 0", "unverified/capacity 2",
		},
		{
			"invariants of a snapshot", "invariants", 32,
			func(n int) []event {
				return []event{snapshot("s", now, many(n)), observation("s", now.Add(time.Second), many(n))}
			},
			"preserved/match 0", "unverified/capacity 2",
		},
		{
			"invariants of an observation", "invariants", 32,
			func(n int) []event {
				return []event{
					snapshot("s", now, decisions{"mine": "x", "constraint.c0": "x"}),
					observation("s", now.Add(time.Second), many(n)),
				}
			},
			"dropped/missing_after 0", "unverified/no_baseline 1",
		},
		{
			"entries of an envelope's list", "", 64,
			func(n int) []event {
				return []event{
					plain(snapshot("s", now, original()), envelope(64)),
					plain(observation("s", now.Add(time.Second), original()), envelope(n)),
				}
			},
			"preserved/match 0", "conflicting/envelope_malformed 0",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			for n, want := range map[int]string{row.n: row.at, row.n + 1: row.beyond} {
				f := newFlooded(t, func(c *Config) { c.Limits.Sessions = 5 })
				var told map[string]any
				for _, e := range row.events(n) {
					told = f.told(t, e)
				}
				reached, _ := f.value(t, "limits_reached", "limit", row.limit)
				require.Equal(t, want, told[semconv.BoundaryState].(string)+"/"+told[semconv.Reason].(string)+" "+strconv.Itoa(int(reached)), "%d", n)
			}
		})
	}
}

// One event, however large, costs bounded memory and looks no healthier for it.
func TestHugeEvents(t *testing.T) {
	if raced || testing.Short() {
		t.Skip("it is large")
	}
	now := time.Now()
	huge := strings.Repeat("x", 10<<20)
	for _, row := range []struct {
		name string
		make func(e *event)
		want string
	}{
		{"session id", func(e *event) { e.session = huge }, "unverified"},
		{"boundary id", func(e *event) { e.attrs[semconv.BoundaryID] = huge }, "preserved"},
		{"runtime", func(e *event) { e.attrs[semconv.Runtime] = huge }, "preserved"},
		{"revision", func(e *event) { e.attrs[semconv.InvariantRevision+"scope"] = huge }, "preserved"},
		{"event id", func(e *event) { e.attrs[semconv.EventID] = huge }, "preserved"},
		{"digest", func(e *event) { e.attrs[semconv.InvariantDigest+"scope"] = huge }, "unverified"},
		{"name of an invariant", func(e *event) { e.attrs[semconv.InvariantDigest+huge] = someDigest }, "unverified"},
		{"field of an envelope", func(e *event) { e.attrs[semconv.EnvelopePrefix+"tenant_id"] = huge }, "unverified"},
		{"invariants", func(e *event) {
			for i := range 100_000 {
				e.attrs[semconv.InvariantDigest+"constraint.c"+strconv.Itoa(i)] = someDigest
			}
		}, "unverified"},
		{"list of an envelope", func(e *event) {
			e.attrs[semconv.EnvelopePrefix+"pending_obligations"] = make([]any, 1_000_000)
		}, "unverified"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFlooded(t)
			f.told(t, snapshot("s", now, original()))
			e := observation("s", now.Add(time.Second), original())
			row.make(&e)
			ld := records(event{name: e.name, session: e.session, at: e.at})
			attrs := recordsOf(ld)[0].Attributes()
			e.attrs[semconv.SessionID] = e.session
			require.NoError(t, attrs.FromRaw(e.attrs))
			start := time.Now()
			require.NoError(t, f.logs.ConsumeLogs(t.Context(), ld))
			told := attrs.AsRaw()
			used, _ := f.value(t, "memory_used")
			t.Logf("%s, %d bytes held", time.Since(start).Round(time.Millisecond), used)
			require.Less(t, used, int64(256<<10))
			require.Equal(t, row.want, told[semconv.State])
		})
	}
}

// Everything that is emitted is valid UTF-8 of at most 256 bytes a value.
func TestLengths(t *testing.T) {
	for name, text := range map[string]string{
		"at the limit": strings.Repeat("x", 256), "one beyond": strings.Repeat("x", 257),
		"a rune across the limit": strings.Repeat("x", 255) + "é", "runes": strings.Repeat("é", 200),
		"not UTF-8": strings.Repeat("\xff", 10), "not UTF-8 at the limit": strings.Repeat("x", 255) + "\xc3\xa9\xff",
	} {
		for _, form := range forms {
			t.Run(name+"/"+form.name, func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					p := start(t)
					session := "s"
					if utf8.ValidString(text) { // else it names nobody
						session = text
					}
					add := func(e event) event {
						for _, key := range []string{
							semconv.Runtime, semconv.BoundaryID, semconv.ActivityState, semconv.AgentID,
							semconv.InvariantRevision + "scope", semconv.InvariantApprovalRef + "scope", semconv.DigestKeyID,
						} {
							e.attrs[key] = text
						}
						return e
					}
					form.send(p, add(snapshot(session, morning, original())))
					told := form.send(p, add(observation(session, morning.Add(time.Second), original().with("scope", "y"))))
					require.Equal(t, "conflicting", told[0][semconv.State])
					time.Sleep(time.Second)
					var values []map[string]any
					values = append(values, p.receipts()...)
					values = append(values, p.records(semconv.EventBoundary)...)
					values = append(values, p.records(semconv.EventAlert)...)
					require.Len(t, values, 3)
					for _, attrs := range values {
						for key, value := range attrs {
							requireShort(t, key)
							requireShort(t, value)
						}
					}
					if id, _ := values[0][semconv.BoundaryID].(string); len(text) == 256 {
						require.Equal(t, text, id, "what fits is not cut")
					}
				})
			})
		}
	}
}

func requireShort(t *testing.T, value any) {
	t.Helper()
	switch v := value.(type) {
	case string:
		require.LessOrEqual(t, len(v), 256)
		require.True(t, utf8.ValidString(v), "%q", v)
	case []any:
		for _, one := range v {
			requireShort(t, one)
		}
	}
}

// A lane is full by number or by weight, whichever comes first.
func TestOutboxWeight(t *testing.T) {
	receiptOf := func(weight int) []boundary.Receipt {
		r := boundary.Receipt{Verdict: &boundary.Verdict{}}
		r.Identity = []boundary.Attr{{Key: "x", Value: ""}}
		r.Identity[0].Value = strings.Repeat("x", weight-r.Weight())
		return []boundary.Receipt{r}
	}
	o := newOutbox(100)
	o.memory = 10_000
	l := o.attach(pipeline.SignalLogs)
	require.Empty(t, o.add(receiptOf(20_000), false), "one always finds room")
	require.NotEmpty(t, o.add(receiptOf(1000), false))
	l.taken(1)
	require.Empty(t, o.add(receiptOf(9000), false))
	require.Empty(t, o.add(receiptOf(1000), false), "at the limit")
	require.NotEmpty(t, o.add(receiptOf(1000), false), "one beyond")
	require.Equal(t, 10_000, l.weight)
	_, relieved := l.taken(1)
	require.True(t, relieved)
	l.taken(1)
	require.Zero(t, l.weight)
	require.Empty(t, o.add(receiptOf(maxBatchWeight), true))
	require.Empty(t, o.add(receiptOf(1000), true))
	require.Len(t, l.head(10), 1, "heavy ones go alone")
}

func TestMemoryOfSessions(t *testing.T) {
	for _, row := range []struct {
		sessions, mib int
		want          int64
		valid         bool
	}{
		{100_000, 0, 1_024_000_000, true},
		{10, 0, 64 << 20, true},
		{1024, 6, 6 << 20, true},
		{1025, 6, 6 << 20, false},
		{10, -1, 0, false},
		{10, 1<<20 + 1, 0, false},
	} {
		cfg := defaultConfig(func(c *Config) { c.Limits.Sessions, c.Limits.MemoryMiB = row.sessions, row.mib })
		err := cfg.Validate()
		if row.want > 0 {
			require.Equal(t, row.want, cfg.Limits.memory())
		}
		if row.valid {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "limits::memory_mib")
		}
	}
}

func TestRoom(t *testing.T) {
	f := newFleet(10, false)
	f.memory = 4000 // a share is 400
	f.Weigh(2999)
	require.True(t, f.Room(0, 0), "a newcomer")
	f.Weigh(1)
	require.False(t, f.Room(0, 0), "the last quarter is for those that are held")
	require.True(t, f.Room(1000, 1))
	f.Weigh(1000)
	require.True(t, f.Room(400, 1), "everybody has their share")
	require.False(t, f.Room(401, 1))
	require.True(t, f.Room(800, 2), "each agent has its own")
	f.Weigh(-4000)
	require.True(t, f.Room(maxSession, 1))
	require.False(t, f.Room(maxSession+1, 1), "nobody holds more")
}

func TestLongTenants(t *testing.T) {
	known := map[string]bool{}
	for n := 240; n < 270; n++ {
		part := tenantPart([]string{strings.Repeat("x", n)})
		require.LessOrEqual(t, len(part), maxTenant)
		require.False(t, known[part], "they stay different")
		known[part] = true
	}
}

// What was stored is weighed again after a start.
func TestWeightAfterRestart(t *testing.T) {
	d := newDisk()
	var used [2]int64
	for i := range used {
		p, m, _ := measuredDurable(t, newStorageHost(d))
		if i == 0 {
			require.NoError(t, p.traces.ConsumeTraces(t.Context(), spans(snapshot("s", time.Now(), original()))))
		}
		used[i], _ = m.value(t, "memory_used")
		p.stop()
	}
	require.NotZero(t, used[0])
	require.InEpsilon(t, used[0], used[1], 0.3)
}
