package continuityprocessor

import (
	"context"
	"slices"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/signal"
	"github.com/agentcontinuity/otelcol-continuity/processor/continuityprocessor/internal/metadata"
)

// telemetry is what the processor says of itself. It never names a session: a
// label has a closed set of values, and what is not in it is other.
type telemetry struct {
	builder *metadata.TelemetryBuilder
	// runtimes are the values of the label runtime.
	runtimes map[string]struct{}
	// The sets of attributes are made once.
	boundaries  map[boundaryLabels]metric.MeasurementOption
	durations   map[classify.State]metric.MeasurementOption
	looks       map[string]metric.MeasurementOption
	compactions map[compactionLabels]metric.MeasurementOption
	tokens      map[tokenLabels]metric.MeasurementOption
	activities  map[activityLabels]metric.MeasurementOption
	ages        map[ageLabels]metric.MeasurementOption
	windows     map[boundary.WindowStatus]metric.MeasurementOption
	alerts      map[alertLabels]metric.MeasurementOption
	kinds       map[boundary.AlertKind]metric.MeasurementOption
	limits      map[boundary.Limit]metric.MeasurementOption
	signals     map[pipeline.Signal]metric.MeasurementOption
	reasons     sync.Map // classify.Reason -> metric.MeasurementOption
}

type boundaryLabels struct {
	state    classify.State
	coverage boundary.Coverage
	runtime  string
}

type compactionLabels struct {
	outcome          boundary.Outcome
	runtime, trigger string
}

type tokenLabels struct{ side, runtime string }

type activityLabels struct {
	activity string
	state    classify.State
}

type ageLabels struct {
	age    int // index of boundary.Ages
	window boundary.WindowStatus
}

// Senders choose the names of runtimes, triggers and activities: other stands for
// all that neither Continuity nor the configuration knows, unknown for what is not
// stated.
const (
	other   = "other"
	unknown = "unknown"
)

var (
	triggers   = []string{"auto", "manual", other, unknown}
	activities = []string{"working", "waiting_human", other, unknown}
	sides      = []string{"before", "after"}
	ages       = []string{"1m", "5m", "15m", "1h", "1d", "older"}
)

// among returns the text where it is one of known.
func among(known []string, text string) string {
	switch {
	case text == "":
		return unknown
	case slices.Contains(known, text):
		return text
	}
	return other
}

type alertLabels struct {
	kind   boundary.AlertKind
	status boundary.AlertStatus
}

func newTelemetry(set component.TelemetrySettings, cfg *Config) (*telemetry, error) {
	builder, err := metadata.NewTelemetryBuilder(set)
	if err != nil {
		return nil, err
	}
	t := &telemetry{
		builder:     builder,
		runtimes:    map[string]struct{}{other: {}},
		boundaries:  map[boundaryLabels]metric.MeasurementOption{},
		durations:   map[classify.State]metric.MeasurementOption{},
		looks:       map[string]metric.MeasurementOption{},
		compactions: map[compactionLabels]metric.MeasurementOption{},
		tokens:      map[tokenLabels]metric.MeasurementOption{},
		activities:  map[activityLabels]metric.MeasurementOption{},
		ages:        map[ageLabels]metric.MeasurementOption{},
		windows:     map[boundary.WindowStatus]metric.MeasurementOption{},
		alerts:      map[alertLabels]metric.MeasurementOption{},
		kinds:       map[boundary.AlertKind]metric.MeasurementOption{},
		limits:      map[boundary.Limit]metric.MeasurementOption{},
		signals:     map[pipeline.Signal]metric.MeasurementOption{},
	}
	for name := range boundary.DefaultConfig().Runtimes {
		t.runtimes[name] = struct{}{}
	}
	for name := range cfg.Runtimes {
		t.runtimes[name] = struct{}{}
	}
	for _, name := range signal.Runtimes() {
		t.runtimes[name] = struct{}{}
	}
	for i := range cfg.Recognizers {
		t.runtimes[cfg.Recognizers[i].Runtime] = struct{}{}
	}
	t.makeLabels()
	t.startAtZero()
	return t, nil
}

