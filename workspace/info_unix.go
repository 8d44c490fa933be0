//go:build unix

package workspace

import (
	"io/fs"
	"syscall"
)

// openFlags keep an open from blocking on a FIFO and from taking a terminal.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

func identity(fi fs.FileInfo) (device, inode, links uint64) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, 0
	}
	return uint64(st.Dev), uint64(st.Ino), uint64(st.Nlink)
}
