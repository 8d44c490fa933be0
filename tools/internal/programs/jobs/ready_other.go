//go:build !unix

package jobs

import "os"

// ready reads nothing: this system has no read from a pipe that does not wait.
func ready(*os.File, []byte) int { return 0 }
