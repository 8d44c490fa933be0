package app_test

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"toolcrib/server/app"
)

// What a process at rest does not need goes back to the system.
func TestRest(t *testing.T) {
	app.TuneGC()
	var pieces [][]byte
	for range 64 {
		pieces = append(pieces, make([]byte, 1<<20))
	}
	runtime.KeepAlive(pieces)
	free := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		runtime.GC()
		metrics.Read(free)
		if free[0].Value.Uint64() <= 4<<20 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d bytes are free", free[0].Value.Uint64())
		}
	}
}
