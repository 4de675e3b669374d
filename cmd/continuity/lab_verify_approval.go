package main

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/keys"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/otlpfile"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/printed"
	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/term"
	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
	"github.com/agentcontinuity/otelcol-continuity/internal/boundary"
	"github.com/agentcontinuity/otelcol-continuity/internal/semconv"
	"github.com/agentcontinuity/otelcol-continuity/internal/signal"
)

func (a *app) verifyApprovalCommand() *cobra.Command {
	var public []string
	c := &cobra.Command{
		Use:   "approval FILE... --public-key KEY",
		Short: "Check the signatures of approvals",
		Long: `Check the signatures of approvals: those that "continuity approve --print" prints,
and all that are found in files of OTLP/JSON. "-" is the standard input.

KEY is base64, or a file that holds it in base64 or PEM; "team-2026=KEY" names its
id. An approval that names a key must be signed by that one; without an id, KEY is
tried for all. A signature that fits says who approved. Whether the approval counts
for a change (once, in time, not withdrawn) the collector says.`,
		Example: `  continuity approve ... --print | continuity verify approval - --public-key "$PUBLIC_KEY"`,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(_ *cobra.Command, files []string) error { return a.verifyApprovals(files, public) },
	}
	c.Flags().StringArrayVar(&public, "public-key", nil, "a public key, as [ID=]KEY; may be repeated")
	return c
}

// verified is one approval and what its signature is worth.
type verified struct {
	Session   string `json:"session"`
	Invariant string `json:"invariant"`
	Ref       string `json:"ref"`
	From      string `json:"from"`
	To        string `json:"to"`
	Status    string `json:"status"`
	Approver  string `json:"approver,omitempty"`
	ExpiresAt string `json:"expires_at,omitempty"`
	KeyID     string `json:"key_id,omitempty"`
	Signature string `json:"signature"` // valid, missing, invalid or unreadable
	Expired   bool   `json:"expired"`
}

const (
	signatureValid      = "valid"
	signatureMissing    = "missing"
	signatureInvalid    = "invalid"
	signatureUnreadable = "unreadable"
)

// trusted are the keys that count: by id, and those for all ids.
type trusted struct {
	named map[string]ed25519.PublicKey
	any   []ed25519.PublicKey
}

func (a *app) verifyApprovals(files, public []string) error {
	if len(public) == 0 {
		return errors.New("whose signature? Say --public-key")
	}
	known, err := a.publicKeys(public)
	if err != nil {
		return err
	}
	found := []verified{}
	for _, file := range files {
		contents, err := a.readOTLP(file)
		if err != nil {
			return err
		}
		for i, d := range contents.Documents {
			some, err := approvalsIn(d, known, a.now())
			if err != nil {
				return fmt.Errorf("%s: document %d: %w", file, i+1, err)
			}
			found = append(found, some...)
		}
	}
	if len(found) == 0 {
		return fmt.Errorf("there is no approval in %s", strings.Join(files, ", "))
	}
	return a.printVerified(found)
}

// publicKeys reads the keys of the command line.
func (a *app) publicKeys(texts []string) (*trusted, error) {
	t := &trusted{named: map[string]ed25519.PublicKey{}}
	for _, text := range texts {
		id, rest, hasID := strings.Cut(text, "=")
		if !hasID || strings.Trim(rest, "=") == "" || keys.CheckID(id) != nil { // base64 ends in "="
			id, rest = "", text
		}
		key, err := a.publicKey(rest)
		switch {
		case err != nil:
			return nil, fmt.Errorf("--public-key: %w", err)
		case id != "":
			t.named[id] = key
		default:
			t.any = append(t.any, key)
		}
	}
	return t, nil
}

func (a *app) publicKey(text string) (ed25519.PublicKey, error) {
	key, err := approval.ParsePublicKey([]byte(text))
	if err == nil {
		return key, nil
	}
	file, openErr := os.Open(a.path(text))
	if errors.Is(openErr, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w, nor is it the name of a file", err)
	}
	if openErr != nil {
		return nil, openErr
	}
	defer func() { _ = file.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(file, 16<<10))
	if err != nil {
		return nil, err
	}
	return approval.ParsePublicKey(content)
}

// approvalsIn finds the approvals of one document, as the processor reads them.
func approvalsIn(d otlpfile.Document, known *trusted, now time.Time) (out []verified, err error) {
	take := func(item signal.Item) {
		if item.Kind == boundary.Approval {
			out = append(out, known.verify(&item, now))
		}
	}
	reader := signal.NewReader(signal.DefaultConfig())
	var logs plog.Logs
	switch {
	case d.Traces != nil:
		reader.Traces(*d.Traces, nil, now, take)
		return out, nil
	case d.Logs != nil:
		logs = *d.Logs
	case isOtherTelemetry(d.Other):
		return nil, nil
	default:
		e, err := printed.Parse(d.Other)
		if err != nil {
			return nil, fmt.Errorf("it is neither OTLP/JSON nor a printed approval: %w", err)
		}
		if logs, err = e.Logs(); err != nil {
			return nil, err
		}
	}
	reader.Logs(logs, nil, now, take)
	return out, nil
}

func (t *trusted) verify(item *signal.Item, now time.Time) verified {
	if item.Event == nil || item.Event.Approval == nil {
		return verified{Signature: signatureUnreadable, Status: string(item.Reason)}
	}
	given := item.Event.Approval
	v := verified{
		Session: given.Session, Invariant: given.Invariant, Ref: given.Ref, From: given.From.String(), To: given.To.String(),
		Status: approval.StatusApproved, Approver: given.Approver, ExpiresAt: given.ExpiresAt, KeyID: given.KeyID, Signature: signatureInvalid,
	}
	if given.Revoked {
		v.Status = approval.StatusRevoked
	}
	if given.ExpiresAt != "" {
		at, ok := semconv.ParseTime(given.ExpiresAt)
		v.Expired = !ok || at <= now.UnixNano()
	}
	switch {
	case len(given.Signature) == 0:
		v.Signature = signatureMissing
	case t.signed(given):
		v.Signature = signatureValid
	}
	return v
}

func (t *trusted) signed(given *approval.Approval) bool {
	if approval.Verify(given, t.named) {
		return true
	}
	for _, key := range t.any {
		if approval.Verify(given, map[string]ed25519.PublicKey{given.KeyID: key}) {
			return true
		}
	}
	return false
}

func (a *app) printVerified(found []verified) error {
	p := a.print()
	bad := 0
	var rows [][]term.Cell
	for _, v := range found {
		style := term.Good
		if v.Signature != signatureValid {
			style = term.Bad
			bad++
		}
		until := v.ExpiresAt
		if v.Expired {
			until += " (expired)"
		}
		rows = append(rows, []term.Cell{
			term.Text(v.Ref), term.Text(v.Invariant), term.Text(v.Session), term.Text(v.Status),
			term.Text(v.KeyID), term.Styled(style, v.Signature), term.Text(until),
		})
	}
	if a.json {
		if err := p.JSON(map[string]any{"ok": bad == 0, "approvals": found}); err != nil {
			return err
		}
	} else {
		p.Table([]string{"REF", "DECISION", "SESSION", "STATUS", "KEY", "SIGNATURE", "UNTIL"}, rows)
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d approvals have no valid signature", bad, len(found))
	}
	return nil
}
