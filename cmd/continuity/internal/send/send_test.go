package send

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
)

func TestAccepted(t *testing.T) {
	c := newCollector(t)
	cfg := newConfig(t, c.URL)
	cfg.Headers = map[string]string{"Authorization": "Bearer x"}
	cfg.TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	result, err := New(cfg, clock).Send(t.Context(), snapshot("s"))
	require.NoError(t, err)
	require.NoError(t, result.Why)
	assert.Equal(t, Accepted, result.Status())
	assert.Zero(t, result.Waiting)

	requests := c.requests()
	require.Len(t, requests, 1)
	assert.Equal(t, "Bearer x", requests[0].header.Get("Authorization"))
	got := decodeLogs(t, requests[0])
	assert.Equal(t, decoded{
		name: "continuity.snapshot", id: result.Events[0].ID, session: "s", at: at,
		trace: "0af7651916cd43dd8448eb211c80319c", span: "b7ad6b7169203331",
		attributes: map[string]any{
			"session.id": "s", "continuity.event.id": result.Events[0].ID,
			"continuity.invariant.digest.scope": "sha256:0123456789012345678901234567890123456789012345678901234567890123",
			"continuity.invariant.digest.x":     "none", "continuity.invariant.required.x": false,
			"continuity.digest.normalizer": "v1", "continuity.observed_at": "2026-05-04T03:02:01.123456789Z",
		},
	}, got)

	again, err := New(cfg, clock).Send(t.Context(), snapshot("s"))
	require.NoError(t, err)
	assert.Equal(t, result.Events[0].ID, again.Events[0].ID, "the same event has the same id")
	other, err := New(cfg, func() time.Time { return at.Add(1) }).Send(t.Context(), snapshot("s"))
	require.NoError(t, err)
	assert.NotEqual(t, result.Events[0].ID, other.Events[0].ID, "at another time it is another event")
	named := snapshot("s")
	named.EventID = "mine"
	own, err := New(cfg, clock).Send(t.Context(), named)
	require.NoError(t, err)
	assert.Equal(t, "mine", own.Events[0].ID)
}

func TestTracesAndGzip(t *testing.T) {
	c := newCollector(t)
	cfg := newConfig(t, c.URL)
	cfg.Signal, cfg.Gzip = config.Traces, true
	for range 2 {
		_, err := New(cfg, clock).Send(t.Context(), snapshot("s"))
		require.NoError(t, err)
	}
	cfg.TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	_, err := New(cfg, clock).Send(t.Context(), snapshot("s"))
	require.NoError(t, err)
	requests := c.requests()
	require.Len(t, requests, 3)
	first, second, third := decodeTraces(t, requests[0]), decodeTraces(t, requests[1]), decodeTraces(t, requests[2])
	assert.Equal(t, first, second, "sent again it is the same span")
	assert.Equal(t, "s", first.session)
	assert.Equal(t, at, first.at)
	assert.Equal(t, "0af7651916cd43dd8448eb211c80319c", third.trace)
	assert.Contains(t, third.span, "<b7ad6b7169203331")
}

