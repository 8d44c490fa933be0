package jobs

import (
	"golang.org/x/sys/unix"
)

// Echo returns whether the terminal of the job now shows typed input. Edited means only that
// the program may be a line editor; a prompt for a password may look the same.
func (j *Job) Echo() Echo {
	var mode *unix.Termios // of the program's end
	ok := j.withTerminal(func(fd int) (err error) {
		mode, err = unix.IoctlGetTermios(fd, unix.TCGETS)
		return err
	})
	switch {
	case !ok:
		return Unseen
	case mode.Lflag&unix.ECHO != 0:
		return Seen
	case mode.Lflag&unix.ICANON == 0 && mode.Iflag&unix.ICRNL == 0: // read -s of a shell does not clear ICRNL
		return Edited
	}
	return Unseen
}

// Foreground returns the foreground process group of the job's terminal, as an id of this
// process's namespace; 0 = there is none, or it is not known.
func (j *Job) Foreground() int {
	group := 0
	ok := j.withTerminal(func(fd int) (err error) {
		group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	if !ok {
		return 0
	}
	return max(group, 0)
}

// Unread reports whether the terminal has output that was not read yet, as on a busy machine.
func (j *Job) Unread() bool {
	unread := false
	j.withTerminal(func(fd int) error {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}} //nolint:gosec // descriptors are small
		_, err := unix.Poll(poll, 0)                                // also flushes what the kernel still holds
		unread = poll[0].Revents&unix.POLLIN != 0
		return err
	})
	return unread
}

// withTerminal calls f with the terminal of the job. It reports whether there is one and f succeeded.
func (j *Job) withTerminal(f func(fd int) error) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.screen == nil || j.input == nil {
		return false
	}
	conn, err := j.input.SyscallConn()
	if err != nil {
		return false
	}
	failed := conn.Control(func(fd uintptr) { err = f(int(fd)) })
	return failed == nil && err == nil
}
