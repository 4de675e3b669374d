package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
)

// approver is a person at a shell, and an agent beside them.
type approver struct {
	*app
	t        *testing.T
	out, err bytes.Buffer
	endpoint string
}

func newApprover(t *testing.T) *approver {
	p := &approver{t: t}
	home := t.TempDir()
	env := func(name string) string {
		return map[string]string{"HOME": home, "CONTINUITY_ENDPOINT": p.endpoint}[name]
	}
	p.app = &app{in: strings.NewReader(""), out: &p.out, err: &p.err, now: time.Now, getenv: env, dir: t.TempDir()}
	return p
}

// do runs a command that must succeed and returns its output.
func (p *approver) do(args ...string) string {
	p.t.Helper()
	p.out.Reset()
	p.json = false
	code := run(p.t.Context(), p.app, args)
	require.Zero(p.t, code, "%s: %s%s", strings.Join(args, " "), &p.out, &p.err)
	return p.out.String()
}

// Approvals, through the real collector that knows the key: a signed one covers a
// change; an unsigned one, one for another value and one that was withdrawn do not.
func TestApproveToReceipt(t *testing.T) {
	p := newApprover(t)
	line := strings.TrimSpace(p.do("keygen", "--id", "team-2026"))
	endpoint, file := realCollectorFile(t, "processors: {continuity: {"+line+"}}")
	p.endpoint = endpoint
	p.do("init")
	p.do("decide", "acceptance_test", "make test")
	p.do("decide", "scope", "github.com/acme/payments")

	give := func(session, to string, more ...string) {
		p.do(append([]string{"approve", "acceptance_test", "--to", to, "--ref", "CHG-" + session, "--session", session, "--expires", "1h"}, more...)...)
	}
	cases := map[string]struct {
		approve       func(session string)
		state, reason string
		signed        bool
	}{
		"signed":          {func(s string) { give(s, "make test lint") }, "approved_change", "approved_transition", true},
		"unsigned":        {func(s string) { give(s, "make test lint", "--unsigned") }, "conflicting", "approval_unsigned", false},
		"another-value":   {func(s string) { give(s, "make lint") }, "conflicting", "changed_without_approval", false},
		"another-session": {func(string) { give("somebody", "make test lint") }, "conflicting", "changed_without_approval", false},
		"withdrawn": {func(s string) {
			give(s, "make test lint")
			p.do("revoke", "--ref", "CHG-"+s)
		}, "conflicting", "approval_revoked", false},
		"not-approved": {func(string) {}, "conflicting", "changed_without_approval", false},
	}
	for name, c := range cases {
		p.do("snapshot", "--session", name)
		c.approve(name)
		p.do("observe", "--session", name, "--source", "agent", "acceptance_test=make test lint", "scope=github.com/acme/payments")
	}
	found := map[string]plog.LogRecord{}
	waitFor(t, "not all receipts came", func() bool {
		clear(found)
		contents, err := p.readOTLP(file)
		if err != nil {
			return false // it is not there yet
		}
		for _, d := range contents.Documents {
			for _, rl := range d.Logs.ResourceLogs().All() {
				for _, sl := range rl.ScopeLogs().All() {
					for _, r := range sl.LogRecords().All() {
						if r.EventName() == "continuity.boundary" {
							found[attrText(r, "session.id")] = r
						}
					}
				}
			}
		}
		return len(found) == len(cases)
	})
	for name, c := range cases {
		r := found[name]
		assert.Equal(t, c.state, attrText(r, "continuity.boundary.state"), name)
		assert.Equal(t, c.reason, attrText(r, "continuity.reason"), name)
		signed, _ := r.Attributes().Get("continuity.approval.signed")
		assert.Equal(t, c.signed, signed.Bool(), name)
	}
	waitFor(t, "the last alert did not come", func() bool {
		p.out.Reset()
		return run(t.Context(), p.app, []string{"verify", "receipts", file}) == 0
	})
	assert.Equal(t, "conflicting\t5\t5\t5\napproved_change\t1\t1\t0\n", p.out.String())
}
