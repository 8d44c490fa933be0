//go:build !linux

package index

// LowerPriority does nothing: on other systems a thread has no priority of its own.
func LowerPriority() {}
