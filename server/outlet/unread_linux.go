package outlet

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// unread returns how many bytes of a pipe or a socket its reader has not read, or more,
// since a socket counts what they take in memory; 0 if the kernel does not tell.
func unread(w io.Writer) (n int64) {
	file, ok := w.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		left, err := unix.IoctlGetInt(int(fd), unix.TIOCOUTQ)
		if err != nil { // a pipe
			left, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ)
		}
		n = int64(left)
	})
	return n
}
