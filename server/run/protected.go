package run

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// protected are the places where a file decides what programs run later: hooks
// of git and the configurations of agents. Each is a run of components that may
// stand anywhere in a path; what lies below it is protected too.
var protected = [...][]string{
	{".git", "hooks"},
	{".git", "config"},
	{".git", "config.worktree"},
	{".git", "info", "attributes"},
	{".git", "modules"},
	{".git", "worktrees"},
	{".mcp.json"},
	{".claude"},
	{".claude.json"},
	{".cursor"},
	{".codex"},
	{".gemini"},
	{".toolcrib.yaml"},
	{".vscode", "mcp.json"},
	{".vscode", "settings.json"},
	{".vscode", "tasks.json"},
}

// protectedPath returns the first path argument that leads to a protected place
// by its text, "" if none does. The text is compared as the least strict file
// system would: without case, composed, without ignorable characters.
func protectedPath(p *pass) string {
	for _, arg := range p.bound.Paths {
		if isProtected(arg.Value, arg.Kind != "file") {
			return arg.Value
		}
	}
	return ""
}

// isProtected judges one path. Where it may name a directory, one that holds a
// protected place counts too, since it could be replaced as a whole. A .git
// counts always: as a file it names the directory that git believes in.
func isProtected(path string, mayBeDirectory bool) bool {
	parts := components(path)
	for i := range parts {
		rest := parts[i:]
		for _, place := range protected {
			n := min(len(place), len(rest))
			if !slices.Equal(rest[:n], place[:n]) {
				continue
			}
			if n == len(place) || mayBeDirectory || place[0] == ".git" && n == 1 {
				return true
			}
		}
	}
	return false
}

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
