package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// mountedAt tells whether an entry of the directory fd, which lies on device dev,
// is the root of a mount. Kernels before 5.8 tell it only of another device.
func mountedAt(fd int, name string, dev uint64) (bool, error) {
	var st unix.Statx_t
	const flags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	switch err := unix.Statx(fd, name, flags, unix.STATX_TYPE, &st); {
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, unix.EPERM):
		var old unix.Stat_t
		if err := unix.Fstatat(fd, name, &old, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return false, err
		}
		return uint64(old.Dev) != dev, nil
	case err != nil:
		return false, err
	}
	return st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0 || unix.Mkdev(st.Dev_major, st.Dev_minor) != dev, nil
}

// mountedRoot is mountedAt for an entry of a root.
func mountedRoot(root *os.Root, name string, dev uint64) (is bool, err error) {
	f, err := root.Open(".")
	if err != nil {
		return false, err
	}
	defer f.Close()
	return mountedAt(int(f.Fd()), name, dev)
}

// syncAll syncs the whole file system of a directory, which takes one write to the
// disk and not one for each file.
func syncAll(d dir) (done bool, err error) {
	f, err := d.self()
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err := control(f, unix.Syncfs); err != nil {
		return false, err
	}
	return true, nil
}
