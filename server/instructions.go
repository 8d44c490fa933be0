package server

import (
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools"
)

// maxInstructions is the most bytes of the instructions: clients cut longer
// ones or drop them.
const maxInstructions = 2000

// guides are what a model should know of tools beyond their descriptions; one
// is told when all of its tools can be called.
var guides = []struct {
	tools []string
	say   string
}{
	{[]string{"glob", "grep"}, "Find files by name with glob and by content with grep; both leave out what .gitignore leaves out, unless told otherwise."},
	{[]string{"grep", "read_file"}, "The line numbers that grep prints are those that read_file takes as offset."},
}

// Instructions returns what a client tells its model of the server: the roots,
// how paths and paging work, and what concerns the tools that can be called.
func Instructions(roots []string, enabled []tools.Tool) string {
	var said []string
	for _, g := range guides {
		if !slices.ContainsFunc(g.tools, func(name string) bool { return !has(enabled, name) }) {
			said = append(said, g.say)
		}
	}
	const common = "Relative paths are under the first; an absolute path inside any of them works too, and paths outside are refused. " +
		"Lines count from 1; the offset of a list is how many of its entries to skip. A long result is cut, says so, and names the next call that returns the rest."
	rest := strings.Join(append([]string{common}, said...), "\n")
	return directories(roots, maxInstructions-len(rest)-len("\n")) + "\n" + rest
}

func has(ts []tools.Tool, name string) bool {
	return slices.ContainsFunc(ts, func(t tools.Tool) bool { return t.Name == name })
}

// directories names as many roots as fit into limit bytes, and counts the rest.
func directories(roots []string, limit int) string {
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
