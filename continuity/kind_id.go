package continuity

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// canonicalID brings the spellings of a repository, branch or relative path to
// one. What it does not know for certain it leaves alone.
func canonicalID(text string) string {
	text = strings.Trim(text, blanks)
	switch {
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return text // a sentence, not a name
	case strings.Contains(text, "://"):
		return canonicalURL(text)
	case strings.HasPrefix(text, "git@"):
		return canonicalSCP(text)
	default:
		return canonicalName(text)
	}
}

// canonicalURL gives a repository's URL as host/path. Other URLs stay as they are:
// with another scheme or user, with a query or fragment, or with a path that a
// server may read in its own way.
func canonicalURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#") {
		return text
	}
	var port string
	switch {
	case u.Scheme == "https":
		port = "443"
	case u.Scheme == "ssh" && u.User != nil && u.User.String() == "git":
		port = "22"
	default:
		return text
	}
	host := strings.TrimSuffix(u.Host, ":"+port)
	if name, ok := repository(host, strings.TrimPrefix(u.EscapedPath(), "/")); ok {
		return name
	}
	return text
}

// canonicalSCP reads git@host:path, the short form of an SSH URL.
func canonicalSCP(text string) string {
	host, path, ok := strings.Cut(strings.TrimPrefix(text, "git@"), ":")
	if name, isRepository := repository(host, path); ok && isRepository {
		return name
	}
	return text
}

// repository is host/path in one spelling, where these can be a repository's: a
// host with a dot and a path of at least two plain parts. The case of the path
// stays: some hosts tell it apart.
func repository(host, path string) (string, bool) {
	path = strings.TrimSuffix(path, "/")
	parts := strings.Split(path, "/")
	if !strings.Contains(strings.Trim(host, "."), ".") || strings.ContainsAny(host, "/@") || len(parts) < 2 {
		return "", false
	}
	if slices.ContainsFunc(parts, func(part string) bool { return part == "" || part == "." || part == ".." }) {
		return "", false
	}
	return lowerASCII(host) + "/" + withoutGit(path), true
}

// withoutGit cuts one .git off a path, and not what would then end in another.
func withoutGit(path string) string {
	if short := strings.TrimSuffix(path, ".git"); short != "" && !strings.HasSuffix(short, ".git") && !strings.HasSuffix(short, "/") {
		return short
	}
	return path
}

// forges are hosts whose name at the head of a bare name says that a repository
// follows. Elsewhere x.y/a/b.git may be a folder beside x.y/a/b.
var forges = []string{"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"}

const branches = "refs/heads/"

// canonicalName is a bare name: host/org/repo, a branch, a relative path, a
// ticket. `origin/main` stays apart from `main`: it is what another machine had.
// So does `GH-12` from `#12` and `abc-1` from `ABC-1`: branches are called so too.
func canonicalName(text string) string {
	if strings.Contains(text, "..") || strings.HasPrefix(text, "//") {
		return text
	}
	absolute := strings.HasPrefix(text, "/")
	parts := slices.DeleteFunc(strings.Split(text, "/"), func(part string) bool { return part == "" || part == "." })
	name := strings.Join(parts, "/")
	switch {
	case absolute:
		return "/" + name
	case name == "":
		return "."
	case len(parts) == 3 && slices.Contains(forges, parts[0]):
		return withoutGit(name)
	}
	// A branch's full name is cut only where the short one is final.
	if short, ok := strings.CutPrefix(name, branches); ok && canonicalID(short) == short {
		return short
	}
	return name
}
