//go:build unix

package tooltest

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// special makes files that are neither regular files, directories nor links.
func special(t *testing.T, dir string) []vector {
	t.Helper()
	must(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	vs := []vector{{"FIFO", "fifo", true}}
	if l, err := net.Listen("unix", filepath.Join(dir, "socket")); err == nil { // the name may be too long for a socket
		t.Cleanup(func() { l.Close() })
		vs = append(vs, vector{"socket", "socket", true})
	}
	if os.Geteuid() == 0 && unix.Mknod(filepath.Join(dir, "zero"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))) == nil {
		vs = append(vs, vector{"device node", "zero", true})
	}
	return vs
}
