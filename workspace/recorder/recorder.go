// Package recorder records what programs change, so that it can be undone. Before a program
// changes, replaces or deletes an entry of the workspace, the recorder keeps the former state
// of that entry; afterwards it adds the change to the history.
//
// Start with [Recorder]. The observer of a program's system calls calls [Recorder.Before] and
// [Recorder.Move] between [Recorder.Hear] and [Recorder.Heard]; the call that runs the program
// calls [Recorder.Begin] and [Recorder.End]. change.go has what one change is made of, keep.go
// takes the former state of one entry, land.go waits for what is under way when a change ends,
// finish.go writes the change into the history, and recover.go does so for servers that were
// killed.
//
// The recorder decides nothing about what a program may do. A program that races with it can
// hide a change from undo, but gains no access. The package opens nothing outside the roots.
// It imports workspace with its history, fileindex for the ignore rules, and repository to tell
// when git only looked.
package recorder

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolcrib/workspace"
)

// Label names the author of a change.
type Label struct{ Tool, Principal, Client, Call, Group string }

// quiet is how long nothing may happen until a change outside of a call is complete.
const quiet = 2 * time.Second

// Recorder records the changes of one program and of everything that it starts. Several
// goroutines may call its methods.
type Recorder struct {
	// UnderWay reports whether a call that was reported may still be to have its effect; nil =
	// none is.
	UnderWay func(Call) bool

	ws *workspace.Workspace

	// gate is held while a report is handled, and while a change ends: no report is divided. It
	// is locked before mu.
	gate sync.Mutex
	last map[uint32]reported // by threads; guarded by gate
	most int                 // of these, until the old ones go

	mu     sync.Mutex
	label  Label
	inCall bool
	after  int              // changes that ended after the call
	change *change          // nil = none is open
	marks  map[index]uint64 // the generations of the indexes at the begin
	began  time.Time
	timer  *time.Timer // ends a change outside of a call
	closed bool
	result Changes // of the call in which the program ended
	lost   []string
}

// New returns a recorder for programs in ws. It opens nothing.
func New(ws *workspace.Workspace) *Recorder {
	return &Recorder{ws: ws}
}

// Begin starts the change of a call. Earlier changes become one of their own.
func (r *Recorder) Begin(label Label) {
	defer r.land()()
	r.end()
	r.label, r.inCall, r.after = label, true, 0
	r.began, r.marks = time.Now(), r.generations()
}

// End ends the change of the call and returns it. Later changes, as of a job, are complete
// whenever nothing has happened for two seconds. The history gets a change in the background;
// queries of the history wait for it.
func (r *Recorder) End() Changes {
	defer r.land()()
	changes := r.end()
	if r.closed {
		changes, r.result = r.result, Changes{}
	}
	r.inCall = false
	return changes
}

// Close ends the last change: the program has ended. [Recorder.End] returns it all the same.
func (r *Recorder) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
	}
	changes := r.end()
	if r.closed = true; r.inCall {
		r.result = changes
	}
}

// current returns the open change. The caller holds r.mu.
func (r *Recorder) current() *change {
	if r.change == nil {
		label := r.label
		if !r.inCall {
			r.after++
			label.Call += "+" + strconv.Itoa(r.after) // what a job does later is undone by itself
		}
		if r.change = newChange(r, label); r.inCall {
			r.change.began = r.began
		}
	}
	if !r.inCall {
		if r.timer == nil {
			r.timer = time.AfterFunc(quiet, func() {
				defer r.land()()
				if !r.inCall {
					r.end()
				}
			})
		}
		r.timer.Reset(quiet)
	}
	return r.change
}

// end ends the open change. The caller holds r.mu.
func (r *Recorder) end() (changes Changes) {
	c, others := r.change, r.others()
	if r.change = nil; c != nil {
		others = slices.DeleteFunc(others, c.knows)
		changes = c.end()
		for _, host := range c.late {
			if p, ok := r.ws.Located(host); ok && len(c.parts) == 1 && !c.came(host) { // else it may be a change of an earlier part
				others = append(others, other{host: host, path: p})
			}
		}
	}
	for _, x := range others {
		changes.Others = append(changes.Others, x.path.String())
	}
	slices.Sort(changes.Others)
	if changes.NotKept != "" && !r.inCall && len(r.lost) < mostProblems {
		r.lost = append(r.lost, changes.NotKept)
	}
	return changes
}

// Lost says what of the changes outside of calls cannot be undone, each once; "" = everything can
// be.
func (r *Recorder) Lost() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	lost := strings.Join(r.lost, "; ")
	r.lost = nil
	return lost
}

// clocks is by how much the times of files are behind the clock.
const clocks = 20 * time.Millisecond

// other is an entry that changed during a call.
type other struct {
	host string
	path workspace.Path
	gone bool
	// mode is what the file had before if its permissions are others now.
	mode *fs.FileMode
}

