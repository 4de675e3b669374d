package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agentcontinuity/otelcol-continuity/cmd/continuity/internal/config"
)

// hookFiles are where hosts are told of hooks, below the project and below the
// user's home.
var hookFiles = []string{
	".claude/settings.json", ".claude/settings.local.json",
	".codex/hooks.json", ".codex/config.toml",
	".gemini/settings.json",
	".qwen/settings.json",
	".cursor/hooks.json",
}

// hookFolders are where hosts look for plugins, which may call hooks too.
var hookFolders = []string{".opencode/plugin", ".opencode/plugins", ".config/opencode/plugin", ".config/opencode/plugins"}

const hookWord = "continuity hook"

// hookChecks looks whether a host calls the command. It reads the files as text:
// what is in them is the hosts' own matter.
func (a *app) hookChecks(cfg *config.Config) []check {
	var wired []string
	for _, base := range []string{cfg.Dir, a.getenv("HOME")} {
		if base == "" {
			continue
		}
		files := make([]string, 0, len(hookFiles))
		for _, f := range hookFiles {
			files = append(files, filepath.Join(base, filepath.FromSlash(f)))
		}
		for _, dir := range hookFolders {
			found, err := filepath.Glob(filepath.Join(base, filepath.FromSlash(dir), "*.[jt]s"))
			if err == nil {
				files = append(files, found...)
			}
		}
		for _, f := range files {
			if callsHook(f) {
				wired = append(wired, f)
			}
		}
	}
	if len(wired) == 0 {
		return []check{{"hooks", checkWarn, "no known host calls `" + hookWord + "`: events come only from commands by hand"}}
	}
	detail := strings.Join(wired, ", ")
	if _, err := exec.LookPath("continuity"); err != nil {
		return []check{{"hooks", checkWarn, detail + ": but continuity is not on the PATH"}}
	}
	return []check{{"hooks", checkOK, detail}}
}

// callsHook reports whether a file names the hook. Lists of arguments have commas
// and quotes between the words.
func callsHook(path string) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	words := bytes.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"',[]", r) })
	for i, w := range words[:max(len(words)-1, 0)] {
		if (bytes.Equal(w, []byte("continuity")) || bytes.HasSuffix(w, []byte("/continuity"))) && bytes.Equal(words[i+1], []byte("hook")) {
			return true
		}
	}
	return false
}
