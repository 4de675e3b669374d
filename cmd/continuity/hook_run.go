package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/hosts"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/send"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/sessions"
)

// maxPayload is longer than what hosts send. What is longer is no payload.
const maxPayload = 16 << 20

func (r *hookRun) run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("it wants the name of one host")
	}
	host, ok := hosts.Find(args[0])
	if !ok {
		return fmt.Errorf("there is no host %q: hosts are %s", args[0], strings.Join(hosts.Names(), ", "))
	}
	payload, err := r.payload(ctx)
	if err != nil {
		return err
	}
	event, err := host.Read(payload, r.options.Options, r.getenv)
	if err != nil {
		return err
	}
	if event.Action == hosts.Nothing && (event.Activity == "" || !r.options.activity) {
		return nil
	}
	cfg, err := r.config(event.Dir)
	if err != nil {
		return err
	}
	if cfg == nil {
		return fmt.Errorf("nothing is done: there is no %s in this folder or above it", config.FileName)
	}
	completeEvent(&event, cfg, r.options)
	if event.Session == "" {
		return errors.New("nothing says which session this is")
	}
	return r.act(ctx, cfg, &event)
}

// completeEvent adds what only the project knows.
func completeEvent(event *hosts.Event, cfg *config.Config, o *hookOptions) {
	if event.Session == "" {
		event.Session = cfg.Session.ID
	}
	if event.Agent == "" {
		event.Agent = cfg.Session.Agent
	}
	if event.Runtime == "" {
		event.Runtime = cfg.Session.Runtime
	}
	if event.Host == "generic" && o.SessionAttribute == "" && cfg.Session.Attribute != "" {
		event.SessionAttribute = cfg.Session.Attribute
	}
}

// payload reads one JSON value. It does not wait for the end of the input, which
// may never come.
func (r *hookRun) payload(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, hookRead)
	defer cancel()
	type read struct {
		payload json.RawMessage
		err     error
	}
	result := make(chan read, 1)
	go func() {
		var p json.RawMessage
		err := json.NewDecoder(io.LimitReader(r.in, maxPayload)).Decode(&p)
		result <- read{p, err}
	}()
	select {
	case got := <-result:
		if got.err != nil {
			return nil, hosts.ErrPayload // the error may quote the payload
		}
		return got.payload, nil
	case <-ctx.Done():
		return nil, errors.New("no payload came")
	}
}

// config is the project's configuration: of the working directory, else of the
// folder that the host names. It is nil where the project has none.
func (r *hookRun) config(dir string) (*config.Config, error) {
	cfg, err := config.Load(r.dir, r.getenv)
	if err == nil && cfg.Need() == nil {
		return cfg, nil
	}
	if err != nil || !filepath.IsAbs(dir) || dir == r.dir {
		return nil, err
	}
	cfg, err = config.Load(dir, r.getenv)
	if err != nil || cfg.Need() != nil {
		return nil, err
	}
	return cfg, nil
}

func (r *hookRun) act(ctx context.Context, cfg *config.Config, event *hosts.Event) error {
	seen := sight(event, r.now())
	seen.Asked = r.options.ask && event.Output != hosts.Silent
	if event.Action != hosts.Nothing {
		store := sessionsOf(cfg)
		first, err := store.Add(seen)
		r.problem(err) // where nothing can be remembered, the event still goes out
		if first.Asked && !first.At.Equal(seen.At) {
			seen.Asked = false // another hook of this event asks
		}
		seen.At = first.At
		if event.Action == hosts.Start {
			r.problem(store.Prune(r.now()))
		}
	}
	if seen.Asked {
		output, err := question(cfg, event, seen)
		r.problem(err)
		r.show(output)
	}
	out, err := hookEvent(cfg, event, seen)
	r.problem(err)
	result, err := send.New(cfg, r.now).Send(ctx, out)
	r.problem(result.Why)
	return err
}

func sessionsOf(cfg *config.Config) *sessions.Store {
	return sessions.Open(filepath.Join(cfg.State, "sessions"))
}
