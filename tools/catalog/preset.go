package catalog

import (
	"fmt"
	"slices"

	"toolcrib/tools"
)

// defaultPreset are the tools that tools/list shows by default. A name has an effect as soon
// as its tool exists.
var defaultPreset = []string{
	"read_file", "read_files", "write_file", "edit_file", "apply_patch", "list_directory", "move_path", "delete_path",
	"restore_file", "glob", "grep", "bash", "job_list", "job_output", "job_input", "job_stop", "run_python",
	"code_interpreter", "web_fetch", "web_search", "ask_user", "search_tools", "call_read_tool", "call_tool",
}

// minimalPreset is the files and search tools of the default preset.
var minimalPreset = []string{
	"read_file", "write_file", "edit_file", "apply_patch", "list_directory", "move_path", "delete_path",
	"restore_file", "glob", "grep",
}

// twins are for what coding clients do themselves. Two tools for one task only make a
// model choose.
var twins = []string{"read_file", "write_file", "edit_file", "glob", "grep", "bash", "powershell", "parallel_calls"}

// beside are what companion shows in the place of the twins.
var beside = []string{"download", "parse_document", "search_documents"}

// coders are the clients that have the twins, by the name in their clientInfo, see
// [tools.ForClient], with the preset that they get. "toolcrib help clients" has the handshakes
// that were recorded and decides. All other clients get the default. A client that defers the
// tools of servers behind a search of its own gains nothing if more than the twins is hidden.
var coders = map[string]string{
	"claude-code":            "deferred",  // Read, Write, Edit, Glob, Grep, Bash
	"codex-mcp-client":       "companion", // exec_command and apply_patch; it reads and searches with these
	"gemini-cli-mcp-client*": "companion", // read_file, write_file, replace, glob, grep_search, run_shell_command
	"qwen-cli-mcp-client*":   "deferred",  // the same
	"opencode":               "companion", // read, write, edit, glob, grep, bash
	"continue-cli-client":    "companion", // Read, Write, Edit, Search, Bash
}

// Tailored returns the default presets of clients that have tools themselves, by the name of
// the client.
func Tailored(all []tools.Tool) map[string][]string {
	tailored := make(map[string][]string, len(coders))
	for client, preset := range coders {
		tailored[client], _ = Preset(preset, all) // which is one
	}
	return tailored
}

func isTwin(name string) bool { return slices.Contains(twins, name) }

func companion(all []tools.Tool) []string {
	return append(slices.DeleteFunc(slices.Clone(defaultNames(all)), isTwin), beside...)
}

func deferred(all []tools.Tool) (names []string) {
	for _, t := range all {
		if !isTwin(t.Name) {
			names = append(names, t.Name)
		}
	}
	return names
}

// maxDefault is the most tools that the default preset shows.
const maxDefault = 24

// Preset returns the names of the tools that a preset shows; nil = everything. Without
// search_tools a model could not find unlisted tools: then default shows all tools up to its
// limit.
func Preset(name string, all []tools.Tool) ([]string, error) {
	switch name {
	case "all":
		return nil, nil
	case "default":
		return defaultNames(all), nil
	case "minimal":
		return minimalPreset, nil
	case "companion":
		return companion(all), nil
	case "deferred":
		return deferred(all), nil
	}
	return nil, fmt.Errorf("no preset is called %q", name)
}

func defaultNames(all []tools.Tool) []string {
	if _, searchable := Find(all, "search_tools"); searchable {
		return defaultPreset
	}
	names := slices.Clone(defaultPreset)
	names = slices.DeleteFunc(names, func(n string) bool { _, ok := Find(all, n); return !ok })
	for _, t := range all {
		if len(names) < maxDefault && !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
	}
	return names
}

// Selection has the settings that choose tools. Package server/config explains the tags.
type Selection struct {
	Toolsets     []string `flag:"toolsets" env:"TOOLCRIB_TOOLSETS" arg:"NAMES" help:"categories of tools that can be called, or all (default all)" narrow:"catalog" live:"yes" topic:"tools"`
	Tools        []string `flag:"tools" env:"TOOLCRIB_TOOLS" arg:"NAMES" help:"tools that can be called in addition to the toolsets; without --toolsets, the only ones" narrow:"catalog" live:"yes"`
	ExcludeTools []string `flag:"exclude-tools" env:"TOOLCRIB_EXCLUDE_TOOLS" arg:"NAMES" help:"tools that cannot be called, despite all other settings" narrow:"union" live:"yes"`
	Preset       string   `flag:"preset" env:"TOOLCRIB_PRESET" arg:"NAME" values:"default,minimal,companion,deferred,all" help:"which of them clients are shown: default, minimal, companion, deferred or all (default all with --toolsets or --tools or without search_tools or call_tool; else default, and companion or deferred for clients that bring tools of their own, see toolcrib help clients)" live:"yes"`
	ReadOnly     bool     `flag:"read-only" env:"TOOLCRIB_READ_ONLY" help:"only tools that change nothing" narrow:"true" live:"yes"`
}

// Choose returns the tools of a catalog that the settings enable and list on host. Its error
// names a preset that does not exist; [tools.Select] checks the names of tools and toolsets.
func (s Selection) Choose(all []tools.Tool, host tools.Host) (tools.Selection, error) {
	preset := s.Preset
	var tailored map[string][]string
	switch {
	case preset != "":
	case len(s.Toolsets) > 0 || len(s.Tools) > 0:
		preset = "all"
	case slices.Contains(s.ExcludeTools, "search_tools") || slices.Contains(s.ExcludeTools, "call_tool"):
		preset = "all" // no tool finds unlisted tools
	default:
		preset, tailored = "default", Tailored(all)
	}
	names, err := Preset(preset, all)
	if err != nil {
		return tools.Selection{}, err
	}
	return tools.Selection{
		Toolsets: s.Toolsets, Tools: s.Tools, Exclude: s.ExcludeTools,
		ReadOnly: s.ReadOnly, Preset: names, Tailored: tailored, Host: host,
	}, nil
}

// The tools that the help and the demo of the command line use.
const (
	ShownFind   = "glob"
	ShownList   = "list_directory"
	ShownRead   = "read_file"
	ShownSearch = "grep"
)
