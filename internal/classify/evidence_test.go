package classify

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// recorded is a baseline that was seen, sent and received within a second.
func recorded(changes ...func(*Before)) *Before {
	b := &Before{Value: of("main"), Taken: Taken{ObservedAt: noon, Event: noon + 100*ms, Received: noon + 300*ms}}
	for _, change := range changes {
		change(b)
	}
	return b
}

// shown is what an agent restated five minutes later.
func shown(changes ...func(*After)) *After {
	a := &After{
		Value: of("main"), Source: Agent, Accepted: true,
		ObservedAt: noon + 5*minute, Event: noon + 5*minute + 100*ms, Received: noon + 5*minute + 300*ms,
	}
	for _, change := range changes {
		change(a)
	}
	return a
}

// TestInsufficient has a row for each reason, in the order of the contract, and
// one for it and all that come after it: the first holds.
func TestInsufficient(t *testing.T) {
	faulty := func(r Reason) func(*After) { return func(a *After) { a.Fault = r } }
	noSource := func(a *After) { a.Source, a.Accepted = NoSource, false }
	notAccepted := func(a *After) { a.Source, a.Accepted = Record, false }
	stale := func(a *After) { a.ObservedAt = noon - minute }
	tooEarly := func(b *Before) { b.CompactedUntil = noon + 6*minute }
	sound := func(*Before) {}
	for name, c := range map[string]struct {
		before func(*Before)
		after  []func(*After)
		want   Reason
	}{
		"sufficient":                   {sound, nil, ""},
		"attribute_duplicated":         {sound, []func(*After){faulty(AttributeDuplicated)}, "attribute_duplicated"},
		"attribute_type":               {sound, []func(*After){faulty(AttributeType)}, "attribute_type"},
		"digest_malformed":             {sound, []func(*After){faulty(DigestMalformed)}, "digest_malformed"},
		"digest_empty":                 {sound, []func(*After){faulty(DigestEmpty)}, "digest_empty"},
		"raw_value_rejected":           {sound, []func(*After){faulty(RawValueRejected)}, "raw_value_rejected"},
		"name_invalid":                 {sound, []func(*After){faulty(NameInvalid)}, "name_invalid"},
		"digest_malformed and all":     {tooEarly, []func(*After){faulty(DigestMalformed), noSource, stale}, "digest_malformed"},
		"source_missing":               {sound, []func(*After){noSource}, "source_missing"},
		"source_missing and all":       {tooEarly, []func(*After){noSource, stale}, "source_missing"},
		"source_not_accepted":          {sound, []func(*After){notAccepted}, "source_not_accepted"},
		"source_not_accepted and all":  {tooEarly, []func(*After){notAccepted, stale}, "source_not_accepted"},
		"a probe that is not accepted": {sound, []func(*After){func(a *After) { a.Source, a.Accepted = Environment, false }}, "source_not_accepted"},
		"not_fresh":                    {sound, []func(*After){stale}, "not_fresh"},
		"not_fresh and all":            {tooEarly, []func(*After){stale}, "not_fresh"},
		"observed_too_early":           {tooEarly, nil, "observed_too_early"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, Insufficient(recorded(c.before), shown(c.after...)))
		})
	}
}

// TestWeaker: of what two baselines say of one look the first in the order of the
// contract holds, whichever is asked first.
func TestWeaker(t *testing.T) {
	order := []Reason{"not_fresh", "observed_too_early", ""}
	for i, a := range order {
		for j, b := range order {
			assert.Equal(t, order[min(i, j)], Weaker(a, b), "%q and %q", a, b)
		}
	}
	for _, own := range []Reason{"digest_malformed", "source_missing", "source_not_accepted"} { // those of the look itself
		assert.Equal(t, own, Weaker(own, own))
		assert.Equal(t, own, Weaker("", own))
		assert.Equal(t, own, Weaker(own, ""))
	}
}

