package storage_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"toolcrib/tools"
	"toolcrib/tools/internal/services"
	"toolcrib/tools/storage"
	"toolcrib/workspace"
)

// TestDisk fills the disk of the state, and makes it read-only: what was acknowledged stays,
// and the calls say what is wrong.
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
	var closers []func() error
	open := func() *user {
		ws, err := workspace.Open([]string{root}, workspace.Options{StateBase: disk})
		if err != nil {
			t.Fatal(err)
		}
		s := new(services.Services)
		closers = append(closers, s.Database().Close, ws.Close)
		return &user{t, storage.Category(s).Tools[0], tools.SessionInfo{Principal: "local", Workspace: ws}}
	}
	u := open()
	kept, full := 0, ""
	for i := range 100 {
		text := u.call(args{"operation": "put", "key": fmt.Sprint(i), "value": strings.Repeat("x", 50_000)})
		if strings.HasPrefix(text, "error: ") {
			full = text
			break
		}
		kept++
	}
	if want := "error: unavailable: the disk of the state is full: nothing was changed (the user must free space)"; full != want {
		t.Errorf("after %d values: %q; want %q", kept, full, want)
	}
	there := func(u *user) {
		t.Helper()
		for i := range kept {
			if text := u.call(args{"operation": "get", "key": fmt.Sprint(i)}); !strings.HasPrefix(text, fmt.Sprintf("%d: version 1, 50000 bytes, ", i)) {
				t.Errorf("%.200s", text)
			}
		}
	}
	there(u)
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT, "size=20m"); err != nil {
		t.Fatal(err)
	}
	u.want(args{"operation": "put", "key": "more", "value": "x"}, "more: put, version 1, 1 byte")
	there(open())
	closeAll := func() {
		t.Helper()
		for _, end := range closers {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
		closers = nil
	}
	closeAll() // a disk with files that are written stays as it is
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if text := open().call(args{"operation": "put", "key": "more", "value": "y"}); !strings.HasPrefix(text, "error: unavailable: the state directory cannot be written") {
		t.Errorf("a read-only disk: %s", text)
	}
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT, "size=20m"); err != nil {
		t.Fatal(err)
	}
	open().want(args{"operation": "put", "key": "more", "value": "y"}, "more: put, version 2, 1 byte")
	closeAll()
}
