package boundary_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
)

// reloaded is a core that is stored and loaded again after everything that
// happens to it: as if the collector was killed there.
type reloaded struct {
	core
	cfg    *boundary.Config
	fleet  *fleet
	stored map[boundary.SessionKey][]byte
	fail   func(error)
}

func newReloaded(cfg *boundary.Config, fail func(error)) *reloaded {
	durable := *cfg
	durable.Durable = true
	m := &reloaded{cfg: &durable, fleet: newFleet(), stored: map[boundary.SessionKey][]byte{}, fail: fail}
	m.c = boundary.New(m.cfg, m.fleet)
	return m
}

func (m *reloaded) reload() {
	for _, ch := range m.c.Changes() {
		if ch.Value == nil {
			delete(m.stored, ch.Key)
		} else {
			m.stored[ch.Key] = ch.Value
		}
	}
	m.c = boundary.New(m.cfg, m.fleet)
	for key, value := range m.stored {
		if err := m.c.Load(value, time.Time{}); err != nil {
			m.fail(err)
		}
		if got, err := boundary.StoredKey(value); err != nil || got != key {
			m.fail(err)
		}
	}
}

func (m *reloaded) observe(now time.Time, ev *boundary.Event) []out {
	defer m.reload()
	return m.core.observe(now, ev)
}

func (m *reloaded) advance(now time.Time) []out {
	defer m.reload()
	return m.core.advance(now)
}

func (m *reloaded) shutdown(now time.Time) []out {
	defer m.reload()
	return m.core.shutdown(now)
}

// TestReload shows that what is stored is all there is: a core that is stored
// and loaded after every step says the same as one that was never stopped.
func TestReload(t *testing.T) {
	all := features{
		batches: true, completions: true, outcomes: true, approvals: true, chains: true, sessions: true, agents: true, lifecycle: true,
		weak: true, odd: true, late: true, text: true, optional: true, required: true, confirm: true, nones: true, forms: true, ids: true,
		envelopes: true, refusals: true,
	}
	rapid.Check(t, func(t *rapid.T) {
		text := genHistory(t, all)
		h := parseHistory(text)
		want := split(h.run(newCore(&h.cfg)))
		got := split(h.run(newReloaded(&h.cfg, func(err error) { t.Fatalf("reload: %v\n%s", err, text) })))
		for key, outs := range want { // of sessions the order at one moment is free
			assert.Equal(t, lines(outs), lines(got[key]), text)
		}
		assert.Len(t, got, len(want), text)
	})
}

// TestReloadConformance does the same to the conformance cases.
func TestReloadConformance(t *testing.T) {
	for _, row := range conformance {
		t.Run(row.name, func(t *testing.T) {
			h := parseHistory(row.text)
			h.check(t, h.run(newReloaded(&h.cfg, func(err error) { t.Fatal(err) })))
		})
	}
}

// sample is a session with something of everything in it.
const sample = `
	config window=2s grace=500ms required=scope
	0 s1 snapshot base scope=S0%text target=TA env
	0.1 s1 approval scope S0>S1
	0.2 s1/sub snapshot base id=b1
	0.3 s1 observation base scope=S1 target=TB
	0.4 s1 completion completed
	0.5 s1 invalid status=blocked_on_reconciliation reason=unknown_side_effect
	0.6 s1 snapshot base constraint.c1=C1
	0.7 s1/sub observation base id=b2
	until 0.8
`

func storedSample(t testing.TB) []byte {
	h := parseHistory(sample)
	m := newReloaded(&h.cfg, func(err error) { t.Fatal(err) })
	h.run(m)
	require.Len(t, m.stored, 1)
	for _, value := range m.stored {
		return value
	}
	return nil
}

// TestVersions reads files that each version of the encoding wrote; all hold the
// same session. CONTINUITY_UPDATE_GOLDEN=1 writes that of the newest anew, which
// only a new version may need.
func TestVersions(t *testing.T) {
	current := storedSample(t)
	newest := filepath.Join("testdata", fmt.Sprintf("session.v%d", current[0]))
	if os.Getenv("CONTINUITY_UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(newest, current, 0o600))
	}
	for version := byte(1); version <= current[0]; version++ {
		value, err := os.ReadFile(filepath.Join("testdata", fmt.Sprintf("session.v%d", version)))
		require.NoError(t, err)
		require.Equal(t, version, value[0])
		again, err := boundary.Reencode(value)
		require.NoError(t, err)
		assert.Equal(t, current[0], again[0], "it is written as the newest")
		if version == current[0] {
			assert.Equal(t, value, current, "the same history is stored otherwise than it was: a new version is needed")
			assert.Equal(t, value, again)
		}
	}
	unknown := bytes.Clone(current)
	unknown[0]++
	_, err := boundary.Reencode(unknown)
	require.Error(t, err, "a later version")
}

// FuzzLoad feeds the decoder what a disk may hold: it never panics, and what it
// accepts it can store and load again.
func FuzzLoad(f *testing.F) {
	value := storedSample(f)
	f.Add(value)
	f.Add(value[:len(value)/2])
	f.Add([]byte{2})
	cfg := boundary.DefaultConfig()
	cfg.Durable = true
	f.Fuzz(func(t *testing.T, value []byte) {
		c := boundary.New(&cfg, newFleet())
		if c.Load(value, time.Time{}) != nil {
			return
		}
		key, err := boundary.StoredKey(value)
		require.NoError(t, err)
		for range 1000 {
			next, ok := c.Next()
			if !ok {
				break
			}
			c.Expire(next)
		}
		c.Observe(epoch, &boundary.Event{Kind: boundary.Snapshot, Key: boundary.Key{SessionKey: key}})
		for _, ch := range c.Changes() {
			if ch.Value != nil {
				require.NoError(t, boundary.New(&cfg, newFleet()).Load(ch.Value, time.Time{}))
			}
		}
	})
}

func TestReceiptRoundTrip(t *testing.T) {
	h := parseHistory(sample)
	c := boundary.New(&h.cfg, newFleet())
	n := 0
	for _, s := range h.steps {
		_, res := c.Observe(epoch.Add(s.at), s.ev)
		for i := range res.Receipts {
			n++
			r := &res.Receipts[i]
			value := boundary.EncodeReceipt(r)
			back, err := boundary.DecodeReceipt(value)
			require.NoError(t, err)
			assert.True(t, r.Start.Equal(back.Start) && r.End.Equal(back.End))
			assert.Equal(t, value, boundary.EncodeReceipt(back))
			assert.Equal(t, r.Verdict, back.Verdict)
			for cut := range value {
				_, err := boundary.DecodeReceipt(value[:cut])
				assert.Error(t, err)
			}
			_, err = boundary.DecodeReceipt(append(bytes.Clone(value), 0))
			assert.Error(t, err)
		}
	}
	assert.Positive(t, n)
}
