package jobs

import (
	"errors"
	"os"

	"toolcrib/tools/internal/programs/screen"
)

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

// OfTerminal is a job with a terminal, of which ours is this end.
func OfTerminal(ours *os.File) *Job { return &Job{screen: screen.New(24, 80), input: ours} }
