package workspace_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
	"toolcrib/workspace/internal/fsys"
	dirtree "toolcrib/workspace/internal/tree"
)

// dirs opens the directories of a workspace that has ws as its root.
func dirs(t testing.TB, tr tree, opt workspace.Options, names ...string) []fsys.Dir {
	t.Helper()
	w := tr.open(t, opt, "ws")
	list := make([]fsys.Dir, len(names))
	for i, name := range names {
		d, err := w.TestDir(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		list[i] = d
	}
	return list
}

// content describes the entry at a path: the text of a file, "dir" with the names in it,
// or "-> " with the text of a link; "" for nothing.
func (tr tree) content(t testing.TB, name string) string {
	t.Helper()
	fi, err := os.Lstat(tr.path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		t.Fatal(err)
	case fi.Mode()&fs.ModeSymlink != 0:
		text, err := os.Readlink(tr.path(name))
		if err != nil {
			t.Fatal(err)
		}
		return "-> " + text
	case fi.IsDir():
		list, err := os.ReadDir(tr.path(name))
		if err != nil {
			t.Fatal(err)
		}
		text := "dir"
		for _, e := range list {
			text += " " + e.Name()
		}
		return text
	}
	data, err := os.ReadFile(tr.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// newChangeTree is the tree at the start of the tests of one operation.
func newChangeTree(t testing.TB) tree {
	tr := newTree(t)
	tr.write(t, "ws/a/file", "file")
	tr.write(t, "ws/a/full/x", "x")
	tr.write(t, "ws/b/file", "other")
	tr.write(t, "ws/b/full/y", "y")
	if err := os.Mkdir(tr.path("ws/a/empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	tr.link(t, "ws/a/link", "file")
	tr.link(t, "ws/a/out", "{base}/out")
	tr.link(t, "ws/a/secret", "../../out/secret")
	tr.link(t, "ws/a/dangling", "{base}/out/new")
	return tr
}

func TestDirChange(t *testing.T) {
	type op func(a, b fsys.Dir) error
	create := func(name string) op {
		return func(a, _ fsys.Dir) error {
			f, err := a.Create(name, 0o644)
			if err != nil {
				return err
			}
			_, err = f.WriteString("new")
			return errors.Join(err, f.Close())
		}
	}
	openWrite := func(name string) op {
		return func(a, _ fsys.Dir) error {
			f, info, err := a.OpenWrite(name)
			if err != nil {
				return err
			}
			if info.Kind != workspace.KindFile {
				return errors.New("opened a " + string(info.Kind))
			}
			_, err = f.WriteString("NEW")
			return errors.Join(err, f.Close())
		}
	}
	writable := func(name string) op { return func(a, _ fsys.Dir) error { return a.Writable(name) } }
	mkdir := func(name string) op { return func(a, _ fsys.Dir) error { return a.Mkdir(name, 0o755) } }
	symlink := func(name string) op { return func(a, _ fsys.Dir) error { return a.Symlink("any text", name) } }
	remove := func(name string) op { return func(a, _ fsys.Dir) error { return a.Remove(name) } }
	chmod := func(name string) op { return func(a, _ fsys.Dir) error { return a.Chmod(name, 0o700) } }
	move := func(name, as string) op { return func(a, b fsys.Dir) error { return a.Move(name, b, as) } }
	steps := func(name, as string) op {
		return func(a, b fsys.Dir) error { return fsys.MoveBySteps(a.(fsys.Linker), name, b, as) }
	}
	replace := func(name, as string) op { return func(a, b fsys.Dir) error { return a.Replace(name, b, as) } }
	exchange := func(name, as string) op { return func(a, b fsys.Dir) error { return a.Exchange(name, b, as) } }
	type state = map[string]string // content by path in ws
	tests := []struct {
		name  string
		op    op
		want  error
		state state
	}{
		{"create", create("n"), nil, state{"a/n": "new"}},
		{"create file", create("file"), fs.ErrExist, state{"a/file": "file"}},
		{"create link", create("link"), fs.ErrExist, state{"a/file": "file"}},
		{"create dangling", create("dangling"), fs.ErrExist, nil},
		{"create dir", create("full"), fs.ErrExist, nil},
		{"write", openWrite("file"), nil, state{"a/file": "NEWe"}},
		{"write link", openWrite("link"), fsys.ErrIsLink, state{"a/file": "file"}},
		{"write secret", openWrite("secret"), fsys.ErrIsLink, nil},
		{"write dir", openWrite("full"), fsys.ErrIsDir, nil},
		{"write nothing", openWrite("n"), fs.ErrNotExist, state{"a/n": ""}},
		{"writable", writable("file"), nil, state{"a/file": "file"}},
		{"writable link", writable("link"), fsys.ErrIsLink, nil},
		{"writable dir", writable("full"), fsys.ErrIsDir, nil},
		{"writable nothing", writable("n"), fs.ErrNotExist, nil},
		{"mkdir", mkdir("n"), nil, state{"a/n": "dir"}},
		{"mkdir file", mkdir("file"), fs.ErrExist, state{"a/file": "file"}},
		{"mkdir dangling", mkdir("dangling"), fs.ErrExist, nil},
		{"symlink", symlink("n"), nil, state{"a/n": "-> any text"}},
		{"symlink file", symlink("file"), fs.ErrExist, nil},
		{"remove file", remove("file"), nil, state{"a/file": "", "a/link": "-> file"}},
		{"remove link", remove("link"), nil, state{"a/file": "file", "a/link": ""}},
		{"remove out", remove("out"), nil, state{"a/out": ""}},
		{"remove empty", remove("empty"), nil, state{"a/empty": ""}},
		{"remove full", remove("full"), fs.ErrExist, state{"a/full": "dir x"}}, // ENOTEMPTY is that
		{"remove nothing", remove("n"), fs.ErrNotExist, nil},
		{"chmod link", chmod("out"), fsys.ErrIsLink, nil},
		{"move file", move("file", "n"), nil, state{"a/file": "", "b/n": "file"}},
		{"move on file", move("file", "file"), fs.ErrExist, state{"a/file": "file", "b/file": "other"}},
		{"move on dir", move("full", "full"), fs.ErrExist, state{"a/full": "dir x", "b/full": "dir y"}},
		{"move dir", move("full", "n"), nil, state{"a/full": "", "b/n": "dir x"}},
		{"move link", move("secret", "n"), nil, state{"a/secret": "", "b/n": "-> ../../out/secret"}},
		{"move nothing", move("n", "n"), fs.ErrNotExist, state{"b/n": ""}},
		{"steps file", steps("file", "n"), nil, state{"a/file": "", "b/n": "file"}},
		{"steps on file", steps("file", "file"), fs.ErrExist, state{"a/file": "file", "b/file": "other"}},
		{"steps on dir", steps("full", "full"), fs.ErrExist, state{"a/full": "dir x", "b/full": "dir y"}},
		{"steps link on file", steps("link", "file"), fs.ErrExist, state{"a/link": "-> file", "b/file": "other"}},
		{"steps dir", steps("full", "n"), nil, state{"a/full": "", "b/n": "dir x"}},
		{"steps link", steps("secret", "n"), nil, state{"a/secret": "", "b/n": "-> ../../out/secret"}},
		{"steps nothing", steps("n", "n"), fs.ErrNotExist, state{"b/n": ""}},
		{"replace", replace("file", "file"), nil, state{"a/file": "", "b/file": "file"}},
		{"replace nothing", replace("file", "n"), nil, state{"a/file": "", "b/n": "file"}},
		{"replace by link", replace("link", "file"), nil, state{"a/link": "", "b/file": "-> file"}},
		{"replace dir", replace("file", "full"), fs.ErrExist, state{"a/file": "file", "b/full": "dir y"}},
		{"exchange files", exchange("file", "file"), nil, state{"a/file": "other", "b/file": "file"}},
		{"exchange kinds", exchange("full", "file"), nil, state{"a/full": "other", "b/file": "dir x"}},
		{"exchange link", exchange("secret", "full"), nil, state{"a/secret": "dir y", "b/full": "-> ../../out/secret"}},
		{"exchange nothing", exchange("file", "n"), fs.ErrNotExist, state{"a/file": "file"}},
	}
	backends(t, func(t *testing.T, opt workspace.Options) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				tr := newChangeTree(t)
				d := dirs(t, tr, opt, "a", "b")
				err := tt.op(d[0], d[1])
				if errors.Is(err, errors.ErrUnsupported) && strings.HasPrefix(tt.name, "exchange") {
					t.Skip("needs: a system that exchanges names")
				}
				if tt.want == fsys.ErrIsLink && errors.Is(err, syscall.ENOTDIR) {
					err = tt.want // a directory was asked for
				}
				if errors.Is(tt.want, fs.ErrExist) && strings.HasPrefix(tt.name, "replace") && err != nil {
					err = tt.want // each system has another word for it
				}
				if !errors.Is(err, tt.want) {
					t.Errorf("%v, want %v", err, tt.want)
				}
				for name, want := range tt.state {
					if got := tr.content(t, "ws/"+name); got != want {
						t.Errorf("%s: %q, want %q", name, got, want)
					}
				}
				if diff := cmp.Diff("dir secret", tr.content(t, "out")); diff != "" {
					t.Errorf("outside: %s", diff)
				}
				if got := tr.content(t, "out/secret"); got != secret {
					t.Errorf("outside: %q", got)
				}
			})
		}
	})
}

// TestDirChangeNames gives each operation names that are not those of an entry.
func TestDirChangeNames(t *testing.T) {
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newChangeTree(t)
		d := dirs(t, tr, opt, "a")[0]
		for _, name := range []string{"", ".", "..", "/", "../b", "full/x", "/etc", "a\x00"} {
			_, createErr := d.Create(name, 0o644)
			_, _, writeErr := d.OpenWrite(name)
			_, mountedErr := d.Mounted(name)
			for op, err := range map[string]error{
				"create": createErr, "openWrite": writeErr, "mounted": mountedErr,
				"writable": d.Writable(name), "mkdir": d.Mkdir(name, 0o755), "symlink": d.Symlink("t", name),
				"remove": d.Remove(name), "chmod": d.Chmod(name, 0o700),
				"move from": d.Move(name, d, "n"), "move to": d.Move("file", d, name),
				"steps from": fsys.MoveBySteps(d.(fsys.Linker), name, d, "n"), "steps to": fsys.MoveBySteps(d.(fsys.Linker), "file", d, name),
				"replace from": d.Replace(name, d, "n"), "replace to": d.Replace("file", d, name),
				"exchange from": d.Exchange(name, d, "file"), "exchange to": d.Exchange("file", d, name),
			} {
				if !errors.Is(err, fsys.ErrName) {
					t.Errorf("%s of %q: %v", op, name, err)
				}
			}
		}
		if got, want := tr.content(t, "ws/a"), "dir dangling empty file full link out secret"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestDirPinned swaps a link for a directory that is open: what is changed by the
// handle is changed in the directory, wherever that is now.
func TestDirPinned(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs: a system that moves open directories")
	}
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newChangeTree(t)
		d := dirs(t, tr, opt, "a", "b")
		if err := os.Rename(tr.path("ws/a"), tr.path("ws/moved")); err != nil {
			t.Fatal(err)
		}
		tr.link(t, "ws/a", "{base}/out")
		f, err := d[0].Create("new", 0o644)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		for _, err := range []error{
			d[0].Mkdir("made", 0o755), d[0].Symlink("t", "s"), d[0].Remove("file"),
			d[0].Move("full", d[1], "came"), d[1].Replace("file", d[0], "link"), d[0].Sync(),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		if got, want := tr.content(t, "ws/moved"), "dir dangling empty link made new out s secret"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := tr.content(t, "ws/moved/link"); got != "other" {
			t.Errorf("replaced by %q", got)
		}
		if got := tr.content(t, "out"); got != "dir secret" {
			t.Errorf("outside: %q", got)
		}
	})
}

