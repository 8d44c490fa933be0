//go:build !linux

package jobs

// Echo tells whether the terminal of the job shows what is typed: here nobody can.
func (j *Job) Echo() Echo { return Unseen }
