package run_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/server/rules"
	"toolcrib/server/run"
	"toolcrib/tools"
)

// A read-only server reads the web, and refuses what does more than that. The address is one
// that no call reaches.
func TestReadOnlyReadsTheWeb(t *testing.T) {
	const unreachable = "the address is private"
	refused := func(effects string) string {
		return "the server is read-only, and this call has the effects " + effects + " (rule read-only-server)"
	}
	w := newWorld(t, "", func(s *run.Settings, _ *tools.SessionInfo) { s.ReadOnly = true })
	for _, tc := range []struct{ tool, args, want string }{
		{"web_fetch", `{"url":"http://10.0.0.1/"}`, unreachable},
		{"web_fetch", `{"url":"http://10.0.0.1/","method":"HEAD"}`, unreachable},
		{"web_fetch", `{"url":"http://10.0.0.1/","method":"OPTIONS"}`, refused("network,destroys")},
		{"web_fetch", `{"url":"http://10.0.0.1/","method":"POST","body":"x"}`, refused("network,destroys")},
		{"web_fetch", `{"url":"http://10.0.0.1/","method":"DELETE"}`, refused("network,destroys")},
		{"web_fetch", `{"url":"http://10.0.0.1/","body":"x"}`, "a request with method GET has no body"},
		{"web_fetch", `{"url":"http://10.0.0.1/","save":"x.md"}`, refused("workspace,network")},
		{"web_crawl", `{"urls":["http://10.0.0.1/"]}`, unreachable},
		{"download", `{"url":"http://10.0.0.1/","path":"x"}`, refused("workspace,network,destroys")},
	} {
		for _, way := range ways {
			if got := w.do(t, way.call(tc.tool, json.RawMessage(tc.args)), tools.Decline, nil)[0]; !strings.Contains(got, tc.want) {
				t.Errorf("%s %s, %s:\n%s\nwant %q in it", tc.tool, tc.args, way.name, got, tc.want)
			}
		}
	}
}

