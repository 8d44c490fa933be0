package workspace_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"toolcrib/workspace"
	"toolcrib/workspace/internal/fsys"
	dirtree "toolcrib/workspace/internal/tree"
)

func TestCopyTreeRefusesSpecial(t *testing.T) {
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newCopyTree(t)
		if err := unix.Mkfifo(tr.path("ws/a/t/sub/deep/fifo"), 0o644); err != nil {
			t.Fatal(err)
		}
		d := dirs(t, tr, opt, "a", "b", "a/t/sub/deep")
		_, err := copyTree(t.Context(), d[0], "t", d[1], "copy")
		if !errors.Is(err, fsys.ErrSpecial) || treeErrorPath(err) != "sub/deep/fifo" {
			t.Errorf("%v", err)
		}
		if _, err := copyTree(t.Context(), d[2], "fifo", d[1], "copy"); !errors.Is(err, fsys.ErrSpecial) || treeErrorPath(err) != "." {
			t.Errorf("%v", err)
		}
		if got := tr.content(t, "ws/b"); got != "dir" {
			t.Errorf("%q", got)
		}
		if size, err := dirtree.Count(t.Context(), d[0], "t"); err != nil || size.Special != "sub/deep/fifo" || size.Files != 8 {
			t.Errorf("%+v, %v", size, err)
		}
		if err := dirtree.Remove(t.Context(), d[0], "t"); err != nil {
			t.Error(err)
		}
	})
}

// TestCopyTreeLargeFiles crosses the steps in which files are copied, and holes,
// which stay holes.
func TestCopyTreeLargeFiles(t *testing.T) {
	const step = 64 << 20
	for name, tt := range map[string]struct {
		data []int64 // where there is some
		size int64
	}{
		"steps":      {[]int64{0, step - 3, 2*step + 1}, 2*step + 100},
		"hole first": {[]int64{step}, step + 6},
		"hole last":  {[]int64{0}, 3*step + 1},
		"only hole":  {nil, 10 * step},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newCopyTree(t)
			f, err := os.Create(tr.path("ws/a/large"))
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range tt.data {
				if _, err := f.WriteAt([]byte("marker"), at); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(f.Truncate(tt.size), f.Close()); err != nil {
				t.Fatal(err)
			}
			d := dirs(t, tr, workspace.Options{}, "a", "b")
			if _, err := copyTree(t.Context(), d[0], "large", d[1], "copy"); err != nil {
				t.Fatal(err)
			}
			g, err := os.Open(tr.path("ws/b/copy"))
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			fi, err := g.Stat()
			if err != nil || fi.Size() != tt.size {
				t.Errorf("%d bytes, want %d; %v", fi.Size(), tt.size, err)
			}
			for _, at := range tt.data {
				got := make([]byte, 6)
				if _, err := g.ReadAt(got, at); err != nil || string(got) != "marker" {
					t.Errorf("at %d: %q, %v", at, got, err)
				}
			}
			if used := fi.Sys().(*syscall.Stat_t).Blocks * 512; used > 1<<20 {
				t.Errorf("it takes %d bytes on the disk", used)
			}
		})
	}
}

// TestRemoveTreeGoesOn has a directory in the way that its owner may not write.
func TestRemoveTreeGoesOn(t *testing.T) {
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newCopyTree(t)
		tr.write(t, "ws/a/t/locked/f", "text")
		for _, name := range []string{"unreadable", "z"} {
			if err := os.Mkdir(tr.path("ws/a/t/"+name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for name, mode := range map[string]fs.FileMode{"locked": 0o555, "unreadable": 0} {
			if err := os.Chmod(tr.path("ws/a/t/"+name), mode); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() {
			if err := os.Chmod(tr.path("ws/a/t/locked"), 0o755); err != nil {
				t.Error(err)
			}
		})
		if f, err := os.Create(tr.path("ws/a/t/locked/new")); err == nil {
			f.Close()
			t.Skip("needs: a user whom permissions bind")
		}
		d := dirs(t, tr, opt, "a")[0]
		err := dirtree.Remove(t.Context(), d, "t")
		if !errors.Is(err, fs.ErrPermission) || treeErrorPath(err) != "locked/f" {
			t.Errorf("%v", err)
		}
		if got := tr.content(t, "ws/a/t"); got != "dir locked" {
			t.Errorf("left: %q", got)
		}
	})
}

// TestMounted binds a directory of the same file system into a tree.
func TestMounted(t *testing.T) {
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newCopyTree(t)
		target := tr.path("ws/a/t/sub/deep")
		if err := unix.Mount(tr.path("out"), target, "", unix.MS_BIND, ""); err != nil {
			t.Skip("needs: the right to mount: " + err.Error())
		}
		defer unix.Unmount(target, unix.MNT_DETACH)
		d := dirs(t, tr, opt, "a", "a/t/sub")
		for name, want := range map[string]bool{"deep": true, "same": false} {
			if is, err := d[1].Mounted(name); is != want || err != nil {
				t.Errorf("%s: %v, %v", name, is, err)
			}
		}
		if size, err := dirtree.Count(t.Context(), d[0], "t"); err != nil || size.Mounted != "sub/deep" {
			t.Errorf("%+v, %v", size, err)
		}
		err := dirtree.Remove(t.Context(), d[0], "t")
		if !errors.Is(err, dirtree.ErrMounted) || treeErrorPath(err) != "sub/deep" {
			t.Errorf("%v", err)
		}
		if got := tr.content(t, "ws/a/t/sub"); got != "dir deep" {
			t.Errorf("left: %q", got)
		}
		if got := tr.content(t, "out/secret"); got != secret {
			t.Errorf("what is mounted: %q", got)
		}
	})
}

