package pdfium

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// pageTime is how long a page may take. A stream of a few kilobytes can hold work for minutes.
const pageTime = time.Second

// limit bounds the work of a page until end is called: it is the time of the processor, which
// does not depend on what else the machine does.
func (f *File) limit() (end func()) {
	ctx, stop := context.WithCancel(f.whole)
	runtime.LockOSThread() // whose time is taken
	spent := worked()
	var mu sync.Mutex // over what follows
	mu.Lock()
	defer mu.Unlock()
	asked := f.More == nil
	var timer *time.Timer
	timer = time.AfterFunc(f.PageTime, func() {
		mu.Lock()
		defer mu.Unlock()
		if !asked && f.most <= spent() && ctx.Err() == nil {
			f.most, asked = f.most+f.More(), true
		}
		if rest := f.most - spent(); rest > 0 && ctx.Err() == nil {
			timer.Reset(rest)
		} else {
			stop()
		}
	})
	f.ctx, f.most = ctx, f.PageTime
	return func() {
		stop()
		timer.Stop()
		mu.Lock() // More may go on
		defer mu.Unlock()
		runtime.UnlockOSThread()
		f.ctx = f.whole
	}
}
