package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/keys"
	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

// approvalCommands are for a human or a gate that the agent cannot reach.
func (a *app) approvalCommands() []*cobra.Command {
	return []*cobra.Command{a.keygenCommand(), a.approveCommand(), a.revokeCommand()}
}

// keyFlags say with which key approvals are signed.
type keyFlags struct {
	file, id string
	unsigned bool
}

func (f *keyFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.file, "key", "", "file of the private key (default approval.key in the user's folder of configuration)")
	flags.StringVar(&f.id, "key-id", "", "id by which the collector knows the key (default the one in the file)")
}

// path is where the private key is.
func (f *keyFlags) path(a *app, cfg *config.Config) (string, error) {
	if f.file != "" {
		return a.path(f.file), nil
	}
	return defaultKey(cfg)
}

func defaultKey(cfg *config.Config) (string, error) {
	dir := filepath.Dir(cfg.KeysDir)
	if !filepath.IsAbs(dir) {
		return "", errors.New("this user has no folder of configuration: name a file for the key")
	}
	return filepath.Join(dir, "approval.key"), nil
}

// sign signs an approval, unless it is to go without.
func (f *keyFlags) sign(a *app, path string, approval continuity.Approval) (continuity.Approval, error) {
	if f.unsigned {
		return approval, nil
	}
	key, err := keys.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return approval, fmt.Errorf("there is no key at %s: make one with `continuity keygen`, name another with --key, or say --unsigned", path)
	}
	if err != nil {
		return approval, err
	}
	if key.Shared {
		a.warn("others can read %s: whoever can read it can approve", path)
	}
	if f.id != "" {
		if err := keys.CheckID(f.id); err != nil {
			return approval, err
		}
		key.ID = f.id
	}
	return approval.Sign(key.ID, key.Key)
}

// transition is one change of one decision.
type transition struct {
	session, attribute, agent string
	from, to, as              string
	fromNone, toNone          bool
}

func (f *transition) addSession(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.session, "session", "", "id of the agent's session (default: $"+config.EnvSession+")")
	flags.StringVar(&f.attribute, "session-attribute", "", "attribute that carries the id: the one that the agent's own telemetry uses")
	flags.StringVar(&f.agent, "agent", "", "id of the sub-agent that it is for (default all of the session)")
}

func (f *transition) addValues(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "the decision before: a digest, none, or a value (default what the ledger holds)")
	flags.StringVar(&f.to, "to", "", "the decision after: a digest, none, or a value")
	flags.BoolVar(&f.fromNone, "from-none", false, "there was no such decision before")
	flags.BoolVar(&f.toNone, "to-none", false, "there is no such decision any more")
	flags.StringVar(&f.as, "as", "", "kind of the values: "+strings.Join(config.Kinds, ", ")+" (default by name)")
}

// of is the session that a transition belongs to.
func (f *transition) of(cfg *config.Config) (continuity.Session, error) {
	s := cfg.Session
	for _, o := range []struct {
		flag string
		into *string
	}{{f.session, &s.ID}, {f.attribute, &s.Attribute}} {
		if o.flag != "" {
			*o.into = o.flag
		}
	}
	s.Agent = f.agent // an approval is for all agents, unless it says otherwise
	if s.ID == "" {
		return s, errNoSession
	}
	return s, nil
}

// values are the digests of both sides.
func (f *transition) values(cfg *config.Config, name string) (from, to continuity.Digest, err error) {
	entries, err := cfg.Ledger().InForce(f.session)
	if err != nil {
		return "", "", err
	}
	recorded := ""
	if e := find(entries, name); e != nil {
		recorded = e.Digest
	}
	kind := func(value string) string { return kindOf(cfg, entries, name, value, f.as) }
	if f.from == "" && !f.fromNone {
		if recorded == "" {
			return "", "", fmt.Errorf("from what? The ledger holds no decision %q: say --from or --from-none", name)
		}
		from = continuity.Digest(recorded)
	} else if from, err = side(cfg, "--from", name, kind(f.from), f.from, f.fromNone); err != nil {
		return "", "", err
	}
	if f.to == "" && !f.toNone {
		return "", "", errors.New("to what? Say --to or --to-none")
	}
	if to, err = side(cfg, "--to", name, kind(f.to), f.to, f.toNone); err != nil {
		return "", "", err
	}
	if from == to {
		return "", "", errors.New("nothing changes: both sides are the same")
	}
	return from, to, nil
}

// asItIs is a digest, or none, that is given as such.
func asItIs(text string) (continuity.Digest, bool) {
	lower := strings.ToLower(strings.TrimSpace(text))
	given := lower == string(continuity.None) || strings.HasPrefix(lower, "sha256:") || strings.HasPrefix(lower, "hmac-sha256:")
	return continuity.Digest(lower), given
}

func isValue(text string) bool {
	_, given := asItIs(text)
	return text != "" && !given
}

// side is the digest of one side. What begins as a digest must be one: as a value
// it would approve something that nobody means.
func side(cfg *config.Config, flag, name, kind, text string, none bool) (continuity.Digest, error) {
	if none && text != "" {
		return "", fmt.Errorf("%s and %s-none exclude each other", flag, flag)
	}
	if none {
		return continuity.None, nil
	}
	if digest, ok := asItIs(text); ok {
		return digest, nil // the approval checks it
	}
	digester, err := cfg.Digester()
	if err != nil {
		return "", err
	}
	digest, err := cfg.Digest(digester, name, kind, text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	return digest, nil
}

// never is an approval without end. It must be asked for: once a collector has
// forgotten the session, such a one counts again.
const never = "never"

// until reads a time or a duration from now; zero is without end.
func until(text string, now time.Time) (time.Time, error) {
	if text == never {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if d, isDuration := time.ParseDuration(text); isDuration == nil {
		at, err = now.Add(d), nil
	}
	switch {
	case err != nil:
		return at, fmt.Errorf("--expires %q is neither a duration such as 2h nor a time such as 2026-03-14T09:00:00Z nor %s", text, never)
	case !at.After(now):
		return at, fmt.Errorf("--expires %q is not in the future", text)
	}
	return at.UTC(), nil
}
