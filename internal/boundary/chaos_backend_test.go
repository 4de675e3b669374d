package boundary_test

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// backend is where the collector exports to. It refuses and hangs at random.
// What it noted counts as taken, even where it then says otherwise.
type backend struct {
	spring func(at int) bool

	mu         sync.Mutex
	rng        *rand.Rand
	lanes      [2]ledger // of spans and of records
	passed     map[string]bool
	trouble    []string
	duplicates int
}

// ledger is what came out of one signal, by name of the receipt.
type ledger struct {
	receipts map[told]*taken
	alerts   map[told]map[string]string // alert records: whole, by kind and status
	latest   map[string]int64           // revision of each boundary whose id was made up
}

// told names a receipt. The span id tells agents of one session apart that use
// the same explicit boundary id.
type told struct {
	session, boundary string
	revision          int64
	span              pcommon.SpanID
}

type taken struct {
	out
	whole string
}

func newBackend(rng *rand.Rand) *backend {
	b := &backend{rng: rng, passed: map[string]bool{}}
	for i := range b.lanes {
		b.lanes[i] = ledger{map[told]*taken{}, map[told]map[string]string{}, map[string]int64{}}
	}
	return b
}

const (
	exporterTimeout = 500 * time.Millisecond
	longHang        = exporterTimeout + 200*time.Millisecond
)

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // its sender is gone
	}
	if b.spring(killBefore) {
		return
	}
	switch mood := b.draw(1000); {
	case mood < 30:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case mood < 100:
		time.Sleep(time.Duration(b.draw(100)) * time.Millisecond)
	case mood < 105:
		time.Sleep(longHang)
	case mood < 120:
		defer w.WriteHeader(http.StatusServiceUnavailable) // taken all the same
	}
	b.take(r.URL.Path, body)
	b.spring(killAfter)
}

func (b *backend) draw(n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rng.IntN(n)
}

func (b *backend) troubled(format string, args ...any) {
	b.trouble = append(b.trouble, fmt.Sprintf(format, args...))
}

func (b *backend) take(path string, body []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var err error
	if path == "/v1/logs" {
		var ld plog.Logs
		if ld, err = (&plog.ProtoUnmarshaler{}).UnmarshalLogs(body); err == nil {
			b.takeLogs(ld)
		}
	} else {
		var td ptrace.Traces
		if td, err = (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(body); err == nil {
			b.takeTraces(td)
		}
	}
	if err != nil {
		b.troubled("%s: %v", path, err)
	}
}

func (b *backend) takeTraces(td ptrace.Traces) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				if span.Name() != semconv.EventBoundary {
					b.passed[span.TraceID().String()] = true
					continue
				}
				o := receiptOf(span.Attributes())
				whole := fmt.Sprint(span.TraceID(), span.SpanID(), span.ParentSpanID(), span.StartTimestamp(), span.EndTimestamp(), span.Attributes().AsRaw())
				for _, e := range span.Events().All() {
					o.alerts = append(o.alerts, alertOf(e.Attributes()))
					whole += fmt.Sprint(e.Name(), e.Timestamp(), e.Attributes().AsRaw())
				}
				slices.Sort(o.alerts)
				b.note(&b.lanes[0], nameOf(span.Attributes(), span.SpanID()), o, whole)
			}
		}
	}
}

func (b *backend) takeLogs(ld plog.Logs) {
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, record := range sl.LogRecords().All() {
				name, lane := nameOf(record.Attributes(), record.SpanID()), &b.lanes[1]
				whole := fmt.Sprint(record.TraceID(), record.SpanID(), record.Timestamp(), record.Attributes().AsRaw())
				switch record.EventName() {
				case semconv.EventBoundary:
					b.note(lane, name, receiptOf(record.Attributes()), whole)
				case semconv.EventAlert:
					alert := alertOf(record.Attributes())
					if known, again := lane.alerts[name][alert]; again && known != whole {
						b.troubled("alert %v %s came twice and differs:\n  %s\n  %s", name, alert, known, whole)
					}
					if lane.alerts[name] == nil {
						lane.alerts[name] = map[string]string{}
					}
					lane.alerts[name][alert] = whole
				default:
					b.passed[record.TraceID().String()] = true
				}
			}
		}
	}
}

