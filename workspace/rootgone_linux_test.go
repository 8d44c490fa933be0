package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/workspace"
)

// A server that outlives its root says so, also where a directory of the same name was
// made since, as a fresh clone makes one.
func TestRootRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.Open([]string{dir}, workspace.Options{StateBase: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	said := func(when string, want ...string) {
		t.Helper()
		for _, name := range []string{".", "a", "a/b"} {
			p, err := ws.Resolve(name)
			if err != nil {
				t.Fatal(err)
			}
			_, list := p.ReadDir()
			_, open := p.Open()
			for what, err := range map[string]error{"list": list, "open": open} {
				for _, part := range want {
					if name == "." && what == "open" {
						continue // it is a directory in any case
					}
					if err == nil || !strings.Contains(err.Error(), part) {
						t.Errorf("%s: %s %s: %v, want %q", when, what, name, err, part)
					}
				}
			}
		}
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	said("removed", "the root "+dir+" has been removed")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	said("made again", "the root "+dir+" has been removed, and another directory has its name now")
}

// A root that is not at its name any more is refused, and so is one whose name is that of
// another directory; where it comes back it is served again.
func TestRootAway(t *testing.T) {
	for _, portable := range []bool{false, true} {
		parent := t.TempDir()
		at := func(name string) string { return filepath.Join(parent, name) }
		for _, name := range []string{"root/sub", "other/sub"} {
			if err := os.MkdirAll(at(name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("root", at("link")); err != nil {
			t.Fatal(err)
		}
		ws, err := workspace.Open([]string{at("link")}, workspace.Options{StateBase: t.TempDir(), Portable: portable})
		if err != nil {
			t.Fatal(err)
		}
		defer ws.Close()
		view, err := ws.Narrow([]string{at("link/sub")})
		if err != nil {
			t.Fatal(err)
		}
		defer view.Close()
		said := func(when, want string, ws *workspace.Workspace, name string) {
			t.Helper()
			p, err := ws.Resolve(name)
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			if err := p.CheckRoot(); err != nil {
				text = err.Error()
			}
			if text != want {
				t.Errorf("portable %t, %s: %q, want %q", portable, when, text, want)
			}
		}
		move := func(from, to string) {
			t.Helper()
			if err := os.Rename(at(from), at(to)); err != nil {
				t.Fatal(err)
			}
		}
		said("at the start", "", ws, "a")
		move("root", "gone")
		said("moved", "the root "+at("link")+" has been moved away", ws, "a")
		said("moved, a view", "the root "+at("link/sub")+" has been moved away", view, "sub/a")
		inGone, err := ws.Resolve("new")
		if err != nil {
			t.Fatal(err)
		}
		_, err = ws.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{{Kind: workspace.OpDirectory, Path: inGone}}})
		if err == nil || !strings.Contains(err.Error(), "has been moved away") {
			t.Errorf("portable %t: a change of what has been moved: %v", portable, err)
		}
		if _, err := os.Stat(at("gone/new")); err == nil {
			t.Errorf("portable %t: a directory was made in what has been moved", portable)
		}
		move("other", "root")
		said("another", "the root "+at("link")+" is another directory now than when the server was started", ws, "a")
		said("another, a view", "the root "+at("link/sub")+" is another directory now than when the server was started", view, "sub/a")
		move("root", "other")
		move("gone", "root")
		said("back", "", ws, "a")
		move("root/sub", "root/sub2")
		said("a view whose directory was moved", "the root "+at("link/sub")+" has been moved away", view, "sub/a")
		said("the same, of the whole", "", ws, "sub/a")
	}
}
