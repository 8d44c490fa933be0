package sandbox

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// budget bounds a search: by the processor time that it takes, and by several times that
// on the clock, so that a busy machine does not cut it short.
type budget struct {
	most  time.Duration
	work  time.Duration // of the thread, at the start
	start time.Time
}

// patient is how many times its processor time a search may take on the clock.
const patient = 4

// newBudget begins a search, which stays on its thread until done is called.
func newBudget(most time.Duration) (b budget, done func()) {
	runtime.LockOSThread()
	return budget{most, threadTime(), time.Now()}, runtime.UnlockOSThread
}

func (b budget) spent() bool {
	return threadTime()-b.work > b.most || time.Since(b.start) > patient*b.most
}

func threadTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
