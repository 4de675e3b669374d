// Package keys reads and writes the Ed25519 keys that sign approvals.
package keys

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// Private is a private key and the id by which the collector knows its public
// half.
type Private struct {
	ID  string
	Key ed25519.PrivateKey
	// Shared is set where others than its owner can read the key's file.
	Shared bool
}

// Public is the public half.
func (p *Private) Public() ed25519.PublicKey { return p.Key.Public().(ed25519.PublicKey) }

// Generate makes a key. Without an id it gets one that follows from the key.
func Generate(id string) (*Private, error) {
	if id != "" {
		if err := CheckID(id); err != nil {
			return nil, err
		}
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	p := &Private{ID: id, Key: key}
	if id == "" {
		p.ID = idOf(p.Public())
	}
	return p, nil
}

// idOf is the id of a key to which nobody gave one.
func idOf(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return "key-" + hex.EncodeToString(sum[:4])
}

var idForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,63}$`)

// CheckID refuses an id that could not stand in a configuration as it is.
func CheckID(id string) error {
	if !idForm.MatchString(id) {
		return fmt.Errorf("the key id %q must be a letter and up to 63 letters, digits, dots, dashes or underscores", id)
	}
	return nil
}

const idHeader = "Key-Id: "

// Encode is the text of a key's file: PKCS#8 in PEM. The line with the id stands
// before it, where readers of PEM look past it.
func (p *Private) Encode() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(p.Key)
	if err != nil {
		return nil, fmt.Errorf("encoding a key: %w", err)
	}
	text := append([]byte(idHeader+p.ID+"\n"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})...)
	return text, nil
}

// Write writes the key to a new file that only its owner can read. It never
// replaces one.
func (p *Private) Write(path string) error {
	text, err := p.Encode()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already: a key is never overwritten, since what it signed could not be checked any more", path)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// maxFile is far more than any key needs.
const maxFile = 16 << 10

// Read reads the file of a private key: PKCS#8 in PEM, or base64 of its 32 or 64
// bytes.
func Read(path string) (*Private, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return nil, err
	}
	p, err := parsePrivate(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p.Shared = runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
	return p, nil
}

// errNoKey says nothing of what was read, which may be a secret.
var errNoKey = errors.New("it holds no Ed25519 private key: PKCS#8 in PEM, or base64 of 32 or 64 bytes")

func parsePrivate(text []byte) (*Private, error) {
	p := &Private{}
	if block, _ := pem.Decode(text); block != nil {
		parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		key, ok := parsed.(ed25519.PrivateKey)
		if err != nil || !ok {
			return nil, errNoKey
		}
		p.Key = key
	} else {
		raw, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(text)))
		switch {
		case err == nil && len(raw) == ed25519.SeedSize:
			p.Key = ed25519.NewKeyFromSeed(raw)
		case err == nil && len(raw) == ed25519.PrivateKeySize:
			p.Key = ed25519.NewKeyFromSeed(raw[:ed25519.SeedSize])
			if !bytes.Equal(p.Key, raw) {
				return nil, errNoKey
			}
		default:
			return nil, errNoKey
		}
	}
	p.ID = idOf(p.Public())
	for line := range strings.Lines(string(text)) {
		if id, is := strings.CutPrefix(strings.TrimSpace(line), idHeader); is {
			if err := CheckID(id); err != nil {
				return nil, err
			}
			p.ID = id
		}
	}
	return p, nil
}

// Text is a public key as it stands in the collector's configuration.
func Text(key ed25519.PublicKey) string { return base64.StdEncoding.EncodeToString(key) }
