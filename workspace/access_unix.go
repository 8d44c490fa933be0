//go:build unix

package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// mayChange tells whether the caller may make and remove entries of an open
// directory; nil = yes, also where the system cannot be asked.
func mayChange(fd int) error {
	err := unix.Faccessat(fd, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EROFS) {
		return err
	}
	return nil
}

func mayChangeDir(f *os.File) error { return mayChange(int(f.Fd())) }
