package jobs

import "golang.org/x/sys/unix"

// Foreground is the process group that the terminal of the job is with, by the number
// that this process knows it by; 0 = it has none, or nobody can tell.
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
