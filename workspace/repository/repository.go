// Package repository knows which files of a git repository decide which programs run later, and
// what an index says. It judges names and contents; its caller reads the files. It imports the
// standard library alone.
package repository

import (
	"bytes"
	"slices"
	"strings"
)

// Decisive are the names in the directory of a repository that decide which programs git
// runs, by their text or as links. branches and remotes are of old versions of git,
// and read by new ones.
func Decisive() []string {
	return []string{"branches", "commondir", "config", "config.worktree", "hooks", "remotes"}
}

// DecisiveOfWorktree are those in the directory that a repository keeps for a worktree.
func DecisiveOfWorktree() []string { return []string{"commondir", "config.worktree", "gitdir"} }

// Decides reports whether a slash-separated path in the directory of a repository is or is
// below such a name, or belongs to one of its worktrees or submodules. With whole it also
// reports a directory that holds one.
func Decides(rel string, whole bool) bool {
	first, _, deeper := strings.Cut(rel, "/")
	switch first {
	case "modules", "worktrees":
		return deeper || whole
	}
	return slices.Contains(Decisive(), first)
}

// ValidHead reports whether git takes a file HEAD with this text for that of a
// repository: it names a reference or a commit.
func ValidHead(text []byte) bool {
	if ref, ok := bytes.CutPrefix(text, []byte("ref:")); ok {
		return bytes.HasPrefix(bytes.TrimLeft(ref, " \t\n\v\f\r"), []byte("refs/"))
	}
	digits := 0
	for digits < len(text) && strings.IndexByte("0123456789abcdefABCDEF", text[digits]) >= 0 {
		digits++
	}
	return digits >= 40
}

// GitDir returns the path in a file .git of a worktree or submodule, "" for none.
func GitDir(text []byte) string {
	to, ok := strings.CutPrefix(string(text), "gitdir:")
	if !ok {
		return ""
	}
	return strings.TrimRight(strings.TrimLeft(to, " "), "\r\n")
}
