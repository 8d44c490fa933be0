package index

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// LowerPriority makes the thread of the calling goroutine yield to all others. The
// thread ends with the goroutine.
func LowerPriority() {
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 10) // without it, it only competes
}
