package jobs

import "errors"

// NewLog is a log whose file is in memory and has at most disk bytes; with 0 there is
// no file.
func NewLog(head, tail, disk int64) *Log {
	spill := func() (store, error) {
		if disk == 0 {
			return nil, errors.New("no file")
		}
		return make(memory, max(head+tail, disk+2*leastTail)), nil
	}
	grant := func(want int64) bool {
		if disk < want {
			return false
		}
		disk -= want
		return true
	}
	return newLog(head, tail, spill, grant)
}
