//go:build !linux

package processes

// Alone returns the name of the process that leads a process group; "" = unknown on this
// system.
func Alone(int) string { return "" }

// Dir returns the working directory of a process on the host, "" if it is unknown.
func Dir(int) string { return "" }
