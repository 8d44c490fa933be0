package bridge_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/catalog"
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
		{"the name itself", `{"query":"delete_path","limit":1}`, "1 tool\ndelete_path [files, write, by call_tool]: …\n  path: string required - …\n...\n"},
		{"a name in a sentence", `{"query":"how do I call make_directory for a new place","limit":1}`, "…\nmake_directory [files, write, by call_tool]: …\n...\n"},
		{"another case and dashes", `{"query":"Web-Fetch","limit":1}`, "…\nweb_fetch [web, external, by call_tool]: …\n...\n"},
		{"a slip", `{"query":"wether forcast","limit":1}`, "…\nweather [web, external, by call_tool]: …\n...\n"},
		{"a name cut off", `{"query":"read_fil","limit":1}`, "…\nread_file [files, read, by call_read_tool]: …\n...\n"},
		{"an ending", `{"query":"scheduling","toolset":"schedule","limit":1}`, "…\nschedule_…\n...\n"},
		{"a toolset", `{"query":"search","toolset":"memory","limit":1}`, "…\nmemory_search [memory, read, by call_read_tool]: …\n...\n"},
		{"values of an argument", `{"query":"glob","limit":1}`, "…\nglob [search, read, by call_read_tool]: Finds files and directories by name, …\n  pattern: string[] required - …\n...\n  kind: file|directory|any (default file) - …\n...\n"},
		{"fields of objects", `{"query":"edit_file","limit":1}`, "…\nedit_file [files, write, by call_tool]: …\n...\n  edits: object[] required - …\n...\n    old_text: string - …\n...\n  dry_run: boolean (default false) - …\n...\n"},
		{"everything, by pages", `{"limit":1,"offset":5}`, "1 of … tools; next: offset=6\nsearch_tools [bridge, read, by call_read_tool]: …\n...\n"},
		{"past the end", `{"toolset":"search","offset":7}`, "offset 7 is past the end: there are 2 tools\n"},
		{"nothing", `{"query":"qqqq"}`, "no tool fits \"qqqq\"; say it in other words, or list a toolset: agents, bridge, …\n"},
		{"only words that say nothing", `{"query":"can you do it for me"}`, "no tool fits …\n"},
		{"nothing, but something like it", `{"query":"create a jira ticket for this bug","limit":1}`, "no tool fits \"create a jira ticket for this bug\"; the closest:\n… […\n...\n"},
		{"an unknown toolset", `{"query":"x","toolset":"file"}`, `error: not_found: no toolset is called "file" (did you mean files; there are: agents, bridge, …)`},
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

// A result names the tool that calls it, if there is one.
func TestSearchNamesTheWay(t *testing.T) {
	caller := grown(t)
	search := find(t, caller.All, "search_tools")
	ws, _ := tooltest.Tree(t, nil)
	all := caller.All
	for _, tc := range []struct {
		without    []string
		glob, bash string
	}{
		{nil, "[search, read, by call_read_tool]", "[shell, exec, by call_tool]"},
		{[]string{"call_read_tool"}, "[search, read, by call_tool]", "[shell, exec, by call_tool]"},
		{[]string{"call_tool"}, "[search, read, by call_read_tool]", "[shell, exec]"},
		{[]string{"call_tool", "call_read_tool"}, "[search, read]", "[shell, exec]"},
	} {
		caller.All = slices.DeleteFunc(slices.Clone(all), func(t tools.Tool) bool { return slices.Contains(tc.without, t.Name) })
		for name, want := range map[string]string{"glob": tc.glob, "bash": tc.bash} {
			if text := searched(t, ws, search, name); !strings.Contains(text, "\n"+name+" "+want+":") {
				t.Errorf("without %q, want %s %s:\n%s", tc.without, name, want, text)
			}
		}
	}
}

