package jobs

import (
	"golang.org/x/sys/unix"
)

// Echo returns whether the terminal of the job now shows typed input. Edited means only that
// the program may be a line editor; a prompt for a password may look the same.
func (j *Job) Echo() Echo {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.screen == nil || j.input == nil {
		return Unseen
	}
	conn, err := j.input.SyscallConn()
	if err != nil {
		return Unseen
	}
	var mode *unix.Termios // of the program's end
	if conn.Control(func(fd uintptr) { mode, err = unix.IoctlGetTermios(int(fd), unix.TCGETS) }) != nil || err != nil {
		return Unseen
	}
	switch {
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
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.screen == nil || j.input == nil {
		return 0
	}
	conn, err := j.input.SyscallConn()
	if err != nil {
		return 0
	}
	group := 0
	if conn.Control(func(fd uintptr) { group, err = unix.IoctlGetInt(int(fd), unix.TIOCGPGRP) }) != nil || err != nil {
		return 0
	}
	return max(group, 0)
}
