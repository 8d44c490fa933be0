package run

// maxIdle is how many goroutines wait for the next function.
const maxIdle = 64

// Workers runs functions in goroutines that are used again. A call needs a deep
// stack, and growing it anew in a fresh goroutine was a quarter of a small
// call's cost. There is no limit on how many functions run at a time.
type Workers struct {
	next chan func()
	idle chan struct{} // holds a token for each goroutine that waits
	done chan struct{}
}

// NewWorkers returns Workers without any goroutine yet. Close ends them.
func NewWorkers() *Workers {
	return &Workers{make(chan func()), make(chan struct{}, maxIdle), make(chan struct{})}
}

// Go runs f in a goroutine of its own and returns at once.
func (w *Workers) Go(f func()) {
	select {
	case w.next <- f:
	default:
		go w.work(f)
	}
}

// Close ends the goroutines that wait; the others end when they have run what
// they run. Go may still be called.
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
