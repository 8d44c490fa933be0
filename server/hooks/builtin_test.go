package hooks_test

import (
	"encoding/json"
	"log/slog"
	"os/exec"
	"strings"
	"testing"

	"toolcrib/server/hooks"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/workspace"
)

func accepted() map[string]tools.Answer {
	return map[string]tools.Answer{"consent": {Action: tools.Accept}}
}

func TestFilters(t *testing.T) {
	for _, tc := range []struct {
		name, call, args string
		spec             hooks.Spec
		asked            bool
	}{
		{"all", "look", `{}`, hooks.Spec{}, true},
		{"tool", "write", `{}`, hooks.Spec{Tool: []string{"look", "write"}}, true},
		{"another tool", "write", `{}`, hooks.Spec{Tool: []string{"look"}}, false},
		{"glob", "write_all", `{}`, hooks.Spec{Tool: []string{"write*"}}, true},
		{"access", "write", `{}`, hooks.Spec{Access: []string{"exec", "write"}}, true},
		{"another access", "look", `{}`, hooks.Spec{Access: []string{"exec", "write"}}, false},
		{"effect", "write_all", `{}`, hooks.Spec{Effect: []string{"destroys"}}, true},
		{"another effect", "write", `{}`, hooks.Spec{Effect: []string{"destroys"}}, false},
		{"argument", "look", `{"text":"rm -rf /"}`, hooks.Spec{Argument: map[string]string{"text": `\brm\b`}}, true},
		{"another argument", "look", `{"text":"form"}`, hooks.Spec{Argument: map[string]string{"text": `\brm\b`}}, false},
		{"no argument", "look", `{}`, hooks.Spec{Argument: map[string]string{"text": `.*`}}, false},
		{"number", "look", `{"n":7}`, hooks.Spec{Argument: map[string]string{"n": `^7$`}}, true},
		{"list", "look", `{"list":["a","b"]}`, hooks.Spec{Argument: map[string]string{"list": `^b$`}}, true},
		{"one of two", "look", `{"n":7}`, hooks.Spec{Argument: map[string]string{"n": `7`, "text": `x`}}, false},
		{"path", "look", `{"path":"conf/a"}`, hooks.Spec{Path: []string{"conf"}}, true},
		{"path by a detour", "look", `{"path":"./x/../conf/a"}`, hooks.Spec{Path: []string{"conf"}}, true},
		{"another path", "look", `{"path":"src/a"}`, hooks.Spec{Path: []string{"conf"}}, false},
		{"no path", "look", `{}`, hooks.Spec{Path: []string{"**"}}, false},
		{"path outside", "look", `{"path":"/nowhere/x"}`, hooks.Spec{Path: []string{"conf"}}, true},
		{"both", "write", `{"path":"conf/a"}`, hooks.Spec{Path: []string{"conf"}, Access: []string{"read"}}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.spec.Builtin, tc.spec.Question = "confirm", "sure?"
			f := start(t, tc.spec)
			ws, err := workspace.Open([]string{t.TempDir()}, workspace.Options{StateBase: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer ws.Close()
			session := askable
			session.Workspace = ws
			out := f.Run(t.Context(), run.Call{Tool: tc.call, Args: json.RawMessage(tc.args), Session: session})
			if got := out.Ask != nil; got != tc.asked {
				t.Errorf("asked: %t, want %t (%s)", got, tc.asked, ending(out))
			}
		})
	}
}

func TestRewrite(t *testing.T) {
	for _, tc := range []struct {
		name, args, want string
		rules            []hooks.Rewrite
	}{
		{"set", `{"n":1}`, `{"n":2}`, []hooks.Rewrite{{Argument: "n", Do: "set", Value: "2"}}},
		{"set a text", `{}`, `{"text":"a b"}`, []hooks.Rewrite{{Argument: "text", Do: "set", Value: "a b"}}},
		{"default", `{"n":1}`, `{"text":"x","n":1}`, []hooks.Rewrite{{Argument: "n", Do: "default", Value: "2"}, {Argument: "text", Do: "default", Value: `"x"`}}},
		{"remove", `{"n":1,"text":"x"}`, `{"text":"x"}`, []hooks.Rewrite{{Argument: "n", Do: "remove"}}},
		{"replace", `{"text":"old/a old/b"}`, `{"text":"new/a new/b"}`, []hooks.Rewrite{{Argument: "text", Do: "replace", Pattern: `old/(\w)`, With: "new/$1"}}},
		{"replace in a list", `{"list":["aa","b"]}`, `{"list":["x","b"]}`, []hooks.Rewrite{{Argument: "list", Do: "replace", Pattern: `a+`, With: "x"}}},
		{"replace what is absent", `{}`, `{}`, []hooks.Rewrite{{Argument: "text", Do: "replace", Pattern: `a`, With: "x"}}},
		{"replace in a number", `{"n":1}`, `{"n":1}`, []hooks.Rewrite{{Argument: "n", Do: "replace", Pattern: `1`, With: "2"}}},
		{"one after another", `{"text":"a"}`, `{"text":"c"}`, []hooks.Rewrite{{Argument: "text", Do: "replace", Pattern: `a`, With: "b"}, {Argument: "text", Do: "replace", Pattern: `b`, With: "c"}}},
		{"not valid", `{}`, "denied: look: pre hook 1 replaced the arguments by ones that are not valid", []hooks.Rewrite{{Argument: "n", Do: "set", Value: "99"}}},
	} {
		f := start(t, hooks.Spec{Builtin: "rewrite", Rewrite: tc.rules})
		if got := ending(f.call(t, "look", tc.args)); got != tc.want {
			t.Errorf("%s: ended in %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestRedactAndLog(t *testing.T) {
	f := start(t, hooks.Spec{Builtin: "redact", Tool: []string{"look"}}, hooks.Spec{Builtin: "log", Name: "calls"})
	const args = `{"text":"the-known-secret ghp_abcdefghijklmnopqrstuvwxyz0123456789"}`
	if got := ending(f.call(t, "look", args)); got != `{"text":"[redacted] [redacted:github-token]"}` {
		t.Errorf("look gives %q", got)
	}
	if got := ending(f.call(t, "write", args)); !strings.Contains(got, "the-known-secret") {
		t.Errorf("write gives %q", got)
	}
	f.call(t, "look", `{"text":"fail"}`)
	f.call(t, "nothing", `{}`)
	log := f.log.String()
	if strings.Count(log, "hook=calls") != 4 || strings.Contains(log, "known-secret") || strings.Contains(log, "ghp_") {
		t.Errorf("log %s", log)
	}
	for _, want := range []string{"tool=look principal=someone client=test code=ok", "code=not_found"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q: %s", want, log)
		}
	}
}

func TestErrors(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs: sh")
	}
	good := []string{sh}
	for _, tc := range []struct {
		spec hooks.Spec
		want string
	}{
		{hooks.Spec{}, "hooks[1]: give exactly one of command, url and builtin"},
		{hooks.Spec{Command: good, URL: "http://x"}, "hooks[1]: give exactly one of command, url and builtin"},
		{hooks.Spec{Name: "mine", Command: good}, `hooks[1] (mine): event: there is no ""; there are: pre, post, error, skip`},
		{hooks.Spec{Event: "pree", Command: good}, `hooks[1]: event: there is no "pree"; did you mean "pre"`},
		{hooks.Spec{Event: "pre", Command: good, Tool: []string{"lock"}}, `hooks[1]: tool: there is no "lock"; did you mean "look"`},
		{hooks.Spec{Event: "pre", Command: good, Tool: []string{"[a"}}, `hooks[1]: tool: syntax error in pattern`},
		{hooks.Spec{Event: "pre", Command: good, Access: []string{"reed"}}, `hooks[1]: access: there is no "reed"; did you mean "read"`},
		{hooks.Spec{Event: "pre", Command: good, Effect: []string{"netwrk"}}, `hooks[1]: effect: there is no "netwrk"; did you mean "network"`},
		{hooks.Spec{Event: "pre", Command: good, Argument: map[string]string{"a": "("}}, "hooks[1]: argument a: error parsing regexp"},
		{hooks.Spec{Event: "pre", Command: good, Path: []string{"../x"}}, "hooks[1]: path: "},
		{hooks.Spec{Event: "pre", Command: good, Timeout: "5"}, `hooks[1]: timeout: "5" is no time`},
		{hooks.Spec{Event: "pre", Command: good, Timeout: "-1s"}, `hooks[1]: timeout: "-1s" is no time`},
		{hooks.Spec{Event: "pre", Command: []string{"no-such-program-here"}}, `hooks[1]: command: "no-such-program-here" cannot be run: no program on PATH has that name`},
		{hooks.Spec{Event: "pre", Command: []string{"/no/such/program"}}, `hooks[1]: command: "/no/such/program" cannot be run: there is no such file`},
		{hooks.Spec{Event: "pre", Command: []string{"./hook.sh"}}, `hooks[1]: command: "./hook.sh" is relative`},
		{hooks.Spec{Event: "pre", URL: "ftp://x/"}, `hooks[1]: url: "ftp" is neither http nor https`},
		{hooks.Spec{Event: "pre", URL: "http:///x"}, `hooks[1]: url: it names no host`},
		{hooks.Spec{Event: "pre", URL: "https://u:p@h/"}, `hooks[1]: url: it holds credentials`},
		{hooks.Spec{Event: "pre", URL: "https://h/", Env: map[string]string{"A": "b"}}, `hooks[1]: env: it goes with command alone`},
		{hooks.Spec{Event: "pre", Command: good, Header: map[string]string{"A": "b"}}, `hooks[1]: header: it goes with url alone`},
		{hooks.Spec{Event: "pre", Command: good, Question: "x"}, `hooks[1]: question: it goes with builtin confirm alone`},
		{hooks.Spec{Builtin: "comfirm"}, `hooks[1]: builtin: there is no "comfirm"; did you mean "confirm"`},
		{hooks.Spec{Builtin: "confirm", Event: "post"}, `hooks[1]: event: confirm: there is no "post"; `},
		{hooks.Spec{Builtin: "confirm", Timeout: "1s"}, `hooks[1]: timeout: it goes with command or url alone`},
		{hooks.Spec{Builtin: "rewrite"}, `hooks[1]: rewrite: it is empty`},
		{hooks.Spec{Builtin: "rewrite", Rewrite: []hooks.Rewrite{{Argument: "a", Do: "sett"}}}, `hooks[1]: rewrite[1]: do: there is no "sett"; did you mean "set"`},
		{hooks.Spec{Builtin: "rewrite", Rewrite: []hooks.Rewrite{{Do: "set"}}}, `hooks[1]: rewrite[1]: argument: it is empty`},
		{hooks.Spec{Builtin: "rewrite", Rewrite: []hooks.Rewrite{{Argument: "a", Do: "replace"}}}, `hooks[1]: rewrite[1]: pattern: it is empty`},
		{hooks.Spec{Builtin: "rewrite", Rewrite: []hooks.Rewrite{{Argument: "a", Do: "replace", Pattern: "("}}}, `hooks[1]: rewrite[1]: pattern: error parsing`},
		{hooks.Spec{Builtin: "rewrite", Rewrite: []hooks.Rewrite{{Argument: "a", Do: "set", Pattern: "x"}}}, `hooks[1]: rewrite[1]: pattern: it goes with replace`},
	} {
		_, err := hooks.New([]hooks.Spec{tc.spec}, options(slog.New(slog.DiscardHandler), nil))
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%+v:\n got %v\nwant %s", tc.spec, err, tc.want)
		}
	}
}
