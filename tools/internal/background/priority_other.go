//go:build !linux

package background

// LowerPriority does nothing: on other systems a thread has no priority of its own.
func LowerPriority() {}
