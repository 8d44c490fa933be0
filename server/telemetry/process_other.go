//go:build !linux

package telemetry

// usage has nothing: other systems tell it in ways of their own.
func usage() use { return use{} }
