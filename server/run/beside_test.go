package run_test

import (
	"context"
	"strings"
	"testing"

	"toolcrib/server/run"
	"toolcrib/tools"
)

// TestBeside tells from which places the programs of a tool are kept.
func TestBeside(t *testing.T) {
	places := func(ctx context.Context, _ In) (Out, error) {
		closed, err := tools.Session(ctx).Workspace.DeniedPaths(ctx)
		if err != nil {
			return Out{}, err
		}
		var names []string
		for _, c := range closed {
			name := c.Rel + " by " + c.Rule
			if c.Readable {
				name = "=" + name
			}
			names = append(names, name)
		}
		return Out{strings.Join(names, ", ")}, nil
	}
	ws := ground(t)
	for _, tc := range []struct{ rules, tool, want string }{
		{`[]`, "run_command", ""},
		{`[{"verdict":"deny","path":["secrets/**"]}]`, "run_command", "secrets by policy[1]"},
		{`[{"verdict":"deny","path":["secrets/**"]}]`, "read_file", ""},
		{`[{"verdict":"deny","access":["read"],"path":["secrets"]}]`, "run_command", "secrets by policy[1]"},
		{`[{"verdict":"deny","access":["write"],"path":["src"]}]`, "run_command", "=src by policy[1]"},
		{`[{"verdict":"deny","access":["exec"],"path":["src"]}]`, "run_command", "src by policy[1]"},
		{`[{"verdict":"deny","tool":["read_file"],"path":["src"]}]`, "run_command", ""},
		{`[{"verdict":"ask","path":["src"]}]`, "run_command", ""},
		{`[{"verdict":"deny","path":["**/key"]}]`, "run_command", "secrets/key by policy[1]"},
		{`[{"verdict":"deny","path":["secrets"]},{"verdict":"allow","path":["secrets/public"]}]`, "run_command", "secrets/key by policy[1]"},
		{`[{"verdict":"deny","path":["secrets"]},{"verdict":"allow","tool":["run_command"]}]`, "run_command", "secrets by policy[1]"},
		{`[{"verdict":"deny","path":["secrets"]},{"verdict":"allow","tool":["run_command"],"path":["secrets"]}]`, "run_command", ""},
		{`[{"verdict":"deny","access":["read"],"path":["src/a.go"]},{"verdict":"allow","path":["src"]}]`, "run_command", "src/a.go by policy[1]"},
		{`[{"verdict":"deny","access":["exec"]},{"verdict":"allow","tool":["run_command"]}]`, "run_command", ""},
		{`[{"verdict":"deny","path":["secrets"],"principal":["somebody"]}]`, "run_command", ""},
		{`[{"verdict":"deny","path":["secrets"],"principal":["local"]}]`, "run_command", "secrets by policy[1]"},
	} {
		all := []tools.Tool{
			tool("read_file", tools.Read, tools.None, places),
			tool("run_command", tools.Exec, tools.Process|tools.Workspace, places),
		}
		session := local
		session.Workspace = ws
		r := run.New(run.Config{Settings: run.Settings{Tools: all, Rules: compiled(t, tc.rules)}})
		got := ending(r.Run(t.Context(), run.Call{Tool: tc.tool, Args: []byte(`{}`), Session: session}))
		if got != tc.want {
			t.Errorf("%s: %s is kept from %q, want %q", tc.rules, tc.tool, got, tc.want)
		}
	}
}
