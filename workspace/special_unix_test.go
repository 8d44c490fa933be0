//go:build unix

package workspace_test

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/workspace"
)

func TestSpecialFiles(t *testing.T) {
	tr := newTree(t)
	if err := unix.Mkfifo(tr.path("ws/fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	tr.link(t, "ws/to_fifo", "fifo")
	tr.link(t, "ws/abs_to_fifo", "{base}/ws/fifo")
	t.Chdir(tr.path("ws")) // the names of sockets are short
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	names := []string{"fifo", "to_fifo", "abs_to_fifo", "socket"}
	switch err := unix.Mknod("zero", unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))); {
	case err == nil:
		names = append(names, "zero")
	case errors.Is(err, os.ErrPermission):
		t.Log("without a device: making one needs root")
	default:
		t.Fatal(err)
	}
	backends(t, func(t *testing.T, opt workspace.Options) {
		w := tr.open(t, opt, "ws")
		for _, name := range names {
			start := time.Now()
			_, err := read(w, name)
			if rule := ruleOf(t, err); rule != workspace.RuleSpecial {
				t.Errorf("%s: rule %q, %v", name, rule, err)
			}
			p, err := w.Resolve(name)
			if err != nil {
				t.Fatal(err)
			}
			if info, err := p.Stat(); err != nil || info.Kind != workspace.KindOther {
				t.Errorf("%s: %+v, %v", name, info, err)
			}
			if _, err := p.ReadDir(); err == nil {
				t.Errorf("%s was listed", name)
			}
			if _, err := w.Narrow([]string{name}); err == nil {
				t.Errorf("the view was narrowed to %s", name)
			}
			if took := time.Since(start); took > 50*time.Millisecond {
				t.Errorf("%s took %v", name, took)
			}
		}
	})
	if _, err := workspace.Open([]string{"fifo"}, workspace.Options{}); err == nil {
		t.Error("a FIFO was opened as a root")
	}
}

func TestPermission(t *testing.T) {
	tr := newTree(t)
	if err := os.Chmod(tr.path("ws/f"), 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(tr.path("ws/f")); err == nil {
		f.Close()
		t.Skip("needs: a user whom permissions bind")
	}
	backends(t, func(t *testing.T, opt workspace.Options) {
		w := tr.open(t, opt, "ws")
		if _, err := read(w, "f"); ruleOf(t, err) != workspace.RuleAccess {
			t.Errorf("%v", err)
		}
	})
}

func TestInfo(t *testing.T) {
	tr := newTree(t)
	tr.link(t, "ws/rel", "sub/deep/g")
	tr.link(t, "ws/abs", "{base}/ws/sub")
	tr.link(t, "ws/two_hops", "{base}/ws/rel")
	tr.link(t, "ws/out", "{base}/out/secret")
	tr.link(t, "ws/dangling", "missing")
	when := time.Unix(1_700_000_000, 0)
	if err := os.Chtimes(tr.path("ws/f"), when, when); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(tr.path("ws/f"), 0o640); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(tr.path("ws/f"))
	if err != nil {
		t.Fatal(err)
	}
	st := fi.Sys().(*syscall.Stat_t)
	want := workspace.Info{
		Kind: workspace.KindFile, Size: 6, Mode: 0o640, ModTime: when, Links: 1,
		Device: uint64(st.Dev), Inode: uint64(st.Ino), Owner: st.Uid,
	}
	backends(t, func(t *testing.T, opt workspace.Options) {
		w := tr.open(t, opt, "ws")
		resolve := func(text string) workspace.Path {
			t.Helper()
			p, err := w.Resolve(text)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		f, err := resolve("f").Open()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if f.Info() != want {
			t.Errorf("Open: %+v\nwant %+v", f.Info(), want)
		}
		if info, err := resolve("f").Stat(); info != want || err != nil {
			t.Errorf("Stat: %+v, %v\nwant %+v", info, err, want)
		}
		for name, want := range map[string]struct{ target, resolved string }{
			"rel":      {"sub/deep/g", "sub/deep/g"},
			"abs":      {tr.path("ws/sub"), "sub"},
			"two_hops": {tr.path("ws/rel"), "sub/deep/g"},
			"out":      {tr.path("out/secret"), ""},
			"dangling": {"missing", ""},
		} {
			info, err := resolve(name).Lstat()
			if err != nil || info.Kind != workspace.KindSymlink || info.Target != want.target || info.Resolved != want.resolved {
				t.Errorf("Lstat %s: %+v, %v", name, info, err)
			}
		}
		if info, err := resolve("abs").Stat(); err != nil || info.Kind != workspace.KindDirectory || info.Target != "" {
			t.Errorf("Stat of a link: %+v, %v", info, err)
		}
		if info, err := resolve("abs/").Lstat(); err != nil || info.Kind != workspace.KindDirectory {
			t.Errorf("Lstat of a link with a slash: %+v, %v", info, err)
		}
		if _, err := resolve("out").Stat(); ruleOf(t, err) != workspace.RuleOutside {
			t.Errorf("Stat of a link that leaves: %v", err)
		}
	})
}
