package catalog

import (
	"fmt"
	"slices"
	"strings"

	"toolcrib/schema"
	"toolcrib/tools"
)

// defaultPreset is what tools/list shows where nothing else is asked for, at
// most 20 names. A name counts from the day its tool exists.
var defaultPreset = []string{
	"read_file", "write_file", "edit_file", "apply_patch", "list_directory", "move_path", "delete_path",
	"restore_file", "glob", "grep", "bash", "job_output", "job_input", "job_stop", "run_python",
	"web_fetch", "web_search", "ask_user", "search_tools", "call_tool",
}

// minimalPreset is the files and search tools of the default preset.
var minimalPreset = []string{
	"read_file", "write_file", "edit_file", "apply_patch", "list_directory", "move_path", "delete_path",
	"restore_file", "glob", "grep",
}

// twins are the tools that coding clients bring themselves: two of a kind only make
// a model choose.
var twins = []string{"read_file", "write_file", "edit_file", "glob", "grep", "bash", "powershell"}

// coders are the clients that bring them, by the name that they give in clientInfo,
// as it was measured. Others, and those that give no name, are shown the default.
var coders = []string{
	"claude-code",      // Claude Code: Read, Write, Edit, Glob, Grep, Bash
	"codex-mcp-client", // Codex: shell and apply_patch, by which it reads and searches
}

// Tailored returns, by the name of the client, what clients that bring tools of their
// own are shown where nothing else is asked for.
func Tailored(all []tools.Tool) map[string][]string {
	names := companion(all)
	tailored := make(map[string][]string, len(coders))
	for _, client := range coders {
		tailored[client] = names
	}
	return tailored
}

func companion(all []tools.Tool) []string {
	var names []string
	for _, t := range all {
		if !slices.Contains(twins, t.Name) {
			names = append(names, t.Name)
		}
	}
	return names
}

// maxDefault is the most tools that the default preset shows.
const maxDefault = 20

// presets are the names that [Preset] takes.
var presets = []string{"default", "minimal", "companion", "all"}

// Preset returns the names of all that a preset shows; nil means everything.
// Without search_tools nothing would be reachable that is not listed: then default
// shows all that exist, up to its limit.
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
	}
	if near := schema.Nearest(name, presets); near != "" {
		return nil, fmt.Errorf("no preset is called %q; did you mean %q", name, near)
	}
	return nil, fmt.Errorf("no preset is called %q; there are: %s", name, strings.Join(presets, ", "))
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
