package memory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestDisk fills the disk of the state, and makes it read-only: what was acknowledged stays
// and can be read, and the calls say what is wrong.
func TestDisk(t *testing.T) {
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("needs: mounts: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	root := t.TempDir()
	u := newUser(t, disk, "", "local", root)
	kept, full := 0, ""
	content := func(i int) string { return fmt.Sprintf("%d %s", i, strings.Repeat("word ", 8000)) }
	for i := range 100 {
		text := u.call("memory_write", args{"topic": fmt.Sprint("t", i), "content": content(i)})
		if strings.HasPrefix(text, "error: ") {
			full = text
			break
		}
		kept++
	}
	if want := "error: unavailable: the disk of the state is full: nothing was changed (the user must free space)"; full != want {
		t.Errorf("after %d memories: %q; want %q", kept, full, want)
	}
	there := func(u *user) {
		t.Helper()
		for i := range kept {
			if text := u.call("memory_read", args{"topic": fmt.Sprint("t", i)}); !strings.Contains(text, strings.TrimSpace(content(i))) {
				t.Errorf("%.200s", text)
			}
		}
		u.want("memory_read", args{"topic": fmt.Sprint("t", kept)}, "error: not_found: …")
	}
	there(u)
	there(newUser(t, disk, "", "local", root))
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	there(u)
	if text := u.call("memory_write", args{"topic": "t0", "content": "x"}); !strings.HasPrefix(text, "error: unavailable: the state directory cannot be written") {
		t.Errorf("a read-only disk: %s", text)
	}
	if text := newUser(t, disk, "", "local", root).call("memory_write", args{"topic": "t0", "content": "x"}); !strings.HasPrefix(text, "error: unavailable: ") {
		t.Errorf("a read-only disk, with a new server: %s", text)
	}
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT, "size=20m"); err != nil {
		t.Fatal(err)
	}
	u.want("memory_write", args{"topic": "t0", "content": "x"}, "new version: …\n...")
}
