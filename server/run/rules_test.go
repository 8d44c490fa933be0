package run_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/server/rules"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/workspace"
)

// kinds is the tools that the rules of these tests name.
func kinds() []tools.Tool {
	return []tools.Tool{
		tool("read_file", tools.Read, tools.None, say("done")),
		tool("write_file", tools.Write, tools.Workspace, say("done")),
		tool("delete_path", tools.Write, tools.Workspace|tools.Destroys, say("done"), confirm("sure?")),
		tool("run_command", tools.Exec, tools.Process|tools.Workspace, say("done")),
		tool("fetch", tools.External, tools.Network, say("done")),
	}
}

// compiled compiles rules that are written as in the configuration.
func compiled(t testing.TB, text string) *rules.Set {
	t.Helper()
	var list []rules.Rule
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	rs, err := rules.New(list, kinds())
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

// ground is a workspace of a directory that has secrets/key, src/a.go and a link to each.
func ground(t testing.TB) *workspace.Workspace {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"secrets/key", "src/a.go", "secrets/public/x"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("secrets/key", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.Open([]string{dir}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

func TestRules(t *testing.T) {
	ws := ground(t)
	for _, tc := range []struct {
		name, rules, tool, path, want, by string
		set                               run.Settings
	}{
		{"none", `[]`, "write_file", "src/a.go", "done", "write", run.Settings{}},
		{"a tool", `[{"verdict":"deny","tool":["write_file"]}]`, "write_file", "src/a.go", "denied", "policy[1]", run.Settings{}},
		{"another tool", `[{"verdict":"deny","tool":["write_file"]}]`, "read_file", "src/a.go", "done", "read", run.Settings{}},
		{"a glob", `[{"verdict":"ask","tool":["*_file"]}]`, "read_file", "src/a.go", "asked", "policy[1]", run.Settings{}},
		{"a name beats a glob", `[{"verdict":"deny","tool":["*_file"]},{"verdict":"allow","tool":["read_file"]}]`, "read_file", "src/a.go", "done", "policy[2]", run.Settings{}},
		{"a glob beats an access", `[{"verdict":"deny","access":["read"]},{"verdict":"allow","tool":["read*"]}]`, "read_file", "src/a.go", "done", "policy[2]", run.Settings{}},
		{"a toolset beats an access", `[{"verdict":"deny","access":["read"]},{"verdict":"ask","toolset":["run_test"]}]`, "read_file", "src/a.go", "asked", "policy[2]", run.Settings{}},
		{"an effect beats an access", `[{"verdict":"deny","access":["write"]},{"verdict":"allow","effect":["workspace"]}]`, "write_file", "src/a.go", "done", "policy[2]", run.Settings{}},
		{"deny at equal rank", `[{"verdict":"allow","tool":["read_file"]},{"verdict":"ask","tool":["read_file"]},{"verdict":"deny","tool":["read_file"]}]`, "read_file", "src/a.go", "denied", "policy[3]", run.Settings{}},
		{"the first of equals", `[{"verdict":"deny","tool":["read_file"]},{"name":"b","verdict":"deny","tool":["read_file"]}]`, "read_file", "src/a.go", "denied", "policy[1]", run.Settings{}},
		{"a path", `[{"verdict":"deny","path":["secrets"]}]`, "read_file", "secrets/key", "denied", "policy[1]", run.Settings{}},
		{"a path that is spelt otherwise", `[{"verdict":"deny","path":["secrets"]}]`, "read_file", "./src/../secrets//key", "denied", "policy[1]", run.Settings{}},
		{"a link", `[{"verdict":"deny","path":["secrets"]}]`, "read_file", "link", "denied", "policy[1]", run.Settings{}},
		{"a link that is asked about", `[{"verdict":"ask","path":["secrets"]}]`, "read_file", "link", "asked", "policy[1]", run.Settings{}},
		{"another path", `[{"verdict":"deny","path":["secrets"]}]`, "read_file", "src/a.go", "done", "read", run.Settings{}},
		{"a tool does not open a path", `[{"verdict":"deny","path":["secrets"]},{"verdict":"allow","tool":["read_file"]}]`, "read_file", "secrets/key", "denied", "policy[1]", run.Settings{}},
		{"a tool and a path do", `[{"verdict":"deny","path":["secrets"]},{"verdict":"allow","tool":["read_file"],"path":["secrets"]}]`, "read_file", "secrets/key", "done", "policy[2]", run.Settings{}},
		{"a longer path", `[{"verdict":"deny","path":["secrets"]},{"verdict":"allow","path":["secrets/public"]}]`, "read_file", "secrets/public/x", "done", "policy[2]", run.Settings{}},
		{"a principal", `[{"verdict":"deny","principal":["local"]}]`, "read_file", "src/a.go", "denied", "policy[1]", run.Settings{}},
		{"another principal", `[{"verdict":"deny","principal":["bob","https://*"]}]`, "read_file", "src/a.go", "done", "read", run.Settings{}},
		{"a rule beats the table", `[{"verdict":"allow","tool":["delete_path"]}]`, "delete_path", "src", "done", "policy[1]", run.Settings{}},
		{"a broad allow leaves the tool's question", `[{"verdict":"allow","access":["write"]}]`, "delete_path", "src", "asked", "tool-asks", run.Settings{}},
		{"nothing beats read-only", `[{"verdict":"allow","tool":["write_file"]}]`, "write_file", "src/a.go", "denied", "read-only-server", run.Settings{ReadOnly: true}},
		{"nothing beats protected paths", `[{"verdict":"allow","tool":["write_file"],"path":["**"]}]`, "write_file", ".git/config", "denied", "protected-path", run.Settings{}},
		{"but the setting", `[{"verdict":"allow","tool":["write_file"],"path":["**"]}]`, "write_file", ".git/config", "done", "policy[1]", run.Settings{AllowProtected: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var log lines
			set := tc.set
			set.Tools, set.Rules = kinds(), compiled(t, tc.rules)
			r := run.New(run.Config{Settings: set, Audit: &log})
			session := askable
			session.Workspace = ws
			args, err := json.Marshal(In{Path: tc.path})
			if err != nil {
				t.Fatal(err)
			}
			call := run.Call{Tool: tc.tool, Args: args, Session: session}
			out := r.Run(t.Context(), call)
			if got := ending(out); got != tc.want {
				t.Errorf("ended in %s, want %s (%v)", got, tc.want, out.Err)
			}
			if got := log.records(t); !strings.Contains(got[len(got)-1], " "+tc.by+" ") {
				t.Errorf("judged by %s, want %s", got, tc.by)
			}
			x, err := r.Explain(t.Context(), call)
			verdict := map[string]string{"done": "allow", "asked": "ask", "denied": "deny"}[tc.want]
			if err != nil || x.Verdict != verdict || x.Rule != tc.by {
				t.Errorf("explained as %s by %s (%v)", x.Verdict, x.Rule, err)
			}
			if text := x.String(); !strings.Contains(text, tc.by) || !strings.Contains(text, verdict) {
				t.Errorf("explained as %s", text)
			}
		})
	}
}

// What is followed is judged at each look as a call of the reading tool is; nobody can
// be asked.
func TestWatch(t *testing.T) {
	const deny = `[{"verdict":"deny","path":["secrets"]}]`
	for _, tc := range []struct{ rules, path, want string }{
		{`[]`, "secrets/key", ""},
		{deny, "src/a.go", ""},
		{deny, "secrets/key", "secrets/key: the configuration says deny (rule policy[1])"},
		{deny, "secrets/none", "secrets/none: the configuration says deny (rule policy[1])"},
		{deny, "link", "link: the configuration says deny (rule policy[1])"},
		{`[{"verdict":"deny","tool":["read_file"]}]`, "src/a.go", "the configuration says deny (rule policy[1])"},
		{`[{"verdict":"ask","path":["secrets"]}]`, "secrets/key", "secrets/key: needs the user's consent (rule policy[1]), which cannot be asked for each look"},
	} {
		r := run.New(run.Config{Settings: run.Settings{Tools: kinds()}})
		session := askable
		session.Workspace = ground(t)
		call := run.Call{Tool: "read_file", Args: json.RawMessage(`{"path":"` + tc.path + `"}`), Session: session}
		if _, err := r.Watch(call); err != nil {
			t.Errorf("%s without rules: %v", tc.path, err)
		}
		if err := r.Reconfigure(run.Settings{Tools: kinds(), Rules: compiled(t, tc.rules)}); err != nil {
			t.Fatal(err)
		}
		_, err := r.Watch(call)
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s under %s: %v", tc.path, tc.rules, err)
		case tc.want != "" && (tools.AsError(err) == nil || tools.AsError(err).Code != tools.Denied || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s under %s: %v, want %s", tc.path, tc.rules, err, tc.want)
		}
	}
}

func TestBadRules(t *testing.T) {
	for _, tc := range []struct {
		rule rules.Rule
		want []string
	}{
		{rules.Rule{}, []string{"policy[1]: verdict", "allow, ask, deny"}},
		{rules.Rule{Verdict: "denny"}, []string{"verdict", `"deny"`}},
		{rules.Rule{Name: "x", Verdict: "deny", Tool: []string{"red_file"}}, []string{"policy[1] (x): tool", `"read_file"`}},
		{rules.Rule{Verdict: "deny", Tool: []string{"zzz*"}}, []string{"tool", `"zzz*"`}},
		{rules.Rule{Verdict: "deny", Tool: []string{""}}, []string{"tool"}},
		{rules.Rule{Verdict: "deny", Toolset: []string{"run_tset"}}, []string{"toolset", "run_test"}},
		{rules.Rule{Verdict: "deny", Access: []string{"wirte"}}, []string{"access", "write"}},
		{rules.Rule{Verdict: "deny", Effect: []string{"destroy"}}, []string{"effect", "destroys"}},
		{rules.Rule{Verdict: "deny", Path: []string{"!x"}}, []string{"path", "negated"}},
		{rules.Rule{Verdict: "deny", Path: []string{"~/x"}}, []string{"path", "home directory"}},
		{rules.Rule{Verdict: "deny", Path: []string{"/"}}, []string{"path", "**"}},
		{rules.Rule{Verdict: "deny", Principal: []string{" "}}, []string{"principal"}},
		{rules.Rule{Verdict: "deny", Tool: []string{}}, []string{"tool: the list names nothing"}},
		{rules.Rule{Verdict: "deny", Toolset: []string{}}, []string{"toolset: the list names nothing"}},
		{rules.Rule{Verdict: "deny", Access: []string{}}, []string{"access: the list names nothing"}},
		{rules.Rule{Verdict: "deny", Effect: []string{}}, []string{"effect: the list names nothing"}},
		{rules.Rule{Verdict: "deny", Path: []string{}}, []string{"path: the list names nothing"}},
		{rules.Rule{Verdict: "deny", Principal: []string{}}, []string{"principal: the list names nothing"}},
	} {
		_, err := rules.New([]rules.Rule{tc.rule}, kinds())
		for _, want := range tc.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q", tc.rule, err, want)
			}
		}
	}
	twice := []rules.Rule{{Name: "a", Verdict: "deny"}, {Name: "a", Verdict: "allow"}}
	if _, err := rules.New(twice, kinds()); err == nil {
		t.Error("a name may be given twice")
	}
}

// The paths that a tool opens in addition to its arguments are judged too.
func TestFence(t *testing.T) {
	ws := ground(t)
	for _, tc := range []struct{ name, rules, path, opens, want string }{
		{"denied", `[{"verdict":"deny","path":["secrets"]}]`, "src", "secrets/key", "denied"},
		{"denied by a link", `[{"verdict":"deny","path":["secrets"]}]`, "src", "link", "denied"},
		{"open another path", `[{"verdict":"deny","path":["secrets"]}]`, "src", "src/a.go", "done"},
		{"asked about, not named", `[{"verdict":"ask","path":["secrets"]}]`, "src", "secrets/key", "denied"},
		{"asked about and named", `[{"verdict":"ask","path":["secrets"]}]`, "secrets", "secrets/key", "done"},
		{"asked about, and not named", `[{"verdict":"ask","path":["secrets","src"]}]`, "src", "secrets/key", "denied"},
		{"allowed in it", `[{"verdict":"deny","path":["secrets"]},{"verdict":"allow","path":["secrets/public"]}]`, "src", "secrets/public/x", "done"},
	} {
		opener := tool("read_file", tools.Read, tools.None, func(ctx context.Context, _ In) (Out, error) {
			p, err := tools.Resolve(ctx, tc.opens)
			if err != nil {
				return Out{}, err
			}
			f, err := p.Open()
			if err != nil {
				return Out{}, err
			}
			return Out{"done"}, f.Close()
		})
		r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{opener}, Rules: compiled(t, tc.rules)}})
		session := askable
		session.Workspace = ws
		call := run.Call{Tool: "read_file", Args: json.RawMessage(`{"path":"` + tc.path + `"}`), Session: session}
		out := r.Run(t.Context(), call)
		if out.Ask != nil {
			call.Reply = &run.Reply{State: out.Ask.State, Answers: map[string]tools.Answer{"consent": {Action: tools.Accept, Values: map[string]json.RawMessage{"allow": json.RawMessage(`"once"`)}}}}
			out = r.Run(t.Context(), call)
		}
		if got := ending(out); got != tc.want {
			t.Errorf("%s: ended in %s, want %s (%v)", tc.name, got, tc.want, out.Err)
		}
	}
}

