package fsys

import "time"

// FreshStamp reports whether a file may change without a sign whose times are so many
// nanoseconds after now.
func FreshStamp(modified, changed int64) bool {
	now := time.Now()
	return newStamp(identity64{modified: now.UnixNano() + modified, changed: now.UnixNano() + changed}, 1, now).Fresh
}
