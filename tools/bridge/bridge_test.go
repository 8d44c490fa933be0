package bridge_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
)

func TestSearchTools(t *testing.T) {
	caller := grown(t)
	search := find(t, caller.All, "search_tools")
	ws, _ := tooltest.Tree(t, nil)
	for _, tc := range []struct {
		name, args string
		want       string // of the text; "error: " begins that of an error
	}{
		{"the name itself", `{"query":"delete_path","limit":1}`, "1 of … tools, best first; next: offset=1; …\ndelete_path [files, write]: …\n  path: string required, …\n"},
		{"a name in a sentence", `{"query":"how do I call make_directory for a new place","limit":1}`, "…\nmake_directory [files, write]: …\n…\n"},
		{"another case and dashes", `{"query":"Web-Fetch","limit":1}`, "…\nweb_fetch [web, external]: …\n…\n"},
		{"a slip", `{"query":"wether forcast","limit":1}`, "…\nweather [web, external]: …\n…\n"},
		{"an ending", `{"query":"scheduling","toolset":"schedule","limit":1}`, "…\nschedule_…\n…\n"},
		{"a toolset", `{"query":"search","toolset":"memory","limit":1}`, "…\nmemory_search [memory, external]: …\n…\n"},
		{"values of an argument", `{"query":"glob","limit":1}`, "…\nglob [search, read]: …\n  pattern: string[] required, …kind: file|directory|any…\n"},
		{"fields of objects", `{"query":"edit_file","limit":1}`, "…\nedit_file [files, write]: …\n  …edits: {…old_text: string…}[] required…\n"},
		{"everything, by pages", `{"limit":1,"offset":1}`, "1 of … tools; next: offset=2; call_tool calls them\nsearch_tools [bridge, read]: …\n…\n"},
		{"past the end", `{"toolset":"search","offset":7}`, "offset 7 is past the end: there are 2 tools\n"},
		{"nothing", `{"query":"qqqq"}`, "no tool is known for \"qqqq\"; say it in other words, or list a toolset: bridge, …\n"},
		{"only words that say nothing", `{"query":"can you do it for me"}`, "no tool is known for …\n"},
		{"an unknown toolset", `{"query":"x","toolset":"file"}`, `error: not_found: no toolset is called "file" (did you mean files; there are: bridge, …)`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for range 2 { // the same every time
				if diff := tooltest.Match(tc.want, outcome(tooltest.Call(t.Context(), ws, search, json.RawMessage(tc.args)))); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// outcome is the text of a result or of an error.
func outcome(res tools.Result, err error) string {
	if err != nil {
		return "error: " + tools.AsError(err).Error()
	}
	return tooltest.Text(res)
}

// The index follows the tools.
func TestSearchFollowsTools(t *testing.T) {
	caller := grown(t)
	search := find(t, caller.All, "search_tools")
	ws, _ := tooltest.Tree(t, nil)
	if found := names(searched(t, ws, search, "weather forecast")); len(found) == 0 || found[0] != "weather" {
		t.Fatalf("found %q", found)
	}
	var fewer []tools.Tool
	for _, tool := range caller.All {
		if tool.Category != "web" {
			fewer = append(fewer, tool)
		}
	}
	caller.All = fewer
	if text := searched(t, ws, search, "weather forecast"); strings.Contains(text, "[web,") {
		t.Errorf("a tool that is gone is found:\n%s", text)
	}
}

func TestCallTool(t *testing.T) {
	caller := grown(t)
	call := find(t, caller.All, "call_tool")
	for _, tc := range []struct{ name, args, want string }{
		{"by a direct name", `{"name":"read_file","arguments":{"path":"a.txt"}}`, "a.txt: line 1 of 1; …\n1\tone\n"},
		{"without arguments", `{"name":"list_directory"}`, "…\na.txt 4 B\n"},
		{"as models write it", `{"tool":"read_file","args":"{\"path\":\"a.txt\"}"}`, "a.txt: line 1 of 1; …\n1\tone\n"},
		{"itself", `{"name":"call_tool","arguments":{"name":"read_file"}}`, "error: denied: call_tool does not call itself (…)"},
		{"an unknown name", `{"name":"fetch_web","arguments":{}}`, `error: not_found: no tool is called "fetch_web" (did you mean web_fetch, …)`},
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
