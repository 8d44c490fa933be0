package changed

import (
	"time"

	"golang.org/x/sys/unix"
)

// now is the time that the system would give a written file: its coarse clock, which may be
// several milliseconds behind.
func now() time.Time {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &t) != nil {
		return time.Now()
	}
	return time.Unix(t.Unix())
}
