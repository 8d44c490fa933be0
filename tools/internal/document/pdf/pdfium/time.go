package pdfium

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// pageTime is how long a page may take. A stream of a few kilobytes can hold work for minutes.
const pageTime = time.Second

// brake ends PDFium from outside: each of its loops looks at it now and then, see guard_test.go.
type brake struct {
	ctx    context.Context // of the file
	stops  []api.MutableGlobal
	unhook func() bool

	mu   sync.Mutex // over what follows, and the values of stops
	over bool       // the time of the page that is read
}

// watch makes the modules end with the context, until release is called.
func (b *brake) watch(ctx context.Context, modules ...api.Module) {
	b.ctx = ctx
	for _, m := range modules {
		b.stops = append(b.stops, m.ExportedGlobal("stop").(api.MutableGlobal))
	}
	b.unhook = context.AfterFunc(ctx, func() { b.page(false) })
}

func (b *brake) release() {
	if b.unhook != nil {
		b.unhook()
	}
}

// page says whether the time of the page that is read is over.
func (b *brake) page(over bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = over
	value := uint64(0)
	if over || b.ctx.Err() != nil {
		value = 1
	}
	for _, stop := range b.stops {
		stop.Set(value)
	}
}

// late reports whether the time of the page that is read is over.
func (b *brake) late() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over
}

// limit bounds the work of a page until end is called: it is the time of the processor, which
// does not depend on what else the machine does.
func (f *File) limit() (end func()) {
	runtime.LockOSThread() // whose time is taken
	spent := worked()
	var mu sync.Mutex // over what follows
	mu.Lock()
	defer mu.Unlock()
	asked, ended := f.More == nil, false
	var timer *time.Timer
	timer = time.AfterFunc(f.PageTime, func() {
		mu.Lock()
		defer mu.Unlock()
		if ended {
			return
		}
		if !asked && f.most <= spent() && f.ctx.Err() == nil {
			f.most, asked = f.most+f.More(), true
		}
		if rest := f.most - spent(); rest > 0 {
			timer.Reset(rest)
		} else {
			f.brake.page(true)
		}
	})
	f.most = f.PageTime
	return func() {
		mu.Lock() // More may go on
		defer mu.Unlock()
		timer.Stop()
		ended = true
		runtime.UnlockOSThread()
		f.brake.page(false)
	}
}
