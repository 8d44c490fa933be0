//go:build unix

package clientfile

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a new file the owner of the old one, which differs where root
// writes a user's file.
func keepOwner(file *os.File, old fs.FileInfo) error {
	stat, ok := old.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) == os.Geteuid() {
		return nil
	}
	return file.Chown(int(stat.Uid), int(stat.Gid))
}
