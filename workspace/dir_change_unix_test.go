//go:build unix

package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/workspace"
	"toolcrib/workspace/internal/fsys"
)

// TestDirChangeSpecial has nothing wait for the other end of a FIFO.
func TestDirChangeSpecial(t *testing.T) {
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newChangeTree(t)
		d := dirs(t, tr, opt, "a", "b")
		for _, name := range []string{"fifo", "two"} {
			if err := unix.Mkfifo(tr.path("ws/a/"+name), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		_, _, writeErr := d[0].OpenWrite("fifo")
		_, createErr := d[0].Create("fifo", 0o644)
		_, openErr := d[0].Open("fifo")
		for op, tt := range map[string]struct{ got, want error }{
			"openWrite": {writeErr, fsys.ErrSpecial},
			"writable":  {d[0].Writable("fifo"), fsys.ErrSpecial},
			"create":    {createErr, fs.ErrExist},
			"open":      {openErr, unix.ENOTDIR},
			"chmod":     {d[0].Chmod("fifo", 0o700), unix.ENOTDIR},
			"move":      {d[0].Move("fifo", d[1], "fifo"), nil},
			"steps":     {fsys.MoveBySteps(d[0].(fsys.Linker), "two", d[1], "two"), nil},
			"replace":   {d[1].Replace("two", d[1], "fifo"), nil},
			"remove":    {d[1].Remove("fifo"), nil},
		} {
			notDir := tt.want == unix.ENOTDIR && errors.Is(tt.got, fsys.ErrSpecial)
			if !errors.Is(tt.got, tt.want) && !notDir {
				t.Errorf("%s: %v, want %v", op, tt.got, tt.want)
			}
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestDirChangeModes(t *testing.T) {
	umask := unix.Umask(0o027)
	defer unix.Umask(umask)
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newChangeTree(t)
		d := dirs(t, tr, opt, "a")[0]
		f, err := d.Create("n", 0o666)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := d.Mkdir("made", 0o777); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]fs.FileMode{"n": 0o640, "made": fs.ModeDir | 0o750} {
			if fi, err := os.Lstat(tr.path("ws/a/" + name)); err != nil || fi.Mode() != want {
				t.Errorf("%s: %v, want %v", name, fi.Mode(), want)
			}
		}
		if err := d.Chmod("made", fs.ModeSetgid|fs.ModeSticky|0o775); err != nil {
			t.Fatal(err)
		}
		if fi, err := os.Lstat(tr.path("ws/a/made")); err != nil || fi.Mode() != fs.ModeDir|fs.ModeSetgid|fs.ModeSticky|0o775 {
			t.Errorf("%v, %v", fi.Mode(), err)
		}
		when := time.Unix(1_700_000_000, 123_456_789)
		for _, name := range []string{"file", "full", "secret", "dangling"} {
			if err := d.Chtimes(name, when); err != nil {
				t.Error(err)
			}
			if fi, err := os.Lstat(tr.path("ws/a/" + name)); err != nil || fi.ModTime().Sub(when).Abs() > time.Microsecond {
				t.Errorf("%s: %v, %v", name, fi.ModTime(), err)
			}
		}
		if fi, err := os.Lstat(tr.path("out/secret")); err != nil || fi.ModTime().Equal(when) {
			t.Errorf("outside: %v, %v", fi.ModTime(), err)
		}
	})
}

func TestDirWritable(t *testing.T) {
	tr := newChangeTree(t)
	if err := os.Chmod(tr.path("ws/a/file"), 0o444); err != nil {
		t.Fatal(err)
	}
	if f, err := os.OpenFile(tr.path("ws/a/file"), os.O_WRONLY, 0); err == nil {
		f.Close()
		t.Skip("needs: a user whom permissions bind")
	}
	backends(t, func(t *testing.T, opt workspace.Options) {
		d := dirs(t, tr, opt, "a")[0]
		if err := d.Writable("file"); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%v", err)
		}
		if _, _, err := d.OpenWrite("file"); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%v", err)
		}
	})
}
