package jobs

import "golang.org/x/sys/unix"

// Echo tells whether the terminal of the job shows at this moment what is typed. Edited
// says only that it is with a program that may be an editor of lines; a prompt for a
// password may look the same.
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
	var mode *unix.Termios // of the other end, which the program has
	if conn.Control(func(fd uintptr) { mode, err = unix.IoctlGetTermios(int(fd), unix.TCGETS) }) != nil || err != nil {
		return Unseen
	}
	switch {
	case mode.Lflag&unix.ECHO != 0:
		return Seen
	case mode.Lflag&unix.ICANON == 0 && mode.Iflag&unix.ICRNL == 0: // read -s of a shell leaves the second
		return Edited
	}
	return Unseen
}
