package pdfium

import (
	"time"

	"golang.org/x/sys/unix"
)

// worked returns how long the thread of the caller works from now on; it may be asked by others.
func worked() func() time.Duration {
	const perThread, scheduled = 4, 2 // as clock_getcpuclockid(3) makes the clock of a thread
	clock := int32(^uint32(unix.Gettid())<<3) | perThread | scheduled
	begun := time.Now()
	read := func() (time.Duration, bool) {
		var at unix.Timespec
		err := unix.ClockGettime(clock, &at)
		return time.Duration(at.Nano()), err == nil
	}
	start, ok := read()
	return func() time.Duration {
		if now, still := read(); ok && still {
			return now - start
		}
		return time.Since(begun)
	}
}
