//go:build !unix

package jobs

import "os"

// Nothing asks a program to end here: it is killed.
var (
	terminate = os.Kill
	interrupt = os.Interrupt
)
