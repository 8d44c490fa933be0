package workspace_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"toolcrib/workspace"
)

// TestNarrowClosesAfterError lets Narrow run out of descriptors at every step. It is
// not parallel because the limit is that of the process.
func TestNarrowClosesAfterError(t *testing.T) {
	tr := newTree(t)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	backends(t, func(t *testing.T, opt workspace.Options) {
		w := tr.open(t, opt, "ws")
		before := descriptors(t)
		failed := 0
		for i := range 2 * (before + 16) {
			most, name := i/2, []string{"sub/deep", "."}[i%2]
			low := limit
			low.Cur = uint64(most)
			if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
				t.Fatal(err)
			}
			v, err := w.Narrow([]string{name})
			if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
				t.Fatal(err)
			}
			if err != nil {
				failed++
			} else if err := v.Close(); err != nil {
				t.Error(err)
			}
			if after := descriptors(t); after != before {
				t.Fatalf("limit %d: %d descriptors before, %d after (%v)", most, before, after, err)
			}
		}
		if failed == 0 {
			t.Error("nothing failed")
		}
	})
}

// descriptors counts the open descriptors of the process.
func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("needs: /proc/self/fd")
	}
	return len(list)
}
