//go:build !linux

package index

// largePages does nothing: the system decides by itself.
func largePages[T any]([]T) {}
