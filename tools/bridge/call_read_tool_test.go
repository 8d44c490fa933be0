package bridge_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
)

// What call_read_tool calls only reads, so that a client can let it run unasked.
func TestCallReadTool(t *testing.T) {
	caller := grown(t)
	call := find(t, caller.All, "call_read_tool")
	if diff := cmp.Diff(tools.Annotations{ReadOnly: true}, call.Annotations()); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	for _, tc := range []struct{ name, args, want string }{
		{"a tool that reads", `{"name":"read_file","arguments":{"path":"a.txt"}}`, "a.txt: line 1 of 1; …\n1\tone\n"},
		{"one that writes", `{"name":"write_file","arguments":{"path":"a.txt","content":"two"}}`, "error: denied: call_read_tool calls only tools that read, and write_file has access write (call it by call_tool)"},
		{"one that runs programs, by its alias", `{"name":"run_command","arguments":{"command":"ls"}}`, "error: denied: …bash has access exec (call it by call_tool)"},
		{"one that writes, by a name of another system", `{"name":"file_write","arguments":{"path":"a.txt","content":"two"}}`, "error: denied: call_read_tool calls only tools that read, and write_file has access write (call it by call_tool)"},
		{"one that a name of another system means by its arguments", `{"name":"process","arguments":{"action":"kill","pid":1}}`, "error: denied: call_read_tool calls only tools that read, and process_kill has access exec (call it by call_tool)"},
		{"itself", `{"name":"call_read_tool","arguments":{"name":"read_file"}}`, "error: denied: call_read_tool does not call call_read_tool (…)"},
		{"itself, by a name with a prefix", `{"name":"functions.call_read_tool","arguments":{"name":"read_file"}}`, "error: denied: call_read_tool does not call call_read_tool (…)"},
		{"the other", `{"name":"call_tool","arguments":{"name":"write_file"}}`, "error: denied: call_read_tool calls only tools that read, and call_tool has access delegates"},
		{"an unknown name", `{"name":"fetch_web","arguments":{}}`, `error: not_found: no tool is called "fetch_web" (did you mean web_fetch; search_tools finds tools by what they do)`},
		{"wrong arguments", `{"name":"grep","arguments":{"offset":-1}}`, "error: invalid_argument: …/offset: …; /pattern: … (arguments of grep: pattern: string required, …mode: content|files|count…)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ws, dir := tooltest.Tree(t, map[string]string{"a.txt": "one\n"})
			if diff := tooltest.Match(tc.want, outcome(tooltest.Call(t.Context(), ws, call, json.RawMessage(tc.args)))); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(map[string]string{"a.txt": "one\n"}, tooltest.Contents(t, dir)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}