func (t *telemetry) makeLabels() {
	for _, state := range classify.States {
		t.durations[state] = labels("state", state.String())
		for _, coverage := range boundary.Coverages {
			for runtime := range t.runtimes {
				t.boundaries[boundaryLabels{state, coverage, runtime}] = labels(
					"state", state.String(), "coverage", coverage.String(), "runtime", runtime)
			}
		}
	}
	for runtime := range t.runtimes {
		t.looks[runtime] = labels("runtime", runtime)
		for _, outcome := range boundary.Outcomes {
			for _, trigger := range triggers {
				t.compactions[compactionLabels{outcome, runtime, trigger}] = labels(
					"outcome", outcome.String(), "runtime", runtime, "trigger", trigger)
			}
		}
		for _, side := range sides {
			t.tokens[tokenLabels{side, runtime}] = labels("side", side, "runtime", runtime)
		}
	}
	for _, activity := range activities {
		for _, state := range classify.States {
			t.activities[activityLabels{activity, state}] = labels("activity", activity, "state", state.String())
		}
	}
	for _, status := range boundary.WindowStatuses {
		t.windows[status] = labels("window", status.String())
		for i, age := range ages {
			t.ages[ageLabels{i, status}] = labels("age", age, "window", status.String())
		}
	}
	for _, kind := range boundary.AlertKinds {
		t.kinds[kind] = labels("kind", kind.String())
		for _, status := range boundary.AlertStatuses {
			t.alerts[alertLabels{kind, status}] = labels("kind", kind.String(), "status", status.String())
		}
	}
	for _, limit := range boundary.AllLimits {
		t.limits[limit] = labels("limit", limit.String())
	}
	for _, s := range []pipeline.Signal{pipeline.SignalTraces, pipeline.SignalLogs} {
		t.signals[s] = labels("signal", s.String())
	}
}

// startAtZero makes counters exist before they count: a rate over a series that
// begins at one misses the first alert.
func (t *telemetry) startAtZero() {
	ctx, b := context.Background(), t.builder
	for _, option := range t.boundaries {
		b.ProcessorContinuityBoundaries.Add(ctx, 0, option)
	}
	for _, option := range t.compactions {
		b.ProcessorContinuityCompactions.Add(ctx, 0, option)
	}
	for _, option := range t.tokens {
		b.ProcessorContinuityCompactionTokens.Add(ctx, 0, option)
	}
	for _, option := range t.activities {
		b.ProcessorContinuityBoundaryActivity.Add(ctx, 0, option)
	}
	for _, option := range t.alerts {
		b.ProcessorContinuityAlerts.Add(ctx, 0, option)
	}
	for _, option := range t.limits {
		b.ProcessorContinuityLimitsReached.Add(ctx, 0, option)
	}
	for _, option := range t.signals {
		b.ProcessorContinuityOutboxRefused.Add(ctx, 0, option)
		b.ProcessorContinuityOutboxDropped.Add(ctx, 0, option)
	}
	for _, operation := range []storageOperation{storageLoad, storageWrite, storageDecode, storageClose} {
		b.ProcessorContinuityStorageErrors.Add(ctx, 0, labels("operation", string(operation)))
	}
	for _, reason := range rejections {
		b.ProcessorContinuityEventsRejected.Add(ctx, 0, t.reason(reason))
	}
	for _, reason := range findingReasons {
		b.ProcessorContinuityFindings.Add(ctx, 0, t.reason(reason))
	}
	b.ProcessorContinuityEventsDuplicate.Add(ctx, 0)
	b.ProcessorContinuityObservationsLate.Add(ctx, 0)
	b.ProcessorContinuitySnapshotsSuperseded.Add(ctx, 0)
}

// record counts what an event or the passing of time brought about.
func (t *telemetry) record(res boundary.Result) {
	for i := range res.Receipts {
		t.recordReceipt(&res.Receipts[i])
	}
	for _, tally := range res.Tallies {
		t.recordTally(tally)
	}
}

func (t *telemetry) recordReceipt(r *boundary.Receipt) {
	ctx, b := context.Background(), t.builder
	for _, f := range r.Findings {
		b.ProcessorContinuityFindings.Add(ctx, 1, t.reason(f.Reason))
	}
	for _, a := range r.Alerts {
		b.ProcessorContinuityAlerts.Add(ctx, 1, t.alerts[alertLabels{a.Kind, a.Status}])
	}
	if r.Revision > 1 { // the boundary was counted at its first receipt
		return
	}
	if option, ok := t.boundaries[boundaryLabels{r.Boundary, r.Coverage, t.runtime(r.Runtime)}]; ok {
		b.ProcessorContinuityBoundaries.Add(ctx, 1, option)
	}
	if option, ok := t.activities[activityLabels{among(activities, r.Activity), r.Boundary}]; ok {
		b.ProcessorContinuityBoundaryActivity.Add(ctx, 1, option)
	}
	if option, ok := t.durations[r.Boundary]; ok && !r.Start.IsZero() {
		b.ProcessorContinuityBoundaryDuration.Record(ctx, r.End.Sub(r.Start).Seconds(), option)
	}
	if r.ObservedAfter >= 0 {
		b.ProcessorContinuityTimeToObservation.Record(ctx, r.ObservedAfter.Seconds(), t.looks[t.runtime(r.Runtime)])
	}
}

