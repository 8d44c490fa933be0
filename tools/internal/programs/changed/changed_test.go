package changed_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/internal/programs/changed"
	"toolcrib/workspace"
	"toolcrib/workspace/recorder"
)

// tree is a workspace of one root, with what can be done to it.
type tree struct {
	t   *testing.T
	dir string
	ws  *workspace.Workspace
}

func newTree(t *testing.T, files ...string) tree {
	t.Helper()
	f := tree{t: t, dir: t.TempDir()}
	for _, name := range files {
		f.write(name, "as it was\n")
		hour := time.Now().Add(-time.Hour) // clocks of files are coarse
		f.check(os.Chtimes(f.path(name), hour, hour))
	}
	f.ws = open(t, f.dir)
	return f
}

func open(t *testing.T, roots ...string) *workspace.Workspace {
	t.Helper()
	ws, err := workspace.Open(roots, workspace.Options{StateBase: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

func (f tree) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f tree) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

func (f tree) write(name, text string) {
	f.t.Helper()
	f.check(os.MkdirAll(filepath.Dir(f.path(name)), 0o755))
	f.check(os.WriteFile(f.path(name), []byte(text), 0o644))
}

func (f tree) remove(name string)     { f.t.Helper(); f.check(os.RemoveAll(f.path(name))) }
func (f tree) rename(from, to string) { f.t.Helper(); f.check(os.Rename(f.path(from), f.path(to))) }

const others = "others may have changed: the workspace is too large to look at all"

func TestChanges(t *testing.T) {
	for _, c := range []struct {
		name   string
		files  []string
		change func(f tree)
		want   string
	}{
		{"nothing", []string{"a", "b/c"}, func(tree) {}, ""},
		{"only read", []string{"a"}, func(f tree) {
			_, err := os.ReadFile(f.path("a"))
			f.check(err)
		}, ""},
		{"created", []string{"a"}, func(f tree) { f.write("b", "x"); f.write("new/deep/c", "x") }, "files: created b, new/deep/c (not in the history of restore_file)"},
		{"an empty directory is no file", nil, func(f tree) { f.check(os.Mkdir(f.path("d"), 0o755)) }, ""},
		{"written to", []string{"a", "b"}, func(f tree) { f.write("a", "longer than it was\n") }, "files: changed a (not in the history of restore_file)"},
		{"of the same size", []string{"a", "b"}, func(f tree) { f.write("b", "as it IS.\n") }, "files: changed b (not in the history of restore_file)"},
		{"replaced by another of its age", []string{"a"}, func(f tree) {
			info, err := os.Stat(f.path("a"))
			f.check(err)
			f.write("temp", "as it IS.\n")
			f.check(os.Chtimes(f.path("temp"), info.ModTime(), info.ModTime()))
			f.rename("temp", "a")
		}, "files: changed a (not in the history of restore_file)"},
		{"made older", []string{"a"}, func(f tree) { f.check(os.Chtimes(f.path("a"), time.Unix(1, 0), time.Unix(1, 0))) }, "files: changed a (not in the history of restore_file)"},
		{"deleted", []string{"a", "b/c", "b/d"}, func(f tree) { f.remove("b") }, "files: deleted b/c, b/d (not in the history of restore_file)"},
		{"renamed", []string{"a", "b"}, func(f tree) { f.rename("a", "z") }, "files: created z; deleted a (not in the history of restore_file)"},
		{"a directory renamed", []string{"a/x", "a/y"}, func(f tree) { f.rename("a", "b") }, "files: created b/x, b/y; deleted a/x, a/y (not in the history of restore_file)"},
		{"all at once", []string{"a", "b", "c"}, func(f tree) { f.remove("c"); f.write("b", "more\n"); f.write("d", "x") }, "files: created d; changed b; deleted c (not in the history of restore_file)"},
		{"created and deleted again", nil, func(f tree) { f.write("a", "x"); f.remove("a") }, ""},
		{"a file in the place of a directory", []string{"a/b"}, func(f tree) { f.remove("a"); f.write("a", "x") }, "files: created a; deleted a/b (not in the history of restore_file)"},
		{"hidden files count", nil, func(f tree) { f.write(".env", "x") }, "files: created .env (not in the history of restore_file)"},
		{"ignored trees do not", []string{".ignore", "src/a"}, func(f tree) {
			f.write(".ignore", "build/\n*.o\n")
			f.write("build/deep/out", "x")
			f.write("src/a.o", "x")
			f.write("src/a", "more\n")
		}, "files: changed .ignore, src/a (not in the history of restore_file)"},
		{"what git ignores neither", []string{".git/HEAD", ".git/objects/o", ".git/refs/r", ".gitignore", "src/a"}, func(f tree) {
			f.write(".gitignore", "build/\n")
			f.write("build/deep/out", "x")
		}, "files: changed .gitignore (not in the history of restore_file)"},
		{"what is ignored from now on is not deleted", []string{"build/out", "a"}, func(f tree) { f.write(".ignore", "build/\n"); f.remove("a") }, "files: created .ignore; deleted a (not in the history of restore_file)"},
		{"nor what git keeps", []string{".git/HEAD", "a"}, func(f tree) { f.write(".git/index", "x"); f.write("a", "more\n") }, "files: changed a (not in the history of restore_file)"},
		{"links are not followed", []string{"a"}, func(f tree) {
			f.check(os.Symlink("/etc", f.path("etc")))
			f.check(os.Symlink("a", f.path("b")))
		}, "files: created b, etc (not in the history of restore_file)"},
		{"names that deceive", nil, func(f tree) { f.write("a\nfiles: deleted b", "x") }, `files: created "a\u000afiles: deleted b" (not in the history of restore_file)`},
		{"many are counted", nil, func(f tree) {
			for i := range 30 {
				f.write(fmt.Sprintf("%02d", i), "x")
			}
		}, "files: created 00, 01, 02, 03, 04, 05, 06, 07 and 22 more (not in the history of restore_file)"},
		{"each kind is named", []string{"z"}, func(f tree) {
			for i := range 30 {
				f.write(fmt.Sprintf("%02d", i), "x")
			}
			f.remove("z")
		}, "files: created 00, 01, 02, 03, 04, 05, 06, 07 and 22 more; deleted z (not in the history of restore_file)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newTree(t, c.files...)
			w := changed.Begin(t.Context(), f.ws, false)
			w.Looked()
			c.change(f)
			if got := w.Changes(t.Context(), unrecorded{}).String(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestRoots names files below another root than the first by their whole path.
func TestRoots(t *testing.T) {
	one, two := newTree(t, "a"), newTree(t, "b")
	w := changed.Begin(t.Context(), open(t, one.dir, two.dir), false)
	one.write("a", "more\n")
	two.write("b", "more\n")
	c := w.Changes(t.Context(), unrecorded{})
	if len(c.Changed) != 2 || !c.Whole || c.Created != nil || c.Deleted != nil {
		t.Fatalf("got %+v", c)
	}
	if all := strings.Join(c.Changed, "\n") + "\n"; !strings.Contains(all, "/b\n") || !strings.HasSuffix(all, "\na\n") && !strings.HasPrefix(all, "a\n") {
		t.Errorf("got %q", c.Changed)
	}
}

// TestLate changes files of a tree that is larger than what the first look sees in its
// head start. None is missed.
func TestLate(t *testing.T) {
	const n = 2000
	f := newTree(t)
	name := func(i int) string { return fmt.Sprintf("d%d/f%d", i/100, i) }
	for i := range n {
		f.write(name(i), "as it was\n")
	}
	for round := range 5 {
		time.Sleep(50 * time.Millisecond) // what was written before is dated before
		w := changed.Begin(t.Context(), f.ws, false)
		for i := round; i < n; i += 397 {
			f.write(name(i), fmt.Sprintf("round %d\n", round))
		}
		time.Sleep(20 * time.Millisecond)
		c := w.Changes(t.Context(), unrecorded{})
		for i := round; i < n; i += 397 {
			if c.Whole && !slices.Contains(c.Changed, name(i)) {
				t.Errorf("round %d: %s is missed: %s", round, name(i), c)
			}
		}
		if c.Whole && len(c.All()) != (n-round+396)/397 {
			t.Errorf("round %d: %s", round, c)
		}
	}
}

// TestBounds has a tree that is larger than what is looked at: what is not known is told,
// nothing is called created that may have been there, and nothing deleted that may be.
func TestBounds(t *testing.T) {
	f := newTree(t)
	for i := range 10_100 {
		f.write(fmt.Sprintf("d%d/f%d", i/500, i), "x")
	}
	time.Sleep(50 * time.Millisecond) // what was written before is dated before
	w := changed.Begin(t.Context(), f.ws, false)
	f.remove("d3/f1500")
	f.write("new", "x")
	c := w.Changes(t.Context(), unrecorded{})
	if c.Whole || c.Created != nil || c.Deleted != nil || !strings.HasSuffix(c.String(), others) {
		t.Errorf("got %+v", c)
	}
	for _, path := range c.Changed {
		if path != "new" {
			t.Errorf("%s has not changed", path)
		}
	}
}

// TestCancelled has no time to look.
func TestCancelled(t *testing.T) {
	f := newTree(t, "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := changed.Begin(ctx, f.ws, false)
	f.write("a", "more\n")
	if got := w.Changes(ctx, unrecorded{}).String(); got != "files: "+others {
		t.Errorf("got %q", got)
	}
}

// TestUnreadable has a directory that cannot be looked into.
func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("needs: a user whom permissions bind")
	}
	f := newTree(t, "a", "closed/b")
	f.check(os.Chmod(f.path("closed"), 0))
	t.Cleanup(func() { _ = os.Chmod(f.path("closed"), 0o755) })
	w := changed.Begin(t.Context(), f.ws, false)
	f.write("c", "x")
	if c := w.Changes(t.Context(), unrecorded{}); c.Whole || c.Deleted != nil {
		t.Errorf("got %+v", c)
	}
}

// unrecorded is a program that is not recorded.
type unrecorded struct{}

func (unrecorded) Changes() (recorder.Changes, bool) { return recorder.Changes{}, false }

// recorded is a program whose changes the history has.
type recorded recorder.Changes

func (r recorded) Changes() (recorder.Changes, bool) { return recorder.Changes(r), true }

func TestRecorded(t *testing.T) {
	for _, c := range []struct {
		recorded
		want string
	}{
		{recorded{}, ""},
		{recorded{Changed: []string{"a"}}, "files: changed a"},
		{recorded{Deleted: []string{"a"}}, "files: deleted a (undo: restore_file undo=true)"},
		{recorded{Others: []string{"a\nb"}}, `files: changed meanwhile by others, or unseen: "a\u000ab" (not in the undo of this call)`},
		{recorded{Created: []string{"x"}, Others: []string{"a", "b", "c", "d"}}, "files: created x; changed meanwhile by others, or unseen: a, b, c and 1 more (not in the undo of this call)"},
		{recorded{Created: []string{"a.py", "__pycache__/a.pyc", "b/__pycache__/b.pyc", ".mypy_cache/x"}, Deleted: []string{"__pycache__/c.pyc", "__pycache__"}}, "files: created a.py, 2 in __pycache__, 1 in .mypy_cache; deleted __pycache__, 1 in __pycache__ (undo: restore_file undo=true)"},
		{recorded{Created: []string{".git/logs/HEAD", "sub/.git/objects/56/78", "a"}, Changed: []string{".git/HEAD", ".git/index", "b"}}, "files: created a, 2 in .git; changed b, 2 in .git"},
		{recorded{Created: []string{".git/COMMIT_EDITMSG", ".git/logs/HEAD", ".git/objects/12/34"}, Changed: []string{".git/HEAD", ".git/index"}, Deleted: []string{".git"}}, "files: created 3 in .git; changed .git/HEAD, 1 in .git; deleted .git (undo: restore_file undo=true)"},
		{recorded{Deleted: []string{"a"}, Lost: true, NotKept: "a is not kept"}, "files: deleted a; cannot be undone: a is not kept"},
		{recorded{Changed: []string{"a"}, NotKept: "a is not kept"}, "files: changed a; cannot be undone: a is not kept"},
	} {
		w := changed.Begin(t.Context(), nil, true)
		if got := w.Changes(t.Context(), c.recorded).String(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