// TestFresh: each row changes one thing of a snapshot that was observed at noon,
// sent 100 ms and received 300 ms later, and of a look at it 5 minutes after that.
func TestFresh(t *testing.T) {
	type clocks struct{ Taken, Look Taken }
	const look = 5 * minute
	for name, c := range map[string]struct {
		change func(*clocks)
		want   bool
	}{
		"fresh":       {func(*clocks) {}, true},
		"not dated":   {func(c *clocks) { c.Look.ObservedAt = 0 }, false},
		"long before": {func(c *clocks) { c.Look.ObservedAt = noon - hour }, false},
		"by a probe, an hour later": {func(c *clocks) {
			c.Look = Taken{ObservedAt: noon + hour, Event: noon + hour, Received: noon + hour}
		}, true},

		"at the same instant":     {func(c *clocks) { c.Taken.Event, c.Look.ObservedAt = 0, noon }, false},
		"a nanosecond later":      {func(c *clocks) { c.Taken.Event, c.Look.ObservedAt = 0, noon+1 }, true},
		"a nanosecond earlier":    {func(c *clocks) { c.Taken.Event, c.Look.ObservedAt = 0, noon-1 }, false},
		"later, before the event": {func(c *clocks) { c.Look.ObservedAt = noon + 100*ms - 1 }, false},
		"later, at the event":     {func(c *clocks) { c.Look.ObservedAt = noon + 100*ms }, true},

		"snapshot not dated":                 {func(c *clocks) { c.Taken.ObservedAt = 0 }, true},
		"snapshot not dated, at its event":   {func(c *clocks) { c.Taken.ObservedAt, c.Look.ObservedAt = 0, noon+100*ms }, true},
		"snapshot not dated, before it":      {func(c *clocks) { c.Taken.ObservedAt, c.Look.ObservedAt = 0, noon+100*ms-1 }, false},
		"snapshot without event time":        {func(c *clocks) { c.Taken.Event = 0 }, true},
		"snapshot with neither":              {func(c *clocks) { c.Taken.ObservedAt, c.Taken.Event = 0, 0 }, false},
		"snapshot dated when received":       {func(c *clocks) { c.Taken.ObservedAt, c.Look.ObservedAt = noon+300*ms, noon+300*ms }, false},
		"snapshot dated later than received": {func(c *clocks) { c.Taken.ObservedAt, c.Look.ObservedAt = noon+300*ms+1, noon+300*ms }, true},
		"snapshot dated tomorrow":            {func(c *clocks) { c.Taken.ObservedAt = noon + day }, true},
		"snapshot dated tomorrow, no event":  {func(c *clocks) { c.Taken.ObservedAt, c.Taken.Event = noon+day, 0 }, false},

		"event of 1970":            {func(c *clocks) { c.Taken.Event = 1 }, true},
		"event of 2019":            {func(c *clocks) { c.Taken.Event = in(2019) }, true},
		"event of 2019, no date":   {func(c *clocks) { c.Taken.ObservedAt, c.Taken.Event = 0, in(2019) }, false},
		"event of 2021, no date":   {func(c *clocks) { c.Taken.ObservedAt, c.Taken.Event = 0, in(2021) }, true},
		"event a day ahead":        {func(c *clocks) { c.Taken.Event = c.Taken.Received + day }, false},
		"event more than that":     {func(c *clocks) { c.Taken.Event = c.Taken.Received + day + 1 }, true},
		"that, and no date":        {func(c *clocks) { c.Taken.ObservedAt, c.Taken.Event = 0, c.Taken.Received+day+1 }, false},
		"event an hour ahead":      {func(c *clocks) { c.Taken.Event = noon + hour }, false},
		"that, and a look at then": {func(c *clocks) { c.Taken.Event, c.Look = noon+hour, Taken{noon + hour, noon + hour, noon + 30*minute} }, true},

		"5 minutes ahead of the look":            {func(c *clocks) { c.Look.ObservedAt = c.Look.Event + 5*minute }, true},
		"more than that":                         {func(c *clocks) { c.Look.ObservedAt = c.Look.Event + 5*minute + 1 }, false},
		"tomorrow":                               {func(c *clocks) { c.Look.ObservedAt = noon + day }, false},
		"look without event time, 5 minutes":     {func(c *clocks) { c.Look.Event, c.Look.ObservedAt = 0, c.Look.Received+5*minute }, true},
		"look without event time, more":          {func(c *clocks) { c.Look.Event, c.Look.ObservedAt = 0, c.Look.Received+5*minute+1 }, false},
		"look of 2019, by its receipt":           {func(c *clocks) { c.Look.Event = in(2019) }, true},
		"look of 2019, 5 minutes after receipt":  {func(c *clocks) { c.Look.Event, c.Look.ObservedAt = in(2019), c.Look.Received+5*minute+1 }, false},
		"look two days ahead, by its receipt":    {func(c *clocks) { c.Look.Event = noon + 2*day }, true},
		"look two days ahead does not date it":   {func(c *clocks) { c.Look.Event, c.Look.ObservedAt = noon+2*day, noon+2*day }, false},
		"look sent an hour before it is dated":   {func(c *clocks) { c.Look.Event = noon + look - hour }, false},
		"look sent an hour late counts as dated": {func(c *clocks) { c.Look.Event, c.Look.Received = noon+look+hour, noon+look+hour }, true},
	} {
		t.Run(name, func(t *testing.T) {
			b, a := recorded(), shown()
			k := clocks{b.Taken, Taken{a.ObservedAt, a.Event, a.Received}}
			c.change(&k)
			assert.Equal(t, c.want, k.Taken.Fresh(k.Look.ObservedAt, k.Look.Event, k.Look.Received))
			b.Taken, a.ObservedAt, a.Event, a.Received = k.Taken, k.Look.ObservedAt, k.Look.Event, k.Look.Received
			assert.Equal(t, c.want, Insufficient(b, a) == "", "so says the evidence test")
		})
	}
}

func in(year int) Instant { return At(time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)) }

