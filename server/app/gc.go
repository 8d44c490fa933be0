package app

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
	// larger, since more lives, may grow its heap to twice of that.
	smallProcess = 24 << 20
)

// TuneGC sets when garbage is collected, unless the environment does.
func (p *Process) TuneGC() {
	if p.Getenv("GOGC") != "" || p.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(smallProcess)
	afterEachGC(func() {
		debug.SetMemoryLimit(max(smallProcess, 2*sum("/gc/heap/live:bytes")+outsideHeap()))
	})
}

// outsideHeap returns the bytes outside of the heap that count towards the limit:
// stacks above all.
func outsideHeap() int64 {
	return sum("/memory/classes/total:bytes") - sum(
		"/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes",
		"/memory/classes/heap/free:bytes", "/memory/classes/heap/released:bytes")
}

func sum(names ...string) (bytes int64) {
	for _, name := range names {
		sample := []metrics.Sample{{Name: name}}
		metrics.Read(sample)
		bytes += int64(sample[0].Value.Uint64())
	}
	return bytes
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
