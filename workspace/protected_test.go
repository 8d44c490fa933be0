package workspace_test

import (
	"testing"

	"toolcrib/workspace"
)

func TestProtected(t *testing.T) {
	for _, tc := range []struct {
		path      string
		file, dir bool // protected as the path of a file, of what may be a directory
	}{
		{".git/hooks/pre-commit", true, true},
		{".git/config", true, true},
		{"/home/u/repo/.git/config", true, true},
		{"a/b/../.git/x/../config", true, true},
		{".GIT/Hooks/x", true, true},
		{`.git\hooks\x`, true, true},
		{".git./hooks ./x", true, true},
		{".git::$INDEX_ALLOCATION/config", true, true},
		{"GIT~1/config", true, true},
		{".g\u200cit/config", true, true},
		{".g\ufeffit/config", true, true},
		{".mcp.\uff4ason", false, false}, // a full-width letter is another letter
		{".\u212alaude/x", false, false},
		{".vscode/tas\u212as.json", true, true}, // the Kelvin sign folds to k
		{".v\u017fcode/mcp.json", true, true},   // the long s folds to s
		{".git", true, true},
		{".vscode", false, true},
		{".vscode/mcp.json", true, true},
		{".vscode/launch.json", false, false},
		{".claude/settings.json", true, true},
		{".cursor/rules/x.mdc", true, true},
		{".mcp.json", true, true},
		{".gitignore", false, false},
		{".github/workflows/ci.yml", false, false},
		{"git/config", false, false},
		{".git/index", true, true},
		{".git/commondir", true, true},
		{"docs/claude.md", false, false},
		{"", false, false},
	} {
		if got := workspace.Protected(tc.path, false); got != tc.file {
			t.Errorf("file %q: protected %t, want %t", tc.path, got, tc.file)
		}
		if got := workspace.Protected(tc.path, true); got != tc.dir {
			t.Errorf("directory %q: protected %t, want %t", tc.path, got, tc.dir)
		}
	}
}

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
