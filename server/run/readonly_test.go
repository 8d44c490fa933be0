package run_test

import (
	"encoding/json"
	"strings"
	"testing"

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
	if want := "image_search weather web_crawl web_fetch web_search"; strings.Join(got, " ") != want {
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
