package approval

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// Errors of what should be a public key.
var (
	// ErrNoKey is what is no key at all.
	ErrNoKey = errors.New("it is no Ed25519 public key: base64 of its 32 bytes, or PEM")
	// ErrPrivateKey is the other half of one, which belongs to whoever approves.
	ErrPrivateKey = errors.New("this is a private key: give the public one, and replace this key, since it was to be known to nobody")
)

// ParsePublicKey reads an Ed25519 public key: base64 of its 32 bytes, or PEM. It
// fails with ErrNoKey where content is neither, with ErrPrivateKey, or with what is
// wrong with the PEM. No error holds any of it.
func ParsePublicKey(content []byte) (ed25519.PublicKey, error) {
	if block, _ := pem.Decode(content); block != nil {
		return fromPEM(block)
	}
	raw, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(content)))
	switch {
	case err == nil && len(raw) == ed25519.PublicKeySize:
		return raw, nil
	case err == nil && len(raw) == ed25519.PrivateKeySize:
		return nil, ErrPrivateKey
	}
	return nil, ErrNoKey
}

func fromPEM(block *pem.Block) (ed25519.PublicKey, error) {
	if strings.Contains(block.Type, "PRIVATE KEY") {
		return nil, ErrPrivateKey
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("the PEM block %q is no public key: %w", block.Type, err)
	}
	key, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("the public key is %T, want Ed25519", parsed)
	}
	return key, nil
}
