package memory_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"toolcrib/tools/internal/database/databasetest"
)

// TestDisk fills the disk of the state, and makes it read-only: what was acknowledged stays
// and can be read, and the calls say what is wrong.
func TestDisk(t *testing.T) {
	disk, root := databasetest.Disk(t), t.TempDir()
	u := newUser(t, disk, "", "local", root)
	content := func(i int) string { return fmt.Sprintf("%d %s", i, strings.Repeat("word ", 8000)) }
	kept := databasetest.Keep(t, func(i int) string {
		return u.call("memory_write", args{"topic": fmt.Sprint("t", i), "content": content(i)})
	})
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
	var removed bytes.Buffer
	if err := u.category.Commands[0].Run(u.ctx(), []string{"restore"}, nil, &removed); err != nil || removed.Len() > 0 {
		t.Errorf("a memory that was refused counts as deleted: %s, %v", removed.String(), err)
	}
	databasetest.Protect(t, disk)
	there(u)
	if text := u.call("memory_write", args{"topic": "t0", "content": "x"}); !strings.HasPrefix(text, "error: unavailable: the state directory cannot be written") {
		t.Errorf("a read-only disk: %s", text)
	}
	late := newUser(t, disk, "", "local", root)
	if text := late.call("memory_write", args{"topic": "t0", "content": "x"}); !strings.HasPrefix(text, "error: unavailable: ") {
		t.Errorf("a read-only disk, with a new server: %s", text)
	}
	databasetest.Grow(t, disk)
	u.want("memory_write", args{"topic": "t0", "content": "x"}, "new version: …\n...")
	late.want("memory_read", args{"topic": "t0"}, "1 memory; …\n…\nx")
}
