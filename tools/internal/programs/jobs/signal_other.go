//go:build !unix

package jobs

import "os"

// Programs of this system cannot be asked to end: they are killed.
var (
	terminate = os.Kill
	interrupt = os.Interrupt
)
