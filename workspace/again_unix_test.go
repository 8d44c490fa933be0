//go:build unix

package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// put writes a file by its absolute name.
func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCurrent removes a root, or moves it away, and makes it again: it is taken again, or
// refused with a hint. The root is above/root.
func TestCurrent(t *testing.T) {
	for name, c := range map[string]struct {
		roots []string // nil = above/root alone
		make  func(t *testing.T, root string)
		taken bool
	}{
		"the same":              {taken: true},
		"not again":             {make: func(*testing.T, string) {}},
		"a file":                {make: func(t *testing.T, root string) { put(t, root, "new") }},
		"another root":          {roots: []string{"above/root", "other"}, taken: true},
		"its parent is a root":  {roots: []string{"above/root", "above"}},
		"below a root":          {roots: []string{"above/root", "."}},
		"by a link of the user": {roots: []string{"link"}, taken: true},
		"that link leads elsewhere": {roots: []string{"link"}, make: func(t *testing.T, root string) {
			if err := os.Mkdir(root, 0o700); err != nil {
				t.Fatal(err)
			}
			link := filepath.Join(filepath.Dir(root), "../link")
			if err := os.Remove(link); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("other", link); err != nil {
				t.Fatal(err)
			}
		}},
		"a link": {make: func(t *testing.T, root string) {
			if err := os.Symlink("../other", root); err != nil {
				t.Fatal(err)
			}
		}},
		"a link above": {make: func(t *testing.T, root string) {
			above := filepath.Dir(root)
			if err := os.Rename(above, above+"2"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("above2", above); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(root, 0o700); err != nil {
				t.Fatal(err)
			}
		}},
		"another owner": {make: func(t *testing.T, root string) {
			if err := os.Mkdir(root, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(root, 4321, -1); err != nil {
				t.Skip("needs: root: " + err.Error())
			}
		}},
	} {
		for _, moved := range []bool{false, true} {
			how := map[bool]string{false: ", removed", true: ", moved"}[moved]
			t.Run(name+how, func(t *testing.T) {
				backends(t, func(t *testing.T, opt workspace.Options) {
					base, err := filepath.EvalSymlinks(t.TempDir())
					if err != nil {
						t.Fatal(err)
					}
					at := func(name string) string { return filepath.Join(base, name) }
					for _, dir := range []string{"above/root", "other"} {
						if err := os.MkdirAll(at(dir), 0o700); err != nil {
							t.Fatal(err)
						}
					}
					if err := os.Symlink("above/root", at("link")); err != nil {
						t.Fatal(err)
					}
					put(t, at("above/root/f"), "old")
					roots := []string{at("above/root")}
					if c.roots != nil {
						roots = nil
						for _, name := range c.roots {
							roots = append(roots, at(name))
						}
					}
					ws, err := workspace.Open(roots, opt)
					if err != nil {
						t.Fatal(err)
					}
					defer ws.Close()
					if ws.Current() != ws {
						t.Error("a workspace whose roots are there is another one")
					}
					if moved {
						err = os.Rename(at("above/root"), at("old"))
					} else {
						err = os.RemoveAll(at("above/root"))
					}
					if err != nil {
						t.Fatal(err)
					}
					if ws.Current() != ws {
						t.Error("a root is taken that is not there")
					}
					if c.make != nil {
						c.make(t, at("above/root"))
					} else if err := os.Mkdir(at("above/root"), 0o700); err != nil {
						t.Fatal(err)
					}
					now := ws.Current()
					if taken := now != ws; taken != c.taken {
						t.Fatalf("taken again: %t, want %t", taken, c.taken)
					}
					p, err := now.Resolve("f")
					if err != nil {
						t.Fatal(err)
					}
					if !c.taken {
						if e, ok := p.CheckRoot().(*workspace.Error); !ok || e.Rule != workspace.RuleNotFound || !strings.Contains(e.Hint, "make it again") {
							t.Errorf("refused with %#v", e)
						}
						return
					}
					put(t, at("above/root/f"), "new")
					if text, err := read(now, "f"); text != "new" {
						t.Errorf("the new root has %q, %v", text, err)
					}
					if moved {
						if text, err := read(ws, "f"); text != "old" {
							t.Errorf("what has begun reads %q, %v", text, err)
						}
					}
					if again := ws.Current(); again != now {
						t.Error("a root that is there is taken again")
					}
					if now.Identity() == ws.Identity() {
						t.Error("both directories have the same identity")
					}
					if got, want := now.Roots(), ws.Roots(); strings.Join(got, " ") != strings.Join(want, " ") {
						t.Errorf("roots %q, want %q", got, want)
					}
				})
			})
		}
	}
}

// TestCurrentHistory changes a file before and after its root was made again: the history of
// the path has both.
func TestCurrentHistory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.Open([]string{dir}, workspace.Options{StateBase: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	write := func(ws *workspace.Workspace, text string) {
		t.Helper()
		p, err := ws.Resolve("f")
		if err != nil {
			t.Fatal(err)
		}
		op := workspace.Op{Kind: workspace.OpWrite, Path: p, New: func(workspace.Old) ([]byte, error) { return []byte(text), nil }}
		if _, err := ws.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{op}}); err != nil {
			t.Fatal(err)
		}
	}
	write(ws, "old")
	again(t, dir)
	now := ws.Current()
	write(now, "new")
	if text, err := os.ReadFile(filepath.Join(dir, "f")); string(text) != "new" {
		t.Errorf("the file has %q, %v", text, err)
	}
	p, err := now.Resolve("f")
	if err != nil {
		t.Fatal(err)
	}
	if _, total, err := now.History(t.Context(), workspace.HistoryQuery{Path: p}); err != nil || total != 2 {
		t.Errorf("%d changes, %v, want 2", total, err)
	}
}

// again removes a directory and makes it again.
func again(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestCurrentIndex has an index of a root that is made again: it knows nothing of the new one,
// whose generations are later ones.
func TestCurrentIndex(t *testing.T) {
	for _, moved := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "root")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, "f"), "old")
		ws, err := workspace.Open([]string{dir}, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer ws.Close()
		index := func(ws *workspace.Workspace) (*fileindex.Index, workspace.Path) {
			t.Helper()
			p, err := ws.Resolve(".")
			if err != nil {
				t.Fatal(err)
			}
			x, err := fileindex.New(t.Context(), p, fileindex.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return x, p
		}
		old, _ := index(ws)
		defer old.Close()
		before, exact := ws.Generation(t.Context())
		if !exact {
			t.Skip("needs: inotify: the system reports no changes")
		}
		if moved {
			if err := os.Rename(dir, dir+"2"); err != nil {
				t.Fatal(err)
			}
		}
		again(t, dir)
		now := ws.Current()
		if n, exact := now.Generation(t.Context()); exact {
			t.Errorf("moved %t: the new root has the generation %d of the old one", moved, n)
		}
		x, p := index(now)
		defer x.Close()
		if old.Knows(p) {
			t.Errorf("moved %t: the index of the old root knows the new one", moved)
		}
		if _, err := old.Sync(t.Context()); err == nil {
			t.Errorf("moved %t: the index of the old root goes on", moved)
		}
		if after, exact := now.Generation(t.Context()); !exact || after <= before {
			t.Errorf("moved %t: generation %d, %t after %d", moved, after, exact, before)
		}
	}
}

// TestCurrentConcurrent asks while the root is made again and again: every answer is of a
// directory that was there.
func TestCurrentConcurrent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.Open([]string{dir}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	done := make(chan struct{})
	var users sync.WaitGroup
	for range 4 {
		users.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if text, err := read(ws.Current(), "f"); err == nil && text != "new" && text != "" {
					t.Errorf("read %q", text)
				}
			}
		})
	}
	for range 50 {
		again(t, dir)
		put(t, filepath.Join(dir, "f"), "new")
		if text, err := read(ws.Current(), "f"); text != "new" {
			t.Errorf("after it was made: %q, %v", text, err)
		}
	}
	close(done)
	users.Wait()
}
