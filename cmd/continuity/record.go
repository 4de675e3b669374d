package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/send"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/term"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

func (a *app) recordCommands() []*cobra.Command {
	return []*cobra.Command{
		a.initCommand(), a.doctorCommand(),
		a.decideCommand(), a.decisionsCommand(),
		a.snapshotCommand(), a.observeCommand(), a.probeCommand(), a.completeCommand(),
		a.startCommand(), a.endCommand(), a.flushCommand(),
		a.digestCommand(), a.versionCommand(),
	}
}

func (a *app) config() (*config.Config, error) { return config.Load(a.dir, a.getenv) }

func (a *app) print() *term.Printer { return term.New(a.out, a.getenv) }

// warn tells a person about what did not go as it should, and went on all the
// same. It is no part of the output.
func (a *app) warn(format string, args ...any) {
	p := term.New(a.err, a.getenv)
	p.Line("continuity: %s", p.Style(term.Warn, term.Clean(fmt.Sprintf(format, args...))))
}

// sessionFlags say whose event it is.
type sessionFlags struct {
	session, attribute, agent, runtime, boundary, trigger string
}

func (f *sessionFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.session, "session", "", "id of the agent's session (default: $"+config.EnvSession+")")
	flags.StringVar(&f.attribute, "session-attribute", "", "attribute that carries the id: the one that the agent's own telemetry uses")
	flags.StringVar(&f.agent, "agent", "", "id of a sub-agent")
	flags.StringVar(&f.runtime, "runtime", "", "the agent's runtime, as claude_code")
}

var triggers = []string{"auto", "manual"}

// addCompaction adds what only events of a compaction have.
func (f *sessionFlags) addCompaction(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.boundary, "boundary", "", "id that pairs the events of one compaction explicitly")
	flags.StringVar(&f.trigger, "trigger", "", "why the host compacted: "+strings.Join(triggers, " or "))
	offer(cmd, "trigger", triggers)
}

var errNoSession = errors.New("no session is given, and without one nothing is paired: say --session ID, or set " + config.EnvSession)

// common is what all events have.
func (f *sessionFlags) common(a *app, cfg *config.Config) (continuity.Common, error) {
	c := continuity.Common{Session: cfg.Session, Time: a.now(), BoundaryID: f.boundary, Trigger: f.trigger}
	for _, o := range []struct {
		flag string
		into *string
	}{
		{f.session, &c.Session.ID},
		{f.attribute, &c.Session.Attribute},
		{f.agent, &c.Session.Agent},
		{f.runtime, &c.Session.Runtime},
	} {
		if o.flag != "" {
			*o.into = o.flag
		}
	}
	if c.Session.ID == "" {
		return c, errNoSession
	}
	if f.trigger != "" && !slices.Contains(triggers, f.trigger) {
		return c, fmt.Errorf("trigger %q is not one of %s", f.trigger, strings.Join(triggers, ", "))
	}
	return c, nil
}

// sent is what a command that sends prints as JSON.
type sent struct {
	Events  []send.Sent `json:"events"`
	Session string      `json:"session,omitempty"`
	Earlier int         `json:"earlier_accepted"`
	Waiting int         `json:"waiting"`
	Why     string      `json:"why,omitempty"`
	// Incomparable are decisions that were stated, and cannot be compared later.
	Incomparable []incomparable `json:"incomparable,omitempty"`
}

// send sends one event and says what became of it. An event that waits in the
// spool is safe, so that is no error.
func (a *app) send(cmd *cobra.Command, cfg *config.Config, event continuity.Event, session, what string) error {
	result, err := send.New(cfg, a.now).Send(cmd.Context(), event)
	if err != nil {
		return err
	}
	return a.sent(&result, session, what)
}

func (a *app) sent(result *send.Result, session, what string, foreign ...incomparable) error {
	why := ""
	if result.Why != nil {
		why = term.Clean(strings.ReplaceAll(result.Why.Error(), "\n", "; "))
	}
	status := result.Status()
	p := a.print()
	if a.json {
		if err := p.JSON(sent{result.Events, session, result.Earlier, result.Waiting, why, foreign}); err != nil {
			return err
		}
	} else {
		style := map[send.Status]term.Style{send.Accepted: term.Good, send.Spooled: term.Warn, send.Refused: term.Bad}[status]
		p.Line("%s: %s", what, p.Style(style, string(status)))
	}
	switch {
	case status == send.Refused:
		return fmt.Errorf("the event was refused: %s", why)
	case status == send.Spooled:
		a.warn("%s; the event is kept for the next run (%d waiting)", why, result.Waiting)
	case result.Refused > 0:
		a.warn("%s of earlier runs refused for good: %s", count(result.Refused, "event"), why)
	case result.Waiting > 0:
		a.warn("%s still waiting: %s", count(result.Waiting, "event"), cmp.Or(why, "another process is sending"))
	}
	if result.Earlier > 0 && !a.json {
		a.warn("%s of earlier runs accepted now", count(result.Earlier, "event"))
	}
	return nil
}

// count is "1 decision", "2 decisions".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
