package run_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toolcrib/server/run"
	"toolcrib/tools"
)

func TestWebFetchOnReadOnly(t *testing.T) {
	onReadOnly(t, "web_fetch", map[string]string{
		`{"url":"http://169.254.1.1/"}`:                            unreachable,
		`{"url":"http://169.254.1.1/","method":"HEAD"}`:            unreachable,
		`{"url":"http://169.254.1.1/","method":"OPTIONS"}`:         refusedFor("network,destroys"),
		`{"url":"http://169.254.1.1/","method":"POST","body":"x"}`: refusedFor("network,destroys"),
		`{"url":"http://169.254.1.1/","method":"DELETE"}`:          refusedFor("network,destroys"),
		`{"url":"http://169.254.1.1/","body":"x"}`:                 "a request with method GET has no body",
		`{"url":"http://169.254.1.1/","save":"x.md"}`:              refusedFor("workspace,network"),
	})
}

// To save a page asks nobody: the history keeps what was there. To send something asks.
func TestSavingAPageIsNotAsked(t *testing.T) {
	w := newWorld(t, "", func(*run.Settings, *tools.SessionInfo) {})
	for args, want := range map[string]string{
		`{"url":"http://169.254.1.1/","save":"x.md"}`:                            "denied: http://169.254.1.1/: ",
		`{"url":"http://169.254.1.1/","method":"OPTIONS"}`:                       "asked: send OPTIONS http://169.254.1.1/",
		`{"url":"http://169.254.1.1/","method":"POST","body":"x","save":"x.md"}`: "asked: send POST http://169.254.1.1/ with: x",
	} {
		if got := w.do(t, run.Call{Tool: "web_fetch", Args: json.RawMessage(args)}, tools.Decline, nil)[0]; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

// Headers and parameters that may hold a secret are in no record and no error.
func TestHeadersAreNotTold(t *testing.T) {
	for _, args := range []string{
		`{"url":"http://169.254.1.1/","headers":["Authorization: Bearer hunter2","Cookie: sid=hunter2; a=hunter2","X-API-Key: hunter2","x-mine:hunter2","Accept: text/plain"]}`,
		`{"url":"http://169.254.1.1/","headers":["Authorization Bearer hunter2"]}`,
		`{"url":"http://169.254.1.1/","headers":["Authorization: a\u0000hunter2"]}`,
		`{"url":"http://169.254.1.1/","headers":["X-API-Key: hunter2"],"method":"POST","body":"more"}`,
		`{"url":"http://169.254.1.1/","headers":["X-API-Key: hunter2"],"render":"always"}`,
		`{"url":"http://169.254.1.1/","header":"X-API-Key: hunter2"}`,
		`{"url":"http://169.254.1.1/file?sig=hunter2"}`,
		`{"url":"http://169.254.1.1/","headers":["X-API-Key: hunter2"],"limit":"none"}`,
	} {
		for _, way := range ways {
			w := newWorld(t, "", func(*run.Settings, *tools.SessionInfo) {})
			call := way.call("web_fetch", json.RawMessage(args))
			call.Session = w.session
			out := w.runner.Run(t.Context(), call)
			if out.Err != nil && strings.Contains(out.Err.Error(), "hunter2") {
				t.Errorf("%s, %s: %v", args, way.name, out.Err)
			}
			if len(w.log.list) == 0 {
				t.Errorf("%s, %s: nothing is on record", args, way.name)
			}
			for _, rec := range w.log.list {
				if whole, err := json.Marshal(rec); err != nil || strings.Contains(string(whole), "hunter2") {
					t.Errorf("%s, %s: %s, %v", args, way.name, whole, err)
				}
			}
		}
	}
}
