// Package fileclock is the clock by which the system says when a file was written. It may be
// several milliseconds behind the one that programs read.
package fileclock

import "time"

// most is more than the steps of any system.
const most = 50 * time.Millisecond

// Pass waits until what is written has a later time than t, at most 50 ms.
func Pass(t time.Time) {
	for begin := time.Now(); !Now().After(t) && time.Since(begin) < most; {
		time.Sleep(time.Millisecond)
	}
}
