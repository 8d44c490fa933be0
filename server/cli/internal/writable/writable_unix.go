//go:build unix

package writable

import "golang.org/x/sys/unix"

// Is reports whether this process may make files in a directory. It asks
// the system and touches nothing.
func Is(dir string) bool {
	return unix.Access(dir, unix.W_OK|unix.X_OK) == nil
}
