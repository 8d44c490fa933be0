package app

import (
	"fmt"

	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

const (
	// maxInstructions is the most bytes of the instructions: clients cut longer ones or
	// drop them.
	maxInstructions = 2000
	// forRoots is how many of these are reserved for the roots.
	forRoots = 200
)

// Instructions returns the text about the server that a client gives to its model: the
// roots, how paths and paging work, the purpose of the tools that the client is shown; others
// of enabled can be found. outlasts reports whether programs that the tools start outlast the
// client.
func Instructions(roots []string, categories []tools.Category, enabled, listed []tools.Tool, outlasts bool) string {
	const common = "Relative paths are under the first; an absolute path inside any of them works too, and paths outside are refused. " +
		"Lines count from 1; the offset of a list is how many of its entries to skip. A long result is cut, says so, and names the next call that returns the rest."
	said := "\n" + common
	if guides := catalog.Guides(categories, enabled, listed, outlasts, maxInstructions-forRoots-len(said)-len("\n")); guides != "" {
		said += "\n" + guides
	}
	return directories(roots, maxInstructions-len(said)) + said
}

// directories names as many roots as fit into limit bytes, and counts the rest. Without
// any, each principal has its own.
func directories(roots []string, limit int) string {
	if len(roots) == 0 {
		return "The tools work inside a directory that is yours alone."
	}
	const head = "The tools work inside these directories: "
	line := head
	for i, root := range roots {
		more := fmt.Sprintf("and %d more.", len(roots)-i)
		sep := ", "
		if i == len(roots)-1 {
			sep = "."
		}
		if len(line)+len(root)+len(sep)+len(" ")+len(more) > limit {
			return line + more
		}
		line += root + sep
	}
	return line
}
