package keys_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/keys"
	"github.com/agentcontinuity/otelcol-continuity/internal/approval"
)

func TestWriteAndRead(t *testing.T) {
	for _, id := range []string{"", "team-2026"} {
		path := filepath.Join(t.TempDir(), "folder", "approval.key")
		key, err := keys.Generate(id)
		require.NoError(t, err)
		require.NoError(t, key.Write(path))
		again, err := keys.Read(path)
		require.NoError(t, err)
		assert.Equal(t, key, again)
		if id == "" {
			assert.Regexp(t, `^key-[0-9a-f]{8}$`, key.ID)
		} else {
			assert.Equal(t, id, key.ID)
		}
		if runtime.GOOS != "windows" {
			info, err := os.Stat(path)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		}
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		other, err := keys.Generate(id)
		require.NoError(t, err)
		require.ErrorContains(t, other.Write(path), "never overwritten")
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, before, after)
	}
}

func TestOtherForms(t *testing.T) {
	key, err := keys.Generate("")
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key.Key)
	require.NoError(t, err)
	for name, text := range map[string][]byte{
		"seed":           []byte(base64.StdEncoding.EncodeToString(key.Key.Seed()) + "\n"),
		"whole key":      []byte(base64.StdEncoding.EncodeToString(key.Key)),
		"PEM of openssl": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
	} {
		path := filepath.Join(t.TempDir(), "k")
		require.NoError(t, os.WriteFile(path, text, 0o600))
		again, err := keys.Read(path)
		require.NoError(t, err, name)
		assert.Equal(t, key, again, name)
	}
}

func TestSharedWithOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such permissions")
	}
	key, err := keys.Generate("k")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "k")
	require.NoError(t, key.Write(path))
	require.NoError(t, os.Chmod(path, 0o640))
	again, err := keys.Read(path)
	require.NoError(t, err)
	assert.True(t, again.Shared)
}

// No error says what was in the file: it may be a secret.
func TestNoKey(t *testing.T) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(ec)
	require.NoError(t, err)
	mixed := make([]byte, ed25519.PrivateKeySize)
	_, _ = rand.Read(mixed)
	good, err := keys.Generate("k")
	require.NoError(t, err)
	goodText, err := good.Encode()
	require.NoError(t, err)
	for name, text := range map[string]string{
		"empty":           "",
		"text":            "hunter2",
		"short":           base64.StdEncoding.EncodeToString([]byte("hunter2")),
		"another kind":    string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"halves differ":   base64.StdEncoding.EncodeToString(mixed),
		"public key":      keys.Text(good.Public()) + "x",
		"an id of blanks": "Key-Id: a b\n" + string(goodText[len("Key-Id: k\n"):]),
	} {
		path := filepath.Join(t.TempDir(), "k")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := keys.Read(path)
		require.Error(t, err, name)
		assert.NotContains(t, err.Error(), "hunter2", name)
	}
	_, err = keys.Read(filepath.Join(t.TempDir(), "nowhere"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = keys.Generate("1")
	require.Error(t, err)
}

func TestPublic(t *testing.T) {
	key, err := keys.Generate("k")
	require.NoError(t, err)
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	require.NoError(t, err)
	for name, text := range map[string]string{
		"base64": keys.Text(key.Public()),
		"line":   keys.Text(key.Public()) + "\n",
		"PEM":    string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})),
	} {
		again, err := approval.ParsePublicKey([]byte(text))
		require.NoError(t, err, name)
		assert.Equal(t, key.Public(), again, name)
	}
	private, err := key.Encode()
	require.NoError(t, err)
	for _, text := range []string{"", "x", string(private), base64.StdEncoding.EncodeToString(key.Key), "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"} {
		_, err := approval.ParsePublicKey([]byte(text))
		assert.Error(t, err)
	}
}

func TestRecord(t *testing.T) {
	r := keys.RecordBeside(filepath.Join(t.TempDir(), "folder", "approval.key"))
	found, err := r.Standing("C-1")
	require.NoError(t, err)
	assert.Empty(t, found)
	given := keys.Given{Time: time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC), Session: "s", Invariant: "scope", Ref: "C-1", From: "none", To: "x"}
	other := given
	other.Session = "t"
	elsewhere := given
	elsewhere.Ref = "C-2"
	for _, g := range []*keys.Given{&given, &other, &elsewhere, &given} {
		require.NoError(t, r.Add(g))
	}
	file, err := os.OpenFile(r.Path(), os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = file.WriteString("half a li\n")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	found, err = r.Standing("C-1")
	require.NoError(t, err)
	assert.Equal(t, []keys.Given{other, given}, found)
	revoked := given
	revoked.Revoked = true
	require.NoError(t, r.Add(&revoked))
	found, err = r.Standing("C-1")
	require.NoError(t, err)
	assert.Equal(t, []keys.Given{other}, found)
	require.NoError(t, r.Add(&given))
	found, err = r.Standing("C-1")
	require.NoError(t, err)
	assert.Len(t, found, 2, "it was given anew")
}