func TestDirClosed(t *testing.T) {
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newChangeTree(t)
		d := dirs(t, tr, opt, "a", "b")
		if err := d[0].Close(); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{
			d[0].Mkdir("n", 0o755), d[0].Move("file", d[1], "n"), d[1].Move("file", d[0], "n"), d[0].Sync(),
		} {
			if !errors.Is(err, os.ErrClosed) {
				t.Errorf("%v", err)
			}
		}
	})
}

func TestTempNames(t *testing.T) {
	name := fsys.NewTemp()
	if !fsys.IsTemp(name) || name == fsys.NewTemp() {
		t.Errorf("%q", name)
	}
	for _, other := range []string{
		"", name + "x", "x" + name, strings.ToUpper(name), ".toolcrib-0123456789abcde.tmp",
		".toolcrib-0123456789abcdeg.tmp", ".toolcrib-0123456789ABCDEF.tmp", ".toolcrib-0123456789abcdef0.tmp",
		".toolcrib-0123456789abcdef.tmq", ".toolcrib-0123456789abcde\n.tmp",
	} {
		if fsys.IsTemp(other) {
			t.Errorf("%q is taken for a temporary file", other)
		}
	}
}

// TestTempsHidden has temporary files in the way of all that lists.
func TestTempsHidden(t *testing.T) {
	const temp = ".toolcrib-0123456789abcdef.tmp"
	tr := newTree(t)
	tr.write(t, "ws/list/"+temp, "temp")
	tr.write(t, "ws/list/"+temp+"x", "not one")
	tr.write(t, "ws/list/deep/"+temp+"/below", "temp")
	backends(t, func(t *testing.T, opt workspace.Options) {
		w := tr.open(t, opt, "ws")
		p, err := w.Resolve("list")
		if err != nil {
			t.Fatal(err)
		}
		list, err := p.ReadDir()
		if err != nil {
			t.Fatal(err)
		}
		want := []workspace.DirEntry{{Name: temp + "x", Kind: workspace.KindFile}, {Name: "deep", Kind: workspace.KindDirectory}}
		if diff := cmp.Diff(want, list); diff != "" {
			t.Error(diff)
		}
		found, stats, err := fileindex.Walk(t.Context(), p, fileindex.WalkOptions{Hidden: true, IncludeIgnored: true, Directories: true})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range found {
			names = append(names, e.Rel)
		}
		if !slices.Equal(names, []string{temp + "x", "deep"}) || stats.Hidden+stats.Ignored > 0 {
			t.Errorf("walked %q, %+v", names, stats)
		}
		if _, stats, err := fileindex.Walk(t.Context(), p, fileindex.WalkOptions{}); err != nil || stats.Hidden != 1 {
			t.Errorf("%+v, %v", stats, err)
		}
		near, err := p.Join(strings.Replace(temp, "f.", "e.", 1))
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Nearest(near); got != "list/"+temp+"x" {
			t.Errorf("nearest is %q", got)
		}
		if got, err := read(w, "list/"+temp); got != "temp" {
			t.Errorf("by its name: %q, %v", got, err)
		}
	})
}

// copyTree returns what attributes the copy could not have.
func copyTree(ctx context.Context, d fsys.Dir, name string, to fsys.Dir, as string) (lost []string, err error) {
	c, err := dirtree.Copy(ctx, d, name, to, as, false)
	return c.Lost, err
}

// treeErrorPath is the path that an error of a tree names.
func treeErrorPath(err error) string {
	e, ok := err.(*dirtree.Error) //nolint:errorlint // it must not be wrapped
	if !ok {
		return ""
	}
	return e.Rel
}
