package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/term"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/classify"
	"github.com/agentcontinuity/otelcol-continuity/internal/ledger"
)

// maxValue is longer than any decision. It is far below what a line of the ledger
// can hold, also where each byte needs an escape.
const maxValue = 8 << 10

type decideFlags struct {
	file, as, revision, approvalRef, session string
	none, withdraw                           bool
}

func (a *app) decideCommand() *cobra.Command {
	var f decideFlags
	cmd := &cobra.Command{
		Use:   "decide NAME [VALUE]",
		Short: "Record a decision",
		Long: `Record a decision. The ledger keeps its digest, and the value only where
ledger.values is true. Nothing is sent.

NAME is scope, target, acceptance_test, approval_boundary, constraint.<action>, or a
name of your own of that form. What VALUE can be depends on the kind:

  id       a repository, branch, path or ticket; its spellings are one
  command  a command line; quotes and blanks between words do not matter
  set      items with commas between them; their order does not matter
  choice   one word of a closed list
  text     prose; a difference is then "unverified", not a conflict
  json     a JSON document; the default for a VALUE that begins with { or [

A constraint is one of forbidden, ask_first, allowed. An approval boundary is a set of
actions: those that need a human's yes. The actions are those of the catalogue, which
continuity.yaml can extend. Other values are refused without --as text.`,
		Example: `  continuity decide scope github.com/acme/payments
  continuity decide acceptance_test "go test ./..."
  continuity decide constraint.push forbidden
  continuity decide approval_boundary deploy,migrate
  continuity decide target --none`,
		Args:              argsOf(1, 2, "NAME and VALUE, as in: continuity decide scope github.com/acme/payments"),
		ValidArgsFunction: a.completeDecision,
		RunE:              func(_ *cobra.Command, args []string) error { return a.decide(&f, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.file, "file", "", "read the value from a file, or from standard input where it is -")
	flags.BoolVar(&f.none, "none", false, "there is explicitly no such decision")
	flags.BoolVar(&f.withdraw, "withdraw", false, "from now on nothing is stated of it")
	flags.StringVar(&f.as, "as", "", "kind of the value: "+strings.Join(config.Kinds, ", "))
	flags.StringVar(&f.revision, "revision", "", "revision of the decision, passed through to receipts")
	flags.StringVar(&f.approvalRef, "approval-ref", "", "reference of its approval, passed through to receipts")
	flags.StringVar(&f.session, "session", "", "the only session for which it holds (default: all of the project)")
	return cmd
}

func (a *app) decide(f *decideFlags, args []string) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if err := cfg.Need(); err != nil {
		return err
	}
	value, stated, err := a.value(f, args[1:])
	if err != nil {
		return err
	}
	e, err := f.entry(cfg, args[0], value, stated)
	if err != nil {
		return err
	}
	e.Time = a.now().UTC()
	before, err := cfg.Ledger().InForce(f.session)
	if err != nil {
		return err
	}
	if old := find(before, e.Name); f.withdraw && (old == nil || old.Session != f.session) {
		return a.nothingToWithdraw(&e, old)
	}
	if err := cfg.Ledger().Append(e); err != nil {
		return err
	}
	return a.decided(&e, find(before, e.Name))
}

// nothingToWithdraw is an error: whoever withdraws means something that is stated,
// and a name that is misspelled would stay in force.
func (a *app) nothingToWithdraw(e, inForce *ledger.Entry) error {
	switch {
	case inForce != nil: // then that of the project is in force
		return fmt.Errorf("%s was not decided for this session, but for the project: withdraw it without --session", e.Name)
	case e.Session != "":
		return fmt.Errorf("%s is not decided, neither for this session nor for the project: there is nothing to withdraw", e.Name)
	}
	return fmt.Errorf("%s is not decided for the project: there is nothing to withdraw", e.Name)
}

// value is what is decided, and whether it is a value at all.
func (a *app) value(f *decideFlags, args []string) (value string, stated bool, err error) {
	ways := len(args)
	for _, given := range []bool{f.file != "", f.none, f.withdraw} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return "", false, errors.New("say exactly one of VALUE, --file, --none and --withdraw")
	}
	switch {
	case len(args) == 1:
		value = args[0]
	case f.file != "":
		if value, err = a.read(f.file); err != nil {
			return "", false, err
		}
	default:
		return "", false, nil
	}
	if len(value) > maxValue {
		return "", false, fmt.Errorf("the value has %d bytes: a decision has at most %d", len(value), maxValue)
	}
	return value, true, nil
}