// What a collector's answer makes of an event, and of those that wait behind it.
func TestAnswers(t *testing.T) {
	partial := func(rejected uint64) []byte {
		var inner []byte
		inner = protowire.AppendVarint(protowire.AppendTag(inner, 1, protowire.VarintType), rejected)
		inner = protowire.AppendString(protowire.AppendTag(inner, 2, protowire.BytesType), "why not")
		return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inner)
	}
	status := protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), "bad\x1b thing")
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request)
		want   Status
		why    string
		goesOn bool // what waits behind it is sent all the same
	}{
		"accepted":                {accept, Accepted, "", true},
		"accepted, with warning":  {says(200, protobuf, partial(0)), Accepted, "", true},
		"accepted, without type":  {says(200, "", nil), Accepted, "", true},
		"accepted, 202":           {says(202, "", nil), Accepted, "", true},
		"partial success":         {says(200, protobuf, partial(1)), Refused, "rejected the event: why not", true},
		"bad request":             {says(400, protobuf, status), Refused, "400 Bad Request: bad\ufffd thing", true},
		"bad request, not of OTL": {says(400, "text/plain", []byte("secret")), Refused, "400 Bad Request", true},
		"unauthorized":            {says(401, "", nil), Spooled, "401", false},
		"forbidden":               {says(403, "", nil), Spooled, "403", false},
		"not found":               {says(404, "text/html", nil), Spooled, "404", false},
		"too large":               {says(413, "", nil), Refused, "413", true},
		"timeout":                 {says(408, "", nil), Spooled, "408", false},
		"too many":                {says(429, "", nil), Spooled, "429", false},
		"internal error":          {says(500, protobuf, status), Spooled, "500 Internal Server Error: bad\ufffd thing", true},
		"unavailable":             {says(503, "", nil), Spooled, "503", false},
		"redirect":                {says(307, "", nil), Spooled, "307", false},
		"a web page":              {says(200, "text/html; charset=utf-8", []byte("<html>")), Spooled, "does not speak OTLP", false},
		"cut off":                 {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, Spooled, "cannot be reached", false},
	} {
		t.Run(name, func(t *testing.T) {
			collector := newCollector(t)
			first := true
			collector.answers(func(w http.ResponseWriter, r *http.Request) {
				if first {
					first = false
					c.answer(w, r)
					return
				}
				accept(w, r)
			})
			cfg := newConfig(t, collector.URL)
			later := snapshot("later")
			later.Time = at.Add(time.Second)
			result, err := New(cfg, clock).Send(t.Context(), later, snapshot("first"))
			require.NoError(t, err)
			require.Len(t, result.Events, 2)
			assert.Equal(t, c.want, result.Events[1].Status)
			assert.Equal(t, map[bool]Status{true: Accepted, false: Spooled}[c.goesOn], result.Events[0].Status)
			if c.why == "" {
				require.NoError(t, result.Why)
			} else {
				require.ErrorContains(t, result.Why, c.why)
				assert.NotContains(t, result.Why.Error(), "secret")
			}
			requests := collector.requests()
			assert.Equal(t, "first", decodeLogs(t, requests[0]).session, "by the time of the events")

			notes, err := cfg.Spool().Notes()
			require.NoError(t, err)
			refused, err := cfg.Spool().Refused()
			require.NoError(t, err)
			if c.want == Refused {
				require.Len(t, notes, 1)
				assert.Equal(t, "continuity.snapshot", notes[0].Event)
				assert.Len(t, refused, 1)
				assert.Equal(t, Refused, result.Status())
				assert.Equal(t, 1, result.Refused)
			} else {
				assert.Empty(t, notes)
				assert.Empty(t, refused)
			}

			// The next run sends what waits, once, and what was refused not again.
			next, err := New(cfg, clock).Flush(t.Context())
			require.NoError(t, err)
			assert.Equal(t, result.Waiting, next.Earlier)
			assert.Zero(t, next.Waiting)
			assert.Len(t, collector.requests(), result.Waiting)
		})
	}
}

func TestHeadersDoNotFollowARedirect(t *testing.T) {
	elsewhere, c := newCollector(t), newCollector(t)
	c.answers(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	cfg := newConfig(t, c.URL)
	cfg.Headers = map[string]string{"Authorization": "Bearer x"}
	result, err := New(cfg, clock).Send(t.Context(), snapshot("s"))
	require.NoError(t, err)
	assert.Equal(t, Spooled, result.Status())
	assert.Empty(t, elsewhere.requests())
}

func TestTraceParent(t *testing.T) {
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	assert.False(t, parseTraceParent(good).trace.IsEmpty())
	assert.False(t, parseTraceParent("01"+good[2:]+"-more").trace.IsEmpty(), "a later version may say more")
	for _, bad := range []string{
		"", "x" + good, good + "-more", "ff" + good[2:],
		"00-00000000000000000000000000000000-b7ad6b7169203331-01",
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
		"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
	} {
		assert.Equal(t, traceParent{}, parseTraceParent(bad), bad)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(200, protobuf, []byte{0x0a, 0x02, 0x08, 0x01})
	f.Add(400, protobuf, []byte{0x12, 0x01, 'x'})
	f.Add(503, "text/plain", []byte{})
	f.Fuzz(func(t *testing.T, status int, media string, body []byte) {
		err := judge(&http.Response{StatusCode: status, Header: http.Header{"Content-Type": {media}}}, body)
		if err == nil && (status < 200 || status > 299) {
			t.Fatal("an answer that is no success was taken for one")
		}
		if isPermanent(err) && isAway(err) {
			t.Fatal("it is the event's fault and the collector's")
		}
	})
}
