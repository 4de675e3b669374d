package continuity_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentcontinuity/otelcol-continuity/continuity"
	"github.com/agentcontinuity/otelcol-continuity/internal/digest"
)

// vectorFile is testdata/canonical/v1.json, as docs/canonical.md describes it.
type vectorFile struct {
	Version     string
	Description string
	Tree        struct {
		Dirs, Files []string
		Links       map[string]string
	}
	Vectors          []vector
	Equal, Different [][]string
}

type vector struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Form      string `json:"form,omitempty"`
	Input     string `json:"input"`
	InputHex  string `json:"input_hex,omitempty"`
	KeyHex    string `json:"key_hex,omitempty"`
	OS        string `json:"os,omitempty"`
	Parser    bool   `json:"parser,omitempty"`
	Canonical string `json:"canonical"`
	Digest    string `json:"digest"`
	Error     string `json:"error"`
}

func (v *vector) input(t *testing.T) string {
	if v.InputHex == "" {
		return v.Input
	}
	raw, err := hex.DecodeString(v.InputHex)
	require.NoError(t, err)
	return string(raw)
}

var vectorErrors = map[string]error{
	"placeholder": continuity.ErrPlaceholder,
	"not_text":    continuity.ErrNotText,
	"json":        continuity.ErrJSON,
	"path":        continuity.ErrPath,
	"command":     continuity.ErrCommand,
}

// readVectors reads the file, with the paths of this test's own tree in place of
// {root}.
func readVectors(t *testing.T) *vectorFile {
	raw, err := os.ReadFile("../testdata/canonical/v1.json")
	require.NoError(t, err)
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.DisallowUnknownFields()
	var file vectorFile
	require.NoError(t, decoder.Decode(&file))
	require.Equal(t, continuity.Normalizer, file.Version)
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, dir := range file.Tree.Dirs {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	for _, name := range file.Tree.Files {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), nil, 0o600))
	}
	for name, target := range file.Tree.Links {
		require.NoError(t, os.Symlink(filepath.FromSlash(target), filepath.Join(root, name)))
	}
	vectors := file.Vectors[:0]
	for _, v := range file.Vectors {
		if v.OS != "" && v.OS != runtime.GOOS {
			continue
		}
		if v.Kind == "path" {
			v.Input = strings.ReplaceAll(v.Input, "{root}", filepath.ToSlash(root))
			v.Canonical = filepath.FromSlash(strings.ReplaceAll(v.Canonical, "{root}", filepath.ToSlash(root)))
			if v.Error == "" {
				v.Digest = digest.Of([]byte(v.Canonical), nil).String()
			}
		}
		vectors = append(vectors, v)
	}
	file.Vectors = vectors
	return &file
}

// digestOf digests a vector's input the way a user does.
func digestOf(t *testing.T, v *vector) (continuity.Digest, error) {
	var d continuity.Digester
	if v.KeyHex != "" {
		key, err := hex.DecodeString(v.KeyHex)
		require.NoError(t, err)
		d, err = continuity.Keyed("test", key)
		require.NoError(t, err)
	}
	kind := v.Kind
	if kind == "hmac" {
		kind = v.Form
	}
	switch kind {
	case "text":
		return d.Text(v.input(t))
	case "json":
		return d.JSON([]byte(v.input(t)))
	case "path":
		return d.Path(filepath.FromSlash(v.Input))
	default:
		require.Contains(t, continuity.Kinds, continuity.Kind(kind))
		return d.Of(continuity.Kind(kind), v.input(t))
	}
}

// canonicalOf is what is digested, by the functions below the public ones.
func canonicalOf(v *vector) ([]byte, error) {
	switch {
	case v.Kind == "json" || v.Form == "json":
		return digest.JSON([]byte(v.Input))
	case v.Kind == "text" || v.Form == "text":
		return digest.Text(v.Input)
	default:
		return continuity.Canonical(continuity.Kind(v.Kind), v.Input)
	}
}

func TestVectors(t *testing.T) {
	file := readVectors(t)
	digests := map[string]string{}
	for i := range file.Vectors {
		v := &file.Vectors[i]
		t.Run(v.Name, func(t *testing.T) {
			got, err := digestOf(t, v)
			if v.Error != "" {
				require.Contains(t, vectorErrors, v.Error)
				require.ErrorIs(t, err, vectorErrors[v.Error])
				require.Empty(t, got)
				return
			}
			require.NoError(t, err)
			if v.Kind != "path" {
				canonical, err := canonicalOf(v)
				require.NoError(t, err)
				require.Equal(t, v.Canonical, string(canonical))
			}
			require.Equal(t, v.Digest, string(got))
			_, fault := digest.Parse(string(got))
			require.Equal(t, digest.OK, fault, "a value's digest is evidence")
		})
		digests[v.Name] = v.Digest
	}
	for _, group := range file.Equal {
		for _, name := range group {
			require.NotEmpty(t, digests[name], name)
			assert.Equal(t, digests[group[0]], digests[name], name)
		}
	}
	for _, group := range file.Different {
		seen := map[string]string{}
		for _, name := range group {
			d, found := digests[name]
			if !found {
				continue // of another system
			}
			require.NotEmpty(t, d, name)
			assert.Empty(t, seen[d], name)
			seen[d] = name
		}
	}
}
