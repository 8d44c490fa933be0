//go:build unix

package fileindex_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// TestTableLost takes the directory away.
func TestTableLost(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(root string) error{
		"removed": func(root string) error { return os.RemoveAll(host(root, "s/t")) },
		"moved":   func(root string) error { return os.Rename(host(root, "s/t"), host(root, "s/u")) },
		"above":   func(root string) error { return os.Rename(host(root, "s"), host(root, "u")) },
		"replaced": func(root string) error {
			return errorsFirst(os.Rename(host(root, "s/t"), host(root, "s/u")), func() error { return os.Mkdir(host(root, "s/t"), 0o755) })
		},
	} {
		eachModeNamed(t, name, func(t *testing.T, opt fileindex.Options, portable bool) {
			dir := realTempDir(t)
			lay("s/t/f: 1").write(t, dir)
			probe := newTableProbe(t, opt, dir, "s/t", portable)
			probe.check(t, "nothing")
			if err := do(dir); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := probe.table.Sync(t.Context()); !errors.Is(err, fileindex.ErrLost) {
					t.Errorf("sync: %v, want ErrLost", err)
				}
			}
		})
	}
}

// TestTableRootGone removes the root of the workspace itself.
func TestTableRootGone(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, opt fileindex.Options, portable bool) {
		dir := realTempDir(t)
		lay("w/f: 1").write(t, dir)
		probe := newTableProbe(t, opt, filepath.Join(dir, "w"), ".", portable)
		if err := os.RemoveAll(filepath.Join(dir, "w")); err != nil {
			t.Fatal(err)
		}
		if _, err := probe.table.Sync(t.Context()); !errors.Is(err, fileindex.ErrLost) {
			t.Errorf("sync: %v, want ErrLost", err)
		}
	})
}

// TestTableBounds has more in the directory than an index may hold.
func TestTableBounds(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, opt fileindex.Options, portable bool) {
		dir := realTempDir(t)
		lay("a/b", "a/c", "d").write(t, dir)
		opt.MaxEntries = 4
		p := walkStart(t, openWalk(t, portable, dir), ".")
		var refused *workspace.Error
		if _, err := fileindex.New(t.Context(), p, opt); !errors.As(err, &refused) || refused.Rule != workspace.RuleInvalid {
			t.Errorf("table of too much: %v", err)
		}
		opt.MaxEntries = 5
		probe := newTableProbe(t, opt, dir, ".", portable)
		probe.check(t, "nothing")
		lay("e").write(t, dir)
		if _, err := probe.table.Sync(t.Context()); !errors.Is(err, fileindex.ErrLost) {
			t.Errorf("sync of too much: %v, want ErrLost", err)
		}
	})
}

// TestTableCancelled has Sync end by its context, and the next one make up for it.
func TestTableCancelled(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, opt fileindex.Options, portable bool) {
		dir := realTempDir(t)
		lay("a/f: 1").write(t, dir)
		probe := newTableProbe(t, opt, dir, ".", portable)
		probe.check(t, "nothing")
		reason := errors.New("enough")
		for i := range 3 {
			lay(fmt.Sprintf("b%d/c/d/f: 1", i), "a/f: 2").write(t, dir)
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(reason)
			if _, err := probe.table.Sync(ctx); !errors.Is(err, reason) {
				t.Errorf("sync: %v", err)
			}
			probe.check(t, "a cancelled sync")
		}
	})
}

// TestTableInterrupted ends a sync in which other rules are to come in force everywhere.
func TestTableInterrupted(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, opt fileindex.Options, portable bool) {
		dir := realTempDir(t)
		lay(".git/", "w/a/b/x: 1", "w/a/c/x: 1", "w/b/b/x: 1", "w/b/c/x: 1", "w/c/x: 1").write(t, dir)
		probe := newTableProbe(t, opt, host(dir, "w"), ".", portable)
		for after := range 40 {
			at := []string{".ignore", "w/.ignore"}[after/2%2] // above the index, and in it
			lay(at+": "+[]string{"x", "c"}[after%2]).write(t, dir)
			probe.interrupt(t, after/2)
			fileindex.SetFresh(probe.table, false)
			probe.check(t, fmt.Sprintf("a sync that ended after %d looks", after))
		}
	})
}

// TestTableFresh has files and directories whose times cannot be told from later ones.
func TestTableFresh(t *testing.T) {
	t.Parallel()
	dir := realTempDir(t)
	lay("a: 1", "b/c: 1").write(t, dir)
	probe := newTableProbe(t, fileindex.Options{Stat: true}, dir, ".", false)
	for _, fresh := range []bool{true, false} {
		fileindex.SetFresh(probe.table, fresh)
		since := probe.table.Generation()
		if _, err := probe.table.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := 0
		if fresh {
			want = 2
		}
		if files, _ := probe.table.Changed(since); len(files) != want {
			t.Errorf("fresh=%t: %d files have changed, want %d", fresh, len(files), want)
		}
	}
}

