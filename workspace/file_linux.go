package workspace

import (
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// kernelFile is a file on a bare descriptor: a search opens one for each file, and an
// os.File would cost more system calls and a finalizer. Nobody closes it who forgets it.
type kernelFile struct {
	// mu is held for reading while fd is used, as in kernelDir.
	mu sync.RWMutex
	fd int // -1 once closed
	// O_NONBLOCK stays set on it: on a regular file it means nothing.
	whole bool  // as kernelDir.whole; only what is surely on that device
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
