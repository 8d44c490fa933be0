package deny_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"toolcrib/workspace"
)

// tree is a directory in which the roots "ws" and "two" exist. Texts name it "{base}".
type tree struct{ base string }

func newTree(t *testing.T) tree {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tr := tree{base}
	tr.write(t, "ws/f")
	tr.write(t, "two/f")
	return tr
}

func (tr tree) expand(text string) string {
	return strings.ReplaceAll(text, "{base}", filepath.ToSlash(tr.base))
}

func (tr tree) write(t *testing.T, name string) {
	t.Helper()
	name = filepath.Join(tr.base, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (tr tree) link(t *testing.T, name, target string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(tr.base, name)); err != nil {
		if runtime.GOOS == "windows" {
			t.Skip("needs: the right to make symlinks")
		}
		t.Fatal(err)
	}
}

func (tr tree) open(t *testing.T, opt workspace.Options, roots ...string) *workspace.Workspace {
	t.Helper()
	for i := range roots {
		roots[i] = filepath.Join(tr.base, roots[i])
	}
	w, err := workspace.Open(roots, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}
