package boundary_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestChaos plays drawn histories on the real collector, many at a time, ends it
// at least CONTINUITY_CHAOS times meanwhile, and compares every receipt with the
// model's: none lost, none wrong, and twice only the same. `make chaos` runs it.
//
// CONTINUITY_CHAOS_SEED plays the same histories and the same plan of kills
// again. What a kill meets is a matter of scheduling, so a failure may need
// several tries; CONTINUITY_HISTORY plays a printed history without a collector.
func TestChaos(t *testing.T) {
	kills, _ := strconv.Atoi(os.Getenv("CONTINUITY_CHAOS"))
	if kills == 0 {
		t.Skip("CONTINUITY_CHAOS is not set")
	}
	seed := rand.Uint64N(1_000_000)
	if given := os.Getenv("CONTINUITY_CHAOS_SEED"); given != "" {
		var err error
		seed, err = strconv.ParseUint(given, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("CONTINUITY_CHAOS=%d CONTINUITY_CHAOS_SEED=%d", kills, seed)

	b := newBackend(rand.New(rand.NewPCG(seed, 1<<32)))
	server := httptest.NewUnstartedServer(b)
	c := newCollector(t, os.Getenv("CONTINUITY_BINARY"), "http://"+server.Listener.Addr().String())
	b.spring = c.spring
	server.Start()
	defer server.Close()
	c.start()
	x := &sender{collector: c, client: &http.Client{
		Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: sendersAtOnce},
	}}
	require.NoError(t, x.play(primer()))

	enough, quiet := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(quiet)
		c.torment(rand.New(rand.NewPCG(seed, 2<<32)), enough)
	}()
	plans := x.playMany(t, seed, kills)
	for deadline := time.Now().Add(longest); time.Now().Before(deadline) || c.ended() < kills && !t.Failed(); {
		time.Sleep(100 * time.Millisecond) // what was sent last may still be owed an answer
	}
	close(enough)
	<-quiet

	b.await(plans)
	c.end("stopped", syscall.SIGTERM) // what waits is handed on at a stop, or at the next start
	c.start()
	time.Sleep(time.Second)
	c.end("stopped", syscall.SIGTERM)
	conclude(t, seed, x, b, plans)
}

// sendersAtOnce is how many histories are played at a time.
const sendersAtOnce = 300

// sender sends requests until they are acknowledged.
type sender struct {
	*collector
	client               *http.Client
	requests, again, cut atomic.Int64
}

// playMany plays plans until the collector was ended often enough.
func (x *sender) playMany(t *testing.T, seed uint64, kills int) (plans []*plan) {
	var mu sync.Mutex
	var next atomic.Int64
	var wg sync.WaitGroup
	for i := range sendersAtOnce {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * 20 * time.Millisecond)
			for x.ended() < kills*2/3 && !t.Failed() {
				p := newPlan(seed, int(next.Add(1)))
				if err := x.play(p); err != nil {
					t.Errorf("history %d: %v", p.number, err)
					return
				}
				mu.Lock()
				plans = append(plans, p)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return plans
}

// play sends a plan's requests, each when the one before was acknowledged.
func (x *sender) play(p *plan) error {
	// All event times move by whole seconds: those that are whole stay so.
	p.shift = time.Since(epoch).Truncate(time.Second)
	for _, r := range p.requests {
		r.takes = 0
		time.Sleep(r.gap)
		path, body := p.body(r, p.shift)
		for due := time.Now(); ; {
			start := time.Now()
			took, err := x.post(path, body)
			if took {
				if r.takes++; r.takes == 1 {
					r.from = start.Sub(epoch) - p.shift
				}
			}
			if err == nil {
				x.spring(killAcknowledged)
				r.to = time.Since(epoch) - p.shift
				break
			}
			if errors.Is(err, errRefused) || time.Since(due) > time.Minute {
				return err
			}
			x.again.Add(1)
			time.Sleep(50 * time.Millisecond)
		}
		x.requests.Add(1)
	}
	return nil
}

var errRefused = errors.New("refused for good")

// post sends one request. It may have been taken unless nobody listened.
func (x *sender) post(path string, body []byte) (took bool, err error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+x.address+path, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	resp, err := x.client.Do(req)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return false, err
	case err != nil:
		x.cut.Add(1)
		return true, err
	}
	text, _ := io.ReadAll(resp.Body) // what was acknowledged is in the status
	_ = resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusOK:
		return true, nil
	case resp.StatusCode < http.StatusInternalServerError:
		return true, fmt.Errorf("%w: %s %q", errRefused, resp.Status, text)
	}
	return true, errors.New(resp.Status)
}

// await waits until both signals agree with the model, or long enough.
func (b *backend) await(plans []*plan) {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if !slices.ContainsFunc(plans, func(p *plan) bool {
			got := b.accounts(p.prefix)
			fates := p.fates(0)
			return !slices.Contains(fates, got[0]) || !slices.Contains(fates, got[1])
		}) {
			return
		}
	}
}

func conclude(t *testing.T, seed uint64, x *sender, b *backend, plans []*plan) {
	var wrong, unsure, receipts int
	for _, p := range plans {
		first, last := p.requests[0], p.requests[len(p.requests)-1]
		lag := x.outage(span{epoch.Add(p.shift + first.from), epoch.Add(p.shift + last.to + longest)}) + startupGrace + 200*time.Millisecond
		fates := p.fates(lag)
		if len(fates) != 1 {
			unsure++
		}
		for i, got := range b.accounts(p.prefix) {
			receipts += strings.Count(got, "rev=")
			if slices.Contains(fates, got) {
				continue
			}
			if wrong++; wrong <= 3 {
				t.Errorf("history %d, %s:\n%s\nthe model, deadlines met up to %v late:\n%s\nthe collector:\n%s", p.number,
					[]string{"spans", "records"}[i], p.told(), lag, strings.Join(fates, "\nor\n"), got)
			}
		}
		for _, r := range p.requests {
			if !b.passed[fmt.Sprintf("%x", r.wire.trace)] {
				t.Errorf("history %d: what was sent did not come out: %s", p.number, r.steps[0].line)
			}
		}
	}
	for _, trouble := range b.trouble[:min(len(b.trouble), 3)] {
		t.Error(trouble)
	}
	if o := b.orphans(); len(o) > 0 {
		t.Errorf("alerts without their receipts: %v", o)
	}
	t.Logf("%d histories, %d requests, %d sent again, %d cut off; %d receipts in both signals, %d of them twice; the collector: %v; "+
		"%d histories hang on a moment that nobody knows", len(plans), x.requests.Load(), x.again.Load(), x.cut.Load(), receipts, b.duplicates, x.ends, unsure)
	if unsure > len(plans)/20 {
		t.Errorf("%d of %d histories cannot be judged: the machine is too slow for this test", unsure, len(plans))
	}
	if t.Failed() {
		t.Logf("%d accounts are wrong. To play the same again: make chaos SEED=%d", wrong, seed)
		if log, err := os.ReadFile(x.log.Name()); err == nil {
			lines := slices.DeleteFunc(strings.Split(string(log), "\n"), func(l string) bool { return strings.Contains(l, "Exporting failed") })
			t.Logf("the end of the collector's log, without what the backend refused:\n%s", strings.Join(lines[max(0, len(lines)-20):], "\n"))
		}
	}
}
