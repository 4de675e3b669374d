package config

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// configDir is the user's folder for configuration.
func configDir(getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	if runtime.GOOS == "windows" {
		return getenv("APPDATA")
	}
	return filepath.Join(home(getenv), ".config")
}

// home is the user's folder, also where a service manager or a hook does not say.
func home(getenv func(string) string) string {
	if dir := getenv("HOME"); dir != "" {
		return dir
	}
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return ""
}

// stateDir is the folder of one project's ledger and spool. It is outside of the
// project: an agent that searches its working directory must not come across what
// it decided. Two clones or worktrees are two projects, since they are on two
// branches.
func stateDir(project string, getenv func(string) string) string {
	if dir := getenv(EnvState); dir != "" {
		return dir
	}
	base := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		base = filepath.Join(home(getenv), ".local", "state")
		if runtime.GOOS == "windows" {
			base = getenv("LOCALAPPDATA")
		}
	}
	return filepath.Join(base, "continuity", projectID(project))
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// projectID is a name for a folder that people recognize and that no other folder
// has.
func projectID(dir string) string {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	sum := sha256.Sum256([]byte(dir))
	name := strings.Trim(notInNames.ReplaceAllString(filepath.Base(dir), "-"), "-")
	if name == "" {
		name = "project"
	}
	return name[:min(len(name), 40)] + "-" + hex.EncodeToString(sum[:4])
}

// resource is what the events' resource says, as OpenTelemetry's SDKs have it: the
// file, else OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME.
func resource(file map[string]string, getenv func(string) string) map[string]string {
	attributes := map[string]string{"service.name": "continuity"}
	for pair := range strings.SplitSeq(getenv("OTEL_RESOURCE_ATTRIBUTES"), ",") {
		key, value, found := strings.Cut(pair, "=")
		if key = strings.TrimSpace(key); !found || key == "" {
			continue
		}
		if unescaped, err := url.PathUnescape(strings.TrimSpace(value)); err == nil {
			attributes[key] = unescaped
		}
	}
	if name := getenv("OTEL_SERVICE_NAME"); name != "" {
		attributes["service.name"] = name
	}
	for key, value := range file {
		attributes[key] = value
	}
	return attributes
}
