package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
)

// resident returns the resident memory of a process and of its children in MB.
func resident(pid int) float64 {
	kB := 0
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err == nil {
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				kB, _ = strconv.Atoi(strings.Fields(rest)[0]) // the kernel's own format
			}
		}
	}
	return float64(kB) / 1024
}

// peakResident is the most memory that a process has had at once, in MB.
func peakResident(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		var kB float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kB); n == 1 {
			return kB / 1024, nil
		}
	}
	return 0, errors.New("the kernel does not tell the peak of a process's memory")
}

// holdings is what a process holds.
type holdings struct {
	Goroutines, Descriptors int
	Running                 int64  // calls of the other tools
	Heap                    uint64 // bytes, after a collection
}

const holdingsLine = "goroutines %d, descriptors %d, running %d, heap %d"

func (h holdings) Text() string {
	return fmt.Sprintf(holdingsLine, h.Goroutines, h.Descriptors, h.Running, h.Heap)
}

// parseHoldings reads what Text writes.
func parseHoldings(text string) (h holdings, err error) {
	_, err = fmt.Sscanf(text, holdingsLine, &h.Goroutines, &h.Descriptors, &h.Running, &h.Heap)
	return h, err
}

// held gives memory back to the system and says what is left.
func held(running *atomic.Int64) (holdings, error) {
	runtime.GC() // twice: what pools hold is let go by the second
	debug.FreeOSMemory()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return holdings{}, err
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return holdings{
		Goroutines: runtime.NumGoroutine(), Descriptors: len(fds) - 1, // less the one that reads the directory
		Running: running.Load(), Heap: m.HeapAlloc,
	}, nil
}