// note takes a receipt. The same name must stand for the same receipt.
func (b *backend) note(lane *ledger, name told, o out, whole string) {
	known := lane.receipts[name]
	switch {
	case known == nil:
		lane.receipts[name] = &taken{o, whole}
		if madeUp(name.boundary) && name.revision < lane.latest[name.boundary] {
			b.troubled("receipt %v came after a later revision", name)
		}
		lane.latest[name.boundary] = name.revision
	case known.whole != whole:
		b.troubled("receipt %v came twice and differs:\n  %s\n  %s", name, known.whole, whole)
	default:
		b.duplicates++
	}
}

// accounts are what was told of each session of a plan, in each signal.
func (b *backend) accounts(prefix string) (accounts [2]string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, lane := range b.lanes {
		var outs []out
		for n := range lane.receipts {
			if !strings.HasPrefix(n.session, prefix) {
				continue
			}
			o := lane.receipts[n].out
			o.key.Session = strings.TrimPrefix(o.key.Session, prefix)
			if i == 1 {
				o.alerts = slices.Sorted(maps.Keys(lane.alerts[n]))
			}
			outs = append(outs, o)
		}
		accounts[i] = account(outs)
	}
	return accounts
}

// orphans are alert records without a receipt.
func (b *backend) orphans() (names []told) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for n := range b.lanes[1].alerts {
		if b.lanes[1].receipts[n] == nil {
			names = append(names, n)
		}
	}
	return names
}

func nameOf(m pcommon.Map, span pcommon.SpanID) told {
	return told{str(m, semconv.SessionID), str(m, semconv.BoundaryID), num(m, semconv.Revision), span}
}

func alertOf(m pcommon.Map) string {
	return str(m, semconv.AlertKind) + ":" + str(m, semconv.AlertStatus)
}

func str(m pcommon.Map, key string) string {
	v, ok := m.Get(key)
	if !ok {
		return ""
	}
	return v.AsString()
}

func num(m pcommon.Map, key string) int64 {
	v, ok := m.Get(key)
	if !ok {
		return 0
	}
	return v.Int()
}

func list(m pcommon.Map, key string) (texts []string) {
	if v, ok := m.Get(key); ok {
		for _, x := range v.Slice().All() {
			texts = append(texts, x.Str())
		}
	}
	return texts
}

// receiptOf reads a receipt back, but for its alerts.
func receiptOf(m pcommon.Map) out {
	o := out{
		id: str(m, semconv.BoundaryID), reason: classify.Reason(str(m, semconv.Reason)), findings: map[string]string{},
		state: one(classify.States, str(m, semconv.State)), verdict: one(classify.States, str(m, semconv.BoundaryState)),
		actions: list(m, semconv.Actions), since: list(m, semconv.InvariantsChangedSince),
		coverage: one(boundary.Coverages, str(m, semconv.Coverage)), late: str(m, semconv.Late) == "true",
		outcome: one(boundary.Outcomes, str(m, semconv.CompactionOutcome)), runtime: str(m, semconv.Runtime),
	}
	o.key.Session = str(m, semconv.SessionID)
	o.rev, o.superseded = int(num(m, semconv.Revision)), int(num(m, semconv.SupersededCount))
	for key := range m.All() {
		if name, ok := strings.CutPrefix(key, semconv.InvariantState); ok {
			o.findings[name] = str(m, key) + "/" + str(m, semconv.InvariantReason+name)
		}
	}
	o.validation.Status = classify.ValidationStatus(str(m, semconv.ValidationStatus))
	o.validation.Reason = classify.Reason(str(m, semconv.ValidationReason))
	for _, r := range list(m, semconv.ValidationFindings) {
		o.validation.Findings = append(o.validation.Findings, classify.Reason(r))
	}
	return o
}

// one finds a value by its name.
func one[T fmt.Stringer](all []T, name string) (found T) {
	for _, v := range all {
		if v.String() == name {
			found = v
		}
	}
	return found
}
