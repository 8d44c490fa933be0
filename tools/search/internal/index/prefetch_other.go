//go:build !amd64

package index

// prefetch leaves it to the processor to get a value.
func prefetch(*uint32) {}
