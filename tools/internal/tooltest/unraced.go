package tooltest

import "testing"

// Unraced skips a test of how much hostile input may take of the processors, which the race
// detector multiplies. The names of these tests end in Bombs.
func Unraced(t *testing.T) {
	t.Helper()
	if Slowdown > 1 {
		t.Skip("needs: no race detector")
	}
}
