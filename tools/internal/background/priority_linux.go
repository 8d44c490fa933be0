package background

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// LowerPriority lowers the priority of the thread of the calling goroutine. The thread ends
// with the goroutine.
func LowerPriority() {
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 10) // without it, it only competes
}
