//go:build unix

package files_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A FIFO goes, but none comes back; the rest is undone.
func TestUndoOfSpecial(t *testing.T) {
	b := newBench(t, map[string]string{"a": "0\n", "file": "0\n"})
	fifo := func(host string) {
		t.Helper()
		if err := unix.Mkfifo(host, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"deleted", "replaced", "opened"} {
		fifo(b.path(name).Host())
	}
	c := b.command(func(p program) {
		p.write("a", "1\n")
		p.remove("deleted")
		p.remove("replaced")
		p.write("replaced", "1\n")
		p.before("opened", false)
		p.remove("file")
		fifo(p.before("file", false))
		fifo(p.before("new", false))
	})
	const kind = " is not kept: it is a FIFO, socket or device"
	if want := "deleted" + kind + "; replaced" + kind; c.NotKept != want {
		t.Errorf("the command says %q, want %q", c.NotKept, want)
	}
	const was = " was a FIFO, socket or device"
	b.want("undid … bash: 4 paths; …cannot be undone: … is a FIFO, socket or device\nfile: deleted\nnew: deleted\na: restored, 2 B\nfile: restored, 2 B\nnote: not undone: deleted"+was+", replaced"+was, b.call("restore_file", args{"undo": true}))
	if err := os.Remove(b.path("opened").Host()); err != nil {
		t.Error(err)
	}
	b.tree(map[string]string{"a": "0\n", "file": "0\n", "replaced": "1\n"})
}
