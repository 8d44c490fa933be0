package recorder

import "time"

// Call is a system call of a thread that is about to change something.
type Call struct {
	Thread uint32
	ID     uint64 // of the report
	Number int32  // of the system call
}

// reported is the last call of a thread.
type reported struct {
	call Call
	at   time.Time
}

const (
	// lands is how long the end of a change waits at most for calls that were reported for it.
	lands = 500 * time.Millisecond
	// lookEvery is how often it looks at them.
	lookEvery = 100 * time.Microsecond
	// stuck is how old a report may be: the call has long had its effect, or waits for something
	// else, such as the reader of a pipe.
	stuck = 5 * time.Second
	// mostThreads is how many threads may be known before those with old reports go.
	mostThreads = 256
)

// Hear begins a report: the calls before of its thread are over. [Recorder.Heard] ends it, once it
// is answered or left to the rest of [Recorder.Before].
func (r *Recorder) Hear(by Call) {
	r.gate.Lock()
	if r.last == nil {
		r.last, r.most = map[uint32]reported{}, mostThreads
	}
	if len(r.last) >= r.most {
		for thread, x := range r.last {
			if time.Since(x.at) > stuck {
				delete(r.last, thread)
			}
		}
		r.most = 2*len(r.last) + mostThreads
	}
	r.last[by.Thread] = reported{by, time.Now()}
}

// Heard ends a report.
func (r *Recorder) Heard() { r.gate.Unlock() }

// land waits before a change ends while the program goes on: a call that was reported for it, and
// answered, may not have been carried out yet, and would belong to no change. It returns with
// both locks, which the result unlocks.
func (r *Recorder) land() (unlock func()) {
	r.gate.Lock()
	r.mu.Lock()
	unlock = func() {
		r.mu.Unlock()
		r.gate.Unlock()
	}
	if r.change == nil || r.UnderWay == nil {
		return unlock
	}
	r.change.wait()
	for end := time.Now().Add(lands); ; time.Sleep(lookEvery) {
		for thread, x := range r.last {
			if time.Since(x.at) > stuck || !r.UnderWay(x.call) {
				delete(r.last, thread)
			}
		}
		if len(r.last) == 0 {
			return unlock
		}
		if time.Now().After(end) {
			r.change.problems.add("a change", "may not be recorded: it was still under way at the end of the call")
			return unlock
		}
	}
}
