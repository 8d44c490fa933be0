package page_test

import (
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// spent is the time that the process has had on processors, which other processes on a busy
// machine do not add to.
func spent(t *testing.T) time.Duration {
	t.Helper()
	var created, ended, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user); err != nil {
		t.Fatal(err)
	}
	ticks := func(t windows.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }
	return time.Duration(100 * (ticks(kernel) + ticks(user)))
}
