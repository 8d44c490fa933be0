//go:build unix

package jobs

import "syscall"

// The signals that ask a program to end, and to stop its work.
const (
	terminate = syscall.SIGTERM
	interrupt = syscall.SIGINT
)
