// Package config reads a project's continuity.yaml and what the environment says
// beside it.
//
// The file is part of a repository, and a repository may be a stranger's. So it
// cannot name a file to be read or written, it cannot have a secret of the
// environment sent anywhere, and the commands of its probes run only after a
// person allowed them (see [Config.ProbesAllowed]).
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/ledger"
)

// FileName is what the file is called. It is looked for in the working directory
// and upwards.
const FileName = "continuity.yaml"

// Defaults.
const (
	DefaultEndpoint     = "http://127.0.0.1:4318"
	DefaultTimeout      = 1500 * time.Millisecond
	DefaultProbeTimeout = 10 * time.Second
)

// Environment variables that are read, beside those of the operating system's
// folders.
const (
	EnvEndpoint     = "CONTINUITY_ENDPOINT"
	EnvHeaders      = "CONTINUITY_HEADERS" // name=value,name=value
	EnvSession      = "CONTINUITY_SESSION"
	EnvState        = "CONTINUITY_STATE" // folder of ledger and spool
	EnvTraceParent  = "TRACEPARENT"
	EnvOTLPEndpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	EnvOTLPHeaders  = "OTEL_EXPORTER_OTLP_HEADERS"
	EnvOTLPProtocol = "OTEL_EXPORTER_OTLP_PROTOCOL"
)

// ErrNoFile says that there is no continuity.yaml in the working directory or above it.
var ErrNoFile = errors.New("there is no " + FileName + " in this folder or above it: run `continuity init`")

// Signal says as what events are sent.
type Signal string

// The signals.
const (
	Logs   Signal = "logs"   // log records
	Traces Signal = "traces" // events on spans without length
)

// Config is the configuration of a project.
type Config struct {
	File string // path of continuity.yaml, "" where there is none
	Dir  string // the project's folder: the file's, else the working directory

	Endpoint    string            // base URL, without /v1/logs
	EndpointBy  string            // where it comes from: FileName, a variable's name or "default"
	Headers     map[string]string // of requests
	Timeout     time.Duration     // for all requests of one run together
	Gzip        bool
	Signal      Signal
	Resource    map[string]string // resource attributes, as service.name
	Session     continuity.Session
	TraceParent string // of W3C trace context, as it was given

	KeyID  string // "" for plain digests
	Values bool   // the ledger keeps values too

	Source     continuity.Source   // of observations by hand; "" where it must be given
	Invariants []string            // decisions that are wanted in force
	Kinds      map[string]string   // kinds of values, by name
	Catalogue  map[string][]string // answers, by action
	Probes     []Probe             // in the order of the file

	State   string // folder of ledger and spool, outside of the project
	KeysDir string // folder of keys, outside of the project
}

// Probe looks at the world for one decision.
type Probe struct {
	Name    string
	Command []string
	// Match is a regular expression with one group, which is the value in the
	// command's output; "" takes all of the output.
	Match   string
	Kind    string // "" is that of the name
	Timeout time.Duration
}

// Load reads the configuration for a working directory. Without a file it gives
// the defaults, and [Config.Need] fails. Its errors name keys and lines, never
// values.
func Load(dir string, getenv func(string) string) (*Config, error) {
	path, err := find(dir)
	if err != nil {
		return nil, err
	}
	c := &Config{Dir: dir, Catalogue: catalogue()}
	f := &file{}
	if path != "" {
		c.File, c.Dir = path, filepath.Dir(path)
		text, err := read(path)
		if err != nil {
			return nil, fmt.Errorf("config: %w", err)
		}
		if f, err = parse(text); err != nil {
			return nil, err
		}
	}
	if err := c.fill(f, getenv); err != nil {
		return nil, err
	}
	return c, nil
}

// maxFile is far more than any project needs. A longer file costs a hook its time.
const maxFile = 1 << 20

func read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s has more than %d bytes", FileName, maxFile)
	}
	return text, err
}

// Need fails with ErrNoFile where the project has no file.
func (c *Config) Need() error {
	if c.File == "" {
		return ErrNoFile
	}
	return nil
}

