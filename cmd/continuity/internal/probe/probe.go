// Package probe runs a project's probes: commands that look at the world.
package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
)

// maxOutput is as much of a command's output as is read. A decision is shorter.
const maxOutput = 64 << 10

// grace is how long a command's pipes may stay open after its end.
const grace = 100 * time.Millisecond

// Run runs a probe in a folder and returns what it saw. Its errors hold none of
// the command's output, which may be a value.
func Run(ctx context.Context, dir string, p *config.Probe) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Command[0], p.Command[1:]...)
	cmd.Dir = dir
	out := &limited{}
	cmd.Stdout = out
	cmd.WaitDelay = grace
	contain(cmd)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("it took longer than %s", p.Timeout)
	case errors.As(err, &exit):
		return "", fmt.Errorf("it failed: %s", exit.ProcessState)
	case err != nil:
		return "", fmt.Errorf("it could not be run: %w", err)
	case out.full:
		return "", fmt.Errorf("it printed more than %d bytes", maxOutput)
	}
	return match(p.Match, strings.TrimSpace(out.kept.String()))
}

func match(expression, text string) (string, error) {
	if expression == "" {
		return text, nil
	}
	compiled, err := regexp.Compile(expression)
	if err != nil {
		return "", errors.New("match is no regular expression")
	}
	found := compiled.FindAllStringSubmatch(text, 2)
	switch {
	case len(found) == 0:
		return "", errors.New("nothing in its output matches")
	case len(found) > 1:
		return "", errors.New("its output matches more than once")
	}
	return found[0][1], nil
}

// limited keeps the beginning of what is written to it. It does not embed the
// buffer: by a method of that the limit would be passed by.
type limited struct {
	kept bytes.Buffer
	full bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.kept.Len()+len(p) > maxOutput {
		l.full = true
		return len(p), nil
	}
	return l.kept.Write(p)
}
