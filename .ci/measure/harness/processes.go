package harness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
)

// Resident returns the resident memory of a process in MB, 0 if there is none.
func Resident(pid int) float64 {
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

// Own returns the memory of a process in MB that is no mapping of a file, 0 if there is none.
func Own(pid int) float64 {
	kB := 0.0
	smaps, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err == nil {
		for line := range strings.Lines(string(smaps)) {
			if _, err := fmt.Sscanf(line, "Anonymous: %f kB", &kB); err == nil {
				break
			}
		}
	}
	return kB / 1024
}

// PeakResident is the most memory that a process has had at once, in MB.
func PeakResident(pid int) (float64, error) {
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

// Holdings are the resources of a process.
type Holdings struct {
	Goroutines, Descriptors int
	Running                 int64  // calls of the other tools
	Heap                    uint64 // bytes, after a collection
}

// IdleWorkers is how many goroutines a server on stdio may keep for its next calls. How
// many it has come to depends on how many calls happened to run at once.
const IdleWorkers = 64

const holdingsLine = "goroutines %d, descriptors %d, running %d, heap %d"

// Text is a line of all that it holds.
func (h Holdings) Text() string {
	return fmt.Sprintf(holdingsLine, h.Goroutines, h.Descriptors, h.Running, h.Heap)
}

// ParseHoldings reads what Text writes.
func ParseHoldings(text string) (h Holdings, err error) {
	_, err = fmt.Sscanf(text, holdingsLine, &h.Goroutines, &h.Descriptors, &h.Running, &h.Heap)
	return h, err
}

// Held gives memory back to the system and returns what the process still holds.
func Held(running *atomic.Int64) (Holdings, error) {
	runtime.GC() // twice: what pools hold is let go by the second
	debug.FreeOSMemory()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return Holdings{}, err
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Holdings{
		Goroutines: runtime.NumGoroutine(), Descriptors: len(fds) - 1, // less the one that reads the directory
		Running: running.Load(), Heap: m.HeapAlloc,
	}, nil
}

// Weighed has the resources of a server after a collection.
type Weighed struct {
	Holdings
	Resident float64 // MB
}

// ProcessesNamed finds processes by their name.
func ProcessesNamed(name string) []string {
	var found []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err == nil && bytes.HasPrefix(data, []byte(name+"\x00")) {
			found = append(found, filepath.Base(filepath.Dir(file)))
		}
	}
	return found
}
