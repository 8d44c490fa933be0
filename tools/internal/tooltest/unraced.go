package tooltest

import "testing"

// Unraced skips a test whose work one goroutine does, or another program: the race detector
// finds nothing there, and makes it take up to thirty times as long.
func Unraced(t *testing.T) {
	t.Helper()
	if Slowdown > 1 {
		t.Skip("needs: no race detector")
	}
}
