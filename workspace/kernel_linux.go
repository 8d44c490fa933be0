package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	baseFlags = unix.O_CLOEXEC | unix.O_LARGEFILE
	dirFlags  = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NONBLOCK | baseFlags
	fileFlags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | baseFlags
	pathFlags = unix.O_PATH | baseFlags
)

// maxAgain bounds the tries of an open that the kernel gives up because a rename
// or mount, anywhere on the machine, came while it resolved a "..". Then EAGAIN is
// the answer, and the caller resolves the links by text: no ".." is left in that.
const maxAgain = 32

// kernelRoot is the backend that lets the kernel resolve a path in one call.
type kernelRoot struct{ kernelDir }

// newKernelRoot opens a second descriptor of an open root. It fails where the
// kernel has no openat2 or a seccomp filter forbids it.
func newKernelRoot(root *os.Root) (backend, error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	k, err := adoptKernelRoot(fd)
	if err != nil {
		return nil, err
	}
	if _, err := k.lstat("."); err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

func adoptKernelRoot(fd int) (*kernelRoot, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return nil, err
	}
	fs, err := dataFS(fd)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &kernelRoot{kernelDir{fd: fd, dev: uint64(st.Dev), whole: readsWhole(fs)}}, nil
}

func (k *kernelRoot) name() string { return "openat2" }

// openat2 opens a path below the root.
func (k *kernelRoot) openat2(rel string, flags uint64) (int, error) {
	return k.resolve(rel, flags, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_MAGICLINKS)
}

func (k *kernelRoot) resolve(rel string, flags, resolve uint64) (fd int, err error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.fd < 0 {
		return -1, os.ErrClosed
	}
	how := unix.OpenHow{Flags: flags, Resolve: resolve}
	for range maxAgain {
		fd, err = unix.Openat2(k.fd, rel, &how)
		for err == unix.EINTR {
			fd, err = unix.Openat2(k.fd, rel, &how)
		}
		if err != unix.EAGAIN {
			break
		}
	}
	if err == unix.EXDEV {
		err = errEscapes
	}
	return fd, err
}

func (k *kernelRoot) openFile(rel string, f *rawFile) error {
	fd, err := k.openat2(rel, fileFlags)
	if err != nil {
		// A socket cannot be opened, nor a device without permission: what it is
		// matters more than why.
		if err == unix.ENXIO || err == unix.ENODEV || err == unix.EACCES {
			if info, e := k.stat(rel); e == nil && info.Kind == KindOther {
				err = errSpecial
			}
		}
		return err
	}
	st, err := k.admitFile(fd)
	if err != nil {
		return err
	}
	info := infoOfStat(&st)
	f.kernel.fd, f.kernel.info = fd, &info
	return nil
}

func (k *kernelRoot) openListed(rel string, f *rawFile) error {
	if !k.whole {
		return k.openFile(rel, f)
	}
	return k.openOnMount(rel, f)
}

func (k *kernelRoot) openDir(rel string) (dir, error) {
	fd, err := k.openat2(rel, dirFlags)
	if err != nil {
		return nil, err
	}
	return k.adoptDir(fd)
}

func (k *kernelRoot) openPlainDir(rel string) (dir, error) {
	fd, err := k.resolve(rel, dirFlags, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_SYMLINKS)
	if err == unix.ELOOP {
		err = errIsLink
	}
	if err != nil {
		return nil, err
	}
	return k.adoptDir(fd)
}

func (k *kernelRoot) sub(rel string) (backend, error) {
	fd, err := k.openat2(rel, dirFlags)
	if err != nil {
		return nil, err
	}
	return adoptKernelRoot(fd)
}

func (k *kernelRoot) stat(rel string) (Info, error)  { return k.look(rel, pathFlags) }
func (k *kernelRoot) lstat(rel string) (Info, error) { return k.look(rel, pathFlags|unix.O_NOFOLLOW) }

// look describes a path without opening the file for anything: that would wake
// a FIFO's writer or rewind a tape.
func (k *kernelRoot) look(rel string, flags uint64) (Info, error) {
	fd, err := k.openat2(rel, flags)
	if err != nil {
		return Info{}, err
	}
	defer unix.Close(fd)
	st, err := k.admit(fd)
	if err != nil {
		return Info{}, err
	}
	info := infoOfStat(&st)
	if info.Kind == KindSymlink {
		info.Target, err = readlinkat(fd, "")
	}
	return info, err
}

func (k *kernelRoot) readlink(rel string) (string, error) {
	info, err := k.lstat(rel)
	if err == nil && info.Kind != KindSymlink {
		err = errNotLink
	}
	return info.Target, err
}

// readlinkat reads a link; name "" means the link that fd itself is open on.
func readlinkat(fd int, name string) (string, error) {
	for size := 256; ; size *= 2 {
		buf := make([]byte, size)
		n, err := unix.Readlinkat(fd, name, buf)
		if err != nil {
			return "", err
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}
