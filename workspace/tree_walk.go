package workspace

import (
	"context"
	"errors"
	"strings"
)

// treeHandles is how many directories of its way down a walk of a tree holds open
// at the end, and how many more at equal distances above. Those between are opened
// again from the nearest above when the walk comes back to them.
const treeHandles = 64

// errSwapped says that a directory is another than a moment before.
var errSwapped = errors.New("was replaced by another meanwhile")

// treeError names what in a tree an error is about.
type treeError struct {
	rel string // below the start, slash-separated; "." for the start itself
	err error
}

func (e *treeError) Error() string {
	if e.rel == "." {
		return cause(e.err)
	}
	return show(e.rel) + ": " + cause(e.err)
}

func (e *treeError) Unwrap() error { return e.err }

// descent is the way from an open directory to one below it, by names that are
// never followed when they are links.
type descent struct {
	top    dir // belongs to the caller
	steps  []step
	stride int // each so many steps one stays open; 0 = 1
}

type step struct {
	name   string
	handle dir // nil while it is closed for the sake of deeper ones
	// What it was when it was first opened.
	device, inode uint64
}

// at returns the directory that the way has come to; it is not closed by the caller.
func (s *descent) at() (dir, error) {
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
			return nil, &treeError{s.rel(), err}
		}
		s.steps[i].handle, d = next, next
		s.release(i)
	}
	return d, nil
}

// reopen opens again what has been closed.
func (s *step) reopen(in dir) (dir, error) {
	d, err := in.open(s.name)
	if err != nil {
		return nil, err
	}
	info, err := d.stat(".")
	if err == nil && (info.Device != s.device || info.Inode != s.inode) {
		err = errSwapped
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// release closes what is too far above step i.
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
			h.close()
			s.steps[j].handle = nil
		}
	}
}

// down goes into a directory.
func (s *descent) down(name string) (dir, error) {
	in, err := s.at()
	if err != nil {
		return nil, err
	}
	d, err := in.open(name)
	if err != nil {
		return nil, err
	}
	info, err := d.stat(".")
	if err != nil {
		d.close()
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
		last.handle.close()
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

// treeVisit is what a walk of a tree does. Functions that are nil do nothing.
type treeVisit struct {
	temps bool // visits the temporary files of changes too
	// entry is called for what is not a directory.
	entry func(in dir, e DirEntry) error
	// before is called for a directory that is not open yet.
	before func(in dir, name string) error
	// shut is called for a directory that cannot be opened, with the error that it
	// returns where it can do nothing about it.
	shut func(in dir, name string, err error) error
	// enter is called when a directory is open, leave when all in it was visited,
	// left when it is closed.
	enter func(d dir, name string) error
	leave func(d dir) error
	left  func(in dir, name string) error
	// failed takes the error that any of these returned: nil = the walk goes on
	// with what comes next.
	failed func(err error) error
}

// treeWalk is one walk, from the entry name of top, which is visited itself.
type treeWalk struct {
	ctx   context.Context
	visit treeVisit
	way   descent
	lists [][]DirEntry // what is still to be visited, for each step of the way
}

func walkTree(ctx context.Context, top dir, name string, visit treeVisit) error {
	info, err := top.stat(name)
	if err != nil {
		return err
	}
	w := &treeWalk{ctx: ctx, visit: visit, way: descent{top: top}}
	defer w.way.close()
	if err := w.one(DirEntry{Name: name, Kind: info.Kind}); err != nil {
		return err
	}
	for len(w.lists) > 0 {
		if err := w.next(); err != nil {
			return err
		}
	}
	return nil
}

// next visits what comes next, or goes up from where nothing does.
func (w *treeWalk) next() error {
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

// one visits an entry of the directory that the way has come to.
func (w *treeWalk) one(e DirEntry) error {
	if tempName(e.Name) && !w.visit.temps && len(w.lists) > 0 {
		return nil
	}
	in, err := w.way.at()
	if err != nil {
		return err
	}
	if e.Kind != KindDirectory {
		return w.judge(call(w.visit.entry, in, e), e.Name)
	}
	if err := call(w.visit.before, in, e.Name); err != nil {
		return w.judge(err, e.Name)
	}
	d, err := w.way.down(e.Name)
	if err != nil {
		if w.visit.shut != nil {
			err = w.visit.shut(in, e.Name, err)
		}
		return w.judge(err, e.Name)
	}
	list, err := d.entries(0)
	if err == nil {
		err = call(w.visit.enter, d, e.Name)
	}
	w.lists = append(w.lists, list)
	return w.judge(err)
}

// goUp leaves a directory.
func (w *treeWalk) goUp() error {
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
	if w.visit.left == nil {
		return nil
	}
	in, err := w.way.at()
	if err != nil {
		return err
	}
	return w.judge(w.visit.left(in, name), name)
}

// judge ends the walk or has it go on after an error about a path below the
// directory that the way has come to.
func (w *treeWalk) judge(err error, below ...string) error {
	if err == nil {
		return nil
	}
	if _, named := errors.AsType[*treeError](err); !named {
		err = &treeError{w.way.rel(below...), err}
	}
	if w.visit.failed != nil {
		return w.visit.failed(err)
	}
	return err
}

func call[T any](f func(dir, T) error, d dir, arg T) error {
	if f == nil {
		return nil
	}
	return f(d, arg)
}
