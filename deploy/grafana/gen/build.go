package main

// width is how many columns Grafana's grid has.
const width = 24

var prometheus = &source{Type: "prometheus", UID: "${datasource}"}

// selector narrows every query to what is chosen above the panels.
const (
	job     = `job=~"$job"`
	runtime = `job=~"$job",runtime=~"$runtime"`
)

func newDashboard(uid, title, description string, from string) *dashboard {
	const jobs = `label_values(otelcol_processor_continuity_sessions_limit, job)`
	const runtimes = `label_values(otelcol_processor_continuity_window_seconds{job=~"$job"}, runtime)`
	all := map[string]any{"text": "All", "value": "$__all"}
	query := func(text string) any { return map[string]any{"qryType": 1, "query": text, "refId": "variable"} }
	return &dashboard{
		UID: uid, Title: title, Description: description, Tags: []string{"continuity"}, Editable: true, GraphTooltip: 1,
		SchemaVersion: 39, Refresh: "1m", Time: timeRange{from, "now"}, Timezone: "browser",
		Templating: templating{[]variable{
			{Name: "datasource", Label: "Prometheus", Type: "datasource", Query: "prometheus", Current: map[string]any{"text": "", "value": ""}},
			{Name: "job", Label: "Job", Type: "query", Query: query(jobs), Datasource: prometheus, Multi: true, IncludeAll: true, AllValue: ".*", Current: all, Refresh: 2},
			{Name: "runtime", Label: "Runtime", Type: "query", Query: query(runtimes), Datasource: prometheus, Multi: true, IncludeAll: true, AllValue: ".*", Current: all, Refresh: 2},
		}},
		Annotations: map[string]any{"list": []any{}},
		Links: []link{{
			Title: "Continuity", Type: "dashboards", Icon: "external link", Tags: []string{"continuity"}, IncludeVars: true, KeepTime: true,
		}},
	}
}

// row begins a group of panels.
func (d *dashboard) row(title string) {
	d.wrap()
	open := false
	d.place(&panel{Type: "row", Title: title, Collapsed: &open, Panels: &[]panel{}}, width, 1)
	d.wrap()
}

// wrap begins a new line of panels.
func (d *dashboard) wrap() {
	d.y += d.height
	d.x, d.height = 0, 0
}

// place puts a panel to the right of the last one, or below where it does not fit.
func (d *dashboard) place(p *panel, w, h int) {
	if d.x+w > width {
		d.wrap()
	}
	p.ID = len(d.Panels) + 1
	p.GridPos = grid{H: h, W: w, X: d.x, Y: d.y}
	d.x += w
	d.height = max(d.height, h)
	d.Panels = append(d.Panels, p)
}

// text is a panel of words.
func (d *dashboard) text(w, h int, title, markdown string) {
	d.place(&panel{Type: "text", Title: title, Options: map[string]any{"mode": "markdown", "content": markdown}}, w, h)
}

// query is one expression and how its series are called.
type query struct{ expr, legend string }

func queries(instant bool, format string, all []query) []target {
	var out []target
	for i, q := range all {
		out = append(out, target{
			RefID: string(rune('A' + i)), Datasource: prometheus, Expr: q.expr, LegendFormat: q.legend,
			Instant: instant, Range: !instant, Format: format,
		})
	}
	return out
}

// look is how a panel shows its numbers.
type look struct {
	unit string
	// stack shows parts of a whole, bars what happened in each interval.
	stack, bars bool
	max         float64 // of the axis; 0 leaves it to the data
	warn, bad   float64 // thresholds; 0 for none
	byState     bool    // states have their own colours
}

func (l look) config() *fieldConfig {
	zero := 0.0
	c := &fieldConfig{Defaults: fieldDefaults{Unit: l.unit, Min: &zero, Custom: map[string]any{}}, Overrides: []fieldOverride{}}
	if l.max > 0 {
		c.Defaults.Max = &l.max
	}
	steps := []step{{"green", nil}}
	if l.warn > 0 {
		steps = append(steps, step{"orange", &l.warn})
	}
	if l.bad > 0 {
		steps = append(steps, step{"red", &l.bad})
	}
	c.Defaults.Thresholds = &thresholds{"absolute", steps}
	if l.byState {
		c.Overrides = colours()
	}
	return c
}

// colours give each state the same colour everywhere.
func colours() []fieldOverride {
	var out []fieldOverride
	for _, c := range [][2]string{
		{"preserved", "green"}, {"approved_change", "blue"}, {"unverified", "yellow"}, {"dropped", "purple"}, {"conflicting", "red"},
	} {
		out = append(out, fieldOverride{
			Matcher:    matcher{"byName", c[0]},
			Properties: []property{{"color", map[string]any{"mode": "fixed", "fixedColor": c[1]}}},
		})
	}
	return out
}

