package fsys

import (
	"io"
	"os"
	"sync"

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

// kernelRoot is the Root that lets the kernel resolve a path in one call.
type kernelRoot struct{ kernelDir }

// OpenKernel opens a second descriptor of an open root. It fails where the
// kernel has no openat2 or a seccomp filter forbids it.
func OpenKernel(root *os.Root) (Root, error) {
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
	if _, err := k.Lstat("."); err != nil {
		k.Close()
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

func (k *kernelRoot) Name() string { return "openat2" }

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
		err = ErrEscapes
	}
	return fd, err
}

func (k *kernelRoot) OpenFile(rel string, f *File) error {
	fd, err := k.openat2(rel, fileFlags)
	if err != nil {
		// A socket cannot be opened, nor a device without permission: its kind matters
		// more than the reason.
		if err == unix.ENXIO || err == unix.ENODEV || err == unix.EACCES {
			if info, e := k.Stat(rel); e == nil && info.Kind == KindOther {
				err = ErrSpecial
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

func (k *kernelRoot) OpenListed(rel string, f *File) error {
	if !k.whole {
		return k.OpenFile(rel, f)
	}
	return k.openOnMount(rel, f)
}

func (k *kernelRoot) OpenDir(rel string) (Dir, error) {
	fd, err := k.openat2(rel, dirFlags)
	if err != nil {
		return nil, err
	}
	return k.adoptDir(fd)
}

func (k *kernelRoot) OpenPlainDir(rel string) (Dir, error) {
	fd, err := k.resolve(rel, dirFlags, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_SYMLINKS)
	if err == unix.ELOOP {
		err = ErrIsLink
	}
	if err != nil {
		return nil, err
	}
	return k.adoptDir(fd)
}

func (k *kernelRoot) Sub(rel string) (Root, error) {
	fd, err := k.openat2(rel, dirFlags)
	if err != nil {
		return nil, err
	}
	return adoptKernelRoot(fd)
}

func (k *kernelRoot) Stat(rel string) (Info, error)  { return k.look(rel, pathFlags) }
func (k *kernelRoot) Lstat(rel string) (Info, error) { return k.look(rel, pathFlags|unix.O_NOFOLLOW) }

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

func (k *kernelRoot) Readlink(rel string) (string, error) {
	info, err := k.Lstat(rel)
	if err == nil && info.Kind != KindSymlink {
		err = ErrNotLink
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

// kernelFS are the file systems whose files are windows to the kernel and not data: reading
// one may block (tracefs), have effects (sysfs), or show the server's own environment and
// memory (procfs). File systems that only hold
// devices are not listed, since devices are refused everywhere.
var kernelFS = map[uint32]bool{
	unix.PROC_SUPER_MAGIC:     true,
	unix.SYSFS_MAGIC:          true,
	unix.DEBUGFS_MAGIC:        true,
	unix.TRACEFS_MAGIC:        true,
	unix.SECURITYFS_MAGIC:     true,
	unix.CGROUP_SUPER_MAGIC:   true,
	unix.CGROUP2_SUPER_MAGIC:  true,
	unix.BPF_FS_MAGIC:         true,
	unix.BINFMTFS_MAGIC:       true,
	unix.EFIVARFS_MAGIC:       true,
	unix.PSTOREFS_MAGIC:       true,
	unix.SELINUX_MAGIC:        true,
	unix.SMACK_MAGIC:          true,
	unix.AAFS_MAGIC:           true,
	unix.NSFS_MAGIC:           true,
	unix.RDTGROUP_SUPER_MAGIC: true,
	configfsMagic:             true,
	mqueueMagic:               true,
}

// Two that x/sys does not name; see statfs(2).
const (
	configfsMagic = 0x62656570
	mqueueMagic   = 0x19800202
)

// fileSystem returns the type of the file system of a descriptor.
func fileSystem(fd int) (uint32, error) {
	for {
		var st unix.Statfs_t
		if err := unix.Fstatfs(fd, &st); err != unix.EINTR {
			return uint32(st.Type), err
		}
	}
}

// dataFS is fileSystem, with ErrKernel for one of kernelFS.
func dataFS(fd int) (uint32, error) {
	fs, err := fileSystem(fd)
	if err == nil && kernelFS[fs] {
		err = ErrKernel
	}
	return fs, err
}

// readsWhole reports whether a file system reads as much as it is asked for, but for the
// end of a file. FUSE leaves that to a program.
func readsWhole(fs uint32) bool { return watchableFS[fs] || fs == unix.OVERLAYFS_SUPER_MAGIC }

// refuseKernelFile is dataFS for a file of package os.
func refuseKernelFile(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var refused error
	if err := conn.Control(func(fd uintptr) { _, refused = dataFS(int(fd)) }); err != nil {
		return err
	}
	return refused
}

// kernelFile is a file on a bare descriptor: a search opens one for each file, and an
// os.File would cost more system calls and a finalizer. It must be closed.
type kernelFile struct {
	// mu is held for reading while fd is used, as in kernelDir.
	mu sync.RWMutex
	fd int // -1 once closed
	// O_NONBLOCK stays set on it: on a regular file it means nothing.
	whole bool  // as kernelDir.whole; only if the file is surely on that device
	info  *Info // nil = not asked for yet
}

// Info asks the system now if it was not asked at the opening.
func (f *kernelFile) Info() Info {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.info == nil {
		f.info = new(Info)
		var st unix.Stat_t
		if f.fd >= 0 && unix.Fstat(f.fd, &st) == nil {
			*f.info = infoOfStat(&st)
		}
	}
	return *f.info
}

func (f *kernelFile) Read(b []byte) (int, error) {
	n, err := f.read(b, unix.Read)
	return n, err
}

func (f *kernelFile) ReadAt(b []byte, at int64) (n int, err error) {
	for n < len(b) && err == nil {
		var m int
		m, err = f.read(b[n:], func(fd int, b []byte) (int, error) { return unix.Pread(fd, b, at+int64(n)) })
		n += m
	}
	return n, err
}

// read fills b, at least in part, by call.
func (f *kernelFile) read(b []byte, call func(fd int, b []byte) (int, error)) (int, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.fd < 0 {
		return 0, os.ErrClosed
	}
	for {
		n, err := call(f.fd, b)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(b) > 0, f.whole && n < len(b):
			return n, io.EOF
		}
		return n, nil
	}
}

func (f *kernelFile) Seek(offset int64, whence int) (int64, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.fd < 0 {
		return 0, os.ErrClosed
	}
	at, err := unix.Seek(f.fd, offset, whence)
	if err != nil {
		at = 0
	}
	return at, err
}

func (f *kernelFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fd < 0 {
		return os.ErrClosed
	}
	fd := f.fd
	f.fd = -1
	return unix.Close(fd)
}
