// Package tree goes through whole directory trees by open handles: it counts, copies,
// syncs and removes them. It imports workspace/internal/fsys alone. Start with [Walk].
package tree

import (
	"context"
	"errors"
	"strings"

	"toolcrib/workspace/internal/fsys"
)

// treeHandles is how many directories a walk of a tree holds open at the end of its way
// down, and how many more at equal distances above. It opens those between again from the
// nearest above when it comes back to them.
const treeHandles = 64

// Error names what in a tree an error is about.
type Error struct {
	Rel string // below the start, slash-separated; "." for the start itself
	Err error
}

func (e *Error) Error() string {
	if e.Rel == "." {
		return fsys.Cause(e.Err)
	}
	return fsys.Show(e.Rel) + ": " + fsys.Cause(e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// descent is the way from an open directory to one below it, by names. It follows no links.
type descent struct {
	top    fsys.Dir // belongs to the caller
	steps  []step
	stride int // each so many steps one stays open; 0 = 1
}

type step struct {
	name   string
	handle fsys.Dir // nil while it is closed to save handles for deeper ones
	// Those of the directory when it was first opened.
	device, inode uint64
}

// at returns the directory at the end of the way; the caller does not close it.
func (s *descent) at() (fsys.Dir, error) {
	open := len(s.steps) - 1 // the deepest that is
	for open >= 0 && s.steps[open].handle == nil {
		open--
	}
	d := s.top
	if open >= 0 {
		d = s.steps[open].handle
	}
	for i := open + 1; i < len(s.steps); i++ {
		next, err := s.steps[i].reopen(d)
		if err != nil {
			return nil, &Error{s.rel(), err}
		}
		s.steps[i].handle, d = next, next
		s.release(i)
	}
	return d, nil
}

// reopen opens a directory again.
func (s *step) reopen(in fsys.Dir) (fsys.Dir, error) {
	d, err := in.Open(s.name)
	if err != nil {
		return nil, err
	}
	info, err := d.Stat(".")
	if err == nil && (info.Device != s.device || info.Inode != s.inode) {
		err = fsys.ErrSwapped
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// release closes directories far above step i.
func (s *descent) release(i int) {
	s.stride = max(s.stride, 1)
	far := i - treeHandles
	if far < 0 {
		return
	}
	first := far
	for far/s.stride > treeHandles {
		s.stride *= 2
		first = 0
	}
	for j := first; j <= far; j++ {
		if h := s.steps[j].handle; h != nil && j%s.stride != 0 {
			h.Close()
			s.steps[j].handle = nil
		}
	}
}

// down goes into a directory.
func (s *descent) down(name string) (fsys.Dir, error) {
	in, err := s.at()
	if err != nil {
		return nil, err
	}
	d, err := in.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := d.Stat(".")
	if err != nil {
		d.Close()
		return nil, err
	}
	s.steps = append(s.steps, step{name, d, info.Device, info.Inode})
	s.release(len(s.steps) - 1)
	return d, nil
}

// up goes back to the directory above.
func (s *descent) up() {
	last := &s.steps[len(s.steps)-1]
	if last.handle != nil {
		last.handle.Close()
	}
	*last = step{}
	s.steps = s.steps[:len(s.steps)-1]
}

func (s *descent) close() {
	for len(s.steps) > 0 {
		s.up()
	}
}

// rel is the path below the first step.
func (s *descent) rel(below ...string) string {
	var names []string
	for _, step := range s.steps {
		names = append(names, step.name)
	}
	names = append(names, below...)
	if len(names) < 2 {
		return "."
	}
	return strings.Join(names[1:], "/")
}

// Visit has the functions that a walk of a tree calls. Those that are nil do nothing.
type Visit struct {
	temps bool // visits the temporary files of changes too
	// Entry is called for an entry that is not a directory.
	Entry func(in fsys.Dir, e fsys.DirEntry) error
	// before is called for a directory before it is opened.
	before func(in fsys.Dir, name string) error
	// unreadable is called for a directory that cannot be opened; it returns err unless it
	// has dealt with it.
	unreadable func(in fsys.Dir, name string, err error) error
	// Enter is called when a directory is open, leave when all its entries were visited,
	// Left when it is closed.
	Enter func(d fsys.Dir, name string) error
	leave func(d fsys.Dir) error
	Left  func(in fsys.Dir, name string) error
	// failed is called with the error of any of these; if it returns nil, the walk goes on.
	failed func(err error) error
}

// walk is one walk, from the entry name of top, which is visited itself.
type walk struct {
	ctx   context.Context
	visit Visit
	way   descent
	lists [][]fsys.DirEntry // entries not yet visited, for each step of the way
}

// Walk visits the entry name of top and all below it; it follows no links.
func Walk(ctx context.Context, top fsys.Dir, name string, visit Visit) error {
	info, err := top.Stat(name)
	if err != nil {
		return err
	}
	w := &walk{ctx: ctx, visit: visit, way: descent{top: top}}
	defer w.way.close()
	if err := w.one(fsys.DirEntry{Name: name, Kind: info.Kind}); err != nil {
		return err
	}
	for len(w.lists) > 0 {
		if err := w.next(); err != nil {
			return err
		}
	}
	return nil
}

// next visits the next entry, or goes up if there is none.
func (w *walk) next() error {
	if err := context.Cause(w.ctx); err != nil {
		return err
	}
	last := len(w.lists) - 1
	list := w.lists[last]
	if len(list) == 0 {
		w.lists = w.lists[:last]
		return w.goUp()
	}
	w.lists[last] = list[1:]
	return w.one(list[0])
}

// one visits an entry of the current directory.
func (w *walk) one(e fsys.DirEntry) error {
	if fsys.IsTemp(e.Name) && !w.visit.temps && len(w.lists) > 0 {
		return nil
	}
	in, err := w.way.at()
	if err != nil {
		return err
	}
	if e.Kind != fsys.KindDirectory {
		return w.judge(call(w.visit.Entry, in, e), e.Name)
	}
	if err := call(w.visit.before, in, e.Name); err != nil {
		return w.judge(err, e.Name)
	}
	d, err := w.way.down(e.Name)
	if err != nil {
		if w.visit.unreadable != nil {
			err = w.visit.unreadable(in, e.Name, err)
		}
		return w.judge(err, e.Name)
	}
	list, err := d.Entries(0)
	if err == nil {
		err = call(w.visit.Enter, d, e.Name)
	}
	w.lists = append(w.lists, list)
	return w.judge(err)
}

// goUp leaves a directory.
func (w *walk) goUp() error {
	d, err := w.way.at()
	if err != nil {
		return err
	}
	if w.visit.leave != nil {
		err = w.visit.leave(d)
	}
	name := w.way.steps[len(w.way.steps)-1].name
	if err := w.judge(err); err != nil {
		return err
	}
	w.way.up()
	if w.visit.Left == nil {
		return nil
	}
	in, err := w.way.at()
	if err != nil {
		return err
	}
	return w.judge(w.visit.Left(in, name), name)
}

// judge ends the walk, or lets it go on, after an error about a path below the current
// directory.
func (w *walk) judge(err error, below ...string) error {
	if err == nil {
		return nil
	}
	if _, named := errors.AsType[*Error](err); !named {
		err = &Error{w.way.rel(below...), err}
	}
	if w.visit.failed != nil {
		return w.visit.failed(err)
	}
	return err
}

func call[T any](f func(fsys.Dir, T) error, d fsys.Dir, arg T) error {
	if f == nil {
		return nil
	}
	return f(d, arg)
}