// series shows how something went over time.
func (d *dashboard) series(w int, title, description string, l look, all ...query) {
	c := l.config()
	custom := c.Defaults.Custom
	custom["lineWidth"], custom["fillOpacity"], custom["showPoints"] = 1, 10, "never"
	custom["drawStyle"] = "line"
	if l.bars {
		custom["drawStyle"], custom["fillOpacity"] = "bars", 60
	}
	custom["stacking"] = map[string]any{"mode": "none", "group": "A"}
	if l.stack {
		custom["stacking"], custom["fillOpacity"] = map[string]any{"mode": "normal", "group": "A"}, 60
	}
	if l.warn > 0 || l.bad > 0 {
		custom["thresholdsStyle"] = map[string]any{"mode": "line"}
	}
	c.Defaults.Color = map[string]any{"mode": "palette-classic"}
	d.place(&panel{
		Type: "timeseries", Title: title, Description: description, Datasource: prometheus, Targets: queries(false, "time_series", all), FieldConfig: c,
		Options: map[string]any{
			"legend":  map[string]any{"displayMode": "table", "placement": "bottom", "calcs": []string{"lastNotNull", "max"}, "showLegend": true},
			"tooltip": map[string]any{"mode": "multi", "sort": "desc"},
		},
	}, w, 8)
}

// stat shows one number, or one for each series.
func (d *dashboard) stat(w int, title, description string, l look, all ...query) {
	c := l.config()
	c.Defaults.Color = map[string]any{"mode": "thresholds"}
	c.Defaults.NoValue = "none"
	d.place(&panel{
		Type: "stat", Title: title, Description: description, Datasource: prometheus, Targets: queries(true, "time_series", all), FieldConfig: c,
		Options: map[string]any{
			"reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}, "fields": "", "values": false},
			"colorMode":     "value", "graphMode": "none", "showPercentChange": false, "percentChangeColorMode": "standard", "justifyMode": "auto", "orientation": "auto", "textMode": "auto", "wideLayout": true,
		},
	}, w, 5)
}

// bars compares series as they stand.
func (d *dashboard) bars(w int, title, description string, l look, all ...query) {
	c := l.config()
	c.Defaults.Color = map[string]any{"mode": "thresholds"}
	d.place(&panel{
		Type: "bargauge", Title: title, Description: description, Datasource: prometheus, Targets: queries(true, "time_series", all), FieldConfig: c,
		Options: map[string]any{
			"reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}, "fields": "", "values": false},
			"orientation":   "horizontal", "displayMode": "basic", "valueMode": "color", "showUnfilled": true,
			"minVizWidth": 8, "minVizHeight": 16, "maxVizHeight": 300, "namePlacement": "auto", "sizing": "auto",
			"legend": map[string]any{"displayMode": "list", "placement": "bottom", "showLegend": false, "calcs": []string{}},
		},
	}, w, 8)
}

// table shows one value of each query for each value of a label.
func (d *dashboard) table(w int, title, description, by string, units []string, all ...query) {
	c := look{}.config()
	names, order := map[string]any{}, map[string]any{by: 0}
	for i, q := range all {
		value := "Value #" + string(rune('A'+i))
		names[value], order[value] = q.legend, i+1
		c.Overrides = append(c.Overrides, fieldOverride{
			Matcher: matcher{"byName", q.legend}, Properties: []property{{"unit", units[i]}, {"decimals", 1}},
		})
	}
	d.place(&panel{
		Type: "table", Title: title, Description: description, Datasource: prometheus, Targets: queries(true, "table", all), FieldConfig: c,
		Options: map[string]any{"showHeader": true, "cellHeight": "sm", "frameIndex": 0},
		Transformations: []transform{
			{"joinByField", map[string]any{"byField": by, "mode": "outer"}},
			{"filterFieldsByName", map[string]any{"include": map[string]any{"pattern": "^(" + by + "|Value.*)$"}}},
			{"organize", map[string]any{"renameByName": names, "indexByName": order, "excludeByName": map[string]any{}}},
		},
	}, w, 8)
}

// cross shows two labels of one query against each other.
func (d *dashboard) cross(w int, title, description, row, column string, q string) {
	c := look{}.config()
	zero := 0
	c.Defaults.Decimals = &zero
	d.place(&panel{
		Type: "table", Title: title, Description: description, Datasource: prometheus, Targets: queries(true, "table", []query{{q, ""}}), FieldConfig: c,
		Options: map[string]any{"showHeader": true, "cellHeight": "sm", "frameIndex": 0},
		Transformations: []transform{
			{"groupingToMatrix", map[string]any{"rowField": row, "columnField": column, "valueField": "Value", "emptyValue": "zero"}},
		},
	}, w, 8)
}

// heatmap shows a histogram over time.
func (d *dashboard) heatmap(w int, title, description, unit, expr string) {
	targets := queries(false, "heatmap", []query{{expr, "{{le}}"}})
	d.place(&panel{
		Type: "heatmap", Title: title, Description: description, Datasource: prometheus, Targets: targets,
		FieldConfig: &fieldConfig{Overrides: []fieldOverride{}},
		Options: map[string]any{
			"calculate": false, "cellGap": 1, "yAxis": map[string]any{"unit": unit, "axisPlacement": "left"},
			"color":   map[string]any{"mode": "scheme", "scheme": "Oranges", "steps": 64, "exponent": 0.5, "reverse": false, "fill": "dark-orange"},
			"tooltip": map[string]any{"mode": "single", "showColorScale": false, "yHistogram": false}, "legend": map[string]any{"show": true},
			"rowsFrame": map[string]any{"layout": "auto"}, "showValue": "never", "filterValues": map[string]any{"le": 1e-9},
			"exemplars": map[string]any{"color": "rgba(255,0,255,0.7)"},
		},
	}, w, 8)
}
