package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/hosts"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/term"
)

func (a *app) hookCommands() []*cobra.Command {
	return []*cobra.Command{a.hookCommand(), a.mcpCommand()}
}

// What a hook may cost. A host waits for it, so the process is gone after two
// seconds, its start and end included.
const (
	hookTime = 1700 * time.Millisecond // for everything
	hookRead = 1500 * time.Millisecond // of that, for the payload
	hookTail = 100 * time.Millisecond  // after it, to put away what was not sent
	hookLast = 30 * time.Millisecond   // and to write, also where all of that is used up
)

type hookOptions struct {
	hosts.Options
	ask, activity bool
}

func (a *app) hookCommand() *cobra.Command {
	var o hookOptions
	c := &cobra.Command{
		Use:       "hook HOST",
		Short:     "Be the hook of an agent host: tell the collector of a compaction",
		ValidArgs: hosts.Names(),
		Long: `Reads the hook's JSON on standard input and does what the event asks for: a snapshot
of the decisions in force before a compaction, a completion after it, and the start
and end of the session.

It never disturbs the host: it exits with 0, prints nothing (but for --ask), and is
gone after 2 seconds. What could not be sent is kept and sent by the next run. Where
the project has no continuity.yaml it does nothing. Set CONTINUITY_DEBUG to see on
standard error what went wrong.

Hosts: claude-code, codex, gemini-cli, qwen-code, cursor, opencode, generic.`,
		// What is wrong with the command line must not stop an agent either.
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.hook(cmd.Context(), args, &o)
			return nil
		},
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		a.hookProblem(err)
		return nil
	})
	c.Flags().BoolVar(&o.ask, "ask", false, "after a compaction, ask the agent to restate its decisions, where the host reads standard output")
	c.Flags().BoolVar(&o.activity, "activity", false, "also send what the agent does (agent.activity), at events that are not about continuity")
	c.Flags().BoolVar(&o.EveryTurn, "every-turn", false, "gemini-cli: take a snapshot with every turn")
	c.Flags().StringVar(&o.Event, "event", "", "the event's `name`, where the payload has none")
	c.Flags().StringVar(&o.SessionAttribute, "session-attribute", "", "the `attribute` that carries the session id, instead of the host's")
	c.Flags().StringVar(&o.Runtime, "runtime", "", "continuity.runtime, instead of the host's")
	return c
}

// hook runs one hook. Whatever happens, it returns in time and without an error.
func (a *app) hook(ctx context.Context, args []string, o *hookOptions) {
	// A host that closes standard output is no reason to end otherwise.
	signal.Ignore(syscall.SIGPIPE)
	end := time.Now().Add(hookTime + hookTail)
	ctx, cancel := context.WithTimeout(ctx, hookTime)
	defer cancel()
	r := &hookRun{app: a, options: o}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				r.problem(errors.New("a panic")) // its text may hold anything
			}
		}()
		r.problem(r.run(ctx, args))
	}()
	select {
	case <-done:
	case <-ctx.Done():
		// A read or a disk may hang: nobody waits for it longer than this.
		tail := time.NewTimer(hookTail)
		defer tail.Stop()
		select {
		case <-done:
		case <-tail.C:
		}
	}
	r.end(max(time.Until(end), hookLast))
}

// hookRun is one hook. What it shows is kept until its end, so that a host gets
// all of it or nothing.
type hookRun struct {
	*app
	options *hookOptions

	mu       sync.Mutex
	output   []byte
	problems []error
	ended    bool
}

func (r *hookRun) show(output []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.output = output
}

func (r *hookRun) problem(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && !r.ended {
		r.problems = append(r.problems, err)
	}
}

// end writes what there is to say. A host that does not read its pipe is not
// waited for longer than the given time.
func (r *hookRun) end(wait time.Duration) {
	r.mu.Lock()
	r.ended = true
	output, problems := r.output, r.problems
	r.mu.Unlock()
	written := make(chan struct{})
	go func() {
		defer close(written)
		if len(output) > 0 {
			_, _ = r.out.Write(output) // a host that closed it does not want it
		}
		for _, err := range problems {
			r.hookProblem(err)
		}
	}()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-written:
	case <-timer.C:
	}
}

// hookProblem says what went wrong to whoever wants to know. Hosts show what hooks
// write on standard error, so it is silent by default.
func (a *app) hookProblem(err error) {
	if a.getenv("CONTINUITY_DEBUG") != "" {
		fmt.Fprintf(a.err, "continuity hook: %s\n", term.CleanLines(err.Error()))
	}
}