// TestTreeDescriptors goes down further than there are descriptors.
func TestTreeDescriptors(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newTree(t)
		tr.write(t, "ws/"+strings.Repeat("d/", 400)+"f", "bottom")
		d := dirs(t, tr, opt, ".")[0]
		before := descriptors(t)
		low := limit
		low.Cur = uint64(before) + 300
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
				t.Error(err)
			}
		}()
		if _, err := copyTree(t.Context(), d, "d", d, "copy"); err != nil {
			t.Error(err)
		}
		if err := dirtree.Remove(t.Context(), d, "d"); err != nil {
			t.Error(err)
		}
		if after := descriptors(t); after != before {
			t.Errorf("%d descriptors before, %d after", before, after)
		}
	})
}

// TestRacingChange swaps a directory of a tree, and a file that is written, for
// links out of the workspace while it is changed. Nothing outside may change.
func TestRacingChange(t *testing.T) {
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newRaceTree(t)
		d := dirs(t, tr, opt, ".")[0]
		for _, names := range [][2]string{{"d", "d_out"}, {"leaf", "leaf_out"}} {
			stop := tr.attack(t, names[0], names[1])
			done := 0
			for range 300 {
				if f, _, err := d.OpenWrite(names[0]); err == nil {
					if _, err := f.WriteString("INSIDE"); err != nil {
						t.Error(err)
					}
					f.Close()
					done++
				}
				if sub, err := d.Open(names[0]); err == nil {
					if f, err := sub.Create("new", 0o644); err == nil {
						f.Close()
						done++
					}
					if err := sub.Remove("new"); err == nil {
						done++
					}
					sub.Close()
				}
				_ = d.Writable(names[0]) // what counts is what is outside afterwards
				_ = d.Chmod(names[0], 0o755)
				_, _ = dirtree.Count(t.Context(), d, names[0])
				if _, err := copyTree(t.Context(), d, names[0], d, "copy"); err == nil {
					done++
				}
				if err := dirtree.Remove(t.Context(), d, "copy"); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
			}
			stop()
			if done == 0 {
				t.Errorf("%s was never changed", names[0])
			}
		}
		if got := tr.content(t, "out/f"); got != secret {
			t.Errorf("outside: %q", got)
		}
		if got := tr.content(t, "out"); got != "dir f secret" {
			t.Errorf("outside: %q", got)
		}
	})
}

// TestRacingRemove swaps the directories of a tree for links out of the workspace
// while it is removed.
func TestRacingRemove(t *testing.T) {
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newRaceTree(t)
		d := dirs(t, tr, opt, ".")[0]
		const subs = 20
		for range 10 {
			for i := range subs {
				tr.write(t, fmt.Sprintf("ws/t/%d/f", i), "inside")
				tr.link(t, fmt.Sprintf("ws/t/%d_out", i), "{base}/out")
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				for range 20 {
					for i := range subs { // gone, or not
						name := tr.path(fmt.Sprintf("ws/t/%d", i))
						_ = unix.Renameat2(unix.AT_FDCWD, name, unix.AT_FDCWD, name+"_out", unix.RENAME_EXCHANGE)
					}
				}
			}()
			_ = dirtree.Remove(t.Context(), d, "t")
			<-ended
			if err := dirtree.Remove(t.Context(), d, "t"); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
		if got := tr.content(t, "out"); got != "dir f secret" {
			t.Errorf("outside: %q", got)
		}
	})
}

// TestRacingMove moves two files to one name at the same time: one of them must
// be refused, whichever way they are moved.
func TestRacingMove(t *testing.T) {
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newTree(t)
		d := dirs(t, tr, opt, ".")[0]
		for way, move := range map[string]func(name string, to fsys.Dir, as string) error{
			"move": d.Move,
			"by steps": func(name string, to fsys.Dir, as string) error {
				return fsys.MoveBySteps(d.(fsys.Linker), name, to, as)
			},
		} {
			for i := range 100 {
				tr.write(t, "ws/one", "one")
				tr.write(t, "ws/two", "two")
				errs := make(chan error, 1)
				go func() { errs <- move("one", d, "goal") }()
				err, other := move("two", d, "goal"), <-errs
				if (err == nil) == (other == nil) || !errors.Is(errors.Join(err, other), fs.ErrExist) {
					t.Fatalf("%s %d: %v, %v", way, i, err, other)
				}
				want := "two"
				if err != nil {
					want = "one"
				}
				if got := tr.content(t, "ws/goal"); got != want {
					t.Fatalf("%s %d: %q, want %q", way, i, got, want)
				}
				if err := d.Remove("goal"); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
