package fsys

import (
	"encoding/binary"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// kernelDir is a dir on a bare descriptor: a walk opens one for each directory,
// and an os.File would cost as much again as the directory itself.
type kernelDir struct {
	// mu is held for reading while fd is used, so that the number of a closed descriptor,
	// which the system gives out again, is never taken for the directory.
	mu  sync.RWMutex
	fd  int    // -1 once closed
	dev uint64 // a device that is known to hold data, see admit
	// whole says that on dev a read returns less than it is asked for only at the end of
	// a file.
	whole bool
}

// use calls f with the descriptor.
func (d *kernelDir) use(f func(fd int) error) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.fd < 0 {
		return os.ErrClosed
	}
	return f(d.fd)
}

func (d *kernelDir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fd < 0 {
		return os.ErrClosed
	}
	fd := d.fd
	d.fd = -1
	return unix.Close(fd)
}

func (d *kernelDir) Open(name string) (Dir, error) {
	fd, err := d.openat(name, dirFlags)
	if err != nil {
		return nil, err
	}
	return d.adoptDir(fd)
}

func (d *kernelDir) OpenFile(name string, f *File) error {
	fd, err := d.openData(name)
	if err != nil {
		return err
	}
	st, err := d.admitFile(fd)
	if err != nil {
		return err
	}
	info := infoOfStat(&st)
	f.kernel.fd, f.kernel.info = fd, &info
	return nil
}

// OpenListed does not ask for the state of the file: on the mount of the directory itself,
// reading the file will do.
func (d *kernelDir) OpenListed(name string, f *File) error {
	if !d.whole {
		return d.OpenFile(name, f)
	}
	if err := entryName(name); err != nil {
		return err
	}
	return d.openOnMount(name, f)
}

// openOnMount opens an entry below the directory on the same mount, through no link.
func (d *kernelDir) openOnMount(rel string, f *File) error {
	f.kernel.whole = d.whole
	how := unix.OpenHow{Flags: fileFlags, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV}
	return d.use(func(at int) error {
		for {
			var err error
			if f.kernel.fd, err = unix.Openat2(at, rel, &how); err != unix.EINTR {
				return err
			}
		}
	})
}

func (d *kernelDir) OpenRead(name string) (*os.File, Info, error) {
	fd, err := d.openData(name)
	if err != nil {
		return nil, Info{}, err
	}
	return d.adoptFile(fd, name)
}

// openData opens an entry of any kind for reading.
func (d *kernelDir) openData(name string) (int, error) {
	fd, err := d.openat(name, fileFlags)
	if err != nil {
		if info, e := d.Stat(name); e == nil && info.Kind == KindOther {
			err = ErrSpecial
		}
	}
	return fd, err
}

// openat opens an entry and never a link.
func (d *kernelDir) openat(name string, flags int) (fd int, err error) {
	if err := entryName(name); err != nil {
		return -1, err
	}
	err = d.use(func(at int) error {
		for {
			fd, err = unix.Openat(at, name, flags|unix.O_NOFOLLOW, 0)
			if err != unix.EINTR {
				return err
			}
		}
	})
	if err == unix.ELOOP {
		err = ErrIsLink
	}
	return fd, err
}

// adoptDir makes a dir of a new descriptor, or closes it.
func (d *kernelDir) adoptDir(fd int) (*kernelDir, error) {
	st, err := d.admit(fd)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &kernelDir{fd: fd, dev: uint64(st.Dev), whole: d.whole && uint64(st.Dev) == d.dev}, nil
}

// adoptFile makes a file of a new descriptor, or closes it.
func (d *kernelDir) adoptFile(fd int, name string) (*os.File, Info, error) {
	st, err := d.admitFile(fd)
	if err != nil {
		return nil, Info{}, err
	}
	// O_NONBLOCK was for the open alone; without it os.NewFile does not try to poll the
	// file.
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, 0); err != nil {
		unix.Close(fd)
		return nil, Info{}, err
	}
	return os.NewFile(uintptr(fd), name), infoOfStat(&st), nil
}

// admitFile is admit for a descriptor that must be of a regular file; it closes any other.
func (d *kernelDir) admitFile(fd int) (unix.Stat_t, error) {
	st, err := d.admit(fd)
	if err == nil {
		err = WantFile(kindOfMode(st.Mode))
	}
	if err != nil {
		unix.Close(fd)
	}
	return st, err
}

// admit describes the file of a descriptor and refuses file systems of the kernel. It does
// not ask for the file system on the device of the directory itself.
func (d *kernelDir) admit(fd int) (unix.Stat_t, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return st, err
	}
	if uint64(st.Dev) == d.dev {
		return st, nil
	}
	_, err := dataFS(fd)
	return st, err
}

func (d *kernelDir) Stat(name string) (Info, error) {
	if err := entryName(name); err != nil {
		return Info{}, err
	}
	var info Info
	err := d.use(func(at int) error {
		var st unix.Stat_t
		err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err != nil {
			return err
		}
		info = infoOfStat(&st)
		if info.Kind == KindSymlink {
			info.Target, err = readlinkat(at, name)
		}
		return err
	})
	if err != nil {
		return Info{}, err
	}
	return info, nil
}

// direntBuffer is how much of a directory one system call reads. A walk clears it for each
// directory, and most have less.
const direntBuffer = 8 << 10

