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

// twins are the tools that coding clients bring themselves.
var twins = []string{"read_file", "write_file", "edit_file", "glob", "grep", "bash"}

// maxDefault is the most tools that the default preset shows.
const maxDefault = 20

// presets are the names that [Preset] takes.
var presets = []string{"default", "minimal", "companion", "all"}

// Preset returns the names of all that a preset shows; nil means everything.
// Until search_tools exists nothing would be reachable that is not listed, so
// default then shows all that exist, up to its limit.
func Preset(name string, all []tools.Tool) ([]string, error) {
	switch name {
	case "all":
		return nil, nil
	case "default":
		return defaultNames(all), nil
	case "minimal":
		return minimalPreset, nil
	case "companion":
		var names []string
		for _, t := range all {
			if !slices.Contains(twins, t.Name) {
				names = append(names, t.Name)
			}
		}
		return names, nil
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
