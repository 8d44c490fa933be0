//go:build !linux

package processes

// Alone returns the name of the process that leads a process group; "" = unknown on this
// system.
func Alone(int) string { return "" }
