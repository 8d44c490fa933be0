package fsys

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func infoOfStat(st *unix.Stat_t) Info {
	return Info{
		Kind:    kindOfMode(st.Mode),
		Size:    st.Size,
		Mode:    fileMode(st.Mode),
		ModTime: time.Unix(st.Mtim.Unix()),
		Links:   uint64(st.Nlink),
		Device:  uint64(st.Dev),
		Inode:   st.Ino,
		Owner:   st.Uid,
	}
}

func kindOfMode(mode uint32) Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return KindFile
	case unix.S_IFDIR:
		return KindDirectory
	case unix.S_IFLNK:
		return KindSymlink
	}
	return KindOther
}

// fileMode translates the bits of the kernel, as package os does.
func fileMode(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	switch mode & unix.S_IFMT {
	case unix.S_IFDIR:
		m |= fs.ModeDir
	case unix.S_IFLNK:
		m |= fs.ModeSymlink
	case unix.S_IFIFO:
		m |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		m |= fs.ModeSocket
	case unix.S_IFBLK:
		m |= fs.ModeDevice
	case unix.S_IFCHR:
		m |= fs.ModeDevice | fs.ModeCharDevice
	}
	if mode&unix.S_ISUID != 0 {
		m |= fs.ModeSetuid
	}
	if mode&unix.S_ISGID != 0 {
		m |= fs.ModeSetgid
	}
	if mode&unix.S_ISVTX != 0 {
		m |= fs.ModeSticky
	}
	return m
}

// DataAfter finds the next data of a file of the given size at or after an offset; start is
// size if only a hole follows. On a file system without holes all is data.
func DataAfter(f *os.File, at, size int64) (start, end int64, err error) {
	start, err = f.Seek(at, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO):
		return size, size, nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, errors.ErrUnsupported):
		return at, size, nil
	case err != nil:
		return 0, 0, err
	}
	end, err = f.Seek(start, unix.SEEK_HOLE)
	if errors.Is(err, unix.ENXIO) { // it has become shorter
		return size, size, nil
	}
	return min(start, size), min(end, size), err
}

// mountedAt reports whether an entry of the directory fd, on device dev, is the root of a
// mount. Kernels before 5.8 report it for another device only.
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

// SyncAll syncs the whole file system of a directory, which takes one write to the
// disk and not one for each file.
func SyncAll(d Dir) (done bool, err error) {
	f, err := d.Self()
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err := control(f, unix.Syncfs); err != nil {
		return false, err
	}
	return true, nil
}

// renameAt renames between two open directories.
func renameAt(from int, name string, to int, as string, how renameHow) error {
	flags := [...]uint{renameOver: 0, renameKeep: unix.RENAME_NOREPLACE, renameSwap: unix.RENAME_EXCHANGE}
	for {
		var err error
		if how == renameOver {
			err = unix.Renameat(from, name, to, as)
		} else {
			err = unix.Renameat2(from, name, to, as, flags[how])
		}
		if err != unix.EINTR {
			return err
		}
	}
}
