package recorder

import (
	"fmt"
	"time"

	"toolcrib/workspace"
)

// Call is a system call of a thread that is about to change something.
type Call struct {
	Thread uint32
	ID     uint64 // of the report
	Number int32  // of the system call
}

// flights are the last calls of the threads: whether they have done anything yet, nobody knows
// until the thread makes another call.
type flights struct {
	byThread map[uint32]*flight
	most     int // threads, until those that have ended go
}

type flight struct {
	call    Call
	at      time.Time
	touches []touch
	move    func(*change) // of a directory; nil = it is another call
}

// touch is an entry that a call is about to change.
type touch struct {
	host string
	path workspace.Path
	goes bool
}

// seen is what was found at a path.
type seen struct {
	info   workspace.Info
	exists bool
	err    error
	hash   string // of the content, if that was read
}

const (
	// flies is how long a call may take from its report to its effect, on a busy disk.
	flies = 5 * time.Second
	// mostFlights is how many threads may be known before the first look at which have ended.
	mostFlights = 256
)

// note adds what a call touches.
func (f *flights) note(by Call, underWay func(Call) bool, more ...touch) *flight {
	x := f.byThread[by.Thread]
	if x == nil {
		if f.byThread == nil {
			f.byThread, f.most = map[uint32]*flight{}, mostFlights
		}
		if len(f.byThread) >= f.most {
			for thread, x := range f.byThread {
				if x.over(underWay) {
					delete(f.byThread, thread)
				}
			}
			f.most = 2*len(f.byThread) + mostFlights
		}
		x = &flight{}
		f.byThread[by.Thread] = x
	}
	if x.call != by {
		clear(x.touches)
		x.call, x.touches, x.move = by, x.touches[:0], nil
	}
	x.at, x.touches = time.Now(), append(x.touches, more...)
	return x
}

// over reports whether a call has had its effect, or will have none.
func (x *flight) over(underWay func(Call) bool) bool {
	return time.Since(x.at) > flies || underWay != nil && !underWay(x.call)
}

// handOver returns the change after c, if calls are under way that were reported for c and may
// have their effect after it: what they touch belongs to both, with the state of now between
// them. nil = there are none. The caller holds r.mu, so that no other call begins.
func (r *Recorder) handOver(c *change, label func() Label) (next *change) {
	for _, x := range r.flying.byThread {
		if x.over(r.UnderWay) {
			continue
		}
		moves := x.move != nil && c.verifyMove()
		if len(x.touches) == 0 && !moves {
			continue
		}
		if next == nil {
			next = newChange(r, label())
			c.until = map[string]*seen{}
		}
		if moves {
			x.move(next)
		}
		for _, t := range x.touches {
			s := next.open()
			if s.entries[t.host] != nil {
				continue
			}
			e := s.add(t.host, t.path)
			rest := next.take(e, t.goes, func(s *seen) { c.until[t.host] = s })
			if rest != nil { // the call that changes it does not wait
				go func() {
					defer func() {
						if value := recover(); value != nil {
							next.problems.add(t.path.String(), fmt.Sprint("is not kept: ", value))
						}
					}()
					rest()
				}()
			}
		}
	}
	return next
}
