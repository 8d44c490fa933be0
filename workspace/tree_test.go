package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
	"toolcrib/workspace/internal/fsys"
	dirtree "toolcrib/workspace/internal/tree"
)

// listing is what a tree holds, one line for each entry: path, permissions, time,
// and content.
func (tr tree) listing(t testing.TB, name string) string {
	t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(tr.path(name), func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(tr.path(name), at)
		if err != nil {
			return err
		}
		full := name + "/" + filepath.ToSlash(rel)
		fmt.Fprintf(&text, "%s %v %d %s\n", filepath.ToSlash(rel), fi.Mode(), fi.ModTime().UnixMicro(), tr.content(t, full))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func newCopyTree(t testing.TB) tree {
	tr := newTree(t)
	tr.write(t, "ws/a/t/sub/deep/f", "deep")
	tr.write(t, "ws/a/t/f", "text")
	tr.write(t, "ws/a/t/run", "program")
	tr.write(t, "ws/a/t/zero", "")
	tr.link(t, "ws/a/t/link", "{base}/out")
	tr.link(t, "ws/a/t/sub/dangling", "nothing")
	if err := os.Link(tr.path("ws/a/t/f"), tr.path("ws/a/t/sub/same")); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]fs.FileMode{"run": 0o755, "f": 0o604, "sub/deep": 0o700, "sub": 0o751} {
		if err := os.Chmod(tr.path("ws/a/t/"+name), mode); err != nil {
			t.Fatal(err)
		}
	}
	when := time.Unix(1_700_000_000, 123_456_000)
	for _, name := range []string{"f", "run", "sub/deep/f", "sub/deep", "sub", ""} {
		if err := os.Chtimes(tr.path("ws/a/t/"+name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(tr.path("ws/b"), 0o755); err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestCopyTree(t *testing.T) {
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newCopyTree(t)
		d := dirs(t, tr, opt, "a", "b", "a/t/sub")
		before := tr.listing(t, "ws/a/t")
		lost, err := copyTree(t.Context(), d[0], "t", d[1], "copy")
		if err != nil || len(lost) > 0 {
			t.Fatalf("lost %q, %v", lost, err)
		}
		if diff := cmp.Diff(before, tr.listing(t, "ws/b/copy")); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(before, tr.listing(t, "ws/a/t")); diff != "" {
			t.Errorf("the original: %s", diff)
		}
		if err := dirtree.Sync(t.Context(), d[1], "copy"); err != nil {
			t.Error(err)
		}
		want := dirtree.Size{Files: 7, Bytes: 19}
		if size, err := dirtree.Count(t.Context(), d[1], "copy"); size != want || err != nil {
			t.Errorf("%+v, %v; want %+v", size, err, want)
		}
		// Files of their own: to write one leaves the others.
		tr.write(t, "ws/b/copy/f", "changed")
		if a, b := tr.content(t, "ws/a/t/f"), tr.content(t, "ws/b/copy/sub/same"); a != "text" || b != "text" {
			t.Errorf("%q, %q", a, b)
		}
		for _, name := range []string{"f", "link"} { // no directory
			if _, err := copyTree(t.Context(), d[0], "t", d[1], "copy"); !errors.Is(err, fs.ErrExist) {
				t.Errorf("over what exists: %v", err)
			}
			sub, err := d[0].Open("t")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := copyTree(t.Context(), sub, name, d[1], name); err != nil {
				t.Error(err)
			}
			if _, err := copyTree(t.Context(), sub, name, d[1], name); !errors.Is(err, fs.ErrExist) {
				t.Errorf("over what exists: %v", err)
			}
			sub.Close()
			if got, want := tr.content(t, "ws/b/"+name), tr.content(t, "ws/a/t/"+name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if size, err := dirtree.Count(t.Context(), d[1], "link"); size != (dirtree.Size{Files: 1}) || err != nil {
			t.Errorf("a link: %+v, %v", size, err)
		}
		// Into itself: what is copied is not what the copy makes.
		temp := fsys.NewTemp()
		if _, err := copyTree(t.Context(), d[0], "t", d[2], temp); err != nil {
			t.Fatal(err)
		}
		if got := tr.content(t, "ws/a/t/sub/"+temp); got != "dir f link run sub zero" {
			t.Errorf("%q", got)
		}
		if got := tr.content(t, "ws/a/t/sub/"+temp+"/sub"); got != "dir dangling deep same" {
			t.Errorf("%q", got)
		}
	})
}

func TestRemoveTree(t *testing.T) {
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newCopyTree(t)
		d := dirs(t, tr, opt, "a")[0]
		tr.write(t, "ws/a/t/"+fsys.NewTemp(), "left behind")
		if err := dirtree.Remove(t.Context(), d, "missing"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v", err)
		}
		ended, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		cancel(enough)
		if err := dirtree.Remove(ended, d, "t"); !errors.Is(err, enough) {
			t.Errorf("%v", err)
		}
		if err := dirtree.Remove(t.Context(), d, "t"); err != nil {
			t.Error(err)
		}
		if got := tr.content(t, "ws/a"); got != "dir" {
			t.Errorf("%q", got)
		}
		if got := tr.content(t, "out/secret"); got != secret {
			t.Errorf("outside: %q", got)
		}
	})
}

// TestDeepTree goes down further than a process has descriptors or a system call
// takes in a path.
func TestDeepTree(t *testing.T) {
	levels := 500
	if text := os.Getenv("TOOLCRIB_DEEP_LEVELS"); text != "" {
		if _, err := fmt.Sscan(text, &levels); err != nil {
			t.Fatal(err)
		}
	}
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newTree(t)
		d := dirs(t, tr, opt, ".")[0]
		at := d
		for i := range levels {
			if err := at.Mkdir("d", 0o755); err != nil {
				t.Fatal(err)
			}
			if i%100 == 0 {
				if err := at.Symlink("text", "l"); err != nil {
					t.Fatal(err)
				}
			}
			next, err := at.Open("d")
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 {
				at.Close()
			}
			at = next
		}
		at.Close()
		want := dirtree.Size{Files: (levels+99)/100 - 1}
		if size, err := dirtree.Count(t.Context(), d, "d"); size != want || err != nil {
			t.Errorf("%+v, %v; want %+v", size, err, want)
		}
		if _, err := copyTree(t.Context(), d, "d", d, "copy"); err != nil {
			t.Error(err)
		}
		if size, err := dirtree.Count(t.Context(), d, "copy"); size != want || err != nil {
			t.Errorf("the copy: %+v, %v; want %+v", size, err, want)
		}
		for _, name := range []string{"d", "copy"} {
			if err := dirtree.Remove(t.Context(), d, name); err != nil {
				t.Error(err)
			}
			if got := tr.content(t, "ws/"+name); got != "" {
				t.Errorf("%s: %q", name, got)
			}
		}
	})
}
