package databasetest

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Full is what a call says whose change finds no room on a [Disk].
const Full = "error: unavailable: the disk of the state is full: nothing was changed (the user must free space)"

// Disk mounts a disk of 2 MiB until the end of the test and returns its path. It skips the test
// where nothing can be mounted.
func Disk(t *testing.T) string {
	t.Helper()
	path := t.TempDir()
	if err := unix.Mount("tmpfs", path, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("needs: mounts: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return path
}

// Keep calls what keeps one more thing on a [Disk], by its number, until that is refused, and
// returns how many were kept.
func Keep(t *testing.T, call func(i int) string) (kept int) {
	t.Helper()
	for {
		text := call(kept)
		if strings.HasPrefix(text, "error: ") {
			if text != Full {
				t.Errorf("after %d: %q; want %q", kept, text, Full)
			}
			return kept
		}
		if kept++; kept == 100 {
			t.Fatal("the disk is never full")
		}
	}
}

// Grow makes a [Disk] larger, and writable if it was protected.
func Grow(t *testing.T, disk string) {
	t.Helper()
	remount(t, disk, 0, "size=20m")
}

// Protect makes a [Disk] read-only. No file on it may be open for writing.
func Protect(t *testing.T, disk string) {
	t.Helper()
	remount(t, disk, unix.MS_RDONLY, "")
}

func remount(t *testing.T, disk string, flags uintptr, options string) {
	t.Helper()
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT|flags, options); err != nil {
		t.Fatal(err)
	}
}
