package run

// maxIdle is the most goroutines that wait for the next function.
const maxIdle = 64

// Workers runs functions in reused goroutines. A call needs a deep stack, and growing it
// in a new goroutine was a quarter of a small call's cost. Any number of functions may
// run at a time.
type Workers struct {
	next chan func()
	idle chan struct{} // holds a token for each goroutine that waits
	done chan struct{}
}

// NewWorkers returns Workers that have no goroutine yet. Close ends them.
func NewWorkers() *Workers {
	return &Workers{make(chan func()), make(chan struct{}, maxIdle), make(chan struct{})}
}

// Go runs f in a separate goroutine and returns at once.
func (w *Workers) Go(f func()) {
	select {
	case w.next <- f:
	default:
		go w.work(f)
	}
}

// Close ends the waiting goroutines; the others end after their current function. Go may
// still be called.
func (w *Workers) Close() { close(w.done) }

func (w *Workers) work(f func()) {
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
