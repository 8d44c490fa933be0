//go:build unix

package tooltest

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Spent is the time that the process has had on processors, which other processes on a busy
// machine do not add to.
func Spent(t testing.TB) time.Duration {
	t.Helper()
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
