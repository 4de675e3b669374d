package main

// The part of Grafana's dashboard model (schema 39) that is used here.

type dashboard struct {
	UID           string         `json:"uid"`
	Title         string         `json:"title"`
	Description   string         `json:"description"`
	Tags          []string       `json:"tags"`
	Editable      bool           `json:"editable"`
	GraphTooltip  int            `json:"graphTooltip"`
	SchemaVersion int            `json:"schemaVersion"`
	Refresh       string         `json:"refresh"`
	Time          timeRange      `json:"time"`
	Timezone      string         `json:"timezone"`
	Templating    templating     `json:"templating"`
	Annotations   map[string]any `json:"annotations"`
	Links         []link         `json:"links"`
	Panels        []*panel       `json:"panels"`

	y      int // where the next row begins
	x      int
	height int // of the row that is being filled
}

type timeRange struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type templating struct {
	List []variable `json:"list"`
}

type variable struct {
	Name       string         `json:"name"`
	Label      string         `json:"label"`
	Type       string         `json:"type"`
	Query      any            `json:"query"`
	Datasource *source        `json:"datasource,omitempty"`
	Multi      bool           `json:"multi"`
	IncludeAll bool           `json:"includeAll"`
	AllValue   string         `json:"allValue,omitempty"`
	Current    map[string]any `json:"current"`
	Refresh    int            `json:"refresh,omitempty"`
	Hide       int            `json:"hide"`
}

type link struct {
	Title       string   `json:"title"`
	Type        string   `json:"type"`
	Icon        string   `json:"icon"`
	Tooltip     string   `json:"tooltip"`
	Tags        []string `json:"tags"`
	AsDropdown  bool     `json:"asDropdown"`
	TargetBlank bool     `json:"targetBlank"`
	IncludeVars bool     `json:"includeVars"`
	KeepTime    bool     `json:"keepTime"`
}

type source struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type panel struct {
	ID              int            `json:"id"`
	Type            string         `json:"type"`
	Title           string         `json:"title"`
	Description     string         `json:"description,omitempty"`
	GridPos         grid           `json:"gridPos"`
	Datasource      *source        `json:"datasource,omitempty"`
	Targets         []target       `json:"targets,omitempty"`
	FieldConfig     *fieldConfig   `json:"fieldConfig,omitempty"`
	Options         map[string]any `json:"options,omitempty"`
	Transformations []transform    `json:"transformations,omitempty"`
	Collapsed       *bool          `json:"collapsed,omitempty"`
	Panels          *[]panel       `json:"panels,omitempty"`
}

type grid struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

type target struct {
	RefID        string  `json:"refId"`
	Datasource   *source `json:"datasource"`
	Expr         string  `json:"expr"`
	LegendFormat string  `json:"legendFormat,omitempty"`
	Instant      bool    `json:"instant"`
	Range        bool    `json:"range"`
	Format       string  `json:"format"`
	Interval     string  `json:"interval,omitempty"`
}

type transform struct {
	ID      string         `json:"id"`
	Options map[string]any `json:"options"`
}

type fieldConfig struct {
	Defaults  fieldDefaults   `json:"defaults"`
	Overrides []fieldOverride `json:"overrides"`
}

type fieldDefaults struct {
	Unit       string         `json:"unit,omitempty"`
	Min        *float64       `json:"min,omitempty"`
	Max        *float64       `json:"max,omitempty"`
	Decimals   *int           `json:"decimals,omitempty"`
	NoValue    string         `json:"noValue,omitempty"`
	Color      map[string]any `json:"color,omitempty"`
	Thresholds *thresholds    `json:"thresholds,omitempty"`
	Custom     map[string]any `json:"custom,omitempty"`
}

type thresholds struct {
	Mode  string `json:"mode"`
	Steps []step `json:"steps"`
}

type step struct {
	Color string   `json:"color"`
	Value *float64 `json:"value"`
}

type fieldOverride struct {
	Matcher    matcher    `json:"matcher"`
	Properties []property `json:"properties"`
}

type matcher struct {
	ID      string `json:"id"`
	Options any    `json:"options"`
}

type property struct {
	ID    string `json:"id"`
	Value any    `json:"value"`
}