// Ledger is the project's ledger.
func (c *Config) Ledger() *ledger.Ledger {
	return ledger.Open(filepath.Join(c.State, "ledger.jsonl"))
}

// Spool is the project's spool.
func (c *Config) Spool() *ledger.Spool { return ledger.OpenSpool(filepath.Join(c.State, "spool")) }

func find(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("config: %w", err)
	}
	for {
		path := filepath.Join(dir, FileName)
		switch info, err := os.Stat(path); {
		case err == nil && info.Mode().IsRegular():
			return path, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("config: %w", err)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", nil
		}
		dir = parent
	}
}

func (c *Config) fill(f *file, getenv func(string) string) error {
	c.Timeout = cmp.Or(f.Timeout, DefaultTimeout)
	c.Gzip = f.Compression == "gzip"
	c.Signal = cmp.Or(Signal(f.Signal), Logs)
	c.Session = continuity.Session{
		ID:        strings.TrimSpace(getenv(EnvSession)),
		Attribute: f.Session.Attribute, Agent: f.Session.Agent, Runtime: f.Session.Runtime,
	}
	c.TraceParent = getenv(EnvTraceParent)
	c.KeyID, c.Values = f.Key.ID, f.Ledger.Values
	c.Source = continuity.Source(f.Observe.Source)
	c.Invariants, c.Kinds = f.Invariants, f.Kinds
	for action, answers := range f.Catalogue {
		if len(answers) == 0 {
			answers = append([]string(nil), answersOfAll...)
		}
		c.Catalogue[action] = answers
	}
	for _, p := range f.Probes {
		p.Timeout = cmp.Or(p.Timeout, DefaultProbeTimeout)
		c.Probes = append(c.Probes, p)
	}
	c.Resource = resource(f.Resource, getenv)
	c.State, c.KeysDir = stateDir(c.Dir, getenv), filepath.Join(configDir(getenv), "continuity", "keys")
	if !filepath.IsAbs(c.KeysDir) || !filepath.IsAbs(c.State) && getenv(EnvState) == "" {
		return errors.New("config: it is not known where the user's files are: set HOME") // they must not end up in the project
	}
	return c.reach(f, getenv)
}

// reach settles where events go. Headers of the environment are often tokens, so
// they go only where the environment says, never to an endpoint that a file in a
// repository names.
func (c *Config) reach(f *file, getenv func(string) string) error {
	c.Headers = map[string]string{}
	otlp := strings.TrimSpace(getenv(EnvOTLPEndpoint))
	if protocol := getenv(EnvOTLPProtocol); strings.EqualFold(protocol, "grpc") {
		otlp = "" // another port and another protocol
	}
	own, headers := strings.TrimSpace(getenv(EnvEndpoint)), ""
	switch {
	case own != "":
		c.Endpoint, c.EndpointBy, headers = own, EnvEndpoint, getenv(EnvHeaders)
	case f.Endpoint != "":
		c.Endpoint, c.EndpointBy = f.Endpoint, FileName
		for name, value := range f.Headers {
			c.Headers[name] = value
		}
	case otlp != "":
		c.Endpoint, c.EndpointBy, headers = otlp, EnvOTLPEndpoint, cmp.Or(getenv(EnvHeaders), getenv(EnvOTLPHeaders))
	default:
		c.Endpoint, c.EndpointBy = DefaultEndpoint, "default"
	}
	for i, pair := range strings.Split(headers, ",") {
		name, value, found := strings.Cut(pair, "=")
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		unescaped, err := url.PathUnescape(strings.TrimSpace(value))
		if !found || err != nil {
			// Where the name is wrong it may be the secret.
			return fmt.Errorf("config: the headers in the environment must be name=value,name=value: number %d is not", i+1)
		}
		c.Headers[name] = unescaped
	}
	c.Endpoint = strings.TrimRight(c.Endpoint, "/")
	if err := checkEndpoint(c.Endpoint); err != nil {
		return fmt.Errorf("config: endpoint (from %s): %w", c.EndpointBy, err)
	}
	return checkHeaders(c.Headers)
}
