package workspace_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"toolcrib/workspace"
)

const secret = "SECRET"

// tree is the directory of a test: base/ws and base/two are the roots, everything
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

// ruleOf is the rule of a refusal, "" for none; any other error fails the test.
func ruleOf(t testing.TB, err error) workspace.Rule {
	t.Helper()
	if err == nil {
		return ""
	}
	e, ok := errors.AsType[*workspace.Error](err)
	if !ok {
		t.Fatalf("error of another type: %T %v", err, err)
	}
	if e.Msg == "" || strings.Contains(e.Msg+e.Hint, secret) {
		t.Errorf("message %q, hint %q", e.Msg, e.Hint)
	}
	return e.Rule
}

func TestBackend(t *testing.T) {
	tr := newTree(t)
	if got := tr.open(t, workspace.Options{Portable: true}, "ws").Backend(); got != "os.Root" {
		t.Errorf("portable: %s", got)
	}
	got := tr.open(t, workspace.Options{}, "ws").Backend()
	if runtime.GOOS == "linux" && got != "openat2" {
		t.Skip("needs: openat2: the kernel or a filter refuses it")
	}
	if runtime.GOOS != "linux" && got != "os.Root" {
		t.Errorf("%s: %s", runtime.GOOS, got)
	}
}

func TestOpenRefusesRoots(t *testing.T) {
	tr := newTree(t)
	for _, tt := range []struct {
		roots []string
		want  workspace.Rule
	}{
		{nil, workspace.RuleInvalid},
		{[]string{""}, workspace.RuleInvalid},
		{[]string{tr.path("ws"), "a\x00b"}, workspace.RuleInvalid},
		{[]string{tr.path("missing")}, workspace.RuleNotFound},
		{[]string{tr.path("ws/f")}, workspace.RuleKind},
	} {
		w, err := workspace.Open(tt.roots, workspace.Options{})
		if got := ruleOf(t, err); got != tt.want {
			t.Errorf("Open(%q) = %v, rule %q; want %q", tt.roots, w, got, tt.want)
		}
	}
}

func TestSeveralRoots(t *testing.T) {
	tr := newTree(t)
	tr.link(t, "alias", "ws")
	tr.link(t, "ws/to_two", "{base}/two/f")
	tr.link(t, "two/to_ws", "../ws/f")
	backends(t, func(t *testing.T, opt workspace.Options) {
		w := tr.open(t, opt, "alias", "two", "ws/nested")
		for text, want := range map[string]string{
			"f":                     "inside",
			"{base}/two/f":          "two",
			"{base}/ws/f":           "inside", // the canonical name
			"{base}/alias/f":        "inside", // the configured one
			"../two/f":              "two",
			"to_two":                "two",
			"{base}/two/to_ws":      "inside",
			"{base}/alias/nested/h": "nested",
			"nested/h":              "nested",
		} {
			text = tr.expand(text)
			got, err := read(w, text)
			if got != want || err != nil {
				t.Errorf("%s = %q, %v; want %q", text, got, err, want)
			}
			p, err := w.Resolve(text)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := read(w, p.String()); again != want {
				t.Errorf("%s is printed as %s, which reads %q, %v", text, p, again, err)
			}
		}
		if p, _ := w.Resolve(tr.path("two/f")); p.String() != tr.path("two/f") {
			t.Errorf("a path under the second root is printed as %q", p)
		}
		if p, _ := w.Resolve(tr.path("ws/sub")); p.String() != "sub" || p.Host() != tr.path("alias/sub") {
			t.Errorf("a path under the first root is printed as %q, host %q", p, p.Host())
		}
	})
}

func TestMovedRoot(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs: a system that moves open directories")
	}
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newTree(t)
		w := tr.open(t, opt, "ws")
		if err := os.Rename(tr.path("ws"), tr.path("moved")); err != nil {
			t.Fatal(err)
		}
		tr.write(t, "ws/f", secret)
		if got, err := read(w, "f"); got != "inside" || err != nil {
			t.Errorf("after the move: %q, %v", got, err)
		}
		if got, err := read(w, tr.path("ws/f")); got != "inside" || err != nil {
			t.Errorf("by the old name: %q, %v", got, err)
		}
	})
}

func TestWideRoots(t *testing.T) {
	tr := newTree(t)
	backends(t, func(t *testing.T, opt workspace.Options) {
		top := filepath.VolumeName(tr.base) + string(filepath.Separator)
		w, err := workspace.Open([]string{top, tr.path("ws")}, opt)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		p, err := w.Resolve(tr.path("two/f"))
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.ToSlash(tr.path("two/f")[len(top):]); p.String() != want {
			t.Errorf("printed as %q, want %q", p, want)
		}
		if got, err := read(w, p.String()); got != "two" {
			t.Errorf("%s = %q, %v", p, got, err)
		}
	})
}

func TestClosed(t *testing.T) {
	tr := newTree(t)
	backends(t, func(t *testing.T, opt workspace.Options) {
		w := tr.open(t, opt, "ws")
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := read(w, "f"); ruleOf(t, err) != workspace.RuleIO {
			t.Errorf("after Close: %v", err)
		}
		if _, err := (workspace.Path{}).Open(); ruleOf(t, err) != workspace.RuleInvalid {
			t.Errorf("the zero Path: %v", err)
		}
	})
}

func TestStateOfWorkspace(t *testing.T) {
	tr := newTree(t)
	w := tr.open(t, workspace.Options{}, "ws")
	if _, err := w.State(); ruleOf(t, err) != workspace.RuleIO {
		t.Errorf("without a base: %v", err)
	}
	w = tr.open(t, workspace.Options{StateBase: tr.path("state")}, "ws")
	d, err := w.State()
	if err != nil {
		t.Fatal(err)
	}
	v, err := w.Narrow([]string{"sub"})
	if err != nil {
		t.Fatal(err)
	}
	if of, err := v.State(); of != d {
		t.Errorf("the view has a state of its own: %v", err)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Key(t.Context(), "k"); err != nil {
		t.Errorf("after the view was closed: %v", err)
	}
}

func TestWithin(t *testing.T) {
	for _, tt := range []struct {
		dir, path string
		want      bool
	}{
		{"/a", "/a", true},
		{"/a", "/a/b/c", true},
		{"/a/", "/a/b/", true},
		{"/", "/a", true},
		{"/", "/", true},
		{"/a", "/a/../a/b", true},
		{"/a", "/a/..b", true},

		{"/a", "/", false},
		{"/a/b", "/a", false},
		{"/a", "/ab", false},
		{"/a", "/a/../b", false},
	} {
		if got := workspace.Within(tt.dir, tt.path); got != tt.want {
			t.Errorf("%s in %s: %t", tt.path, tt.dir, got)
		}
	}
}
