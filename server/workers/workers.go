// Package workers has goroutines that run one function after another.
//
// Start at [Pool]. The package imports nothing of ours.
package workers

// maxIdle is the most goroutines that wait for the next function.
const maxIdle = 64

// Pool runs functions in reused goroutines. A call needs a deep stack, and growing it
// in a new goroutine was a quarter of a small call's cost. Any number of functions may
// run at a time.
type Pool struct {
	next chan func()
	idle chan struct{} // holds a token for each goroutine that waits
	done chan struct{}
}

// New returns a pool that has no goroutine yet. Close ends them.
func New() *Pool {
	return &Pool{make(chan func()), make(chan struct{}, maxIdle), make(chan struct{})}
}

// Go runs f in a separate goroutine and returns at once.
func (w *Pool) Go(f func()) {
	select {
	case w.next <- f:
	default:
		go w.work(f)
	}
}

// Close ends the waiting goroutines; the others end after their current function. Go may
// still be called.
func (w *Pool) Close() { close(w.done) }

func (w *Pool) work(f func()) {
	for {
		f()
		select {
		case w.idle <- struct{}{}:
		default:
			return
		}
		select {
		case f = <-w.next:
			<-w.idle
		case <-w.done:
			return
		}
	}
}