// Who denies a tool denies the resources that are read in its place.
func TestRulesForWhatDoesTheSame(t *testing.T) {
	resource := tool("file_resource", tools.Read, tools.None, say("read"), func(d *tools.Def[In, Out]) { d.SameAs = "read_file" })
	other := tool("manual_resource", tools.Read, tools.None, say("read"))
	for rule, want := range map[string]string{
		`{"verdict":"deny","tool":["read_file"]}`: "denied",
		`{"verdict":"deny","tool":["read_*"]}`:    "denied",
		`{"verdict":"deny","tool":["fetch"]}`:     "read",
	} {
		r := run.New(run.Config{Settings: run.Settings{Tools: kinds(), Rules: compiled(t, "["+rule+"]")}})
		if got := ending(r.Run(t.Context(), run.Call{Read: &resource, Args: empty, Session: local})); got != want {
			t.Errorf("%s: ended in %s, want %s", rule, got, want)
		}
		if _, ok := r.View(local, &resource); ok != (want == "read") {
			t.Errorf("%s: shown: %t", rule, ok)
		}
		if got := ending(r.Run(t.Context(), run.Call{Read: &other, Args: empty, Session: local})); got != "read" {
			t.Errorf("%s: the manual ended in %s", rule, got)
		}
	}
}
