package files

import (
	"maps"
	"slices"
)

// naughtyBase are calls that work, one of each tool.
var naughtyBase = map[string]map[string]any{
	"call_read_tool": {"name": "read_file", "arguments": map[string]any{"path": "a.txt"}},
	"call_tool":      {"name": "read_file", "arguments": map[string]any{"path": "a.txt"}},
	"search_tools":   {"query": "read a file", "toolset": "files"},
	"apply_patch":    {"patch": "*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch\n"},
	"copy_path":      {"source": "a.txt", "destination": "copy.txt"},
	"delete_path":    {"path": "a.txt"},
	"edit_file":      {"path": "a.txt", "edits": []any{map[string]any{"old_text": "alpha", "new_text": "omega"}}},
	"file_history":   {},
	"file_info":      {"paths": []any{"a.txt"}},
	"list_directory": {},
	"make_directory": {"path": "made"},
	"move_path":      {"source": "a.txt", "destination": "moved.txt"},
	"read_file":      {"path": "a.txt"},
	"read_files":     {"paths": []any{"*.txt"}},
	"restore_file":   {"path": "a.txt"},
	"write_file":     {"path": "a.txt", "content": "text\n"},
	"glob":           {"pattern": []any{"*"}},
	"grep":           {"pattern": "beta"},
	"bash":           {"command": "true"},
	"job_input":      {"text": "text\n"},
	"job_list":       {},
	"job_output":     {},
	"job_stop":       {},
	"powershell":     {"command": "exit"},
	"process_kill":   {"name": "none"},
	"process_list":   {},
	// An interpreter that is not there: each string would start one.
	"code_interpreter": {"code": "1", "handle": "py-none"},
	"run_javascript":   {"code": "1"},
	"run_python":       {"code": "1"},
	"calculator":       {"expression": "1+1"},
	"json_process":     {"operation": "format", "text": "{}"},
	"text_process":     {"operation": "upper", "text": "a"},
	"parse_document":   {"path": "a.txt"},
	"search_documents": {"query": "alpha"},
	"ask_user":         {"questions": []any{map[string]any{"question": "which?"}}},
	"parallel_calls":   {"calls": []any{map[string]any{"tool": "read_file", "arguments": map[string]any{"path": "a.txt"}}}},
	"memory_delete":    {"topic": "none"},
	"memory_read":      {},
	"memory_search":    {"query": "alpha"},
	"memory_write":     {"content": "alpha", "topic": "alpha"},
	"schedule_create":  {"name": "a", "when": "@yearly", "tool": "glob", "arguments": map[string]any{"pattern": []any{"*"}}},
	"schedule_delete":  {"name": "none"},
	"schedule_list":    {},
	"schedule_run":     {"name": "none"},
	"storage":          {"operation": "get", "key": "a"},
}

// naughtyAbroad are tools that would send the strings to other hosts.
var naughtyAbroad = []string{"download", "image_search", "weather", "web_crawl", "web_fetch", "web_search"}

// argumentSchema is a JSON Schema as far as it says where strings are.
type argumentSchema struct {
	Type       string
	Properties map[string]*argumentSchema
	Items      *argumentSchema
}

// argumentPath is where a string is in the arguments: names of properties, "" = an item.
type argumentPath []string

func (s *argumentSchema) places(at argumentPath) (all []argumentPath) {
	switch s.Type {
	case "string":
		return []argumentPath{at}
	case "array":
		return s.Items.places(append(slices.Clip(at), ""))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, s.Properties[name].places(append(slices.Clip(at), name))...)
	}
	return all
}

// put returns args with a string at the place.
func (p argumentPath) put(args map[string]any, str string) map[string]any {
	return p.within(args, str).(map[string]any)
}

func (p argumentPath) within(value any, str string) any {
	if len(p) == 0 {
		return str
	}
	if p[0] == "" {
		list, _ := value.([]any) // nil if the call has none
		if len(list) == 0 {
			return []any{p[1:].within(nil, str)}
		}
		return append([]any{p[1:].within(list[0], str)}, list[1:]...)
	}
	object, _ := value.(map[string]any)
	object = maps.Clone(object)
	if object == nil {
		object = map[string]any{}
	}
	object[p[0]] = p[1:].within(object[p[0]], str)
	return object
}
