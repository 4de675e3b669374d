package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
)

// Answers of an action.
const (
	Forbidden = "forbidden"
	AskFirst  = "ask_first"
	Allowed   = "allowed"
)

var answersOfAll = []string{Forbidden, AskFirst, Allowed}

// The actions that every project knows.
var actions = []string{
	"commit", "push", "force_push", "merge", "rewrite_history", "publish", "deploy", "migrate", "delete",
	"network", "install", "secrets", "spend", "send", "edit_tests", "edit_ci", "change_dependencies", "change_api",
}

// Kinds of values.
const (
	KindID      = "id"
	KindCommand = "command"
	KindSet     = "set"
	KindChoice  = "choice"
	KindText    = "text"
	KindJSON    = "json"
)

// Kinds lists the kinds of values.
var Kinds = []string{KindID, KindCommand, KindSet, KindChoice, KindText, KindJSON}

func catalogue() map[string][]string {
	all := map[string][]string{}
	for _, action := range actions {
		all[action] = slices.Clone(answersOfAll)
	}
	return all
}

// Actions lists the actions of the catalogue by name.
func (c *Config) Actions() []string { return slices.Sorted(maps.Keys(c.Catalogue)) }

// Kind is the kind of a name's values, unless the ledger or the user says
// otherwise: that of continuity.yaml, else by the name.
func (c *Config) Kind(name string) string {
	if kind := c.Kinds[name]; kind != "" {
		return kind
	}
	switch classify.Family(name) {
	case classify.AcceptanceTest:
		return KindCommand
	case classify.ApprovalBoundary:
		return KindSet
	case classify.Constraint:
		return KindChoice
	}
	return KindID
}

// Choices lists what a name's value can be, and nil where it can be anything. A
// constraint has the answers of its action. An approval boundary is made of
// actions: those that need a human's yes.
func (c *Config) Choices(name string) []string {
	switch family, action, _ := strings.Cut(name, "."); family {
	case classify.Constraint:
		return c.Catalogue[action]
	case classify.ApprovalBoundary:
		return c.Actions()
	}
	return nil
}

// Items takes a set apart.
func Items(value string) []string {
	items := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == '\n' })
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return slices.DeleteFunc(items, func(s string) bool { return s == "" })
}

// closed is Choices, and an error for a constraint whose action nobody knows.
func (c *Config) closed(name string) ([]string, error) {
	choices := c.Choices(name)
	if action, ok := strings.CutPrefix(name, classify.Constraint+".no_"); ok && choices == nil && c.Catalogue[action] != nil {
		return nil, fmt.Errorf("%q is not in the catalogue: say constraint.%s forbidden", "no_"+action, action)
	}
	if action, ok := strings.CutPrefix(name, classify.Constraint+"."); ok && choices == nil {
		return nil, fmt.Errorf("%q is not in the catalogue: its actions are %s; add it under catalogue in %s, or say it in prose with --as text",
			action, strings.Join(c.Actions(), ", "), FileName)
	}
	return choices, nil
}

// fold lets "Ask first" and "ask-first" be ask_first.
func fold(item string) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(item)))
}