// index is a file index of a root, see package fileindex.
type index interface {
	workspace.Index
	Since(generation uint64) (hosts []string, modes map[string]fs.FileMode)
}

// generations returns the generations of the indexes to which the system reports changes.
func (r *Recorder) generations() map[index]uint64 {
	list := map[index]uint64{}
	for _, name := range r.ws.Roots() {
		root, err := r.ws.Resolve(name)
		if err != nil {
			continue
		}
		if x, ok := root.Anchor().Index().(index); ok {
			if n, exact := x.Generation(context.Background()); exact {
				list[x] = n
			}
		}
	}
	return list
}

// others returns the entries that changed during the call, as far as the file index knows.
func (r *Recorder) others() (list []other) {
	if !r.inCall {
		return nil
	}
	for x, n := range r.generations() {
		since, same := r.marks[x]
		if !same || n == since {
			continue
		}
		hosts, modes := x.Since(since)
		for _, host := range hosts {
			p, ok := r.ws.Located(host)
			if !ok {
				continue
			}
			info, exists, err := p.Find(false)
			if err != nil {
				continue
			}
			o := other{host: host, path: p, gone: !exists}
			if before, changed := modes[host]; changed && exists && before != info.Mode.Perm() {
				o.mode = &before
			}
			// Times before the call are those of files of which only the owner, the mode or the
			// number of names has changed.
			if !exists || o.mode != nil || info.ModTime.After(r.began.Add(-clocks)) {
				list = append(list, o)
			}
		}
	}
	return list
}

// Before keeps the former state of an entry that is about to change. host is its absolute
// path without links; paths outside the roots are ignored. goes says that the entry is about
// to lose its name, so that a link to a file is enough. What takes long, such as the copy of
// a large file, is left to rest, which may be nil: the entry may change once that has
// returned.
func (r *Recorder) Before(host string, goes bool) (rest func()) {
	p, ok := r.ws.Located(host)
	if !ok || p.IsRoot() {
		return nil
	}
	r.mu.Lock()
	c := r.current()
	s := c.open()
	e := s.entries[host]
	known := e != nil
	if !known {
		e = s.add(host, p)
	}
	r.mu.Unlock()
	if !known {
		return c.take(e, goes)
	}
	select {
	case <-e.taken:
		if !goes {
			c.again(e)
		}
		return nil
	default:
		return func() { <-e.taken }
	}
}

// settle is Before with its rest.
func (r *Recorder) settle(host string, goes bool) {
	if rest := r.Before(host, goes); rest != nil {
		rest()
	}
}

// Missed notes that a change was not recorded, and why.
func (r *Recorder) Missed(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current().problems.add("a change", "is not recorded: "+why)
}

// maxMoves is how many directories that existed before one change can move.
const maxMoves = 64

// Move is called before a rename of from to to, absolute paths without links. An empty from is
// one that could not be read.
func (r *Recorder) Move(from, to string) {
	p, inside := r.ws.Located(from)
	q, toInside := r.ws.Located(to)
	if from != "" && !inside {
		if r.settle(to, true); toInside {
			r.mu.Lock()
			r.current().arrived(to)
			r.mu.Unlock()
		}
		return
	}
	var info workspace.Info
	if inside {
		info, _, _ = p.Find(false) // else the rename will fail, or what it moves is not seen
	}
	switch {
	case info.Kind != workspace.KindDirectory:
		r.settle(from, true)
		if r.settle(to, true); toInside {
			r.mu.Lock()
			r.current().expect(to, info.Inode)
			r.mu.Unlock()
		}
		return
	case !toInside:
		r.beforeTree(from, from, p)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.current()
	c.wait()
	c.move(from, p, to, q, info)
}

// Exchange is called before two entries exchange their names.
func (r *Recorder) Exchange(a, b string) {
	for _, x := range [][2]string{{a, b}, {b, a}} {
		p, inside := r.ws.Located(x[0])
		if !inside {
			continue
		}
		if info, _, _ := p.Find(false); info.Kind == workspace.KindDirectory {
			r.beforeTree(x[0], x[1], p)
		} else {
			r.settle(x[0], true)
		}
	}
}

// beforeTree keeps a directory with everything in it, which is about to come to another path,
// and what is there.
func (r *Recorder) beforeTree(host, to string, p workspace.Path) {
	list, err := p.ReadDir()
	if err == nil {
		for _, e := range list {
			below, there := path.Join(host, e.Name), path.Join(to, e.Name)
			if q, ok := r.ws.Located(below); ok && e.Kind == workspace.KindDirectory {
				r.beforeTree(below, there, q)
			} else {
				r.settle(below, true)
				r.settle(there, true)
			}
		}
	}
	r.settle(host, true)
	r.settle(to, true)
}
