package config

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
)

// ErrNoKey says that the key that continuity.yaml names is not on this machine.
var ErrNoKey = errors.New("the key is not on this machine: copy it from where it was made, or run `continuity init` for a new one")

var keyID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

const keySize = 32

// KeyFile is where the key is, "" where the project has none.
func (c *Config) KeyFile() string {
	if c.KeyID == "" {
		return ""
	}
	return filepath.Join(c.KeysDir, c.KeyID+".key")
}

// Digester makes the project's digests: keyed, or plain where no key is
// configured. It fails with ErrNoKey.
func (c *Config) Digester() (continuity.Digester, error) {
	path := c.KeyFile()
	if path == "" {
		return continuity.Digester{}, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return continuity.Digester{}, fmt.Errorf("%s: %w", path, ErrNoKey)
	}
	if err != nil {
		return continuity.Digester{}, fmt.Errorf("key: %w", err)
	}
	key, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(key) < continuity.MinKeySize {
		return continuity.Digester{}, fmt.Errorf("key: %s does not hold a key: at least %d hex digits", path, 2*continuity.MinKeySize)
	}
	return continuity.Keyed(c.KeyID, key)
}

// MakeKey makes a key of this id and reports whether it did: one that is there is
// kept. Only the user can read it.
func MakeKey(path string) (bool, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, fmt.Errorf("key: %w", err)
	}
	var key [keySize]byte
	_, _ = rand.Read(key[:]) // it never fails
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("key: %w", err)
	}
	_, err = fmt.Fprintln(file, hex.EncodeToString(key[:]))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return false, errors.Join(fmt.Errorf("key: %w", err), os.Remove(path))
	}
	return true, nil
}
