package workspace

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	createFlags = unix.O_RDWR | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | baseFlags
	writeFlags  = unix.O_RDWR | unix.O_NONBLOCK | unix.O_NOCTTY | baseFlags
)

// change calls f with the descriptor, again as long as a signal interrupts it.
func (d *kernelDir) change(name string, f func(fd int) error) error {
	if err := changeName(name); err != nil {
		return err
	}
	return d.use(func(fd int) error {
		for {
			if err := f(fd); err != unix.EINTR {
				return err
			}
		}
	})
}

func (d *kernelDir) create(name string, perm fs.FileMode) (*os.File, error) {
	file := -1
	err := d.change(name, func(fd int) (err error) {
		file, err = unix.Openat(fd, name, createFlags, modeBits(perm))
		return err
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(file), name), nil
}

func (d *kernelDir) openWrite(name string) (*os.File, Info, error) {
	if err := d.regular(name); err != nil {
		return nil, Info{}, err
	}
	fd, err := d.openat(name, writeFlags)
	if err != nil {
		return nil, Info{}, err
	}
	return d.adoptFile(fd, name)
}

// regular refuses what is not a regular file before it is opened: to open a device
// for writing may have effects of its own.
func (d *kernelDir) regular(name string) error {
	if err := changeName(name); err != nil {
		return err
	}
	info, err := d.stat(name)
	if err != nil {
		return err
	}
	return wantFile(info.Kind)
}

func (d *kernelDir) writable(name string) error {
	if err := d.regular(name); err != nil {
		return err
	}
	err := d.change(name, func(fd int) error {
		return unix.Faccessat2(fd, name, unix.W_OK, unix.AT_EACCESS|unix.AT_SYMLINK_NOFOLLOW)
	})
	if err != unix.ENOSYS && err != unix.EPERM {
		return err
	}
	// The kernel is too old for the question, or a filter forbids it.
	f, _, err := d.openWrite(name)
	if err != nil {
		return err
	}
	return f.Close()
}

func (d *kernelDir) changeable() error {
	return d.use(mayChange)
}

func (d *kernelDir) mkdir(name string, perm fs.FileMode) error {
	return d.change(name, func(fd int) error { return unix.Mkdirat(fd, name, modeBits(perm)) })
}

func (d *kernelDir) symlink(target, name string) error {
	return d.change(name, func(fd int) error { return unix.Symlinkat(target, fd, name) })
}

func (d *kernelDir) remove(name string) error {
	err := d.change(name, func(fd int) error { return unix.Unlinkat(fd, name, 0) })
	if err != unix.EISDIR && err != unix.EPERM {
		return err
	}
	// EPERM is the answer for a directory of some file systems, and for a file
	// that nobody may remove.
	e := d.change(name, func(fd int) error { return unix.Unlinkat(fd, name, unix.AT_REMOVEDIR) })
	if e == unix.ENOTDIR {
		return err
	}
	return e
}

func (d *kernelDir) move(name string, to dir, as string) error {
	return moveEntry(d, name, to, as)
}

func (d *kernelDir) replace(name string, to dir, as string) error {
	return d.rename(name, to, as, renameOver)
}

func (d *kernelDir) exchange(name string, to dir, as string) error {
	return exchangeEntries(d, name, to, as)
}

func (d *kernelDir) rename(name string, to dir, as string, how renameHow) error {
	return d.with(to, name, as, func(from, to int) error { return renameAt(from, name, to, as, how) })
}

func (d *kernelDir) link(name string, to dir, as string) error {
	return d.with(to, name, as, func(from, to int) error { return unix.Linkat(from, name, to, as, 0) })
}

// with calls f with the descriptors of two directories.
func (d *kernelDir) with(to dir, name, as string, f func(from, to int) error) error {
	other, ok := to.(*kernelDir)
	if !ok {
		return errCrossDir
	}
	if err := changeName(as); err != nil {
		return err
	}
	return d.change(name, func(from int) error {
		// To wait for a second lock could wait for ever. Only a close, through or
		// waiting for its turn, keeps a reader out.
		if !other.mu.TryRLock() {
			return os.ErrClosed
		}
		defer other.mu.RUnlock()
		if other.fd < 0 {
			return os.ErrClosed
		}
		return f(from, other.fd)
	})
}

func (d *kernelDir) chmod(name string, perm fs.FileMode) error {
	if err := changeName(name); err != nil {
		return err
	}
	fd, err := d.openat(name, dirFlags)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if _, err := d.admit(fd); err != nil {
		return err
	}
	return unix.Fchmod(fd, modeBits(perm))
}

func (d *kernelDir) chtimes(name string, when time.Time) error {
	return d.change(name, func(fd int) error { return chtimesAt(fd, name, when) })
}

func (d *kernelDir) mounted(name string) (is bool, err error) {
	err = d.change(name, func(fd int) (err error) {
		is, err = mountedAt(fd, name, d.dev)
		return err
	})
	return is, err
}

func (d *kernelDir) self() (*os.File, error) {
	own := -1
	err := d.use(func(fd int) (err error) {
		own, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(own), "."), nil
}

func (d *kernelDir) sync() error {
	return d.use(func(fd int) error {
		for {
			switch err := unix.Fsync(fd); err {
			case unix.EINTR:
			case unix.EINVAL: // the file system does not sync directories
				return nil
			default:
				return err
			}
		}
	})
}

// modeBits is the reverse of fileMode for what may be set.
func modeBits(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	if mode&fs.ModeSetuid != 0 {
		bits |= unix.S_ISUID
	}
	if mode&fs.ModeSetgid != 0 {
		bits |= unix.S_ISGID
	}
	if mode&fs.ModeSticky != 0 {
		bits |= unix.S_ISVTX
	}
	return bits
}
