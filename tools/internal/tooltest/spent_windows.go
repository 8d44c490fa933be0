package tooltest

import (
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// Spent is the time that the process has had on processors, which other processes on a busy
// machine do not add to.
func Spent(t testing.TB) time.Duration {
	t.Helper()
	var created, ended, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user); err != nil {
		t.Fatal(err)
	}
	ticks := func(t windows.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }
	return time.Duration(100 * (ticks(kernel) + ticks(user)))
}
