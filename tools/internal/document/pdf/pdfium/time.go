package pdfium

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// pageTime is how long a page may take. A stream of a few kilobytes can hold work for minutes.
const pageTime = 1200 * time.Millisecond

// limit bounds the work of a page until end is called: it is the time of the processor, which
// does not depend on what else the machine does.
func (f *File) limit() (end func()) {
	ctx, stop := context.WithCancel(f.whole)
	runtime.LockOSThread() // whose time is taken
	spent := worked()
	most := f.PageTime
	var mu sync.Mutex // over timer
	mu.Lock()
	defer mu.Unlock()
	var timer *time.Timer
	timer = time.AfterFunc(most, func() {
		mu.Lock()
		defer mu.Unlock()
		if rest := most - spent(); rest > 0 && ctx.Err() == nil {
			timer.Reset(rest)
		} else {
			stop()
		}
	})
	f.ctx = ctx
	return func() {
		stop()
		timer.Stop()
		runtime.UnlockOSThread()
		f.ctx = f.whole
	}
}
