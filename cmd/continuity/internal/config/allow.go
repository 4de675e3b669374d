package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const allowedFile = "probes.allowed"

// ProbesAllowed reports whether a person on this machine allowed the probes as
// they are now. A file in a repository, and an agent that can edit it, could else
// have any command run, or have a probe say what suits it.
func (c *Config) ProbesAllowed() (bool, error) {
	text, err := os.ReadFile(filepath.Join(c.State, allowedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("probes: %w", err)
	}
	return string(bytes.TrimSpace(text)) == c.probesSum(), nil
}

// AllowProbes lets the probes as they are now run on this machine.
func (c *Config) AllowProbes() error {
	if err := os.MkdirAll(c.State, 0o700); err != nil {
		return fmt.Errorf("probes: %w", err)
	}
	if err := os.WriteFile(filepath.Join(c.State, allowedFile), []byte(c.probesSum()+"\n"), 0o600); err != nil {
		return fmt.Errorf("probes: %w", err)
	}
	return nil
}

func (c *Config) probesSum() string {
	text, err := json.Marshal(c.Probes)
	if err != nil {
		panic(err) // texts and durations always marshal
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
