package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// window is how long a session of the demo may leave its decisions unanswered.
// The default of the distribution is 15 minutes, which nobody would wait for.
const window = 3 * time.Second

const demoSettings = "yaml:processors: {continuity: {window: 3s, reorder_grace: 1s}}"

const (
	receiptsName = "receipts.jsonl"
	logName      = "collector.log"
)

// collector is a running distribution.
type collector struct {
	cmd    *exec.Cmd
	log    *os.File
	exited chan struct{} // closed once the process is gone
	otlp   string        // address of OTLP over HTTP
	health string
	client *http.Client
}

// errPortTaken says that somebody took a port between our look and its use.
var errPortTaken = errors.New("a port was taken")

// startCollector starts the distribution on ports that are free, and waits until
// it is ready.
func startCollector(ctx context.Context, o *options) (*collector, error) {
	const attempts = 3
	for range attempts - 1 {
		c, err := tryCollector(ctx, o)
		if !errors.Is(err, errPortTaken) {
			return c, err
		}
	}
	return tryCollector(ctx, o)
}

func tryCollector(ctx context.Context, o *options) (*collector, error) {
	addresses, err := freeAddresses(4)
	if err != nil {
		return nil, fmt.Errorf("looking for free ports: %w", err)
	}
	_, metricsPort, err := net.SplitHostPort(addresses[3])
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(o.out, logName))
	if err != nil {
		return nil, err
	}
	c := &collector{
		cmd: exec.Command(o.binary, "--config", o.config(), "--config", demoSettings),
		log: log, exited: make(chan struct{}),
		otlp: addresses[1], health: addresses[2], client: &http.Client{Timeout: 5 * time.Second},
	}
	c.cmd.Env = append(os.Environ(),
		"CONTINUITY_OTLP_GRPC_ENDPOINT="+addresses[0],
		"CONTINUITY_OTLP_HTTP_ENDPOINT="+addresses[1],
		"CONTINUITY_HEALTH_ENDPOINT="+addresses[2],
		"CONTINUITY_METRICS_PORT="+metricsPort,
		"CONTINUITY_RECEIPTS_FILE="+o.receipts(),
	)
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.SysProcAttr = dieWithParent()
	if err := c.cmd.Start(); err != nil {
		_ = log.Close() // nothing is in it
		return nil, fmt.Errorf("starting %s: %w", o.binary, err)
	}
	go func() {
		_ = c.cmd.Wait() // how it ended is in its log
		close(c.exited)
	}()
	if err := c.ready(ctx); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// freeAddresses finds ports of loopback that nobody listens on: all are held
// until the last is found, so that they differ.
func freeAddresses(n int) ([]string, error) {
	var addresses []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }()
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}

// ready waits until the collector says that it is well.
func (c *collector) ready(ctx context.Context) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if c.healthy(ctx) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the collector to be ready: %w", context.Cause(ctx))
		case <-c.exited:
			return c.gone()
		case <-tick.C:
		}
	}
}

func (c *collector) healthy(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.health+"/", http.NoBody)
	if err != nil {
		return false
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close() // the status says it all
	return resp.StatusCode == http.StatusOK
}

// gone says why the collector ended by itself.
func (c *collector) gone() error {
	text, err := os.ReadFile(c.log.Name())
	if err != nil {
		return fmt.Errorf("the collector ended (%s), and its log cannot be read: %w", c.cmd.ProcessState, err)
	}
	if bytes.Contains(text, []byte("address already in use")) {
		return errPortTaken
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	const most = 8
	lines = lines[max(0, len(lines)-most):]
	return fmt.Errorf("the collector ended (%s); the end of %s:\n  %s", c.cmd.ProcessState, c.log.Name(), strings.Join(lines, "\n  "))
}

// send hands one OTLP request to the collector.
func (c *collector) send(ctx context.Context, r request) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.otlp+r.path, bytes.NewReader(r.body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	resp, err := c.client.Do(req)
	if err != nil {
		select {
		case <-c.exited:
			return c.gone()
		default:
			return err
		}
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if err := resp.Body.Close(); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("POST %s: the collector answered %s", r.path, resp.Status)
	}
	return nil
}

// await waits until each session has as many receipts as it should, and no
// longer than patience: what is missing then is said of each case.
func (c *collector) await(ctx context.Context, file string, expected map[string]int, patience time.Duration) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		out, err := readReceipts(file, true)
		if err != nil || out.complete(expected) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for receipts: %w", context.Cause(ctx))
		case <-timer.C:
			return nil
		case <-c.exited:
			return c.gone()
		case <-tick.C:
		}
	}
}

// stop ends the collector, gently if it listens, and returns when it is gone.
func (c *collector) stop() {
	defer func() { _ = c.log.Close() }() // the collector wrote it
	defer c.client.CloseIdleConnections()
	const patience = 5 * time.Second
	timer := time.NewTimer(patience)
	defer timer.Stop()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err == nil {
		select {
		case <-c.exited:
			return
		case <-timer.C:
		}
	}
	_ = c.cmd.Process.Kill() // gone already, or gone now
	<-c.exited
}
