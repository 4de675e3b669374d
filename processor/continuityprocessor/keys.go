package continuityprocessor

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
)

// maxKeyFile is far more than any public key needs.
const maxKeyFile = 16 << 10

// parsePublicKey reads an Ed25519 public key: base64 of its 32 bytes, PEM, or
// the path of a file that holds one of the two.
func parsePublicKey(text string) (ed25519.PublicKey, error) {
	key, err := approval.ParsePublicKey([]byte(text))
	if !errors.Is(err, approval.ErrNoKey) {
		return key, err
	}
	content, err := readKeyFile(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("neither base64 of 32 bytes nor PEM nor a readable file: %w", err)
	}
	if key, err = approval.ParsePublicKey(content); errors.Is(err, approval.ErrNoKey) {
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
