package run_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toolcrib/server/run"
	"toolcrib/tools"
)

// A search of documents reads the web by another tool, which its own access does not bar: the
// token and call_read_tool do.
func TestSearchReadsTheWeb(t *testing.T) {
	const args = `{"query":"x","urls":["http://169.254.1.1/"]}`
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
		{"anyone", anyone, run.Call{Tool: "search_documents", Args: json.RawMessage(args)}, unreachable},
		{"call_tool", anyone, run.Call{Tool: "call_tool", Args: json.RawMessage(`{"name":"search_documents","arguments":` + args + `}`)}, unreachable},
		{"call_read_tool", anyone, run.Call{Tool: "call_read_tool", Args: json.RawMessage(`{"name":"search_documents","arguments":` + args + `}`)}, "web_fetch: call_read_tool calls only what reads"},
		{"a token that reads", reader, run.Call{Tool: "search_documents", Args: json.RawMessage(args)}, "web_fetch: the token of this client does not let it be called"},
	} {
		w := newWorld(t, "", tc.set)
		if got := w.do(t, tc.call, tools.Decline, nil)[0]; !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s\nwant %q in it", tc.name, got, tc.want)
		}
	}
}

// The user is asked about the private host of a search of one address.
func TestSearchAsksAboutPrivateHosts(t *testing.T) {
	for urls, want := range map[string]string{
		`["http://10.0.0.1/"]`:                     "asked: let the tools and commands of this session reach 10.0.0.1:80 in your private network",
		`["http://10.0.0.1/", "http://10.0.0.2/"]`: unreachable,
	} {
		w := newWorld(t, "", func(*run.Settings, *tools.SessionInfo) {})
		call := run.Call{Tool: "search_documents", Args: json.RawMessage(`{"query":"x","urls":` + urls + `}`)}
		if got := w.do(t, call, tools.Decline, nil)[0]; !strings.Contains(got, want) {
			t.Errorf("%s: %s\nwant %q in it", urls, got, want)
		}
	}
}
