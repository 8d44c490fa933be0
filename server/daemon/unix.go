//go:build linux || darwin

package daemon

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// longestSocket is the most bytes of the name of a socket.
const longestSocket = len(unix.RawSockaddrUnix{}.Path) - 1

// Supported says why this system has no daemons.
func Supported() error { return nil }

func tryLock(f *os.File) (bool, error) {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
		case nil:
			return true, nil
		case unix.EWOULDBLOCK:
			return false, nil
		case unix.EINTR:
		default:
			return false, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
	}
}

// ended reports whether a process has ended, also one whose parent has not asked yet how:
// the first process of a container may never ask.
func ended(p *os.Process) bool {
	ended := false
	err := p.WithHandle(func(handle uintptr) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, 0)
		ended = err == nil && n > 0
	})
	if err != nil { // the system has no handles
		return p.Signal(syscall.Signal(0)) != nil
	}
	return ended
}

// nobody reports whether a dial has failed since nobody listens.
func nobody(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT)
}

// lead makes a program the leader of a session of its own.
func lead(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// leads reports whether this process is one.
func leads() bool {
	session, err := unix.Getsid(0)
	return err == nil && session == os.Getpid()
}

// keepOwn keeps files from programs that are started.
func keepOwn(files ...*os.File) {
	for _, f := range files {
		unix.CloseOnExec(int(f.Fd()))
	}
}

// Reload tells a daemon to read its settings again.
func (j *Joined) Reload() error { return unix.Kill(j.PID, unix.SIGHUP) }

// identity identifies a version of a file: it differs for other files, and after a change.
func identity(name string) string {
	var st unix.Stat_t
	if err := unix.Stat(name, &st); err != nil {
		return ""
	}
	return fmt.Sprint(st.Dev, st.Ino, st.Size, st.Mtim)
}
