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

// use is what a tool is for, in a few words that follow its name.
type use struct{ tool, does string }

// guides help a model choose, a line for each category. A tool is named where it
// can be called; the advice is given where the category has any.
var guides = []struct {
	category string
	uses     []use
	advice   string
}{
	{
		category: "bridge",
		uses: []use{
			{"search_tools", "finds tools of this server that are not listed, by what they do"},
			{"call_tool", "calls them"},
		},
		advice: "Not every tool is listed.",
	},
	{
		category: "code",
		uses: []use{
			{"run_python", "runs a Python script"},
			{"code_interpreter", "keeps variables between cells"},
			{"run_javascript", "runs JavaScript, without files"},
		},
		advice: "They are for what is easier computed than thought.",
	},
	{
		category: "files",
		uses: []use{
			{"list_directory", "shows a directory as a tree"},
			{"read_file", "reads text by lines, from either end"},
			{"file_info", "tells whether paths exist and what they are"},
		},
	},
	{
		category: "search",
		uses:     []use{{"glob", "finds files by name"}, {"grep", "finds lines by their text"}},
		advice:   "What .gitignore leaves out is left out, unless told otherwise.",
	},
	{
		category: "shell",
		uses: []use{
			{"bash", "runs commands in a sandbox, without the network unless asked for"},
			{"powershell", "those of PowerShell"},
			{"job_output", "follows what runs on"},
			{"job_input", "types into it"},
			{"job_list", "lists it"},
			{"job_stop", "ends it"},
			{"process_list", "shows what runs on the machine"},
			{"process_kill", "ends one of these"},
		},
	},
}

// links say how the result of one tool goes into another, where both can be
// called.
var links = []struct{ from, to, say string }{
	{"grep", "read_file", "The line numbers that grep prints are those that read_file takes as offset."},
}

// Outlasting is what models are told of jobs that outlast their client, "" where none can
// be listed.
func Outlasting(enabled []tools.Tool) string {
	if !has(enabled, "job_list") {
		return ""
	}
	return "Jobs and sessions outlast the client: job_list shows those of before."
}

// Instructions returns what a client tells its model of the server: the roots,
// how paths and paging work, what the tools that can be called are for, and more that is
// to be said.
func Instructions(roots []string, enabled []tools.Tool, more ...string) string {
	const common = "Relative paths are under the first; an absolute path inside any of them works too, and paths outside are refused. " +
		"Lines count from 1; the offset of a list is how many of its entries to skip. A long result is cut, says so, and names the next call that returns the rest."
	said := []string{common}
	for _, g := range guides {
		var uses []string
		for _, u := range g.uses {
			if has(enabled, u.tool) {
				uses = append(uses, u.tool+" "+u.does)
			}
		}
		if len(uses) > 0 {
			said = append(said, strings.TrimSpace(g.category+": "+strings.Join(uses, ", ")+". "+g.advice))
		}
	}
	for _, l := range links {
		if has(enabled, l.from) && has(enabled, l.to) {
			said = append(said, l.say)
		}
	}
	for _, text := range more {
		if text != "" {
			said = append(said, text)
		}
	}
	rest := strings.Join(said, "\n")
	return directories(roots, maxInstructions-len(rest)-len("\n")) + "\n" + rest
}

func has(ts []tools.Tool, name string) bool {
	return slices.ContainsFunc(ts, func(t tools.Tool) bool { return t.Name == name })
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
