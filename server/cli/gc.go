package cli

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// gcPercent lets the heap of a small process grow to five times what lives.
	// That is a few MB here, so at the usual percentage a busy server would
	// collect hundreds of times a second: measured, a third of its calls per
	// second.
	gcPercent = 400
	// smallProcess is how far that generosity goes, in bytes. A process that is
	// larger, since more lives, may grow to twice of that.
	smallProcess = 40 << 20
)

// tuneGC sets when garbage is collected, unless the environment does.
func (p *Process) tuneGC() {
	if p.getenv("GOGC") != "" || p.getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(smallProcess)
	afterEachGC(func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		debug.SetMemoryLimit(max(smallProcess, 2*int64(live[0].Value.Uint64())))
	})
}

// afterEachGC calls f some time after each collection: then the object is gone
// that it made after the one before.
func afterEachGC(f func()) {
	type mark struct{ _ *mark } // a pointer, so that it is not allocated together with others
	runtime.AddCleanup(new(mark), func(struct{}) {
		f()
		afterEachGC(f)
	}, struct{}{})
}
