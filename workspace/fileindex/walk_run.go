package fileindex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"

	"toolcrib/workspace"
	"toolcrib/workspace/ignore"
	"toolcrib/workspace/internal/fsys"
)

// maxHandles limits the directories that a walk holds open for their subdirectories. The
// start and one for each worker come on top of it.
const maxHandles = 128

// walker is one walk. Directories wait on a stack, so that the walk goes down
// before it goes on and few are open at a time. Each worker takes one, reads it,
// and puts its subdirectories on the stack.
type walker struct {
	ctx   context.Context
	start workspace.Anchor
	opt   WalkOptions
	root  *walkDir

	mu      sync.Mutex
	changed sync.Cond  // the stack grew or may be taken from, or the walk ended
	stack   []*walkDir // in path order, the first directory on top
	pending int        // directories on the stack or with a worker
	links   linkQueue
	handles int // directories held open
	found   int // entries of all directories
	stats   WalkStats
	failed  error // ends the walk: the root cannot be read, there is too much, or a *walkPanic
	ahead   readAhead
}

// walkDir is a directory of a walk.
type walkDir struct {
	parent *walkDir // nil for the start
	name   string   // in parent
	rel    string   // below the start, ending in a slash; "" for the start
	depth  int      // 0 for the start
	link   bool     // name is a symlink
	level  *ignore.Level

	// With FollowLinks only, set by the worker that reads the directory: its path on the
	// host, if it has no inode, and the entry of a link.
	host string
	self []Entry
	// With deny rules only: its path without links.
	real *workspace.Path

	// Locked by walker.mu. users are the subdirectories that are not open yet and the
	// workers that are opening a directory below handle.
	handle fsys.Dir
	users  int
	done   bool // it was read, or cannot be

	// The entries found. Written by the worker that reads the directory.
	entries         []Entry
	subs            []subDir
	hidden, ignored int
	denied          int
	unreadable      []string
}

// subDir says that the content of dir comes before entries[at].
type subDir struct {
	at  int
	dir *walkDir
}

// newWalker returns a walk from start, which is open as handle; run closes that.
func newWalker(ctx context.Context, start workspace.Anchor, opt WalkOptions, handle fsys.Dir) *walker {
	if opt.Workers <= 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	if opt.MaxEntries <= 0 {
		opt.MaxEntries = maxEntries
	}
	root := &walkDir{name: path.Base(start.Canonical()), handle: handle, users: 1}
	w := &walker{ctx: ctx, start: start, opt: opt, root: root, stack: []*walkDir{root}, pending: 1, handles: 1}
	w.changed.L, w.ahead.ready.L = &w.mu, &w.mu
	w.links.seen = map[dirID]int{}
	return w
}

// run walks to the end and closes all handles. Then the root holds all entries found,
// except those that a consumer has taken, see readAhead.
func (w *walker) run() {
	stop := context.AfterFunc(w.ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.wakeAll()
	})
	defer stop()
	if !w.opt.IncludeIgnored {
		err := caught(func() error {
			w.root.level = w.levelAbove()
			return nil
		})
		if err != nil {
			w.mu.Lock()
			w.failed = err
			w.wakeAll()
			w.mu.Unlock()
		}
	}
	var workers sync.WaitGroup
	for range w.opt.Workers {
		workers.Go(w.work)
	}
	workers.Wait()
	for _, d := range w.stack { // of a walk that was ended
		if !d.link {
			w.drop(d.parent)
		}
	}
	w.drop(w.root)
}

func (w *walker) work() {
	for {
		d, base := w.next()
		if d == nil {
			return
		}
		var h fsys.Dir
		err := caught(func() (err error) {
			if h, err = w.open(d, base); err != nil {
				return err
			}
			return w.read(d, h)
		})
		w.finish(d, h, err)
	}
}

// next takes a directory from the stack, and with it the nearest open directory above, or
// nil if a symlink is nearer. It returns nil at the end.
func (w *walker) next() (d, base *walkDir) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.ended() && w.pending > 0 && !w.mayTake() {
		w.changed.Wait()
	}
	if len(w.stack) == 0 || w.ended() {
		return nil, nil
	}
	last := len(w.stack) - 1
	d, w.stack[last] = w.stack[last], nil
	w.stack = w.stack[:last]
	for base = d; base != nil && base.handle == nil; base = base.parent {
		if base.link {
			return d, nil
		}
	}
	base.users++
	return d, base
}

// ended reports whether the walk stops early.
func (w *walker) ended() bool { return w.failed != nil || w.ctx.Err() != nil }

