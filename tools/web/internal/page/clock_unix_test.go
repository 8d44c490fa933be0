//go:build unix

package page_test

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// spent is the time that the process has had on processors, which other processes on a busy
// machine do not add to.
func spent(t *testing.T) time.Duration {
	t.Helper()
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
