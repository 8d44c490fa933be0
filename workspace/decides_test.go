package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/workspace"
)

// TestProtectedByContent judges paths by what lies around them.
func TestProtectedByContent(t *testing.T) {
	tr := newTree(t)
	bare := func(dir string) {
		tr.write(t, dir+"/HEAD", "ref: refs/heads/main\n")
		tr.write(t, dir+"/config", "[core]\n\thooksPath = myhooks\n")
		tr.write(t, dir+"/hooks/update.sample", "")
		tr.write(t, dir+"/objects/info/x", "")
		tr.write(t, dir+"/refs/heads/x", "")
	}
	bare("ws/store/b.git")
	bare("bare.git")
	tr.write(t, "ws/fake/HEAD", "nothing that git takes\n")
	tr.write(t, "ws/fake/objects/x", "")
	tr.write(t, "ws/fake/refs/x", "")
	tr.write(t, "ws/.git/config", "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../conf/git.inc\n")
	tr.write(t, "ws/conf/git.inc", "[core]\n\thooksPath = more\n")
	tr.write(t, "ws/sub/.git/config", "[core]\n\thooksPath = "+filepath.Join(tr.base, "ws/sub/abs")+"\n")
	tr.write(t, "ws/circle/.git/config", "[include]\n"+strings.Repeat("path = config\n", 1000))
	tr.write(t, "ws/agents/settings.json", "{}")
	for link, to := range map[string]string{"ws/.claude": "agents", "ws/.mcp.json": "conf/mcp.json", "ws/.cursor": filepath.Join(tr.base, "elsewhere")} {
		if err := os.Symlink(to, filepath.Join(tr.base, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		root, path string
		file, dir  bool
	}{
		{"ws", "store/b.git/config", true, true}, {"ws", "store/b.git/hooks/update", true, true}, {"ws", "store/b.git/myhooks/update", true, true},
		{"ws", "store/b.git/modules/x/config", true, true}, {"ws", "store/b.git/modules", false, true},
		{"ws", "store/b.git/HEAD", false, false}, {"ws", "store/b.git/description", false, false}, {"ws", "store", false, false},
		{"ws", "fake/config", false, false}, {"ws", "fake/hooks/x", false, false},
		{"ws", "tools/hooks/pre-commit", true, true}, {"ws", "tools/hooks", true, true}, {"ws", "tools", false, true}, {"ws", "tools/other", false, false},
		{"ws", "conf/git.inc", true, true}, {"ws", "more/pre-push", true, true}, {"ws", "conf/other", false, false},
		{"ws", "sub/abs/pre-commit", true, true}, {"ws", "sub/tools/hooks/x", false, false},
		{"ws", "circle/f", false, false},
		{"ws", "agents/settings.json", true, true}, {"ws", "conf/mcp.json", true, true}, {"ws", "agents", true, true},
		{"bare.git", "config", true, true}, {"bare.git", "hooks/update", true, true}, {"bare.git", "myhooks/x", true, true}, {"bare.git", "description", false, false},
		{"bare.git/hooks", "update", true, true}, {"bare.git/objects", "info/x", false, false},
	} {
		w := tr.open(t, workspace.Options{}, tc.root)
		if got := [2]bool{workspace.Protects(w, 0, tc.path, false), workspace.Protects(w, 0, tc.path, true)}; got != [2]bool{tc.file, tc.dir} {
			t.Errorf("%s, %s: %v, want %t and %t", tc.root, tc.path, got, tc.file, tc.dir)
		}
	}
}