// finish records the results of read for d. It keeps the handle if there are subdirectories
// to open, unless too many are kept.
func (w *walker) finish(d *walkDir, h fsys.Dir, err error) {
	below := 0 // subdirectories to be opened by way of h
	for _, sub := range d.subs {
		if !sub.dir.link {
			below++
		}
	}
	keep := false
	w.mu.Lock()
	switch {
	case err != nil && (d == w.root || isPanic(err)):
		w.failed = cmp.Or(w.failed, err)
	case errors.Is(err, errVisited):
	case errors.Is(err, fs.ErrNotExist): // gone since its parent was read
	case err != nil:
		w.stats.Unreadable = append(w.stats.Unreadable, w.start.Child(d.rel).String())
		w.stats.Starved = w.stats.Starved || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
	default:
		w.stats.Directories++
	}
	w.stats.Hidden += d.hidden
	w.stats.Ignored += d.ignored
	w.stats.Denied += d.denied
	w.stats.Unreadable = append(w.stats.Unreadable, d.unreadable...)
	w.found += len(d.self) + len(d.entries)
	if most := w.opt.MaxEntries; w.found+w.stats.Directories > most && w.failed == nil {
		w.failed = w.start.RefuseMany(most)
	}
	switch {
	case d == w.root:
		keep = true
		d.users += below
	case h != nil && below > 0 && w.handles < maxHandles:
		keep = true
		d.handle, d.users = h, below
		w.handles++
	}
	w.push(d)
	w.pending += below - 1
	if w.pending == 0 {
		if link := w.links.next(); link != nil {
			w.stack = append(w.stack, link)
			w.pending = 1
		}
	}
	d.done = true
	w.ahead.add(d)
	switch {
	case w.failed != nil:
		w.wakeAll()
	case w.pending == 0 || w.mayTake():
		w.changed.Broadcast()
	}
	w.mu.Unlock()
	if h != nil && !keep {
		h.Close()
	}
}

// push puts the subdirectories of d on the stack, or in the queue of links. Those of
// a directory that was read at the same time as an earlier one go below those of the
// earlier one.
func (w *walker) push(d *walkDir) {
	at, _ := slices.BinarySearchFunc(w.stack, d, func(on, d *walkDir) int { return comparePaths(d.rel, on.rel) })
	later := slices.Clone(w.stack[at:])
	w.stack = w.stack[:at]
	for _, sub := range slices.Backward(d.subs) {
		if sub.dir.link {
			w.links.add(sub.dir)
		} else {
			w.stack = append(w.stack, sub.dir)
		}
	}
	w.stack = append(w.stack, later...)
}

// wakeAll wakes all that wait for the walk to change. The caller holds mu.
func (w *walker) wakeAll() {
	w.changed.Broadcast()
	w.ahead.ready.Broadcast()
}

// open opens d by the names that lead to it from base. With all but the deepest or
// widest trees base is its parent.
func (w *walker) open(d, base *walkDir) (fsys.Dir, error) {
	if !d.link {
		defer w.drop(d.parent)
	}
	defer w.drop(base)
	if base == d { // the start
		return d.handle, nil
	}
	var steps []*walkDir
	top := d
	for ; top != base && !top.link; top = top.parent {
		steps = append(steps, top)
	}
	var h fsys.Dir
	if base != nil {
		h = base.handle
	} else {
		var err error
		if h, err = w.start.Child(top.rel).Anchor().OpenDir(); err != nil {
			return nil, err
		}
	}
	for i, step := range slices.Backward(steps) {
		next, err := h.Open(step.name)
		if base == nil || i < len(steps)-1 {
			h.Close()
		}
		if err != nil {
			return nil, err
		}
		h = next
	}
	return h, nil
}

// drop ends one use of the handle of d, which is closed with the last. A nil d has
// none: it is the parent of the start, or the base of a symlink.
func (w *walker) drop(d *walkDir) {
	if d == nil {
		return
	}
	w.mu.Lock()
	d.users--
	h := d.handle
	if h == nil || d.users > 0 {
		w.mu.Unlock()
		return
	}
	d.handle = nil
	w.handles--
	w.mu.Unlock()
	h.Close()
}

// walkPanic carries a panic from a goroutine of a walk to the one that called Walk, whose
// caller may recover: in the goroutine of the walk it would end the process.
type walkPanic struct {
	value any
	stack []byte // of the goroutine that panicked
}

func (p *walkPanic) Error() string {
	return fmt.Sprintf("walk: %v\n\n%s", p.value, p.stack)
}

// Unwrap returns the value of the panic where that is an error.
func (p *walkPanic) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

// caught calls f and turns a panic into an error.
func caught(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &walkPanic{value, debug.Stack()}
		}
	}()
	return f()
}

func isPanic(err error) bool {
	_, ok := errors.AsType[*walkPanic](err)
	return ok
}
