package continuityprocessor

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxKeyFile is far more than any public key needs.
const maxKeyFile = 16 << 10

var errPrivateKey = errors.New("this is a private key: give the public one, and replace this key, since a configuration is no place for it")

// parsePublicKey reads an Ed25519 public key: base64 of its 32 bytes, PEM, or
// the path of a file that holds one of the two.
func parsePublicKey(text string) (ed25519.PublicKey, error) {
	if key, is, err := decodePublicKey([]byte(text)); is {
		return key, err
	}
	content, err := readKeyFile(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("neither base64 of 32 bytes nor PEM nor a readable file: %w", err)
	}
	key, is, err := decodePublicKey(content)
	if !is {
		return nil, errors.New("the file holds neither base64 of 32 bytes nor PEM")
	}
	return key, err
}

func readKeyFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, maxKeyFile))
}

// decodePublicKey reports whether content is a key at all, and then what is
// wrong with it.
func decodePublicKey(content []byte) (key ed25519.PublicKey, is bool, err error) {
	if block, _ := pem.Decode(content); block != nil {
		key, err = fromPEM(block)
		return key, true, err
	}
	raw, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(content)))
	switch {
	case err != nil:
		return nil, false, nil
	case len(raw) == ed25519.PublicKeySize:
		return raw, true, nil
	case len(raw) == ed25519.PrivateKeySize:
		return nil, true, errPrivateKey
	default: // a short path can be base64 by chance
		return nil, false, nil
	}
}

func fromPEM(block *pem.Block) (ed25519.PublicKey, error) {
	if strings.Contains(block.Type, "PRIVATE KEY") {
		return nil, errPrivateKey
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
