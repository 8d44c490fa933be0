package files

import "toolcrib/tools"

// editorBy is a part of the names under which other systems have one tool for reading and
// editing, which its command tells apart. implied is what such a call leaves out.
func editorBy(command string, implied map[string]any) []tools.Foreign {
	names := tools.Called("str_replace_editor", "str_replace_based_edit_tool", "text_editor")
	for i := range names {
		names[i].By, names[i].Values, names[i].Implied = "command", []string{command}, implied
	}
	return names
}
