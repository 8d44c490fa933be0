//go:build !linux

package index

// LowerPriority does nothing: elsewhere threads have no priority of their own that could
// be lowered for good.
func LowerPriority() {}
