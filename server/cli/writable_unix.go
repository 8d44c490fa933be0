//go:build unix

package cli

import "golang.org/x/sys/unix"

// writable reports whether this process may make files in a directory. It asks
// the system and touches nothing.
func writable(dir string) bool {
	return unix.Access(dir, unix.W_OK|unix.X_OK) == nil
}
