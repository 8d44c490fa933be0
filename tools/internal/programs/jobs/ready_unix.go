//go:build unix

package jobs

import (
	"os"
	"syscall"
)

// ready reads from a pipe without waiting; 0 = it is empty.
func ready(f *os.File, p []byte) int {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	n := 0
	if conn.Read(func(fd uintptr) bool {
		n, err = syscall.Read(int(fd), p)
		return true
	}) != nil || err != nil {
		return 0
	}
	return n
}
