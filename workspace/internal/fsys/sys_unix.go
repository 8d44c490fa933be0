//go:build unix

package fsys

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// OpenFlags keep an open from blocking on a FIFO and from taking a terminal.
const OpenFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

// Identity returns the device and inode of a file and its number of hard links; 0 if the
// system has none.
func Identity(fi fs.FileInfo) (device, inode, links uint64) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, 0
	}
	return uint64(st.Dev), uint64(st.Ino), uint64(st.Nlink)
}

// userOf returns the ID of the user who owns a file; 0 if the system has none.
func userOf(fi fs.FileInfo) uint32 {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return st.Uid
}

// mayChange reports whether the caller may make and remove entries of an open
// directory; nil = yes, also where the system cannot be asked.
func mayChange(fd int) error {
	err := unix.Faccessat(fd, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EROFS) {
		return err
	}
	return nil
}

func mayChangeDir(f *os.File) error { return mayChange(int(f.Fd())) }

// AppendTo adds data at the end of the file, which the system finds in the same step, and
// returns the offset of the data.
func AppendTo(f *os.File, data []byte) (at int64, err error) {
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFL, unix.O_APPEND); err != nil {
		return 0, err
	}
	n, err := f.Write(data)
	end, e := f.Seek(0, io.SeekCurrent)
	if err == nil {
		err = e
	}
	return end - int64(n), err
}

// renameRoots renames between two roots, which os.Root itself cannot. A name is
// one component, so that nothing but the roots decides where it is.
func renameRoots(from *os.Root, name string, to *os.Root, as string, how renameHow) error {
	return withRoots(from, to, func(from, to int) error { return renameAt(from, name, to, as, how) })
}

// linkRoots makes a hard link between two roots.
func linkRoots(from *os.Root, name string, to *os.Root, as string) error {
	return withRoots(from, to, func(from, to int) error { return unix.Linkat(from, name, to, as, 0) })
}

// chtimesRoot sets the time of an entry itself: os.Root would follow a link.
func chtimesRoot(root *os.Root, name string, when time.Time) error {
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return chtimesAt(int(f.Fd()), name, when)
}

func chtimesAt(fd int, name string, when time.Time) error {
	ts, err := unix.TimeToTimespec(when)
	if err != nil {
		return err
	}
	return unix.UtimesNanoAt(fd, name, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
}

// withRoots calls f with descriptors of two roots.
func withRoots(from, to *os.Root, f func(from, to int) error) error {
	a, err := from.Open(".")
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := to.Open(".")
	if err != nil {
		return err
	}
	defer b.Close()
	return f(int(a.Fd()), int(b.Fd()))
}

// syncDir makes the entries of a directory survive a loss of power; it returns nil if the
// file system does not sync directories.
func syncDir(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