// A read-only server, and a call that only reads, read documents and save none.
func TestDocumentsAreOnlyRead(t *testing.T) {
	readOnly := func(s *run.Settings, _ *tools.SessionInfo) { s.ReadOnly = true }
	reader := func(_ *run.Settings, info *tools.SessionInfo) {
		info.May = func(t *tools.Tool) bool {
			return t.Access == tools.Read || t.Least == tools.Read || t.Access == tools.Delegates
		}
	}
	denyExternal := func(s *run.Settings, _ *tools.SessionInfo) {
		ruled(s, rules.Rule{Verdict: "deny", Access: []string{"external"}})
	}
	const fine, offToken = "a.txt: text", "the token of this client does not let it be called"
	file, save, web := `{"path":"a.txt"}`, `{"path":"a.txt","save":"b.md"}`, `{"url":"http://10.0.0.1/"}`
	for _, tc := range []struct {
		name string
		set  func(*run.Settings, *tools.SessionInfo)
		by   string
		args string
		want string
	}{
		{"anyone", func(*run.Settings, *tools.SessionInfo) {}, "", save, "saved to b.md"},
		{"read-only", readOnly, "", file, fine},
		{"read-only", readOnly, "", save, "the server is read-only, and this call has the effects workspace"},
		{"read-only", readOnly, "", web, "the address is private"},
		{"read-only", readOnly, "", `{"url":"http://10.0.0.1/","save":"b.md"}`, "the server is read-only"},
		{"a token that reads", reader, "", file, fine},
		{"a token that reads", reader, "", save, "this call of parse_document with access write: " + offToken},
		{"a token that reads", reader, "", web, offToken},
		{"a rule against external tools", denyExternal, "", file, fine},
		{"a rule against external tools", denyExternal, "", web, "denied"},
		{"call_read_tool", func(*run.Settings, *tools.SessionInfo) {}, "call_read_tool", file, fine},
		{"call_read_tool", func(*run.Settings, *tools.SessionInfo) {}, "call_read_tool", save, "this call of parse_document with access write: call_read_tool calls only what reads (rule called-to-read)"},
		{"call_read_tool", func(*run.Settings, *tools.SessionInfo) {}, "call_read_tool", web, "this call of parse_document with access external: call_read_tool calls only what reads"},
	} {
		w := newWorld(t, "", tc.set)
		if err := os.WriteFile(filepath.Join(w.dir, "a.txt"), []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		call := run.Call{Tool: "parse_document", Args: json.RawMessage(tc.args)}
		if tc.by != "" {
			call = run.Call{Tool: tc.by, Args: json.RawMessage(`{"name":"parse_document","arguments":` + tc.args + `}`)}
		}
		if got := w.do(t, call, tools.Decline, nil)[0]; !strings.Contains(got, tc.want) {
			t.Errorf("%s, %s: %s\nwant %q in it", tc.name, tc.args, got, tc.want)
		}
		_, err := os.Stat(filepath.Join(w.dir, "b.md"))
		if saved := err == nil; saved != strings.Contains(tc.want, "saved") {
			t.Errorf("%s, %s: saved is %v", tc.name, tc.args, saved)
		}
	}
}

// A search of documents reads the web by another tool, which its own access does not bar: the
// token and call_read_tool do.
func TestSearchReadsTheWeb(t *testing.T) {
	const args = `{"query":"x","urls":["http://10.0.0.1/"]}`
	reader := func(_ *run.Settings, info *tools.SessionInfo) {
		info.May = func(t *tools.Tool) bool { return t.Least == tools.Read || t.Access == tools.Delegates }
	}
	anyone := func(*run.Settings, *tools.SessionInfo) {}
	for _, tc := range []struct {
		name string
		set  func(*run.Settings, *tools.SessionInfo)
		call run.Call
		want string
	}{
		{"anyone", anyone, run.Call{Tool: "search_documents", Args: json.RawMessage(args)}, "the address is private"},
		{"call_tool", anyone, run.Call{Tool: "call_tool", Args: json.RawMessage(`{"name":"search_documents","arguments":` + args + `}`)}, "the address is private"},
		{"call_read_tool", anyone, run.Call{Tool: "call_read_tool", Args: json.RawMessage(`{"name":"search_documents","arguments":` + args + `}`)}, "web_fetch: call_read_tool calls only what reads"},
		{"a token that reads", reader, run.Call{Tool: "search_documents", Args: json.RawMessage(args)}, "web_fetch: the token of this client does not let it be called"},
	} {
		w := newWorld(t, "", tc.set)
		if got := w.do(t, tc.call, tools.Decline, nil)[0]; !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s\nwant %q in it", tc.name, got, tc.want)
		}
	}
}

// What reads the web on a read-only server is chosen: these tools and no other.
func TestReadOnlyTools(t *testing.T) {
	var got []string
	newWorld(t, "", func(s *run.Settings, _ *tools.SessionInfo) {
		for _, tool := range s.Tools {
			if tool.MayRead() && tool.Access == tools.External {
				got = append(got, tool.Name)
			}
		}
	})
	if want := "parse_document image_search weather web_crawl web_fetch web_search"; strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// To save a page asks nobody: the history keeps what was there. To send something asks.
func TestSavingAPageIsNotAsked(t *testing.T) {
	w := newWorld(t, "", func(*run.Settings, *tools.SessionInfo) {})
	for args, want := range map[string]string{
		`{"url":"http://10.0.0.1/","save":"x.md"}`:                            "denied: http://10.0.0.1/: ",
		`{"url":"http://10.0.0.1/","method":"OPTIONS"}`:                       "asked: send OPTIONS http://10.0.0.1/",
		`{"url":"http://10.0.0.1/","method":"POST","body":"x","save":"x.md"}`: "asked: send POST http://10.0.0.1/ with: x",
	} {
		if got := w.do(t, run.Call{Tool: "web_fetch", Args: json.RawMessage(args)}, tools.Decline, nil)[0]; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}