// read reads a file of the user's, or standard input.
func (a *app) read(path string) (string, error) {
	in := a.in
	if path != "-" {
		if !filepath.IsAbs(path) {
			path = filepath.Join(a.dir, path)
		}
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer func() { _ = file.Close() }() // it was only read
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxValue+1))
	return string(text), err
}

func (f *decideFlags) entry(cfg *config.Config, name, value string, stated bool) (ledger.Entry, error) {
	e := ledger.Entry{Name: name, Revision: f.revision, ApprovalRef: f.approvalRef, Session: f.session}
	if !classify.ValidName(name) {
		return e, config.ErrName
	}
	switch {
	case f.withdraw:
		return e, nil
	case name == classify.Constraint:
		return e, errors.New("a constraint is of one action: say constraint.<action>, as constraint.push; its actions are " + strings.Join(cfg.Actions(), ", "))
	case f.none:
		e.Digest = string(continuity.None)
		return e, nil
	case !stated:
		return e, errors.New("there is no value")
	}
	e.Kind = kindOf(cfg, nil, name, value, f.as)
	digester, err := cfg.Digester()
	if err != nil {
		return e, err
	}
	digest, err := cfg.Digest(digester, name, e.Kind, value)
	if errors.Is(err, continuity.ErrPlaceholder) {
		return e, fmt.Errorf("%w; where there is explicitly no such decision, say --none", err)
	}
	if err != nil {
		return e, err
	}
	e.Digest, e.KeyID = string(digest), digester.KeyID()
	if e.Kind == config.KindText {
		e.Comparison = config.KindText
	}
	if cfg.Values {
		e.Value = value
	}
	return e, nil
}

// kindOf is the kind of a value: the one that is asked for, else that of the
// decision in force, else JSON where it looks so and no list is closed, else by the
// name.
func kindOf(cfg *config.Config, inForce []ledger.Entry, name, value, as string) string {
	if as != "" {
		return as
	}
	if e := find(inForce, name); e != nil && e.Kind != "" {
		return e.Kind
	}
	closed := classify.Family(name) == classify.Constraint || cfg.Choices(name) != nil
	if value = strings.TrimSpace(value); !closed && (strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[")) {
		return config.KindJSON
	}
	return cfg.Kind(name)
}

func find(entries []ledger.Entry, name string) *ledger.Entry {
	for i := range entries {
		if entries[i].Name == name {
			return &entries[i]
		}
	}
	return nil
}

// decided says what was recorded. The value is left to whoever typed it.
func (a *app) decided(e, before *ledger.Entry) error {
	p := a.print()
	if a.json {
		if err := p.JSON(e); err != nil {
			return err
		}
	} else {
		how := e.Digest
		if e.Withdraws() {
			how = "withdrawn"
		}
		p.Line("%s: %s", p.Style(term.Bold, e.Name), how)
	}
	if e.Digest != "" && e.Digest != string(continuity.None) && e.KeyID == "" {
		a.warn("the digest is plain: who has it can try all likely values; `continuity init` makes a key")
	}
	if before != nil && !e.Withdraws() && before.Digest != e.Digest && before.KeyID == e.KeyID {
		a.warn("%s was decided otherwise before; for a session that runs, a change counts only with an approval", e.Name)
	}
	return nil
}

// completeDecision offers names, and then what a name's value can be.
func (a *app) completeDecision(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	cfg, err := a.config()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	switch len(args) {
	case 0:
		names := []string{classify.Scope, classify.Target, classify.AcceptanceTest, classify.ApprovalBoundary}
		names = append(names, cfg.Invariants...)
		for _, action := range cfg.Actions() {
			names = append(names, classify.Constraint+"."+action)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	case 1:
		return cfg.Choices(args[0]), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}
