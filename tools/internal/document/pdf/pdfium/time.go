package pdfium

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// pageTime returns how long a page of a file may take. A stream of a few kilobytes can hold work
// for minutes; honest pages that take long have much to say, and take some 2 s a megabyte.
func pageTime(size int64) time.Duration {
	const (
		least, most = time.Second, 12 * time.Second
		megabyte    = 2500 * time.Millisecond
	)
	return min(least+time.Duration(size/1000)*megabyte/1000, most)
}

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
