package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/term"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"continuity": main})
}

// The scripts show the command as it is used, each with a collector of its own at
// $COLLECTOR. `collector STATUS` lets that answer so from now on; `received FILE`
// writes what it got since, an event a line.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			c := &scriptCollector{status: http.StatusOK}
			server := httptest.NewServer(c)
			e.Defer(server.Close)
			e.Values[collectorKey{}] = c
			home, err := os.MkdirTemp("", "home") // outside of the project, as a home is
			if err != nil {
				return err
			}
			e.Defer(func() { _ = os.RemoveAll(home) }) // the system clears its folder for such files too
			e.Setenv("HOME", home)
			e.Setenv("COLLECTOR", server.URL)
			e.Setenv("NOWHERE", "http://127.0.0.1:1")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"collector": func(ts *testscript.TestScript, _ bool, args []string) {
				status, err := strconv.Atoi(args[0])
				ts.Check(err)
				collectorOf(ts).set(status)
			},
			"received": func(ts *testscript.TestScript, _ bool, args []string) {
				events, err := collectorOf(ts).take()
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(events), 0o600))
			},
		},
	})
}

type collectorKey struct{}

func collectorOf(ts *testscript.TestScript) *scriptCollector {
	c, ok := ts.Value(collectorKey{}).(*scriptCollector)
	if !ok {
		ts.Fatalf("there is no collector")
	}
	return c
}

// scriptCollector takes OTLP over HTTP.
type scriptCollector struct {
	mu     sync.Mutex
	status int
	bodies [][]byte
}

func (c *scriptCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && len(body) > 0 {
		c.bodies = append(c.bodies, body)
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	w.WriteHeader(c.status)
}

func (c *scriptCollector) set(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = status
}

// changing are parts of events that are others in every run.
var changing = regexp.MustCompile(`(continuity\.event\.id|continuity\.observed_at|continuity\.digest\.key_id)=\S+ ?`)

func (c *scriptCollector) take() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines strings.Builder
	for _, body := range c.bodies {
		logs, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(body)
		if err != nil {
			return "", err
		}
		r := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
		var attributes []string
		for key, value := range r.Attributes().All() {
			attributes = append(attributes, fmt.Sprintf("%s=%s", key, value.AsString()))
		}
		slices.Sort(attributes)
		line := r.EventName() + " " + strings.Join(attributes, " ") + " "
		if id := r.TraceID(); !id.IsEmpty() {
			line += "trace=" + id.String()
		}
		lines.WriteString(strings.TrimSpace(changing.ReplaceAllString(line, "")) + "\n")
	}
	c.bodies = nil
	return lines.String(), nil
}

// A key of a stranger's continuity.yaml that is cited in an error steers no terminal.
func TestErrorsSteerNoTerminal(t *testing.T) {
	w := newHookWorld(t, "http://127.0.0.1:1")
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "continuity.yaml"), []byte(`"\e]0;owned\a\u009b31m": 1`), 0o600))
	w.env["CONTINUITY_DEBUG"] = "1"
	require.Equal(t, 1, run(t.Context(), w.app(), []string{"decisions"}))
	w.hook(t, preCompact, "claude-code")
	assert.Contains(t, w.err.String(), "there is no such key")
	assert.Equal(t, term.CleanLines(w.err.String()), w.err.String())
}