// What the text of search_tools offers can be found.
func TestSearchPromises(t *testing.T) {
	all := catalog.Tools(catalog.All(&catalog.Services{Caller: &tooltest.Caller{}}))
	caller := &tooltest.Caller{All: all}
	search := find(t, catalog.Tools(catalog.All(&catalog.Services{Caller: caller})), "search_tools")
	description, err := search.Description()
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile(`"[^"]+"`).FindAllString(description, -1)
	if len(quoted) == 0 {
		t.Fatalf("no request in %q", description)
	}
	ws, _ := tooltest.Tree(t, nil)
	for _, request := range append(quoted, `"web fetch url"`) {
		fits := !strings.HasPrefix(searched(t, ws, search, strings.Trim(request, `"`)), "no tool fits ")
		if _, web := catalog.Find(all, "web_fetch"); fits == (request == `"web fetch url"` && !web) {
			t.Errorf("%s: fits: %t", request, fits)
		}
	}
}

// A tool that is off is said to be, and by what.
func TestToolsThatAreOff(t *testing.T) {
	caller := grown(t)
	search, call, read := find(t, caller.All, "search_tools"), find(t, caller.All, "call_tool"), find(t, caller.All, "call_read_tool")
	var external []string // some of them could read
	for _, tool := range caller.All {
		if tool.Access == tools.External {
			external = append(external, tool.Name)
		}
	}
	selected, err := tools.Select(caller.All, tools.Selection{ReadOnly: true, Exclude: external})
	if err != nil {
		t.Fatal(err)
	}
	caller.All, caller.Off = selected.Enabled, selected.Omitted
	const off = "edit_file is off: the server is read-only (--read-only), and its access is write\n"
	for _, tc := range []struct {
		name, args string
		tool       tools.Tool
		want       string
	}{
		{"the best", `{"query":"fix the typo on line 12","limit":1}`, search, "1 tool\n" + off + "...\n"},
		{"by its name", `{"query":"edit_file"}`, search, "no tool that can be called fits \"edit_file\"\n" + off},
		{"by exclusion", `{"query":"weather forecast","limit":1}`, search, "no tool that can be called fits \"weather forecast\"\nweather is off: excluded by --exclude-tools\n"},
		{"not the best", `{"query":"which tool searches files for a regular expression","limit":1}`, search, "1 …\ngrep […\n...\n"},
		{"a toolset", `{"toolset":"storage"}`, search, "error: unavailable: no tool of storage can be called: storage is off: …"},
		{"a call", `{"name":"edit_file","arguments":{"path":"a.txt"}}`, call, "error: unavailable: " + off},
		{"a call by an alias", `{"name":"edit","arguments":{"path":"a.txt"}}`, call, "error: unavailable: " + off},
		{"a call by the other", `{"name":"edit_file","arguments":{"path":"a.txt"}}`, read, "error: unavailable: " + off},
	} {
		ws, _ := tooltest.Tree(t, nil)
		if diff := tooltest.Match(tc.want, outcome(tooltest.Call(t.Context(), ws, tc.tool, json.RawMessage(tc.args)))); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

// Of a listed tool the client has the arguments already.
func TestSearchOfListed(t *testing.T) {
	caller := grown(t)
	search := find(t, caller.All, "search_tools")
	caller.Listed = []tools.Tool{find(t, caller.All, "grep")}
	ws, _ := tooltest.Tree(t, nil)
	for query, want := range map[string]string{
		"grep": "grep [search, read, listed: call it directly]: Searches the contents of files with a regular expression (RE2) or plain text.\n",
		"glob": "glob [search, read, by call_read_tool]: …\n  pattern: string[] required - …\n",
	} {
		if diff := tooltest.Match("...\n"+want+"...\n", searched(t, ws, search, query)); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	if listed := names(searched(t, ws, search, "")); len(listed) == 0 || slices.Contains(listed, "grep") {
		t.Errorf("without a request, those come first that the client does not know: %q", listed)
	}
	if text := searched(t, ws, search, "rename"); strings.Contains(text, "\nweather [") {
		t.Errorf("a tool that has nothing to do with it:\n%s", text)
	}
}
