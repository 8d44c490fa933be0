package search

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"toolcrib/tools/internal/textfile"
)

// count words a number of things: "1 match", "2 matches", "3 entries".
func count(n int, thing string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "y"):
		thing = strings.TrimSuffix(thing, "y") + "ies"
	case strings.HasSuffix(thing, "ch"):
		thing += "es"
	default:
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// shownPath returns a path as it is printed. One that would break its line or
// deceive a reader is a JSON string with its characters beyond ASCII escaped.
func shownPath(path string) string {
	if textfile.Visible(path) == path && !strings.ContainsAny(path, "\n\t\"") {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range path {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case ' ' <= r && r <= '~':
			b.WriteRune(r)
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}

// mostNamed and mostNames bound how the things that went wrong are named.
const (
	mostNamed = 5
	mostNames = 1_000 // bytes
)

// writeNamed adds a line that counts some paths and names the first, if any.
func writeNamed(b *strings.Builder, what string, paths []string) {
	if len(paths) == 0 {
		return
	}
	fmt.Fprintf(b, "%s %s:", count(len(paths), "path"), what)
	room := mostNames
	for i, path := range paths {
		name := shownPath(path)
		if room -= len(name); i == mostNamed || room < 0 {
			b.WriteString(" …")
			break
		}
		b.WriteByte(' ')
		b.WriteString(name)
	}
	b.WriteByte('\n')
}