// TestTableAbove has an .ignore file above the root that counts from some starts only.
func TestTableAbove(t *testing.T) {
	t.Parallel()
	dir := realTempDir(t)
	lay(".git/", ".ignore: c", "w/s/.git/", "w/s/t/c: 1", "w/u/d: 1").write(t, dir)
	probe := newTableProbe(t, fileindex.Options{}, host(dir, "w"), ".", false)
	probe.check(t, "nothing")
	probe.compare(t, walkStart(t, probe.view, "u"), "nothing")
	for _, start := range []string{"s", "s/t"} {
		if probe.table.Knows(walkStart(t, probe.view, start)) {
			t.Errorf("%s is in the table, under other rules", start)
		}
	}
}

// TestTableViews asks by the paths of other views.
func TestTableViews(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, opt fileindex.Options, portable bool) {
		dir := realTempDir(t)
		lay(".git/", ".gitignore: *.o", "a/b/c/f: 1", "a/b/g: 1", "a/x.o: 1", "a/b/.gitignore: -> x", "i/.ignore: j", "i/j/: ", "i/k/f: 1", "l: -> a").write(t, dir)
		probe := newTableProbe(t, opt, dir, ".", portable)
		for _, start := range []string{"a", "a/b", "a/b/c", "i", "i/k"} {
			probe.compare(t, walkStart(t, probe.view, start), "nothing")
		}
		view, err := probe.view.Narrow([]string{"a/b"})
		if err != nil {
			t.Fatal(err)
		}
		defer view.Close()
		probe.compare(t, walkStart(t, view, "a/b"), "nothing")
		probe.compare(t, walkStart(t, view, "a/b/c"), "nothing")
		below, err := probe.view.Narrow([]string{"i/k"})
		if err != nil {
			t.Fatal(err)
		}
		defer below.Close()
		other := openWalk(t, portable, dir)
		for name, p := range map[string]workspace.Path{
			"a file": walkStart(t, probe.view, "a/b/g"), "an ignored directory": walkStart(t, probe.view, "i/j"), "a link": walkStart(t, probe.view, "l"),
			"nothing": walkStart(t, probe.view, "none"), "below an .ignore that it does not see": walkStart(t, below, "i/k"),
			"another workspace": walkStart(t, other, "."), "no path": {},
		} {
			if probe.table.Knows(p) {
				t.Errorf("%s is in the table", name)
			}
		}
	})
}

// TestTableChangedLog has more changes than are remembered.
func TestTableChangedLog(t *testing.T) {
	t.Parallel()
	dir := realTempDir(t)
	lay("a: 1", "b: 1", "c/d: 1").write(t, dir)
	probe := newTableProbe(t, fileindex.Options{}, dir, ".", false)
	probe.check(t, "nothing")
	first := probe.table.Generation()
	changed := func(since uint64) int {
		files, _ := probe.table.Changed(since)
		return len(files)
	}
	if n := changed(0); n != 3 {
		t.Errorf("%d files have changed since ever", n)
	}
	if n := changed(first); n != 0 {
		t.Errorf("%d files have changed since now", n)
	}
	lay("a: 2").write(t, dir)
	probe.check(t, "a write")
	if n := changed(first); n != 1 {
		t.Errorf("%d files have changed after a write", n)
	}
	fileindex.FillLog(probe.table)
	if n := changed(first); n != 3 {
		t.Errorf("%d files have changed since the log's begin", n)
	}
	if n := changed(probe.table.Generation()); n != 0 {
		t.Errorf("%d files have changed since now", n)
	}
}

// TestTableConcurrent reads while others write and sync.
func TestTableConcurrent(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, opt fileindex.Options, portable bool) {
		dir := realTempDir(t)
		lay("a/f: 1", "b/c/g: 1", ".git/").write(t, dir)
		probe := newTableProbe(t, opt, dir, ".", portable)
		var users sync.WaitGroup
		for n := range 4 {
			users.Go(func() {
				for i := range 50 {
					name := host(dir, fmt.Sprintf("b/n%d/f%d", n, i%5))
					if err := errorsFirst(os.MkdirAll(filepath.Dir(name), 0o755), func() error { return os.WriteFile(name, []byte{byte(i)}, 0o644) }); err != nil {
						t.Error(err)
					}
					if _, err := probe.table.Sync(t.Context()); err != nil {
						t.Error(err)
					}
					found := false
					for _, f := range tableFiles(probe.table, probe.start) {
						found = found || f.Path.Host() == name
					}
					if !found {
						t.Errorf("%s is not there", name)
					}
					probe.table.Stats(probe.start)
					probe.table.Changed(probe.table.Generation() - 1)
					if i%10 == 9 {
						if err := os.RemoveAll(filepath.Dir(name)); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		users.Wait()
		probe.check(t, "all")
	})
}
