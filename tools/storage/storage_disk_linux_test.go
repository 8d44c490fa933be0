package storage_test

import (
	"fmt"
	"strings"
	"testing"

	"toolcrib/tools/internal/database/databasetest"
)

// TestDisk fills the disk of the state, and makes it read-only: what was acknowledged stays,
// and the calls say what is wrong.
func TestDisk(t *testing.T) {
	disk, root := databasetest.Disk(t), t.TempDir()
	t.Run("full", func(t *testing.T) {
		u := newUser(t, disk, "", "local", root)
		kept := databasetest.Keep(t, func(i int) string {
			return u.call(args{"operation": "put", "key": fmt.Sprint(i), "value": strings.Repeat("x", 50_000)})
		})
		there := func(u *user) {
			t.Helper()
			for i := range kept {
				if text := u.call(args{"operation": "get", "key": fmt.Sprint(i)}); !strings.HasPrefix(text, fmt.Sprintf("%d: version 1, 50000 bytes, ", i)) {
					t.Errorf("%.200s", text)
				}
			}
		}
		there(u)
		databasetest.Grow(t, disk)
		u.want(args{"operation": "put", "key": "more", "value": "x"}, "more: put, version 1, 1 byte")
		there(newUser(t, disk, "", "local", root))
	})
	t.Run("read-only", func(t *testing.T) {
		databasetest.Protect(t, disk)
		u := newUser(t, disk, "", "local", root)
		if text := u.call(args{"operation": "put", "key": "more", "value": "y"}); !strings.HasPrefix(text, "error: unavailable: the state directory cannot be written") {
			t.Error(text)
		}
	})
	t.Run("writable again", func(t *testing.T) {
		databasetest.Grow(t, disk)
		newUser(t, disk, "", "local", root).want(args{"operation": "put", "key": "more", "value": "y"}, "more: put, version 2, 1 byte")
	})
}
