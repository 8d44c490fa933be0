package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"toolcrib/workspace"
	"toolcrib/workspace/internal/fsys"
)

// An access control list as the kernel stores it: version 2, then for each entry
// tag, permissions and id.
const (
	aclOfUser1 = "\x02\x00\x00\x00" +
		"\x01\x00\x06\x00\xff\xff\xff\xff" + // the owner: rw
		"\x02\x00\x04\x00\x01\x00\x00\x00" + // user 1: r
		"\x04\x00\x04\x00\xff\xff\xff\xff" + // the group: r
		"\x10\x00\x04\x00\xff\xff\xff\xff" + // the mask: r
		"\x20\x00\x00\x00\xff\xff\xff\xff" // others: nothing
	aclAccess  = "system.posix_acl_access"
	aclDefault = "system.posix_acl_default"
)

// attributesOf lists the extended attributes of a file with their values.
func attributesOf(t testing.TB, name string) map[string]string {
	t.Helper()
	list := make([]byte, 64<<10)
	n, err := unix.Llistxattr(name, list)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, attr := range strings.FieldsFunc(string(list[:max(n, 0)]), func(r rune) bool { return r == 0 }) {
		value := make([]byte, 64<<10)
		n, err := unix.Lgetxattr(name, attr, value)
		if err != nil {
			t.Fatal(err)
		}
		if attr != "security.selinux" {
			all[attr] = string(value[:n])
		}
	}
	return all
}

func setAttribute(t testing.TB, name, attr, value string) {
	t.Helper()
	if err := unix.Setxattr(name, attr, []byte(value), 0); err != nil {
		t.Skip("needs: a file system with " + attr + ": " + err.Error())
	}
}

// keep runs KeepAttributes for two files of a tree.
func (tr tree) keep(t testing.TB, from, to string) ([]string, error) {
	t.Helper()
	d := dirs(t, tr, workspace.Options{}, "a")[0]
	a, info, err := d.OpenWrite(from)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, _, err := d.OpenWrite(to)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	return fsys.KeepAttributes(a, b, info)
}

func TestKeepAttributes(t *testing.T) {
	tr := newChangeTree(t)
	tr.write(t, "ws/a/temp", "new")
	from, to := tr.path("ws/a/file"), tr.path("ws/a/temp")
	if err := os.Chmod(from, 0o640|fs.ModeSetuid|fs.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	setAttribute(t, from, "user.text", "value")
	setAttribute(t, from, "user.empty", "")
	setAttribute(t, from, "user.big", strings.Repeat("x", 2_000))
	setAttribute(t, to, "user.own", "stays")
	setAttribute(t, from, aclAccess, aclOfUser1)
	want := attributesOf(t, from)
	want["user.own"] = "stays"
	if os.Geteuid() == 0 {
		if err := os.Chown(from, 1234, 5678); err != nil {
			t.Fatal(err)
		}
		setAttribute(t, from, "security.capability", "\x01\x00\x00\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	}
	for range 2 { // the second time there is nothing to do
		lost, err := tr.keep(t, "file", "temp")
		if err != nil || len(lost) > 0 {
			t.Errorf("lost %q, %v", lost, err)
		}
		if diff := cmp.Diff(want, attributesOf(t, to)); diff != "" {
			t.Error(diff)
		}
		fi, err := os.Lstat(to)
		if err != nil || fi.Mode() != 0o640 {
			t.Errorf("%v, %v", fi.Mode(), err)
		}
		if st := fi.Sys().(*syscall.Stat_t); os.Geteuid() == 0 && (st.Uid != 1234 || st.Gid != 5678) {
			t.Errorf("owner %d:%d", st.Uid, st.Gid)
		}
	}
}

// TestKeepAttributesTakesInherited has a list that only the directory gave.
func TestKeepAttributesTakesInherited(t *testing.T) {
	tr := newChangeTree(t)
	setAttribute(t, tr.path("ws/a"), aclDefault, aclOfUser1)
	tr.write(t, "ws/a/temp", "new")
	if attributesOf(t, tr.path("ws/a/temp"))[aclAccess] == "" {
		t.Fatal("nothing was inherited")
	}
	if lost, err := tr.keep(t, "file", "temp"); err != nil || len(lost) > 0 {
		t.Errorf("lost %q, %v", lost, err)
	}
	if diff := cmp.Diff(attributesOf(t, tr.path("ws/a/file")), attributesOf(t, tr.path("ws/a/temp"))); diff != "" {
		t.Error(diff)
	}
	if fi, err := os.Lstat(tr.path("ws/a/temp")); err != nil || fi.Mode() != 0o644 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
}

// TestKeepAttributesLoses has an owner that the caller may not give a file to.
func TestKeepAttributesLoses(t *testing.T) {
	tr := newChangeTree(t)
	tr.write(t, "ws/a/temp", "new")
	from, err := os.Open("/etc/passwd") // of root, in each system
	if err != nil {
		t.Skip("needs: /etc/passwd")
	}
	defer from.Close()
	if os.Geteuid() == 0 {
		t.Skip("needs: a user whom permissions bind")
	}
	to, err := os.OpenFile(tr.path("ws/a/temp"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	lost, err := fsys.KeepAttributes(from, to, workspace.Info{Mode: 0o664})
	if err != nil || !slices.Equal(lost, []string{"owner 0:0"}) {
		t.Errorf("lost %q, %v", lost, err)
	}
	// The group is another: it gets what everybody has.
	if fi, err := to.Stat(); err != nil || fi.Mode() != 0o644 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
}

func TestCopyTreeAttributes(t *testing.T) {
	backends(t, func(t *testing.T, opt workspace.Options) {
		tr := newCopyTree(t)
		for _, name := range []string{"f", "sub", "run", "zero", "sub/deep/f"} {
			setAttribute(t, tr.path("ws/a/t/"+name), "user.name", name)
		}
		// Two that their owner may not write, by mode and by list.
		if err := os.Chmod(tr.path("ws/a/t/zero"), 0o444); err != nil {
			t.Fatal(err)
		}
		setAttribute(t, tr.path("ws/a/t/run"), aclAccess, strings.Replace(aclOfUser1, "\x06", "\x04", 1))
		setAttribute(t, tr.path("ws/a/t/f"), aclAccess, aclOfUser1)
		setAttribute(t, tr.path("ws/a/t/sub"), aclDefault, aclOfUser1)
		setAttribute(t, tr.path("ws/b"), aclDefault, aclOfUser1)
		if err := os.Chmod(tr.path("ws/b"), 0o755|fs.ModeSetgid); err != nil {
			t.Fatal(err)
		}
		d := dirs(t, tr, opt, "a", "b")
		lost, err := copyTree(t.Context(), d[0], "t", d[1], "copy")
		if err != nil || len(lost) > 0 {
			t.Fatalf("lost %q, %v", lost, err)
		}
		for _, name := range []string{"f", "run", "zero", "sub", "sub/same", "sub/deep", "sub/deep/f"} {
			if diff := cmp.Diff(attributesOf(t, tr.path("ws/a/t/"+name)), attributesOf(t, tr.path("ws/b/copy/"+name))); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		fi, err := os.Lstat(tr.path("ws/b/copy/sub"))
		if err != nil || fi.Mode() != fs.ModeDir|fs.ModeSetgid|0o751 {
			t.Errorf("%v, %v", fi.Mode(), err)
		}
	})
}