func (t *telemetry) recordTally(tally boundary.Tally) {
	ctx, b := context.Background(), t.builder
	switch tally.What {
	case boundary.CountDuplicate:
		b.ProcessorContinuityEventsDuplicate.Add(ctx, 1)
	case boundary.CountLate:
		b.ProcessorContinuityObservationsLate.Add(ctx, 1)
	case boundary.CountSuperseded:
		b.ProcessorContinuitySnapshotsSuperseded.Add(ctx, 1)
	case boundary.CountCompaction:
		runtime := t.runtime(tally.Runtime)
		if option, ok := t.compactions[compactionLabels{tally.Outcome, runtime, among(triggers, tally.Trigger)}]; ok {
			b.ProcessorContinuityCompactions.Add(ctx, 1, option)
		}
		if tally.Since >= 0 {
			b.ProcessorContinuityCompactionInterval.Record(ctx, tally.Since.Seconds(), t.looks[runtime])
		}
		t.recordTokens(tally)
	case boundary.CountRetold: // of a hook and the agent, one knows the tokens
		t.recordTokens(tally)
	case boundary.CountRejected:
		t.recordRejected(tally.Reason)
	case boundary.CountLimit:
		t.recordLimit(tally.Limit, 1)
	}
}

// recordTokens counts what a compaction left of the context.
func (t *telemetry) recordTokens(tally boundary.Tally) {
	if !tally.Outcome.Happened() || tally.TokensBefore <= 0 || tally.TokensAfter <= 0 {
		return
	}
	ctx, add, runtime := context.Background(), t.builder.ProcessorContinuityCompactionTokens.Add, t.runtime(tally.Runtime)
	add(ctx, tally.TokensBefore, t.tokens[tokenLabels{"before", runtime}])
	add(ctx, tally.TokensAfter, t.tokens[tokenLabels{"after", runtime}])
}

// recordLimit counts a limit that was reached.
func (t *telemetry) recordLimit(limit boundary.Limit, n int64) {
	t.builder.ProcessorContinuityLimitsReached.Add(context.Background(), n, t.limits[limit])
}

// recordRejected counts an event that holds no state.
func (t *telemetry) recordRejected(reason classify.Reason) {
	t.builder.ProcessorContinuityEventsRejected.Add(context.Background(), 1, t.reason(reason))
}

// recordRefused counts receipts that the next consumer refused for good.
func (t *telemetry) recordRefused(s pipeline.Signal, n int) {
	t.builder.ProcessorContinuityOutboxRefused.Add(context.Background(), int64(n), t.signals[s])
}

// recordDropped counts receipts that were given up.
func (t *telemetry) recordDropped(s pipeline.Signal, n int) {
	t.builder.ProcessorContinuityOutboxDropped.Add(context.Background(), int64(n), t.signals[s])
}

// storageOperation is what was asked of the storage.
type storageOperation string

const (
	storageLoad   storageOperation = "load"
	storageWrite  storageOperation = "write"
	storageDecode storageOperation = "decode"
	storageClose  storageOperation = "close"
)

func (t *telemetry) recordStorageError(operation storageOperation) {
	t.builder.ProcessorContinuityStorageErrors.Add(context.Background(), 1, labels("operation", string(operation)))
}

func (t *telemetry) runtime(name string) string {
	if _, known := t.runtimes[name]; known {
		return name
	}
	return other
}

func (t *telemetry) reason(r classify.Reason) metric.MeasurementOption {
	if option, ok := t.reasons.Load(r); ok {
		return option.(metric.MeasurementOption)
	}
	option, _ := t.reasons.LoadOrStore(r, labels("reason", string(r)))
	return option.(metric.MeasurementOption)
}

// shutdown takes the gauges back.
func (t *telemetry) shutdown() { t.builder.Shutdown() }

func labels(pairs ...string) metric.MeasurementOption {
	attrs := make([]attribute.KeyValue, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		attrs = append(attrs, attribute.String(pairs[i], pairs[i+1]))
	}
	return metric.WithAttributeSet(attribute.NewSet(attrs...))
}
