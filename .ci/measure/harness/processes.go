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
	"time"
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

// Private returns the memory that a process alone has written to, in MB. What it has of files,
// such as its program, is not in it: that depends on who else has it.
func Private(pid int) (float64, error) {
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(rollup)) {
		var kB float64
		if n, _ := fmt.Sscanf(line, "Private_Dirty: %f kB", &kB); n == 1 {
			return kB / 1024, nil
		}
	}
	return 0, errors.New("the kernel does not tell the memory of a process by itself")
}

// CPU returns the time that a process has computed, in its own code and in the kernel.
func CPU(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	const after, hertz = 11, 100 // fields between the name and the times; ticks a second
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, err := strconv.Atoi(fields[after])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[after+1])
	return time.Duration(user+system) * time.Second / hertz, err
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
	// Go 1.26 stops all goroutines for a collection. One that enters a long system call at that
	// moment, as the reader of stdin does, may be missed until the next timer is due, or for a minute.
	defer time.AfterFunc(2*time.Second, func() {}).Stop()
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

// Await waits for at most 20 s until something holds.
func Await(what string, holds func() bool) error {
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return errors.New(what + " does not come about")
		}
	}
	return nil
}
