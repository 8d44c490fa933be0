//go:build !linux

package pdfium

import "time"

// worked returns how long it is from now on: this system does not tell the time of a thread.
func worked() func() time.Duration {
	begun := time.Now()
	return func() time.Duration { return time.Since(begun) }
}