func (d *kernelDir) Entries(limit int) ([]DirEntry, error) {
	var list []DirEntry
	err := d.use(func(fd int) error {
		if _, err := unix.Seek(fd, 0, 0); err != nil {
			return err
		}
		buf := make([]byte, direntBuffer)
		for {
			n, err := unix.Getdents(fd, buf)
			if err == unix.EINTR {
				continue
			}
			if err != nil || n == 0 {
				return err
			}
			list = appendDirents(list, fd, string(buf[:n]))
			if limit > 0 && len(list) >= limit {
				list = list[:limit]
				return nil
			}
		}
	})
	return list, err
}

// appendDirents parses records of struct linux_dirent64: inode (8 bytes), offset
// (8), length of the record (2), type (1), name up to a NUL. The names are parts of
// text: a string for each would be most of what a walk allocates.
func appendDirents(list []DirEntry, fd int, text string) []DirEntry {
	const sizeAt, typeAt, nameAt = 16, 18, 19
	list = slices.Grow(list, len(text)/32) // as long as most records are
	for len(text) > nameAt {
		size := int(binary.NativeEndian.Uint16([]byte(text[sizeAt:typeAt])))
		if size <= nameAt || size > len(text) {
			return list
		}
		record := text[:size]
		text = text[size:]
		name, _, _ := strings.Cut(record[nameAt:], "\x00")
		if name != "." && name != ".." {
			list = append(list, DirEntry{Name: name, Kind: kindOfDirent(fd, name, record[typeAt])})
		}
	}
	return list
}

// kindOfDirent asks the entry itself if the file system gives no type; one that is gone by
// then is KindOther, which nobody opens.
func kindOfDirent(fd int, name string, typ byte) Kind {
	switch typ {
	case unix.DT_REG:
		return KindFile
	case unix.DT_DIR:
		return KindDirectory
	case unix.DT_LNK:
		return KindSymlink
	case unix.DT_UNKNOWN:
		var st unix.Stat_t
		if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			return kindOfMode(st.Mode)
		}
	}
	return KindOther
}

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

func (d *kernelDir) Create(name string, perm fs.FileMode) (*os.File, error) {
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

func (d *kernelDir) OpenWrite(name string) (*os.File, Info, error) {
	if err := d.regular(name); err != nil {
		return nil, Info{}, err
	}
	fd, err := d.openat(name, writeFlags)
	if err != nil {
		return nil, Info{}, err
	}
	return d.adoptFile(fd, name)
}

// regular refuses an entry that is not a regular file before it is opened: to open a device
// for writing may have effects of its own.
func (d *kernelDir) regular(name string) error {
	if err := changeName(name); err != nil {
		return err
	}
	info, err := d.Stat(name)
	if err != nil {
		return err
	}
	return WantFile(info.Kind)
}

func (d *kernelDir) Writable(name string) error {
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
	f, _, err := d.OpenWrite(name)
	if err != nil {
		return err
	}
	return f.Close()
}

func (d *kernelDir) Changeable() error {
	return d.use(mayChange)
}

func (d *kernelDir) Mkdir(name string, perm fs.FileMode) error {
	return d.change(name, func(fd int) error { return unix.Mkdirat(fd, name, modeBits(perm)) })
}

func (d *kernelDir) Symlink(target, name string) error {
	return d.change(name, func(fd int) error { return unix.Symlinkat(target, fd, name) })
}

func (d *kernelDir) Remove(name string) error {
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

func (d *kernelDir) Move(name string, to Dir, as string) error {
	return moveEntry(d, name, to, as)
}

func (d *kernelDir) Replace(name string, to Dir, as string) error {
	return d.Rename(name, to, as, renameOver)
}

func (d *kernelDir) Exchange(name string, to Dir, as string) error {
	return exchangeEntries(d, name, to, as)
}

func (d *kernelDir) Rename(name string, to Dir, as string, how renameHow) error {
	return d.with(to, name, as, func(from, to int) error { return renameAt(from, name, to, as, how) })
}

func (d *kernelDir) Link(name string, to Dir, as string) error {
	return d.with(to, name, as, func(from, to int) error { return unix.Linkat(from, name, to, as, 0) })
}

// with calls f with the descriptors of two directories.
func (d *kernelDir) with(to Dir, name, as string, f func(from, to int) error) error {
	other, ok := to.(*kernelDir)
	if !ok {
		return errCrossDir
	}
	if err := changeName(as); err != nil {
		return err
	}
	return d.change(name, func(from int) error {
		// To wait for a second lock could wait for ever. Only a close, done or waiting,
		// keeps a reader out.
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

func (d *kernelDir) Chmod(name string, perm fs.FileMode) error {
	if err := changeName(name); err != nil {
		return err
	}
	fd, err := d.openat(name, dirFlags)
	byPath := err == unix.ENOTDIR || err == unix.EACCES
	if byPath {
		fd, err = d.openat(name, pathFlags)
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	st, err := d.admit(fd)
	if err != nil {
		return err
	}
	if kind := kindOfMode(st.Mode); kind != KindDirectory {
		if err := WantFile(kind); err != nil {
			return err
		}
	}
	if byPath { // fchmod takes no such descriptor
		return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), modeBits(perm))
	}
	return unix.Fchmod(fd, modeBits(perm))
}

func (d *kernelDir) Chtimes(name string, when time.Time) error {
	return d.change(name, func(fd int) error { return chtimesAt(fd, name, when) })
}

func (d *kernelDir) Mounted(name string) (is bool, err error) {
	err = d.change(name, func(fd int) (err error) {
		is, err = mountedAt(fd, name, d.dev)
		return err
	})
	return is, err
}

func (d *kernelDir) Self() (*os.File, error) {
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

func (d *kernelDir) Sync() error {
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

// modeBits is the reverse of fileMode for the bits that may be set.
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
