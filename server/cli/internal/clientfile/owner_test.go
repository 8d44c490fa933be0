//go:build unix

package clientfile_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOwner shows that a user's file stays theirs where root writes it.
func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs: root")
	}
	name := filepath.Join(t.TempDir(), "a.json")
	write(t, name, "old", 0o600)
	if err := os.Chown(name, 1234, 2345); err != nil {
		t.Skip("needs: the right to give files away")
	}
	backup, err := read(t, name).Write([]byte("new"), 0, noon)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{name, backup} {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if stat := info.Sys().(*syscall.Stat_t); stat.Uid != 1234 || stat.Gid != 2345 {
			t.Errorf("%s belongs to %d:%d", file, stat.Uid, stat.Gid)
		}
	}
}
