package fileindex_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"toolcrib/workspace"
)

const secret = "SECRET"

// tree is what the tests run on: base/ws and base/two are the roots, everything
// else below base is outside and holds secrets.
type tree struct{ base string }

func newTree(t testing.TB) tree {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tr := tree{base}
	for name, text := range map[string]string{
		"ws/f":             "inside",
		"ws/sub/deep/g":    "deep",
		"ws/~":             "tilde",
		"ws/..foo":         "dots",
		"ws/caf\u00e9":     "nfc",
		"ws/a b\tc":        "blank",
		"ws/nested/h":      "nested",
		"two/f":            "two",
		"out/secret":       secret,
		"ws-evil/secret":   secret,
		"ws/%2e%2e/secret": "percent",
	} {
		tr.write(t, name, text)
	}
	return tr
}

func (tr tree) path(name string) string { return filepath.Join(tr.base, filepath.FromSlash(name)) }

// expand puts the base in the place of "{base}".
func (tr tree) expand(text string) string {
	return strings.ReplaceAll(text, "{base}", filepath.ToSlash(tr.base))
}

func (tr tree) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(tr.path(name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tr.path(name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (tr tree) link(t testing.TB, name, target string) {
	t.Helper()
	if err := os.Symlink(tr.expand(target), tr.path(name)); err != nil {
		if runtime.GOOS == "windows" {
			t.Skip("needs: the right to make symlinks")
		}
		t.Fatal(err)
	}
}

func (tr tree) open(t testing.TB, opt workspace.Options, roots ...string) *workspace.Workspace {
	t.Helper()
	for i := range roots {
		roots[i] = tr.path(roots[i])
	}
	w, err := workspace.Open(roots, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// backends runs a test with the kernel's containment and with os.Root's.
func backends(t *testing.T, test func(t *testing.T, opt workspace.Options)) {
	t.Helper()
	for _, portable := range []bool{false, true} {
		name := "kernel"
		if portable {
			name = "portable"
		}
		t.Run(name, func(t *testing.T) { test(t, workspace.Options{Portable: portable}) })
	}
}

// read opens and reads text through w.
func read(w *workspace.Workspace, text string) (string, error) {
	p, err := w.Resolve(text)
	if err != nil {
		return "", err
	}
	f, err := p.Open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	return string(data), err
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
