package bridge_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
)

func TestCallTool(t *testing.T) {
	caller := grown(t)
	call := find(t, caller.All, "call_tool")
	for _, tc := range []struct{ name, args, want string }{
		{"by a direct name", `{"name":"read_file","arguments":{"path":"a.txt"}}`, "a.txt: line 1 of 1; …\n1\tone\n"},
		{"without arguments", `{"name":"list_directory"}`, "…\na.txt 4 B\n"},
		{"as models write it", `{"tool":"read_file","args":"{\"path\":\"a.txt\"}"}`, "a.txt: line 1 of 1; …\n1\tone\n"},
		{"itself", `{"name":"call_tool","arguments":{"name":"read_file"}}`, "error: denied: call_tool does not call call_tool (…)"},
		{"itself, by a name with a prefix", `{"name":"mcp__toolcrib__call_tool","arguments":{"name":"read_file"}}`, "error: denied: call_tool does not call call_tool (…)"},
		{"an unknown name", `{"name":"fetch_web","arguments":{}}`, `error: not_found: no tool is called "fetch_web" (did you mean web_fetch; search_tools finds tools by what they do)`},
		{"a part of a name", `{"name":"BashScreen","arguments":{}}`, `error: not_found: no tool is called "BashScreen" (search_tools finds tools by what they do)`},
		{"a word like others", `{"name":"nope","arguments":{}}`, `error: not_found: no tool is called "nope" (search_tools finds tools by what they do)`},
		{"a foreign name", `{"name":" mcp__toolcrib__grep_search","arguments":{"pattern":"one","mode":"files"}}`, "1 of 1 file\na.txt\n"},
		{"nothing like it", `{"name":"qqqqqq","arguments":{}}`, `error: not_found: no tool is called "qqqqqq" (search_tools finds tools by what they do)`},
		{"wrong arguments", `{"name":"grep","arguments":{"offset":-1}}`, "error: invalid_argument: …/offset: …; /pattern: … (arguments of grep: pattern: string required, …mode: content|files|count…)"},
		{"an error of the tool", `{"name":"read_file","arguments":{"path":"b.txt"}}`, "error: not_found: b.txt …"},
		{"no name", `{"arguments":{}}`, "error: invalid_argument: /name: …"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ws, _ := tooltest.Tree(t, map[string]string{"a.txt": "one\n"})
			if diff := tooltest.Match(tc.want, outcome(tooltest.Call(t.Context(), ws, call, json.RawMessage(tc.args)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A result is that of the tool: its blocks, structure and meta.
func TestCallToolPassesThrough(t *testing.T) {
	caller := grown(t)
	call := find(t, caller.All, "call_tool")
	want := tools.Result{
		Content:    []tools.Block{tools.Text("one"), {Kind: tools.ImageBlock, Data: []byte{1}, MIME: "image/png"}},
		Structured: json.RawMessage(`{"n":1}`),
		Meta:       map[string]any{tools.MetaNext: map[string]any{"offset": 2}},
	}
	rich := grown(t)
	rich.All = append(rich.All, foreign(t, "rich", want))
	caller.All = rich.All
	ws, _ := tooltest.Tree(t, nil)
	got, err := tooltest.Call(t.Context(), ws, call, json.RawMessage(`{"name":"rich","arguments":{"n":12345678901234567890}}`))
	if err != nil {
		t.Fatal(err)
	}
	want.Content = append(want.Content, tools.Text(`{"n":12345678901234567890}`))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
