package workspace_test

import (
	"testing"

	"toolcrib/workspace"
)

// TestProtectedRoot judges paths by the root that they are below.
func TestProtectedRoot(t *testing.T) {
	tr := newTree(t)
	for _, dir := range []string{"ws/.git/hooks", "ws/.GIT/info", "ws/.claude/worktrees/x/.claude", "ws/.codex"} {
		tr.write(t, dir+"/f", "")
	}
	for _, tc := range []struct {
		root, narrow, path string
		want               bool
	}{
		{root: "ws", path: "f"},
		{root: "ws", path: ".git/hooks/f", want: true},
		{root: "ws", path: ".claude/settings.json", want: true},
		{root: "ws/.git", path: "hooks/f", want: true},
		{root: "ws/.git", path: "config", want: true},
		{root: "ws/.git", path: "index", want: true},
		{root: "ws/.git/hooks", path: "f", want: true},
		{root: "ws/.GIT", path: "hooks/f", want: true},
		{root: "ws/.GIT/info", path: "attributes", want: true},
		{root: "ws/.GIT/info", path: "exclude", want: true},
		{root: "ws/.claude/worktrees/x", path: "main.go"},
		{root: "ws/.claude/worktrees/x", path: ".claude/settings.json", want: true},
		{root: "ws/.codex", path: "config.toml"},
		{root: "ws", narrow: ".codex", path: "config.toml", want: true},
		{root: "ws", narrow: ".git/hooks", path: "f", want: true},
		{root: "ws", narrow: "sub", path: "f"},
	} {
		w := tr.open(t, workspace.Options{}, tc.root)
		if tc.narrow != "" {
			v, err := w.Narrow([]string{tc.narrow})
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			w = v
		}
		if got := workspace.Protects(w, 0, tc.path, false); got != tc.want {
			t.Errorf("%+v: protected %t", tc, got)
		}
	}
}
