package main

// lookQuantile is how long agents took to be looked at again, by runtime.
func lookQuantile(q string) string {
	return `histogram_quantile(` + q + `, sum by (runtime, le) (increase(` + m + `time_to_observation_seconds_bucket{` + runtime + `}[$__range])))`
}

const windows = `max by (runtime) (` + m + `window_seconds{` + runtime + `})`

// operating is what becomes of decisions, once there are snapshots.
func operating() *dashboard {
	d := newDashboard("continuity", "Continuity",
		"What becomes of agents' decisions over compactions. No panel names a session: receipts do.", "now-24h")

	d.row("What is wrong now")
	d.stat(12, "Alerts that are firing", "Kinds of alerts by number of sessions. The receipts name them: spans continuity.boundary with an event continuity.alert.",
		look{bad: 1}, query{`sum by (kind) (` + m + `alerts_active{` + job + `})`, "{{kind}}"})
	d.stat(12, "Sessions by state", "The worst thing in each session that nothing has cleared yet. dropped and conflicting are losses outstanding.",
		look{byState: true}, query{`sum by (state) (` + m + `sessions{` + job + `})`, "{{state}}"})
	d.series(12, "Losses outstanding", "Sessions in which a decision is gone or another one is in force.", look{stack: true, byState: true},
		query{`sum by (state) (` + m + `sessions{` + job + `,state=~"dropped|conflicting|unverified"})`, "{{state}}"})
	d.series(12, "Alerts that fired and how they ended, per hour", "resolved: evidence or an approval cleared it. closed: the session was forgotten with it, which is no sign of health.", look{bars: true},
		query{`sum by (kind, status) (increase(` + m + `alerts_total{` + job + `}[1h])) > 0`, "{{kind}} {{status}}"})

	d.row("Activity beside continuity")
	d.text(6, 8, "Two dimensions", "What an agent is doing and what became of its decisions say nothing of each other.\n\nAn agent can **work** and be **in conflict**: busy, and by "+
		"the wrong rules. It can **wait for a human** with everything **preserved**.\n\nA dashboard that only sees activity calls the whole first row healthy.")
	d.cross(10, "Boundaries by activity and state, over the time shown", "Rows: what the agent was doing when it was looked at. Columns: what its decisions were.",
		"activity", "state", `sum by (activity, state) (increase(`+m+`boundary_activity_total{`+job+`}[$__range]))`)
	d.series(8, "Working, and not well", "Boundaries of agents that worked on with a decision lost or in conflict, per hour.", look{bars: true, stack: true, byState: true},
		query{`sum by (state) (increase(` + m + `boundary_activity_total{` + job + `,activity="working",state=~"dropped|conflicting|unverified"}[1h]))`, "{{state}}"})

	d.row("Boundaries")
	d.series(12, "Boundaries by state, per hour", "Each counted once, by its first receipt.", look{stack: true, bars: true, byState: true},
		query{`sum by (state) (increase(` + m + `boundaries_total{` + runtime + `}[1h]))`, "{{state}}"})
	d.series(12, "Share by state, over a day", "", look{unit: "percentunit", stack: true, max: 1, byState: true},
		query{`sum by (state) (increase(` + m + `boundaries_total{` + runtime + `}[1d])) / on () group_left () (sum(increase(` + m + `boundaries_total{` + runtime + `}[1d])) > 0)`, "{{state}}"})
	d.bars(12, "Why, over the time shown", "Findings by reason, without those that are well. docs/semantics.md says what each means.", look{},
		query{`topk(12, sum by (reason) (increase(` + m + `findings_total{` + job + `,reason!~"match|approved_.*"}[$__range])) > 0)`, "{{reason}}"})
	d.series(12, "Seen from both sides, share over a day", "Boundaries with a snapshot and a look. Where it falls, a hook is gone.", look{unit: "percentunit", max: 1},
		query{`runtime:continuity_boundaries_observed:ratio1d{runtime=~"$runtime"}`, "{{runtime}}"})

	d.row("Windows: how long do agents need?")
	d.series(8, "Open boundaries by age", "How long ago they opened. Parked ones, whose session ended, are left out.", look{stack: true, bars: true},
		query{`sum by (age) (` + m + `boundaries_open_age{` + job + `,window!="parked"})`, "up to {{age}}"})
	d.series(8, "Open boundaries by what their window does", "waiting: for the agent's next activity. parked: the session ended.", look{stack: true},
		query{`sum by (window) (` + m + `boundaries_open_age{` + job + `})`, "{{window}}"})
	d.series(8, "The oldest that is open", "", look{unit: "s"},
		query{`max by (window) (` + m + `boundaries_open_oldest_seconds{` + job + `})`, "{{window}}"})
	d.table(12, "Time to the first look against the window, over the time shown", "Set a window somewhat above the 99th percentile: below it healthy agents raise alerts, far above it losses are noticed late.",
		"runtime", []string{"s", "s", "s", "s", "percentunit"},
		query{lookQuantile("0.5"), "median"}, query{lookQuantile("0.95"), "95%"}, query{lookQuantile("0.99"), "99%"},
		query{windows, "window"}, query{lookQuantile("0.99") + ` / on (runtime) ` + windows, "99% of window"})
	d.series(12, "95% of first looks, as part of the window, over a day", "Above 1 the window closes before the look comes.", look{unit: "percentunit", warn: 0.8, bad: 1},
		query{`runtime:continuity_time_to_observation:window_ratio1d{runtime=~"$runtime"}`, "{{runtime}}"})
	d.heatmap(12, "Time to the first look", "", "s", `sum by (le) (increase(`+m+`time_to_observation_seconds_bucket{`+runtime+`}[$__rate_interval]))`)
	d.series(12, "Looks that came late, and snapshots that joined an open boundary, per hour", "Late: after the window had closed.", look{bars: true},
		query{`sum(increase(` + m + `observations_late_total{` + job + `}[1h]))`, "late looks"},
		query{`sum(increase(` + m + `snapshots_superseded_total{` + job + `}[1h]))`, "joined"})

	d.row("Decided after")
	d.series(24, "Time from opening to decision, 95%, over a day", "A boundary that nobody answers takes its whole window.", look{unit: "s", byState: true},
		query{`histogram_quantile(0.95, sum by (state, le) (increase(` + m + `boundary_duration_seconds_bucket{` + job + `}[1d])))`, "{{state}}"})

	d.row("What the processor costs")
	d.series(8, "CPU of the collector", "All of it, not of the processor alone.", look{unit: "percentunit"},
		query{`sum by (instance) (rate(otelcol_process_cpu_seconds_total{` + job + `}[$__rate_interval]))`, "{{instance}}"})
	d.series(8, "Memory of the collector", "", look{unit: "bytes"},
		query{`sum by (instance) (otelcol_process_memory_rss_bytes{` + job + `})`, "resident {{instance}}"},
		query{`sum by (instance) (` + m + `memory_used_bytes{` + job + `})`, "sessions, as estimated {{instance}}"})
	d.series(8, "CPU time for each span or record that arrives", "", look{unit: "s"},
		query{`sum(rate(otelcol_process_cpu_seconds_total{` + job + `}[5m])) / ((sum(rate(otelcol_receiver_accepted_spans_total{` + job + `}[5m])) or vector(0)) + (sum(rate(otelcol_receiver_accepted_log_records_total{` + job + `}[5m])) or vector(0)) > 0)`, "CPU time"})
	d.series(8, "How full: 1 is the limit", "", look{unit: "percentunit", warn: 0.6, bad: 0.8},
		query{`max(continuity:sessions:utilization{` + job + `})`, "sessions"},
		query{`max(continuity:memory:utilization{` + job + `})`, "memory"},
		query{`max by (signal) (continuity:outbox:utilization{` + job + `})`, "outbox {{signal}}"})
	d.series(8, "Limits reached and storage errors, per hour", "", look{bars: true},
		query{`sum by (limit) (increase(` + m + `limits_reached_total{` + job + `}[1h])) > 0`, "limit {{limit}}"},
		query{`sum by (operation) (increase(` + m + `storage_errors_total{` + job + `}[1h])) > 0`, "storage {{operation}}"})
	d.series(8, "Receipts that wait or were lost", "", look{},
		query{`sum by (signal) (` + m + `outbox_length{` + job + `})`, "waiting {{signal}}"},
		query{`sum by (signal) (increase(` + m + `outbox_dropped_total{` + job + `}[1h])) + sum by (signal) (increase(` + m + `outbox_refused_total{` + job + `}[1h]))`, "lost per hour {{signal}}"})
	d.series(12, "Events that could not be used, per hour", "", look{bars: true, stack: true},
		query{`sum by (reason) (increase(` + m + `events_rejected_total{` + job + `}[1h])) > 0`, "{{reason}}"})
	d.series(12, "Events that came again, per hour", "They changed nothing.", look{bars: true},
		query{`sum(increase(` + m + `events_duplicate_total{` + job + `}[1h]))`, "again"})
	d.wrap()
	return d
}
