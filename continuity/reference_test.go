package continuity_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The Python and JavaScript of docs/emitting.md are implementations of canonical
// form v1 that share nothing with this one. They run all vectors here, where their
// interpreters are installed.

const pythonRunner = `
import json, sys
import continuity_digest as c
out = []
for v in json.load(sys.stdin):
    value = v["input"]
    try:
        if v.get("input_hex"):
            value = bytes.fromhex(v["input_hex"]).decode()
        f = {"text": c.text, "json": c.json_document, "path": c.path, "set": c.items, "choice": c.choice}[v.get("form") or v["kind"]]
        canonical = f(value)
        key = bytes.fromhex(v["key_hex"]) if v.get("key_hex") else None
        out.append({"name": v["name"], "canonical": canonical.decode(), "digest": c.digest(canonical, key), "error": ""})
    except (c.Unstated, UnicodeDecodeError) as e:
        out.append({"name": v["name"], "canonical": "", "digest": "", "error": str(e)})
json.dump(out, sys.stdout)
`

const nodeRunner = `
import { readFileSync } from "node:fs";
import * as c from "./continuity-digest.mjs";
const document = (text) => {
  let value;
  try { value = JSON.parse(text); } catch { throw new c.Unstated("no JSON"); }
  return c.json(value);
};
const functions = { text: c.text, json: document, path: c.path, set: c.items, choice: c.choice };
const out = JSON.parse(readFileSync(0, "utf8")).map((v) => {
  try {
    const value = v.input_hex ? new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(v.input_hex, "hex")) : v.input;
    const canonical = functions[v.form || v.kind](value);
    return { name: v.name, canonical, digest: c.digest(canonical, v.key_hex ? Buffer.from(v.key_hex, "hex") : undefined), error: "" };
  } catch (e) {
    if (!(e instanceof c.Unstated) && e.code !== "ERR_ENCODING_INVALID_ENCODED_DATA") throw e;
    return { name: v.name, canonical: "", digest: "", error: e.message };
  }
});
process.stdout.write(JSON.stringify(out));
`

// codeOf is the block of the page that begins with a comment naming a file.
func codeOf(t *testing.T, name string) string {
	page, err := os.ReadFile("../docs/emitting.md")
	require.NoError(t, err)
	for _, comment := range []string{"# ", "// "} {
		if _, rest, found := strings.Cut(string(page), "\n"+comment+name); found {
			code, _, closed := strings.Cut(rest, "\n```\n")
			require.True(t, closed)
			return comment + name + code + "\n"
		}
	}
	require.Fail(t, "docs/emitting.md has no block for "+name)
	return ""
}

func interpreter(t *testing.T, name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed: the code of docs/emitting.md is not tested here", name)
	}
	return path
}

func TestReferenceImplementations(t *testing.T) {
	for _, c := range []struct {
		command, file, runner, runnerFile string
		parser                            bool
	}{
		{"python3", "continuity_digest.py", pythonRunner, "run.py", true},
		{"node", "continuity-digest.mjs", nodeRunner, "run.mjs", false},
	} {
		t.Run(c.command, func(t *testing.T) {
			command := interpreter(t, c.command)
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, c.file), []byte(codeOf(t, c.file)), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, c.runnerFile), []byte(c.runner), 0o600))
			var asked []vector
			for _, v := range readVectors(t).Vectors {
				if v.Kind != "id" && v.Kind != "command" && (c.parser || !v.Parser) {
					asked = append(asked, v)
				}
			}
			require.Greater(t, len(asked), 150)
			in, err := json.Marshal(asked)
			require.NoError(t, err)
			run := exec.CommandContext(t.Context(), command, c.runnerFile)
			var stderr bytes.Buffer
			run.Dir, run.Stdin, run.Stderr = dir, bytes.NewReader(in), &stderr
			out, err := run.Output()
			require.NoError(t, err, stderr.String())
			var got []vector
			require.NoError(t, json.Unmarshal(out, &got))
			require.Len(t, got, len(asked))
			for i, want := range asked {
				if want.Error != "" {
					assert.NotEmpty(t, got[i].Error, "%s: has %q", want.Name, got[i].Canonical)
					continue
				}
				assert.Empty(t, got[i].Error, want.Name)
				assert.Equal(t, want.Canonical, got[i].Canonical, want.Name)
				assert.Equal(t, want.Digest, got[i].Digest, want.Name)
			}
		})
	}
}

// TestAgentsOfThePageAreCode: they need the SDK to run, which this test does not
// have.
func TestAgentsOfThePageAreCode(t *testing.T) {
	for name, check := range map[string][]string{
		"agent.py":  {"python3", "-m", "py_compile"},
		"agent.mjs": {"node", "--check"},
	} {
		t.Run(name, func(t *testing.T) {
			command := interpreter(t, check[0])
			dir := t.TempDir()
			assert.Contains(t, codeOf(t, name), `digest.constraint.push": digest(choice("forbidden"))`, "as the command digests it")
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(codeOf(t, name)), 0o600))
			run := exec.CommandContext(t.Context(), command, append(check[1:], name)...)
			run.Dir = dir
			out, err := run.CombinedOutput()
			require.NoError(t, err, string(out))
		})
	}
}
