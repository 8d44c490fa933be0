package processes

import (
	"os"
	"path/filepath"
	"strconv"
)

// Busy reports whether a process of a group computes, waits for a CPU or waits for a disk;
// false if unknown.
func Busy(group int) bool {
	if group <= 0 {
		return false
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		if g, ok := groupOf(e.Name()); ok && g == group && busy(e.Name()) {
			return true
		}
	}
	return false
}

// busy is Busy of one process, by its threads: the first of them mostly waits for others.
func busy(pid string) bool {
	threads, err := filepath.Glob("/proc/" + pid + "/task/*/stat")
	if err != nil {
		return false
	}
	for _, name := range threads {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		if p, ok := parseStat(data); ok && (p.State == "R" || p.State == "D") {
			return true
		}
	}
	return false
}
