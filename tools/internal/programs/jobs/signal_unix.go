//go:build unix

package jobs

import "syscall"

// What asks a program to end, and to stop what it does.
const (
	terminate = syscall.SIGTERM
	interrupt = syscall.SIGINT
)
