package fileindex

import (
	"context"
	"iter"
	"slices"
	"sync"

	"toolcrib/workspace"
)

// Stream is a walk that yields its entries while it goes on.
type Stream struct {
	ctx   context.Context
	start workspace.Anchor
	opt   WalkOptions
	stats WalkStats
	err   error
}

// NewStream begins a walk as Walk does; it reads nothing before Runs is called. It frees
// the entries that it has yielded and reads few directories ahead, so that it takes little
// memory for a tree of any size. With FollowLinks it holds all entries until the end:
// before that it is not known by which link a directory is walked.
func NewStream(ctx context.Context, start workspace.Path, opt WalkOptions) *Stream {
	return &Stream{ctx: ctx, start: start.Anchor(), opt: opt}
}

// Runs yields the entries that Walk returns, in their order, a few at a time; no run is
// empty, and each belongs to the caller. After an error it ends, and Result returns the
// error.
//
// A break ends the walk and waits until it has closed its directories, unless the context
// ends first. A panic continues as with Walk, in the goroutine that takes the entries.
func (s *Stream) Runs() iter.Seq[[]Entry] { return s.runs }

// Result returns, once Runs has ended, the stats and error of Walk. If the walk was broken
// off or has failed, these are the stats so far; a break is no error.
func (s *Stream) Result() (WalkStats, error) { return s.stats, s.err }

func (s *Stream) runs(yield func([]Entry) bool) {
	s.stats = WalkStats{}
	if s.err = context.Cause(s.ctx); s.err != nil {
		return
	}
	handle, err := s.start.OpenDir()
	if err != nil {
		s.err = err
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	w := newWalker(ctx, s.start, s.opt, handle)
	w.ahead.bounded = !s.opt.FollowLinks
	broken := false
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.run()
	}()
	defer func() {
		cancel()
		s.end(w, done, broken)
	}()
	if s.opt.FollowLinks {
		wait(s.ctx, done)
	}
	w.give(w.root, func(run []Entry) bool {
		for len(run) > 0 && comparePaths(run[0].Rel, s.opt.From) < 0 {
			run = run[1:]
		}
		broken = len(run) > 0 && !yield(run)
		return !broken
	})
}

// end waits for the workers and settles the result. A system call on a dead network
// file system cannot be interrupted: once the context has ended, the workers end by
// themselves when it returns, and end does not wait for them.
func (s *Stream) end(w *walker, done <-chan struct{}, broken bool) {
	wait(s.ctx, done)
	w.mu.Lock()
	defer w.mu.Unlock()
	if isPanic(w.failed) {
		panic(w.failed)
	}
	s.stats = w.stats
	s.stats.Unreadable = slices.Sorted(slices.Values(w.stats.Unreadable))
	if s.err = context.Cause(s.ctx); s.err == nil && w.failed != nil && !broken {
		s.err = s.start.Refuse(w.failed)
	}
}

func wait(ctx context.Context, done <-chan struct{}) {
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// A walk reads some directories before its consumer takes them: few at first, since it may
// soon be broken off, and later a part of the number that was taken; fewer if they have many
// entries. Each worker may be reading one directory more.
const (
	minAheadDirs = 16
	maxAheadDirs = 256
	aheadShare   = 12
	aheadEntries = 64 // of a directory, on average
)

// readAhead keeps the workers of a walk from running far ahead of its consumer. It is
// locked by walker.mu.
type readAhead struct {
	bounded       bool // there is a consumer, and entries that it takes are freed
	dirs, entries int  // read and not yet taken
	taken         int  // directories
	held          bool // the workers must wait
	// wanted is the directory that the consumer waits for. A worker has it, or it is on top
	// of the stack, from where a waiting worker may take it.
	wanted *walkDir
	ready  sync.Cond // wanted was read, or the walk ended
}

// mayTake reports whether a worker may take the directory on top of the stack, if there
// is one.
func (w *walker) mayTake() bool {
	n := len(w.stack)
	return n > 0 && (!w.ahead.held || w.stack[n-1] == w.ahead.wanted)
}

// below reports whether the directories and entries that were read and not yet taken are
// fewer than a part of the limit.
func (a *readAhead) below(part int) bool {
	most := min(max(minAheadDirs, a.taken/aheadShare), maxAheadDirs) / part
	return a.dirs < most && a.entries < most*aheadEntries
}

// add counts a directory that was read.
func (a *readAhead) add(d *walkDir) {
	a.dirs++
	a.entries += len(d.entries)
	if a.bounded && !a.below(1) {
		a.held = true
	}
	if d == a.wanted {
		a.ready.Signal()
	}
}

// take waits until d was read. It returns false if the walk has ended too early.
func (w *walker) take(d *walkDir) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := &w.ahead
	if !d.done && a.held {
		w.changed.Signal()
	}
	for a.wanted = d; !d.done && !w.ended(); {
		a.ready.Wait()
	}
	a.wanted = nil
	if w.ended() {
		return false
	}
	a.taken++
	a.dirs--
	a.entries -= len(d.entries)
	// Not as soon as one may be taken: a worker that is woken for each directory costs
	// more than the reading.
	if a.held && a.below(2) {
		a.held = false
		w.changed.Broadcast()
	}
	return true
}

// give yields the entries of d and of all below it in path order, and frees them. It
// returns false if the consumer breaks off or the walk ends too early.
func (w *walker) give(d *walkDir, yield func([]Entry) bool) bool {
	if !w.take(d) || !yield(d.self) {
		return false
	}
	at := 0
	for i, sub := range d.subs {
		if !yield(d.entries[at:sub.at:sub.at]) {
			return false
		}
		at = sub.at
		d.subs[i].dir = nil
		if !w.give(sub.dir, yield) {
			return false
		}
	}
	rest := d.entries[at:]
	d.entries, d.subs = nil, nil
	return yield(rest)
}
