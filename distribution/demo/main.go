// Command demo shows what the distribution is for: it starts it, sends the six
// cases of testdata/six and a recorded session over OTLP, and prints what an
// event-only rule and what Continuity say of them. It ends by itself, leaves
// nothing running, and fails if a verdict is not the expected one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/internal/cases"
	"github.com/agentcontinuity/otelcol-continuity/testdata"
)

// limit is how long the demo may take, whatever happens.
const limit = 20 * time.Second

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// sentName is the file of what the agents sent: with the receipts it shows both
// what they did and what they forgot.
const sentName = "agents.jsonl"

// options say where things are.
type options struct {
	binary string
	root   string // of the repository
	out    string // where receipts and log are left
	json   bool
}

func (o *options) config() string   { return filepath.Join(o.root, "distribution", "config.yaml") }
func (o *options) receipts() string { return filepath.Join(o.out, receiptsName) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main with its surroundings as arguments. ctx ends at an interrupt.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	say := func(text string) { _, _ = fmt.Fprintln(stderr, text) } // nobody to tell where that fails
	fail := func(err error) { say("demo: " + err.Error()) }
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fail(err)
		return exitUsage
	}
	limited, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %s", limit))
	defer cancel()
	r, err := play(limited, o, say)
	switch {
	case ctx.Err() != nil: // whatever came of it: the collector had the signal too
		say("demo: interrupted; the collector is stopped")
		return exitInterrupted
	case err != nil:
		fail(err)
		return exitFailed
	}
	if o.json {
		err = r.writeJSON(stdout)
	} else {
		err = r.writeText(stdout, painterFor(stdout))
	}
	if err != nil {
		fail(err)
		return exitFailed
	}
	if !r.ok() {
		return exitFailed
	}
	return exitOK
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.binary, "binary", "", "the distribution (default build/otelcol-continuity below the root)")
	flags.StringVar(&o.root, "root", ".", "the repository's root: its configuration and testdata are used")
	flags.StringVar(&o.out, "out", "", "folder for receipts and the collector's log (default build/demo below the root)")
	flags.BoolVar(&o.json, "json", false, "print JSON instead of a table")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if o.binary == "" {
		o.binary = filepath.Join(o.root, "build", "otelcol-continuity")
	}
	if o.out == "" {
		o.out = filepath.Join(o.root, "build", "demo")
	}
	if _, err := os.Stat(o.binary); err != nil {
		return nil, fmt.Errorf("no distribution at %s: run make build, or name it with --binary", o.binary)
	}
	if _, err := os.Stat(o.config()); err != nil {
		return nil, fmt.Errorf("no %s: start the demo in the repository's root, or name that with --root", o.config())
	}
	// A name without a slash would be looked up on the PATH.
	var err error
	o.binary, err = filepath.Abs(o.binary)
	return o, err
}

// play runs the demo. The collector is gone when it returns.
func play(ctx context.Context, o *options, say func(string)) (*report, error) {
	files := os.DirFS(filepath.Join(o.root, "testdata"))
	six, err := cases.LoadAll(files, testdata.Six)
	if err != nil {
		return nil, err
	}
	recorded, err := cases.LoadAll(files, testdata.Recorded)
	if err != nil {
		return nil, err
	}
	config, err := os.ReadFile(o.config())
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return nil, err
	}
	if err := os.Remove(o.receipts()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	say("starting the distribution")
	c, err := startCollector(ctx, o)
	if err != nil {
		return nil, err
	}
	r := &report{options: o, hint: backendHint(o.config(), string(config))}
	err = r.fill(ctx, c, six, recorded, say)
	c.stop()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(o.out, sentName), r.sent, 0o644); err != nil {
		return nil, err
	}
	return r, r.judge()
}

// fill sends all cases and waits for what comes out.
func (r *report) fill(ctx context.Context, c *collector, six, recorded []*cases.Case, say func(string)) error {
	expected := map[string]int{}
	send := func(all []*cases.Case) ([]*result, error) {
		var results []*result
		for _, one := range all {
			requests, err := requestsOf(one, time.Now())
			if err != nil {
				return nil, err
			}
			var seen []cases.Activity
			for _, q := range requests {
				if err := c.send(ctx, q); err != nil {
					return nil, fmt.Errorf("%s: sending: %w", one.Name, err)
				}
				seen = append(seen, q.seen...)
				r.sent = append(append(r.sent, q.json...), '\n')
			}
			expected[one.Session()] = len(one.Want.Receipts)
			results = append(results, &result{Case: one, eventRule: cases.EventRule(seen)})
		}
		return results, nil
	}
	say("sending six cases and a recorded session")
	var err error
	if r.six, err = send(six); err != nil {
		return err
	}
	if r.recorded, err = send(recorded); err != nil {
		return err
	}
	say(fmt.Sprintf("waiting %s for what nobody answers", window))
	const slack = 10 * time.Second // for writing the file, on a busy machine
	return c.await(ctx, r.options.receipts(), expected, window+slack)
}
