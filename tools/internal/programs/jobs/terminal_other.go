//go:build !linux

package jobs

// Echo returns Unseen: it is not known on this system.
func (j *Job) Echo() Echo { return Unseen }

// Foreground returns 0: it is not known on this system.
func (j *Job) Foreground() int { return 0 }

// Unread returns false: it is not known on this system.
func (j *Job) Unread() bool { return false }
