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

// Selection is the settings that choose tools. Package server/config explains the tags.
type Selection struct {
	Toolsets     []string `flag:"toolsets" env:"TOOLCRIB_TOOLSETS" arg:"NAMES" help:"categories of tools that can be called, or all (default all)" narrow:"catalog" live:"yes"`
	Tools        []string `flag:"tools" env:"TOOLCRIB_TOOLS" arg:"NAMES" help:"tools that can be called beside the toolsets; without --toolsets, the only ones" narrow:"catalog" live:"yes"`
	ExcludeTools []string `flag:"exclude-tools" env:"TOOLCRIB_EXCLUDE_TOOLS" arg:"NAMES" help:"tools that cannot be called, whatever else is said" narrow:"union" live:"yes"`
	Preset       string   `flag:"preset" env:"TOOLCRIB_PRESET" arg:"NAME" help:"which of them clients are shown: default, minimal, companion or all (default all with --toolsets or --tools or without search_tools or call_tool; else default, and companion for clients that bring tools of their own, as Claude Code and Codex do)" live:"yes"`
	ReadOnly     bool     `flag:"read-only" env:"TOOLCRIB_READ_ONLY" help:"only tools that change nothing" narrow:"true" live:"yes"`
}

// Choose returns which tools of a catalog the settings enable and list on host. Its error
// names a preset that does not exist; the names of tools and toolsets are checked by
// [tools.Select].
func (s Selection) Choose(all []tools.Tool, host tools.Host) (tools.Selection, error) {
	preset := s.Preset
	var tailored map[string][]string
	switch {
	case preset != "":
	case len(s.Toolsets) > 0 || len(s.Tools) > 0:
		preset = "all"
	case slices.Contains(s.ExcludeTools, "search_tools") || slices.Contains(s.ExcludeTools, "call_tool"):
		preset = "all" // nothing leads to what is not listed
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
