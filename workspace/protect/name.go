// Package protect judges which paths are protected: programs run or obey the files there, so
// that a tool may change them only if the user allows it. [ByName] judges text alone; a [Root]
// also knows the path of a root, git's configuration in it, and its links.
//
// It may import workspace/repository and workspace/internal/fsys, and nothing else of
// toolcrib. Start at name.go.
package protect

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"toolcrib/workspace/internal/fsys"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// protected lists the files that decide which programs run later: all of .git, where many
// files lead to a configuration or to hooks, and the configurations of agents. Each is a
// sequence of components that may appear anywhere in a path. Everything below it is
// protected too.
var protected = [...][]string{
	{".git"},
	{".mcp.json"},
	{".claude"},
	{".claude.json"},
	{".cursor"},
	{".codex"},
	{".gemini"},
	{".husky"},
	{".toolcrib"},
	{".toolcrib.yaml"},
	{".config", "toolcrib"},
	{"library", "application support", "toolcrib"},
	{"appdata", "roaming", "toolcrib"},
	{".vscode", "mcp.json"},
	{".vscode", "settings.json"},
	{".vscode", "tasks.json"},
}

// ByName reports whether the text of a path names a protected path. It compares names as the
// least strict file system does: without case, composed, without ignorable characters. If the
// path may be a directory, one that holds a protected path counts too, since it could be
// replaced as a whole.
func ByName(path string, mayBeDirectory bool) bool {
	return protectedParts(components(path), mayBeDirectory)
}

// Root is a root whose paths are judged.
type Root struct {
	fsys.Root
	// Canonical is its host path without links, slash-separated. Origin is that of the root
	// which was given at the start, and Prefix the path of the root below that.
	Canonical, Origin, Prefix string
	// Follow resolves the links of a path below the root. inside reports whether it leads to
	// a path of the same root, which is rel then.
	Follow func(name string) (rel string, inside bool, err error)
}

// Protects reports whether a path below r that is free of links is protected, by its name or
// by the links and configurations there. mayBeDirectory is that of [ByName].
func (r Root) Protects(rel string, mayBeDirectory bool) bool {
	return r.byName(rel, mayBeDirectory) || r.decides(rel, mayBeDirectory)
}

// byName judges a path below r by its name. A root inside a .git is judged as a part of it.
// A root inside another protected path was named by the user, as worktrees of agents are,
// and is judged from there on.
func (r Root) byName(rel string, mayBeDirectory bool) bool {
	parts := components(path.Join(r.Prefix, rel))
	above := components(r.Origin)
	if i := slices.Index(above, ".git"); i >= 0 {
		parts = slices.Concat(above[i:], parts)
	}
	return protectedParts(parts, mayBeDirectory)
}

// Names returns the protected paths below any directory, sorted and in the form of the host.
func Names() []string {
	list := make([]string, 0, len(protected))
	for _, name := range protected {
		list = append(list, filepath.FromSlash(path.Join(name...)))
	}
	slices.Sort(list)
	return list
}

func protectedParts(parts []string, mayBeDirectory bool) bool {
	for i := range parts {
		rest := parts[i:]
		for _, name := range protected {
			n := min(len(name), len(rest))
			if !slices.Equal(rest[:n], name[:n]) {
				continue
			}
			if n == len(name) || mayBeDirectory {
				return true
			}
		}
	}
	return false
}

// components splits a path into folded names.
func components(path string) []string {
	if strings.IndexFunc(path, func(r rune) bool { return r >= unicode.MaxASCII }) >= 0 {
		path = strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
				return -1
			}
			return r
		}, path)
		path = norm.NFC.String(cases.Fold().String(norm.NFC.String(path)))
	}
	var parts []string
	for part := range strings.FieldsFuncSeq(strings.ToLower(path), func(r rune) bool { return r == '/' || r == '\\' }) {
		if strings.TrimRight(part, " ") == ".." {
			parts = parts[:max(len(parts)-1, 0)]
			continue
		}
		part, _, _ = strings.Cut(part, ":") // a stream of NTFS
		part = strings.TrimRight(part, ". ")
		switch part {
		case "":
			continue
		case "git~1":
			part = ".git"
		}
		parts = append(parts, part)
	}
	return parts
}
