//go:build !linux

package index

// lowerPriority does nothing: elsewhere threads have no priority of their own that could
// be lowered for good.
func lowerPriority() {}
