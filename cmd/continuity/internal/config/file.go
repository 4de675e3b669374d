package config

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
)

// file is what can stand in continuity.yaml.
type file struct {
	Endpoint    string            `yaml:"endpoint"`
	Headers     map[string]string `yaml:"headers"`
	Timeout     time.Duration     `yaml:"timeout"`
	Compression string            `yaml:"compression"`
	Signal      string            `yaml:"signal"`
	Resource    map[string]string `yaml:"resource"`
	Session     struct {
		Attribute string `yaml:"attribute"`
		Agent     string `yaml:"agent"`
		Runtime   string `yaml:"runtime"`
	} `yaml:"session"`
	Key struct {
		ID string `yaml:"id"`
	} `yaml:"key"`
	Ledger struct {
		Values bool `yaml:"values"`
	} `yaml:"ledger"`
	Observe struct {
		Source string `yaml:"source"`
	} `yaml:"observe"`
	Invariants []string            `yaml:"invariants"`
	Kinds      map[string]string   `yaml:"kinds"`
	Catalogue  map[string][]string `yaml:"catalogue"`
	Probes     []Probe             `yaml:"probes"`
}

// maxTimeout bounds what a run can cost.
const maxTimeout = time.Minute

func parse(text []byte) (*file, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("%s: %w", FileName, syntaxError(err))
	}
	f := &file{}
	if len(document.Content) == 0 {
		return f, nil // empty, or comments only
	}
	d := &decoder{}
	d.decode(document.Content[0], f)
	f.check(d)
	if len(d.errors) > 0 {
		return nil, errors.Join(d.errors...)
	}
	return f, nil
}

var syntaxLine = regexp.MustCompile(`line (\d+)`)

// syntaxError keeps the line and leaves out what the parser cites.
func syntaxError(err error) error {
	if line := syntaxLine.FindStringSubmatch(err.Error()); line != nil {
		return fmt.Errorf("it is no YAML at line %s", line[1])
	}
	return errors.New("it is no YAML")
}

func (f *file) check(d *decoder) {
	if f.Endpoint != "" {
		d.refuse("endpoint", checkEndpoint(f.Endpoint))
	}
	d.refuse("headers", checkHeaders(f.Headers))
	if f.Timeout < 0 || f.Timeout > maxTimeout {
		d.refuse("timeout", fmt.Errorf("must be above 0 and at most %s", maxTimeout))
	}
	oneOf(d, "compression", f.Compression, "none", "gzip")
	oneOf(d, "signal", f.Signal, string(Logs), string(Traces))
	oneOf(d, "session.attribute", f.Session.Attribute, semconv.ConversationID, semconv.SessionID, semconv.PlainConversationID)
	oneOf(d, "observe.source", f.Observe.Source,
		string(continuity.Agent), string(continuity.Environment), string(continuity.Human), string(continuity.FromRecord))
	if f.Key.ID != "" && !keyID.MatchString(f.Key.ID) {
		d.refuse("key.id", errors.New("must be 1 to 64 letters, digits, dots, dashes or underscores, the first a letter or digit"))
	}
	for i, name := range f.Invariants {
		d.refuse(fmt.Sprintf("invariants[%d]", i), checkName(name))
	}
	for name, kind := range f.Kinds {
		d.refuse("kinds", checkName(name))
		oneOf(d, "kinds."+name, kind, Kinds...)
	}
	for action, answers := range f.Catalogue {
		d.refuse("catalogue", checkName(classify.Constraint+"."+action))
		for _, answer := range answers {
			if answer == "" || answer != fold(answer) {
				d.refuse("catalogue."+action, errors.New("answers are words in lower case, joined by _"))
			}
		}
	}
	f.checkProbes(d)
}

func (f *file) checkProbes(d *decoder) {
	seen := map[string]bool{}
	for i := range f.Probes {
		p := &f.Probes[i]
		key := fmt.Sprintf("probes[%d]", i)
		d.refuse(key+".name", checkName(p.Name))
		if seen[p.Name] {
			d.refuse(key+".name", errors.New("another probe has this name"))
		}
		seen[p.Name] = true
		if len(p.Command) == 0 || p.Command[0] == "" {
			d.refuse(key+".command", errors.New("is missing: a list, the program first"))
		}
		if p.Match != "" {
			if expression, err := regexp.Compile(p.Match); err != nil || expression.NumSubexp() != 1 {
				d.refuse(key+".match", errors.New("must be a regular expression with one group"))
			}
		}
		if p.Kind != "" {
			oneOf(d, key+".kind", p.Kind, Kinds...)
		}
		if p.Timeout < 0 || p.Timeout > maxTimeout {
			d.refuse(key+".timeout", fmt.Errorf("must be above 0 and at most %s", maxTimeout))
		}
	}
}

func oneOf(d *decoder, key, value string, choices ...string) {
	if value != "" && !slices.Contains(choices, value) {
		d.refuse(key, fmt.Errorf("must be one of %s", strings.Join(choices, ", ")))
	}
}

// ErrName says what a decision can be called. What was found may be a value in the
// wrong place, so it is not repeated.
var ErrName = errors.New("a decision is called scope, approval_boundary, target, acceptance_test, constraint.<action>, or another name of that form: lower case, digits and _, at most one dot")

func checkName(name string) error {
	if !classify.ValidName(name) {
		return ErrName
	}
	return nil
}

func checkEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return errors.New("must be a URL such as " + DefaultEndpoint)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("must have no user, query or fragment; credentials go into a header")
	}
	return nil
}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

func checkHeaders(headers map[string]string) error {
	for name, value := range headers {
		if !headerName.MatchString(name) {
			// It may be all of the header, and its value a secret.
			return errors.New("the name of a header has letters, digits and dashes; what follows a colon is its value")
		}
		if strings.ContainsAny(value, "\r\n\x00") {
			return fmt.Errorf("%q is no header of HTTP", http.CanonicalHeaderKey(name))
		}
	}
	return nil
}

// Validate says what is wrong with the text of a continuity.yaml.
func Validate(text []byte) error {
	_, err := parse(text)
	return err
}
