package fileindex_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

func wantFreshness(t *testing.T, table *fileindex.Index, want fileindex.Freshness) {
	t.Helper()
	if got, err := table.Sync(t.Context()); err != nil || got != want {
		t.Errorf("sync: %v, %v, want %v", got, err, want)
	}
}

// TestTableOverflow makes more events than the queue of the system holds.
func TestTableOverflow(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Skip("needs: inotify")
	}
	var most int
	if _, err := fmt.Sscan(string(text), &most); err != nil || most > 1<<17 {
		t.Skip("needs: a queue of events that can be filled")
	}
	dir := realTempDir(t)
	lay("a: 1", "b: 1", "c/d: 1", "m/f: 1").write(t, dir)
	probe := newTableProbe(t, fileindex.Options{}, dir, ".", false)
	probe.check(t, "nothing")
	a, b := openToWrite(t, host(dir, "a")), openToWrite(t, host(dir, "b"))
	for i := range most/2 + 10 {
		for _, f := range []*os.File{a, b} {
			if _, err := f.WriteAt([]byte{byte(i)}, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errorsFirst(os.Rename(host(dir, "m"), host(dir, "n"))); err != nil {
		t.Fatal(err)
	}
	lay("e/f/g: 1", "c/d: 2", ".ignore: b").write(t, dir)
	probe.check(t, "an overflow")
	lay("e/f/g: 2", "n/f: 2").write(t, dir)
	probe.check(t, "a write after an overflow")
	wantFreshness(t, probe.table, fileindex.Watched)
}

func openToWrite(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestTableLosesEvents does random things while events are lost at random.
func TestTableLosesEvents(t *testing.T) {
	t.Parallel()
	n := 0
	opt := fileindex.Options{}.LoseEvents(func() bool { n++; return n%5 == 0 })
	testRandomly(t, opt, false, 300, 3)
}

// TestTableWatchLimit runs out of watches.
func TestTableWatchLimit(t *testing.T) {
	t.Parallel()
	for _, most := range []int{0, 2, 4, 6} {
		n := 0
		opt := fileindex.Options{}.FailWatch(func() error {
			if n++; n > most {
				return unix.ENOSPC
			}
			return nil
		})
		dir := realTempDir(t)
		lay("a/f: 1", "b/c/g: 1", "d: 1").write(t, dir)
		probe := newTableProbe(t, opt, dir, ".", false)
		probe.check(t, "nothing")
		for i := range 5 {
			lay(fmt.Sprintf("n%d/f: 1", i), fmt.Sprintf("a/f: %d", i), fmt.Sprintf("b/c/g: %d", i)).write(t, dir)
			probe.check(t, fmt.Sprintf("step %d with %d watches", i, most))
		}
		wantFreshness(t, probe.table, fileindex.Validated)
	}
}

// TestTableFreshness asks how an index knows.
func TestTableFreshness(t *testing.T) {
	t.Parallel()
	dir := realTempDir(t)
	probe := newTableProbe(t, fileindex.Options{}, dir, ".", false)
	wantFreshness(t, probe.table, fileindex.Watched)
	probe = newTableProbe(t, fileindex.Options{Stat: true}, dir, ".", false)
	wantFreshness(t, probe.table, fileindex.Validated)
	probe = newTableProbe(t, fileindex.Options{}, dir, ".", true)
	wantFreshness(t, probe.table, fileindex.Validated)
}

// TestTableMapped stores into a mapped file, of which no event tells before the end.
func TestTableMapped(t *testing.T) {
	t.Parallel()
	dir := realTempDir(t)
	lay("f: aaaa").write(t, dir)
	probe := newTableProbe(t, fileindex.Options{}, dir, ".", false)
	probe.check(t, "nothing")
	f, err := os.OpenFile(host(dir, "f"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	text, err := unix.Mmap(int(f.Fd()), 0, 4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	text[0] = 'b'
	if _, err := probe.table.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	text[1] = 'c'
	if err := unix.Munmap(text); err != nil {
		t.Fatal(err)
	}
	probe.check(t, "the end of a mapping")
}

// TestTableMounts mounts over directories of an index.
func TestTableMounts(t *testing.T) {
	mount := func(args ...string) error {
		out, err := exec.Command("mount", args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	dir := realTempDir(t)
	lay("w/a b/f: 1", "w/b/f: 1", "w/c/d/e/f: 1", "o/x: 1", "o/y/z: 1").write(t, dir)
	over := host(dir, "w/a b")
	if err := mount("-t", "tmpfs", "none", over); err != nil {
		t.Skip("needs: the right to mount: " + strings.TrimSpace(err.Error()))
	}
	if err := unix.Unmount(over, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // of a test that has failed
		for _, at := range []string{over, host(dir, "w/b")} {
			for unix.Unmount(at, unix.MNT_DETACH) == nil {
			}
		}
	})
	for _, stat := range []bool{false, true} {
		probe := newTableProbe(t, fileindex.Options{Stat: stat}, host(dir, "w"), ".", false)
		probe.check(t, "nothing")
		steps := []func() error{
			func() error { return mount("-t", "tmpfs", "none", over) },
			func() error { return os.WriteFile(over+"/g", []byte("1"), 0o644) },
			func() error { return os.WriteFile(over+"/g", []byte("2"), 0o644) },
			func() error { return unix.Unmount(over, 0) },
			func() error { return os.WriteFile(over+"/f", []byte("3"), 0o644) },
			func() error { return mount("--bind", host(dir, "o"), host(dir, "w/b")) },
			func() error { return os.WriteFile(host(dir, "o/x"), []byte("2"), 0o644) },
			func() error { return os.WriteFile(host(dir, "w/b/y/n"), []byte("2"), 0o644) },
			func() error { return mount("--bind", host(dir, "w/c"), over) },
			func() error { return os.WriteFile(over+"/d/e/f", []byte("2"), 0o644) },
			func() error { return os.Rename(over+"/d", over+"/dd") },
			func() error { return os.WriteFile(host(dir, "w/c/dd/e/f"), []byte("3"), 0o644) },
			func() error { return unix.Unmount(over, unix.MNT_DETACH) },
			func() error { return os.WriteFile(host(dir, "w/c/dd/e/f"), []byte("4"), 0o644) },
			func() error { return unix.Unmount(host(dir, "w/b"), unix.MNT_DETACH) },
			func() error { return os.Rename(host(dir, "w/c/dd"), host(dir, "w/c/d")) },
		}
		for i, do := range steps {
			if err := do(); err != nil {
				t.Fatal(err)
			}
			probe.check(t, fmt.Sprintf("step %d, stat=%t", i, stat))
		}
	}
}

// TestTableUnreadable takes the permission to read a directory, and gives it back.
func TestTableUnreadable(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, opt fileindex.Options, portable bool) {
		dir := realTempDir(t)
		lay("a/b/f: 1", "c: 1").write(t, dir)
		probe := newTableProbe(t, opt, dir, ".", portable)
		t.Cleanup(func() { makeWritable(dir) })
		for _, mode := range []os.FileMode{0, 0o755, 0o400, 0o700, 0o100, 0o755} {
			if err := os.Chmod(host(dir, "a"), mode); err != nil {
				t.Fatal(err)
			}
			probe.check(t, fmt.Sprintf("chmod %o", mode))
		}
	})
}

// TestGeneration asks a workspace of two roots whose indexes come and go.
func TestGeneration(t *testing.T) {
	t.Parallel()
	dir := realTempDir(t)
	lay("a/f: 1", "b/f: 1", "a/d/", "b/out/x: 1", "b/.ignore: out/").write(t, dir)
	w, err := workspace.Open([]string{host(dir, "a"), host(dir, "b")}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	last := uint64(0)
	step := func(what string, exact, grows bool) {
		t.Helper()
		n, got := w.Generation(t.Context())
		if got != exact || exact && (n > last) != grows {
			t.Errorf("%s: generation %d after %d, exact %t; want it to grow %t, exact %t", what, n, last, got, grows, exact)
		}
		if exact {
			last = n
		}
	}
	table := func(root string, opt fileindex.Options) *fileindex.Index {
		t.Helper()
		p, err := w.Resolve(host(dir, root))
		if err != nil {
			t.Fatal(err)
		}
		table, err := fileindex.New(t.Context(), p, opt)
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	step("no table", false, false)
	a := table("a", fileindex.Options{})
	step("one of two tables", false, false)
	b := table("b", fileindex.Options{})
	step("both", true, true)
	step("nothing", true, false)
	lay("b/f: 2").write(t, dir)
	step("a write", true, true)
	lay("b/out/x: 2").write(t, dir)
	step("a write where rules ignore", true, false)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	step("an index is closed", false, false)
	a = table("a", fileindex.Options{Stat: true})
	before := a.Generation()
	lay("a/f: 3").write(t, dir)
	step("a table by stat", false, false)
	if a.Generation() != before {
		t.Error("every file of a table by stat was looked at, for nothing")
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	below := table("a/d", fileindex.Options{})
	step("a table of a part", false, false)
	a = table("a", fileindex.Options{})
	step("a new table", true, true)
	for _, table := range []*fileindex.Index{below, a, b} {
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
	}
	step("none again", false, false)
}
