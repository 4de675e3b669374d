// Package e2e_test runs the distribution with the programs of others: Prometheus
// and Alertmanager, and Jaeger. `make test-prometheus` and `make test-backends`
// start it; without the variables that these set, its tests are skipped.
package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// patience is how long anything may take on a busy machine.
const patience = 90 * time.Second

// program returns what a variable names, and skips the test where it is not set.
func program(t *testing.T, variable, target string) string {
	t.Helper()
	file := os.Getenv(variable)
	if file == "" {
		t.Skipf("%s is not set: make %s", variable, target)
	}
	found, err := exec.LookPath(file)
	require.NoError(t, err, "%s names no program", variable)
	found, err = filepath.Abs(found)
	require.NoError(t, err)
	return found
}

// ports finds ports of loopback that nobody listens on.
func ports(t *testing.T, n int) []string {
	t.Helper()
	var found []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = l.Close() }()
		_, port, err := net.SplitHostPort(l.Addr().String())
		require.NoError(t, err)
		found = append(found, port)
	}
	return found
}

// process is a program that runs until the test ends.
type process struct {
	name   string
	log    string
	exited chan struct{}
}

func start(t *testing.T, name string, env []string, file string, args ...string) *process {
	t.Helper()
	p := &process{name: name, log: filepath.Join(t.TempDir(), name+".log"), exited: make(chan struct{})}
	out, err := os.Create(p.log)
	require.NoError(t, err)
	cmd := exec.Command(file, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = dieWithParent()
	require.NoError(t, cmd.Start())
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // gone already, or about to go
		select {
		case <-p.exited:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			<-p.exited
		}
		_ = out.Close() // the program wrote it
		if t.Failed() {
			text, _ := os.ReadFile(p.log)
			lines := strings.Split(string(text), "\n")
			t.Logf("the end of the log of %s:\n%s", name, strings.Join(lines[max(0, len(lines)-25):], "\n"))
		}
	})
	return p
}

// await asks until there is no problem any more, or patience is at its end.
func (p *process) await(t *testing.T, what string, problem func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if err = problem(); err == nil {
			return
		}
		select {
		case <-p.exited:
			t.Fatalf("%s ended before %s: %v", p.name, what, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
	t.Fatalf("%s: not within %s: %v", what, patience, err)
}

var client = &http.Client{Timeout: 10 * time.Second}

// get asks for a page.
func get(url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), client.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	return do(req)
}

// getJSON asks for a document.
func getJSON(url string, into any) error {
	body, err := get(url)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

func post(url string, body []byte) error {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	_, err = do(req)
	return err
}

func do(req *http.Request) ([]byte, error) {
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close() // it was read
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.500s", req.URL, resp.Status, body)
	}
	return body, err
}
