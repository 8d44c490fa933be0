// Package processes lists the processes of this machine and ends them by an identity that a
// later process with the same PID does not have. On Linux it reads /proc; on Windows it asks
// the system, elsewhere the program ps. It imports nothing of ours.
//
// Start at [List]. A library (gopsutil) would read the same, for a megabyte more and a
// description of every kind of machine when the program starts.
package processes

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Process is a process as it was found.
type Process struct {
	PID, Parent int
	Began       uint64 // distinguishes processes that had the same PID, in units of the system
	Start       time.Time
	User        string // its name, or its number where it has none
	State       string // one letter as ps has it, "" where it is not known
	Command     string // with its arguments where they can be read
	CPU         time.Duration
	Memory      int64 // resident bytes
	Kernel      bool  // a part of the kernel, not a program
}

// ID identifies the process: its PID and when it began.
func (p Process) ID() string { return ID{p.PID, p.Began}.String() }

// ID identifies a process.
type ID struct {
	PID   int
	Began uint64
}

func (id ID) String() string { return strconv.Itoa(id.PID) + "@" + strconv.FormatUint(id.Began, 36) }

// ParseID reads what [ID.String] writes.
func ParseID(text string) (ID, error) {
	pid, began, ok := strings.Cut(strings.TrimSpace(text), "@")
	id := ID{}
	var err1, err2 error
	id.PID, err1 = strconv.Atoi(pid)
	id.Began, err2 = strconv.ParseUint(began, 36, 64)
	if !ok || err1 != nil || err2 != nil || id.PID < 1 {
		return ID{}, fmt.Errorf("%q is not PID@START", text)
	}
	return id, nil
}

var (
	// ErrGone says that a process has ended; another one may have its PID.
	ErrGone = errors.New("the process has ended")
	// ErrSignal says that the system does not have a signal.
	ErrSignal = errors.New("the system does not have this signal")
)

// Tree returns a process and its descendants, each after its parent; depths has the generation
// of each. A process whose parent has ended descends from none.
func Tree(all []Process, root int) (tree []Process, depths []int) {
	children := map[int][]Process{}
	for _, p := range all {
		if p.PID == root {
			tree, depths = append(tree, p), append(depths, 0)
		} else {
			children[p.Parent] = append(children[p.Parent], p)
		}
	}
	if len(tree) == 0 {
		return nil, nil
	}
	var below func(pid, depth int)
	below = func(pid, depth int) {
		list := children[pid]
		delete(children, pid) // so that a loop in the data ends
		for _, p := range list {
			tree, depths = append(tree, p), append(depths, depth)
			below(p.PID, depth+1)
		}
	}
	below(root, 1)
	return tree, depths
}

// Above returns the PIDs of a process and of all its ancestors.
func Above(all []Process, pid int) []int {
	parents := make(map[int]int, len(all))
	for _, p := range all {
		parents[p.PID] = p.Parent
	}
	var up []int
	for ; pid > 0 && len(up) <= len(all); pid = parents[pid] {
		up = append(up, pid)
	}
	return up
}