// TestWholeSeconds: who gives a time in whole seconds is not asked for more.
func TestWholeSeconds(t *testing.T) {
	whole := noon - 500*ms
	for name, c := range map[string]struct {
		seen, observed, event Instant
		want                  bool
	}{
		"whole, same second as the baseline":        {whole, noon - 499*ms, 0, false},
		"whole, next second":                        {whole + second, noon, 0, true},
		"whole, next second after its last ns":      {whole + second, whole + second - 1, 0, true},
		"baseline whole, same second":               {noon, whole, 0, false},
		"baseline whole, last ns of the second":     {whole + second - 1, whole, 0, false},
		"baseline whole, next second":               {whole + second + 1, whole, 0, true},
		"both whole, the same":                      {whole, whole, 0, false},
		"both whole, next":                          {whole + second, whole, 0, true},
		"both in parts":                             {noon + 1, noon, 0, true},
		"whole, the event later in the second":      {whole, 0, noon, true},
		"whole, the event in the next second":       {whole, 0, whole + second + 1, false},
		"event whole, earlier within the second":    {whole - 1, 0, whole, false},
		"event in parts, earlier":                   {noon - 1, 0, noon, false},
		"baseline's second, event later, seen then": {whole + second, whole, noon, true},
	} {
		t.Run(name, func(t *testing.T) {
			k := Taken{ObservedAt: c.observed, Event: c.event, Received: noon + second}
			assert.Equal(t, c.want, k.Fresh(c.seen, noon+minute, noon+minute))
		})
	}
	ahead := Taken{ObservedAt: noon - hour, Received: noon - hour}
	assert.True(t, ahead.Fresh(whole+5*minute, noon, noon), "earlier in whole seconds")
	assert.True(t, ahead.Fresh(whole+5*minute, whole+1, noon), "the same second")
	assert.False(t, ahead.Fresh(whole+5*minute+second, noon, noon), "the next second")
}

// TestClearing: what clears a defect is later than the look that showed it. The
// value of a defect may come without any snapshot.
func TestClearing(t *testing.T) {
	for name, c := range map[string]struct {
		taken Taken
		since Instant
		seen  Instant
		want  Reason
	}{
		"later":                  {recorded().Taken, noon + minute, noon + minute + 1, ""},
		"the same look":          {recorded().Taken, noon + minute, noon + minute, ""},
		"earlier":                {recorded().Taken, noon + minute, noon + 30*second, "not_fresh"},
		"later in whole seconds": {recorded().Taken, noon + minute, noon + minute + 500*ms, ""},
		"the same whole second":  {recorded().Taken, noon + minute, noon + minute - 500*ms, ""},
		"later, but stale":       {recorded().Taken, noon - hour, noon - minute, "not_fresh"},
		"later, no snapshot":     {Taken{}, noon + minute, noon + minute + 1, ""},
		"the same, no snapshot":  {Taken{}, noon + minute, noon + minute, ""},
		"not dated, no snapshot": {Taken{}, noon + minute, 0, "not_fresh"},
		"dated ahead":            {Taken{}, noon + minute, noon + 11*minute, "not_fresh"},
		"no snapshot, no defect": {Taken{}, 0, noon, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := recorded(func(b *Before) { b.Taken, b.Since = c.taken, c.since })
			assert.Equal(t, c.want, Insufficient(b, shown(func(a *After) { a.ObservedAt = c.seen })))
		})
	}
}

func TestTooEarly(t *testing.T) {
	end := noon + 2*minute
	for name, c := range map[string]struct {
		seen Instant
		want bool
	}{
		"after the end":             {end + 1, false},
		"at the end":                {end, false},
		"half a second before":      {end - 500*ms, false},
		"a second before":           {end - second, false},
		"a nanosecond more":         {end - second - 1, true},
		"a minute before":           {end - minute, true},
		"whole, same second":        {end - 500*ms, false},
		"whole, a second before":    {end - 500*ms - second, false},
		"whole, two seconds before": {end - 500*ms - 2*second, true},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, EarlierThan(c.seen, end))
			b := recorded(func(b *Before) { b.CompactedUntil = end })
			assert.Equal(t, c.want, Insufficient(b, shown(func(a *After) { a.ObservedAt = c.seen })) == ObservedTooEarly)
		})
	}
	assert.False(t, EarlierThan(1, 0), "where nothing ended, nothing is too early")
}

// TestNotLaterThan: a snapshot that is later than a completion was taken from the
// summary.
func TestNotLaterThan(t *testing.T) {
	assert.True(t, NotLaterThan(noon-hour, noon))
	assert.True(t, NotLaterThan(noon, noon))
	assert.True(t, NotLaterThan(noon+second, noon))
	assert.False(t, NotLaterThan(noon+second+1, noon))
	assert.False(t, NotLaterThan(noon+hour, noon))
}

func TestProbe(t *testing.T) {
	for _, s := range []Source{NoSource, Agent, Human, Record, Environment} {
		assert.Equal(t, s == Environment, After{Source: s}.Probe())
	}
}

func TestInstantConverts(t *testing.T) {
	assert.Equal(t, time.Date(2026, 3, 4, 12, 0, 0, 500_000_000, time.UTC), noon.Time().UTC())
	assert.True(t, Instant(0).Time().IsZero())
	assert.Equal(t, noon+minute, noon.Add(time.Minute))
}
