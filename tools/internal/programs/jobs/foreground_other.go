//go:build !linux

package jobs

// Foreground is the process group that the terminal of the job is with; 0 = nobody can
// tell on this system.
func (j *Job) Foreground() int { return 0 }
