package main

const m = "otelcol_processor_continuity_"

// What several panels ask.
const (
	happened  = `outcome=~"completed|unknown"`
	tokens    = `sum by (runtime) (increase(` + m + `compaction_tokens_total{` + runtime + `,side="before"}[$__range]))`
	tokensNow = `sum by (runtime) (increase(` + m + `compaction_tokens_total{` + runtime + `,side="after"}[$__range]))`
)

// ended is how many compactions ended so, by runtime, over the time shown.
func ended(outcome string) string {
	return `sum by (runtime) (increase(` + m + `compactions_total{` + runtime + `,outcome=~"` + outcome + `"}[$__range]))`
}

// share is one part of all compactions by runtime, over an interval.
func share(outcome, over string) string {
	return `sum by (runtime) (increase(` + m + `compactions_total{` + runtime + `,outcome="` + outcome + `"}[` + over + `]))` +
		` / (sum by (runtime) (increase(` + m + `compactions_total{` + runtime + `}[` + over + `])) > 0)`
}

// firstWeek is what can be seen from the agents' own telemetry alone.
func firstWeek() *dashboard {
	d := newDashboard("continuity-first-week", "Continuity: the first week",
		"What agents do to their own context, seen from their telemetry alone: no hook, no snapshot, no digest.", "now-7d")
	d.text(24, 3, "", "What agents do to their own context, from their telemetry alone. Nothing here needs a hook or a digest, and nothing here says "+
		"whether decisions survived: that begins with snapshots, and has a dashboard of its own (above, right).")

	d.row("In short")
	d.stat(4, "Compactions", "Compactions that took place in the time shown.", look{},
		query{`sum(increase(` + m + `compactions_total{` + runtime + `,` + happened + `}[$__range]))`, "compactions"})
	d.stat(4, "Failed", "Share of attempts that failed: the context stayed as it was, and full.", look{unit: "percentunit", warn: 0.05, bad: 0.2},
		query{`sum(increase(` + m + `compactions_total{` + runtime + `,outcome="failed"}[$__range])) / (sum(increase(` + m + `compactions_total{` + runtime + `}[$__range])) > 0)`, "failed"})
	d.stat(4, "No-op", "Share of attempts that found nothing to compact.", look{unit: "percentunit", warn: 0.2},
		query{`sum(increase(` + m + `compactions_total{` + runtime + `,outcome="no_op"}[$__range])) / (sum(increase(` + m + `compactions_total{` + runtime + `}[$__range])) > 0)`, "no-op"})
	d.stat(4, "Tokens reclaimed", "Tokens before less tokens after, of compactions where the agent states both.", look{unit: "short"},
		query{`sum(` + tokens + `) - sum(` + tokensNow + `)`, "tokens"})
	d.stat(4, "Thrashing", "Share of compactions that came within 5 minutes of the agent's last one: the context fills up as fast as it is emptied.",
		look{unit: "percentunit", warn: 0.1, bad: 0.3},
		query{`sum(increase(` + m + `compaction_interval_seconds_bucket{` + runtime + `,le=~"300(.0)?"}[$__range])) / (sum(increase(` + m + `compaction_interval_seconds_count{` + runtime + `}[$__range])) > 0)`, "within 5 min"})
	d.stat(4, "Seen from both sides", "Share of boundaries with a snapshot and a look. In the first week it is 0, and that is as it should be: it is what hooks will add.",
		look{unit: "percentunit"},
		query{`sum(increase(` + m + `boundaries_total{` + runtime + `,coverage="observed"}[$__range])) / (sum(increase(` + m + `boundaries_total{` + runtime + `}[$__range])) > 0)`, "observed"})

	d.row("Compactions")
	d.series(12, "Compactions by runtime, per hour", "Those that took place.", look{stack: true, bars: true},
		query{`sum by (runtime) (increase(` + m + `compactions_total{` + runtime + `,` + happened + `}[1h])) > 0`, "{{runtime}}"})
	d.series(12, "Compactions by trigger, per hour", "auto: the agent found its context full. manual: somebody asked for it. unknown: the agent does not say.", look{stack: true, bars: true},
		query{`sum by (trigger) (increase(` + m + `compactions_total{` + runtime + `,` + happened + `}[1h]))`, "{{trigger}}"})
	d.series(12, "Failed, share of attempts over a day", "", look{unit: "percentunit", warn: 0.05, bad: 0.2}, query{share("failed", "1d"), "{{runtime}}"})
	d.series(12, "No-op, share of attempts over a day", "", look{unit: "percentunit"}, query{share("no_op", "1d"), "{{runtime}}"})
	d.table(24, "By runtime, over the time shown", "", "runtime", []string{"short", "short", "short", "short", "short"},
		query{ended("completed|unknown"), "took place"}, query{ended("failed"), "failed"}, query{ended("no_op"), "no-op"}, query{ended("cancelled"), "cancelled"},
		query{tokens + ` - ` + tokensNow, "tokens reclaimed"})

	d.row("What they reclaim")
	d.series(12, "Tokens before and after, per hour", "Only agents that state both.", look{unit: "short", bars: true},
		query{`sum by (side) (increase(` + m + `compaction_tokens_total{` + runtime + `}[1h]))`, "{{side}}"})
	d.series(12, "Share of the context that was reclaimed, over a day", "Near 0, a compaction costs a model call and frees nothing.", look{unit: "percentunit", max: 1},
		query{`1 - sum by (runtime) (increase(` + m + `compaction_tokens_total{` + runtime + `,side="after"}[1d])) / (sum by (runtime) (increase(` + m + `compaction_tokens_total{` + runtime + `,side="before"}[1d])) > 0)`, "{{runtime}}"})
	d.series(12, "Thrashing, share within 5 minutes of the last one, over a day", "", look{unit: "percentunit", warn: 0.1, bad: 0.3},
		query{`runtime:continuity_compactions_thrashing:ratio1d{runtime=~"$runtime"}`, "{{runtime}}"})
	d.series(12, "Median time between compactions of one agent", "", look{unit: "s"},
		query{`histogram_quantile(0.5, sum by (runtime, le) (increase(` + m + `compaction_interval_seconds_bucket{` + runtime + `}[1d])))`, "{{runtime}}"})

	d.row("Coverage")
	d.series(12, "Boundaries by what is known of them, per hour", "boundary: only that there was one. baseline: a snapshot. observed: a snapshot and a look.", look{stack: true, bars: true},
		query{`sum by (coverage) (increase(` + m + `boundaries_total{` + runtime + `}[1h]))`, "{{coverage}}"})
	d.series(12, "Sessions that are held", "How many the limits have to be sized for.", look{},
		query{`sum(` + m + `sessions_used{` + job + `})`, "held"})
	d.series(12, "Events that were recognised and could not be used, per hour", "session_missing: the agent does not say whose it is.", look{bars: true, stack: true},
		query{`sum by (reason) (increase(` + m + `events_rejected_total{` + job + `}[1h])) > 0`, "{{reason}}"})
	d.series(12, "Telemetry that arrives, per second", "Where it is 0, the agents do not reach the collector.", look{},
		query{`sum(rate(otelcol_receiver_accepted_spans_total{` + job + `}[$__rate_interval]))`, "spans"},
		query{`sum(rate(otelcol_receiver_accepted_log_records_total{` + job + `}[$__rate_interval]))`, "log records"})
	d.wrap()
	return d
}
