package changed

import (
	"time"

	"golang.org/x/sys/unix"
)

// now is the time that a write would be dated with: the system's clock of ticks, which may
// be several milliseconds behind.
func now() time.Time {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &t) != nil {
		return time.Now()
	}
	return time.Unix(t.Unix())
}
