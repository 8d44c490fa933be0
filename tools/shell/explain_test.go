package shell_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"toolcrib/server/rules"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/tools/shell"
	"toolcrib/workspace"
)

// explainCall says what would become of a call.
func explainCall(t *testing.T, d shell.Deps, policy, tool string, in any) run.Explanation {
	t.Helper()
	return explainIn(t, treeOf(t), shell.Tools(d), policy, tool, in)
}

// explainIn says what would become of a call of one of the tools.
func explainIn(t *testing.T, ws *workspace.Workspace, all []tools.Tool, policy, tool string, in any) run.Explanation {
	t.Helper()
	var list []rules.Rule
	if err := json.Unmarshal([]byte(policy), &list); err != nil {
		t.Fatal(err)
	}
	rules, err := rules.New(list, all)
	if err != nil {
		t.Fatal(err)
	}
	args, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	r := run.New(run.Config{Settings: run.Settings{Tools: all, Rules: rules}})
	session := tools.SessionInfo{Principal: tools.Local, Client: tools.Client{Name: "test", Forms: true}, Workspace: ws}
	x, err := r.Explain(t.Context(), run.Call{Tool: tool, Args: args, Session: session})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// explains says what would become of a call now.
func (s server) explains(policy, tool string, in any) string {
	s.t.Helper()
	x := explainIn(s.t, s.ws, s.all, policy, tool, in)
	return x.Verdict + " by " + x.Rule
}

// treeOf makes a workspace that has what the lines name.
func treeOf(t testing.TB) *workspace.Workspace {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"secrets/key", "src/a.go", "sub/x", "x"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("secrets/key", filepath.Join(dir, "link")); err != nil {
		t.Skipf("needs: the right to make symlinks: %v", err)
	}
	ws, err := workspace.Open([]string{dir}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}
