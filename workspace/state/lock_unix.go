//go:build unix

package state

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func tryLock(f *os.File) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch err {
		case nil:
			return true, nil
		case unix.EWOULDBLOCK:
			return false, nil
		case unix.EINTR:
			continue
		}
		return false, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
}

// nap blocks the thread for less than a millisecond; a signal may end it early.
func nap(d time.Duration) {
	timeout := unix.NsecToTimeval(int64(d))
	_, _ = unix.Select(0, nil, nil, nil, &timeout)
}
