//go:build unix

package workspace

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// renameRoots renames between two roots, which os.Root itself cannot. A name is
// one component, so that nothing but the roots decides where it is.
func renameRoots(from *os.Root, name string, to *os.Root, as string, how renameHow) error {
	return withRoots(from, to, func(from, to int) error { return renameAt(from, name, to, as, how) })
}

// linkRoots makes a hard link between two roots.
func linkRoots(from *os.Root, name string, to *os.Root, as string) error {
	return withRoots(from, to, func(from, to int) error { return unix.Linkat(from, name, to, as, 0) })
}

// chtimesRoot sets the time of an entry itself where that is a link: os.Root would
// follow it.
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

// syncDir takes it for done where the file system does not sync directories.
func syncDir(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
