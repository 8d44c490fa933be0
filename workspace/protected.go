package workspace

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// protected are the places where a file decides what programs run later: all of
// .git, where many files lead to a configuration or to hooks, and the configurations
// of agents. Each is a run of components that may stand anywhere in a path; what lies
// below it is protected too.
var protected = [...][]string{
	{".git"},
	{".mcp.json"},
	{".claude"},
	{".claude.json"},
	{".cursor"},
	{".codex"},
	{".gemini"},
	{".husky"},
	{".toolcrib.yaml"},
	{".config", "toolcrib"},
	{"library", "application support", "toolcrib"},
	{"appdata", "roaming", "toolcrib"},
	{".vscode", "mcp.json"},
	{".vscode", "settings.json"},
	{".vscode", "tasks.json"},
}

// Protected judges a path by its text: whether it leads to where programs run what
// stands there. The text is compared as the least strict file system would:
// without case, composed, without ignorable characters. Where it may name a
// directory, one that holds such a place counts too, since it could be replaced as
// a whole.
func Protected(path string, mayBeDirectory bool) bool {
	return protectedParts(components(path), mayBeDirectory)
}

// protects judges a path below r that is free of links. A root that lies inside a
// .git is judged as a part of it; a root inside another protected place was named
// by the user, as worktrees of agents are, and is judged from there on.
func (r *root) protects(rel string, mayBeDirectory bool) bool {
	parts := components(path.Join(r.prefix, rel))
	above := components(r.origin)
	if i := slices.Index(above, ".git"); i >= 0 {
		parts = slices.Concat(above[i:], parts)
	}
	return protectedParts(parts, mayBeDirectory)
}

func protectedParts(parts []string, mayBeDirectory bool) bool {
	for i := range parts {
		rest := parts[i:]
		for _, place := range protected {
			n := min(len(place), len(rest))
			if !slices.Equal(rest[:n], place[:n]) {
				continue
			}
			if n == len(place) || mayBeDirectory {
				return true
			}
		}
	}
	return false
}

// components takes a path apart into folded names.
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
