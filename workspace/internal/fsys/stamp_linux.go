package fsys

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// StampOf describes the entry at a path below h, without following a link at its end; "."
// is the directory itself. A missing entry has the zero stamp.
func StampOf(h Dir, name string, now time.Time) Stamp {
	k, ok := h.(*kernelDir)
	if !ok {
		return stampPortable(h, name, now)
	}
	var st unix.Stat_t
	err := k.use(func(fd int) error { return unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return stampOfStat(&st, err, now)
}

// StampOfHost describes the target of a path on the host, as StampOf does.
func StampOfHost(name string, now time.Time) Stamp {
	var st unix.Stat_t
	err := unix.Stat(name, &st)
	return stampOfStat(&st, err, now)
}

func stampOfStat(st *unix.Stat_t, err error, now time.Time) Stamp {
	switch {
	case err == unix.ENOENT || err == unix.ENOTDIR:
		return Stamp{}
	case err != nil:
		return unknown
	}
	return newStamp(identity64{
		device: uint64(st.Dev), inode: st.Ino, size: uint64(st.Size),
		modified: st.Mtim.Nano(), changed: st.Ctim.Nano(), mode: uint64(st.Mode),
	}, uint64(st.Nlink), now)
}

// statusTime returns when the status of a file changed.
func statusTime(fi fs.FileInfo) int64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return syscall.TimespecToNsec(st.Ctim)
	}
	return 0
}
